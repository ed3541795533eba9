"""What an artifact says about itself: arguments, launch, resources. The ``json`` of an entry without its digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypedDict

from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.ir.core import Function
from teenybuild.compiler.lower.reports import Report, ReportJson
from teenybuild.compiler.passes.access import pointer_access
from teenybuild.compiler.targets.base import Lowered, Residency, Settings
from teenybuild.types import Absent, Pointer, Scalar, Value

#: Counts changes of the calling convention; loaders refuse artifacts of another.
ABI_VERSION = 1


class ArgumentJson(TypedDict):
    """One run-time argument, in ABI order."""

    name: str
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


class LaunchJson(TypedDict):
    """What a launch needs. ``threads`` is 0 on the host."""

    threads: int
    shared_bytes: int
    cluster: list[int]
    cooperative: bool
    programmatic: bool
    residency: ResidencyJson | None


class DescriptionJson(TypedDict):
    """Everything a loader must know of an artifact."""

    abi_version: int
    function: str
    symbol: str
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
        )

    def json(self) -> DescriptionJson:
        """As plain data, keys in documented order."""
        settings = self.settings
        return {
            "abi_version": ABI_VERSION,
            "function": self.function,
            "symbol": self.symbol,
            "arguments": list(self.arguments),
            "packed_size": self.packed_size,
            "absent": list(self.absent),
            "consts": dict(self.consts),
            "options": {
                "num_warps": settings.num_warps,
                "num_stages": settings.num_stages,
                "maxnreg": settings.maxnreg,
                "enable_fp_fusion": settings.enable_fp_fusion,
            },
            "launch": {
                "threads": self.threads,
                "shared_bytes": self.shared_bytes,
                "cluster": [1, 1, 1],
                "cooperative": False,
                "programmatic": self.programmatic,
                "residency": _residency_json(self.residency),
            },
            "scratch_bytes": self.scratch_bytes,
            "reports": [report.json() for report in self.reports],
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
    for name, (read, written) in zip(function.arg_names, pointer_access(function), strict=True):
        type_ = instance.types[name]
        assert isinstance(type_, Pointer | Scalar)
        assumed = instance.assume.get(name)
        size = 8 if isinstance(type_, Pointer) else type_.dtype.size
        at = -(-at // size) * size
        access: Literal["", "read", "write", "readwrite"] = ""
        if isinstance(type_, Pointer):
            access = "readwrite" if read and written else ("write" if written else "read")
        arguments.append(
            {
                "name": name,
                "kind": "pointer" if isinstance(type_, Pointer) else "scalar",
                "dtype": type_.dtype.name,
                "offset": at,
                "size": size,
                "assume": {assumed.kind: assumed.value} if assumed is not None else {},
                "access": access,
            }
        )
        at += size
        widest = max(widest, size)
    absent = tuple(name for name, t in instance.types.items() if isinstance(t, Absent))
    packed = -(-at // widest) * widest
    return Description(function.name, tuple(arguments), packed, absent, dict(instance.consts))
