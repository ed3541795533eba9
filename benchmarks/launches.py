"""A launch of a kernel, said once for both sides: what it is compiled for, and how it runs on a GPU by us and by Triton."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "kernels")]

import compiling  # noqa: E402
import torch  # noqa: E402

import teenybuild  # noqa: E402
from teenybuild.runtime import index  # noqa: E402
from teenybuild.runtime.gpu import GpuProgram  # noqa: E402
from teenybuild.runtime.layout import Layout  # noqa: E402

TYPES = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "f8e4m3",
    torch.int8: "i8",
    torch.int32: "i32",
    torch.int64: "i64",
}
#: What both sides are compiled for.
TARGET = "sm_90a"

#: Makes of a launch's arguments (or others like them) something that launches.
Runs = Callable[[Mapping[str, Any]], Callable[[], None]]


@dataclass(frozen=True)
class Blocks:
    """A tensor descriptor of a whole array, as an argument."""

    base: torch.Tensor
    block: Sequence[int]

    @property
    def parts(self) -> Iterator[tuple[str, Any]]:
        """What is passed of it, by what the ABI adds to its name."""
        yield "", self.base
        yield from ((f".shape[{axis}]", extent) for axis, extent in enumerate(self.base.shape))
        yield from ((f".strides[{axis}]", stride) for axis, stride in enumerate(self.base.stride()[:-1]))
        yield ".padding", False

    @property
    def tritons(self) -> Any:
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor.from_tensor(self.base, list(self.block))


@dataclass(frozen=True)
class Launch:
    """One launch of ``function`` of the module ``source``: all that is the same for both sides.

    ``.norms`` is a module of ``tests.kernels.sources``, a name without a dot one of ``kernels``. ``arguments`` has arrays, numbers, descriptors and None, by name.
    """

    source: str
    function: str
    arguments: Mapping[str, Any]
    const: Mapping[str, Any]
    grid: tuple[int, ...]
    num_warps: int
    num_stages: int = 3

    @property
    def constants(self) -> dict[str, Any]:
        """With the arguments that Triton makes constants by itself: those that are 1."""
        ones = {name: 1 for name, value in self.arguments.items() if _is_int(value) and value == 1}
        return {**self.const, **ones}

    @property
    def types(self) -> dict[str, str]:
        return {name: _type(value) for name, value in self.arguments.items() if name not in self.constants}

    @property
    def aligned(self) -> frozenset[str]:
        """Arguments that are multiples of 16, as Triton's launcher finds out by itself; memory of torch always is."""
        return frozenset(
            name
            for name, value in self.arguments.items()
            if isinstance(value, torch.Tensor) or (_is_int(value) and value % 16 == 0)
        )

    @cached_property
    def module(self) -> Any:
        return import_module(self.source, "tests.kernels.sources")

    @property
    def path(self) -> Path:
        return Path(self.module.__file__)

    @property
    def imported(self) -> Any:
        """Triton's kernel, without autotuning: which constants and warps it runs with is said here."""
        return compiling.inner(getattr(self.module, self.function))


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _type(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, torch.Tensor):
        return f"*{TYPES[value.dtype]}"
    if isinstance(value, Blocks):
        return f"desc<{TYPES[value.base.dtype]}[{', '.join(map(str, value.block))}]>"
    return {bool: "i1", int: "i32", float: "f32"}[type(value)]


def compiled(launch: Launch, directory: Path) -> teenybuild.Artifact:
    """Ours, for what Triton would specialise it for. An argument that is 1 is assumed to be, and so is still an argument."""
    ones = {name: {"eq": 1} for name in launch.constants.keys() - launch.const.keys()}
    return teenybuild.compile(
        f"{launch.path}:{launch.function}",
        TARGET,
        {name: _type(value) for name, value in launch.arguments.items()},
        launch.const,
        num_warps=launch.num_warps,
        num_stages=launch.num_stages,
        assume={**{name: {"div": 16} for name in launch.aligned}, **ones},
        cache_dir=directory / "cache",
    )


def packaged(artifact: teenybuild.Artifact, directory: Path) -> tuple[index.Artifact, Layout]:
    """An artifact as the runtime loads it, from a package with a single file."""
    abi, launch = artifact.abi, artifact.abi["launch"]
    said = launch["residency"]
    image = index.Artifact(
        target=TARGET,
        directory=directory / "package",
        id=artifact.key,
        symbol=abi["symbol"],
        sha256={"ptx": abi["files"]["ptx"]},
        ptx=abi["versions"]["ptx"],
        threads=launch["threads"],
        shared_bytes=launch["shared_bytes"],
        scratch_bytes=abi["scratch_bytes"],
        cluster=tuple(launch["cluster"]),
        cooperative=launch["cooperative"],
        programmatic=launch["programmatic"],
        residency=None if said is None else index.Residency(**{**said, "shared": tuple(said["shared"])}),
        reports=(),
        tensor_maps=index.tensor_maps(launch["tensor_maps"]),
    )
    path = image.path("ptx")
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(artifact.path, path)
    there = [each for each in abi["parameters"] if each["type"] != "none"]
    names, types = [each["name"] for each in there], [each["type"] for each in there]
    return image, Layout(names, types, abi["arguments"], abi["packed_size"])


def packed_values(layout: Layout, arguments: Mapping[str, Any]) -> list[Any]:
    """What is packed for a launch: addresses and numbers, in the order of the layout."""
    given = dict(arguments)
    for name, value in arguments.items():
        if isinstance(value, Blocks):
            given |= {name + more: part for more, part in value.parts}
    values = [given[layout.arguments[place].name] for place in layout.order]
    return [each.data_ptr() if isinstance(each, torch.Tensor) else each for each in values]


def our_runs(launch: Launch, artifact: teenybuild.Artifact, directory: Path) -> Runs:
    """Our side, ready to run on the current device and stream."""
    image, layout = packaged(artifact, directory)
    program = GpuProgram(image, layout, torch.cuda.current_device(), launch.function)
    grid = (*launch.grid, 1, 1)[:3]

    def make(arguments: Mapping[str, Any]) -> Callable[[], None]:
        values = packed_values(layout, arguments)
        stream = torch.cuda.current_stream().cuda_stream
        return lambda: program.run(values, grid, stream)

    return make


def their_runs(launch: Launch) -> Runs:
    """Triton's side."""
    kernel = launch.imported
    constants = compiling.tritons_constants(launch.const)
    launcher = kernel[(*launch.grid, 1, 1)[:3]]
    options = {"num_warps": launch.num_warps, "num_stages": launch.num_stages}
    # A kernel may have a constant of that name, which then is the option.
    options = {name: value for name, value in options.items() if name not in kernel.arg_names}

    def make(arguments: Mapping[str, Any]) -> Callable[[], None]:
        all_ = {**arguments, **constants}
        given = [
            all_[name].tritons if isinstance(all_[name], Blocks) else all_[name] for name in kernel.arg_names
        ]
        return lambda: launcher(*given, **options)

    return make


def compile_both(launch: Launch, directory: Path) -> teenybuild.Artifact:
    """Compiles on both sides and runs nothing: arrays need no memory."""
    artifact = compiled(launch, directory)
    _, layout = packaged(artifact, directory)
    layout.pack(*packed_values(layout, launch.arguments))
    missing = set(launch.imported.arg_names) - launch.arguments.keys() - launch.const.keys()
    if missing:
        raise SystemExit(f"{launch.function}: {', '.join(sorted(missing))} has no value")
    request = compiling.Request(
        launch.path,
        launch.function,
        launch.types,
        launch.constants,
        launch.aligned,
        launch.num_warps,
        launch.num_stages,
        imported=lambda: launch.imported,
    )
    theirs = compiling.tritons(request, "ptx")
    assert theirs is not None, "triton was imported above"
    theirs()
    return artifact


def poison(array: torch.Tensor, byte: int) -> None:
    """What must not be left: NaN, and in whole numbers a byte of one's own, so that two arrays nobody wrote differ."""
    array.fill_(torch.nan if array.is_floating_point() else byte)
