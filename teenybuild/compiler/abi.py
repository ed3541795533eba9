"""What an artifact says about itself: arguments, launch, resources. The ``json`` of an entry without its digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypedDict

from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.ir.arrays import Argument, Given
from teenybuild.compiler.ir.core import Function
from teenybuild.compiler.lower.blocks import TensorMap
from teenybuild.compiler.lower.reports import Report, ReportJson
from teenybuild.compiler.passes.access import pointer_access
from teenybuild.compiler.targets.base import Lowered, Residency, Settings
from teenybuild.types import Absent, Descriptor, Part, Pointer, Scalar, Tuple, Type, Value, assumed_of, leaves

#: Counts changes of the calling convention; loaders refuse artifacts of another.
ABI_VERSION = 2


#: The type of a parameter as plain data: ``"*f32"``, ``"none"``, a list for a tuple, a dtype and a block for a descriptor.
TypeJson: TypeAlias = "str | list[TypeJson] | DescriptorJson"


class DescriptorJson(TypedDict):
    """The type of a tensor descriptor."""

    dtype: str
    block: list[int]


class ParameterJson(TypedDict):
    """One parameter that is no constant, as a caller sees it."""

    name: str
    type: TypeJson


class ArgumentJson(TypedDict):
    """One run-time argument, in ABI order: a parameter, an entry of a tuple, or a part of a descriptor (see :class:`Leaf`)."""

    name: str
    parameter: str
    path: list[int]
    part: Part
    kind: Literal["pointer", "scalar"]
    dtype: str
    offset: int
    size: int
    assume: dict[str, int]
    access: Literal["", "read", "write", "readwrite"]


class ResidencyJson(TypedDict):
    """How many programs should run at once on a multiprocessor: see :class:`Residency`."""

    bytes: int
    argument: str | None
    of: int
    wanted: int
    shared: list[int]


class TensorMapJson(TypedDict):
    """An array of which the code copies blocks, axes fastest first, as numbers or names of arguments: see :class:`TensorMap`."""

    base: str
    dtype: str
    shape: list[int | str]
    strides: list[int | str]
    padding: int | str
    box: list[int]
    row: int


class LaunchJson(TypedDict):
    """What a launch needs. ``threads`` is 0 on the host."""

    threads: int
    shared_bytes: int
    cluster: list[int]
    cooperative: bool
    programmatic: bool
    residency: ResidencyJson | None
    tensor_maps: list[TensorMapJson]


class DescriptionJson(TypedDict):
    """Everything a loader must know of an artifact."""

    abi_version: int
    function: str
    symbol: str
    parameters: list[ParameterJson]
    arguments: list[ArgumentJson]
    packed_size: int
    absent: list[str]
    consts: dict[str, Value]
    options: dict[str, int | bool | None]
    launch: LaunchJson
    scratch_bytes: int
    reports: list[ReportJson]


@dataclass(frozen=True, slots=True)
class Description:
    """Typed form of :class:`DescriptionJson`."""

    function: str
    parameters: tuple[ParameterJson, ...]
    arguments: tuple[ArgumentJson, ...]
    packed_size: int
    absent: tuple[str, ...]
    consts: Mapping[str, Value]
    settings: Settings = field(default_factory=Settings)
    symbol: str = ""
    shared_bytes: int = 0
    scratch_bytes: int = 0
    threads: int = 0
    programmatic: bool = False
    reports: tuple[Report, ...] = ()
    residency: Residency | None = None
    maps: tuple[TensorMap, ...] = ()

    def with_launch(self, settings: Settings, lowered: Lowered, residency: Residency | None) -> Description:
        """With what code generation found out."""
        return replace(
            self,
            settings=settings,
            symbol=lowered.symbol,
            shared_bytes=lowered.shared,
            scratch_bytes=lowered.scratch,
            threads=settings.threads if lowered.on_gpu else 0,
            programmatic=lowered.programmatic,
            reports=lowered.reports,
            residency=residency,
            maps=lowered.maps,
        )

    def json(self) -> DescriptionJson:
        """As plain data, keys in documented order."""
        settings = self.settings
        return {
            "abi_version": ABI_VERSION,
            "function": self.function,
            "symbol": self.symbol,
            "parameters": list(self.parameters),
            "arguments": list(self.arguments),
            "packed_size": self.packed_size,
            "absent": list(self.absent),
            "consts": dict(self.consts),
            "options": {
                "num_warps": settings.num_warps,
                "num_stages": settings.num_stages,
                "maxnreg": settings.maxnreg,
                "enable_fp_fusion": settings.enable_fp_fusion,
                "launch_cooperative_grid": settings.launch_cooperative_grid,
            },
            "launch": {
                "threads": self.threads,
                "shared_bytes": self.shared_bytes,
                "cluster": [1, 1, 1],
                "cooperative": settings.launch_cooperative_grid,
                "programmatic": self.programmatic,
                "residency": _residency_json(self.residency),
                "tensor_maps": [self._map_json(each) for each in self.maps],
            },
            "scratch_bytes": self.scratch_bytes,
            "reports": [report.json() for report in self.reports],
        }

    def _map_json(self, map_: TensorMap) -> TensorMapJson:
        array, axes = map_.array, map_.boxes.axes

        def given(value: Given) -> int | str:
            return self.arguments[value.number]["name"] if isinstance(value, Argument) else value

        return {
            "base": self.arguments[array.base.number]["name"],
            "dtype": map_.dtype.name,
            "shape": [given(array.shape[axis]) for axis in axes],
            "strides": [given(array.strides[axis]) for axis in axes[1:]],
            "padding": given(array.padding),
            "box": list(map_.boxes.sides),
            "row": map_.boxes.row,
        }


def _residency_json(residency: Residency | None) -> ResidencyJson | None:
    if residency is None:
        return None
    return {
        "bytes": residency.bytes,
        "argument": residency.argument,
        "of": residency.of,
        "wanted": residency.wanted,
        "shared": list(residency.shared),
    }


def describe(instance: Instance, function: Function) -> Description:
    """The arguments of a kernel, laid out as a C struct lays them out."""
    arguments: list[ArgumentJson] = []
    at, widest = 0, 1
    access = dict(zip(function.arg_names, pointer_access(function), strict=True))
    for parameter, parameter_type in instance.types.items():
        for leaf in leaves(parameter, parameter_type):
            type_ = leaf.type
            if isinstance(type_, Absent):
                continue
            size = 8 if isinstance(type_, Pointer) else type_.dtype.size
            at = -(-at // size) * size
            assumed = assumed_of(leaf, instance.assume)
            arguments.append(
                {
                    "name": leaf.name,
                    "parameter": parameter,
                    "path": list(leaf.path),
                    "part": leaf.part,
                    "kind": "pointer" if isinstance(type_, Pointer) else "scalar",
                    "dtype": type_.dtype.name,
                    "offset": at,
                    "size": size,
                    "assume": {assumed.kind: assumed.value} if assumed is not None else {},
                    "access": _access(type_, access[leaf.name]),
                }
            )
            at += size
            widest = max(widest, size)
    assert [a["name"] for a in arguments] == list(function.arg_names)
    parameters = tuple(ParameterJson(name=name, type=type_json(t)) for name, t in instance.types.items())
    absent = tuple(name for name, t in instance.types.items() if isinstance(t, Absent))
    packed = -(-at // widest) * widest
    return Description(function.name, parameters, tuple(arguments), packed, absent, dict(instance.consts))


def _access(type_: Pointer | Scalar, how: tuple[bool, bool]) -> Literal["", "read", "write", "readwrite"]:
    if isinstance(type_, Scalar):
        return ""
    read, written = how
    return "readwrite" if read and written else ("write" if written else "read")


def type_json(type_: Type) -> TypeJson:
    """A type as plain data."""
    match type_:
        case Tuple():
            return [type_json(item) for item in type_.items]
        case Descriptor():
            return {"dtype": type_.dtype.name, "block": list(type_.block)}
        case _:
            return str(type_)
