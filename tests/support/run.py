"""Compiles kernels for the host and runs them on NumPy arrays: what language tests are written with.

A kernel is source text. :func:`run` compiles it for ``cpu`` and for ``cpu:sm_90a`` (a GPU's layouts, shuffles and shared memory, run on the host),
runs both on copies of the arguments between forbidden pages, checks that both wrote the same bits, and gives what was written.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from teenybuild.api import Artifact, compile
from teenybuild.dtypes import BY_NAME, BY_NUMPY
from teenybuild.types import spell_descriptor, spell_tuple

from .memory import Guarded, aligned_scratch

Array = NDArray[np.generic]

#: The host, and a GPU's way of doing it on the host.
HOST_TARGETS = ("cpu", "cpu:sm_90a")

_STRUCT = {1: "B", 2: "H", 4: "I", 8: "Q"}


@dataclass(frozen=True)
class Typed:
    """A scalar argument whose dtype is said: ``Typed(3, "i64")``."""

    value: int | float | bool
    dtype: str


class Address(int):
    """An argument that is passed as an address, whatever lies there; its type is given in ``types``."""


@cache
def workspace() -> Path:
    """A directory for sources and entries, of this process."""
    directory = Path(tempfile.mkdtemp(prefix="teenybuild-tests-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


PREAMBLE = "import triton\nimport triton.language as tl\n\n\n"


def write_source(source: str) -> Path:
    """A file that holds ``source`` (with the usual imports, where it has none)."""
    text = source if "import triton" in source else PREAMBLE + source
    path = workspace() / f"k{hashlib.sha256(text.encode()).hexdigest()[:16]}.py"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return path


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a dtype by its manifest name."""
    spelled = BY_NAME[name].numpy
    return np.dtype(getattr(ml_dtypes, spelled, None) or spelled)


@dataclass(frozen=True)
class Described:
    """A tensor descriptor over an array, as Triton's own has it."""

    base: Array
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"


def described(array: Array, block: Sequence[int], padding: str = "zero") -> Described:
    """A descriptor of a whole array."""
    return Described(array, array.shape, [s // array.itemsize for s in array.strides], block, padding)


def passed(name: str, value: object) -> Iterator[tuple[str, object]]:
    """What is passed for an argument, by the names of the ABI: entries of tuples, parts of descriptors."""
    if isinstance(value, tuple):
        for place, each in enumerate(cast("tuple[object, ...]", value)):
            yield from passed(f"{name}[{place}]", each)
    elif isinstance(value, Described):
        yield name, value.base
        yield from ((f"{name}.shape[{axis}]", extent) for axis, extent in enumerate(value.shape))
        yield from ((f"{name}.strides[{axis}]", stride) for axis, stride in enumerate(value.strides))
        yield f"{name}.padding", value.padding == "nan"
    else:
        yield name, value


def type_of(value: object) -> str:
    """The manifest's type of an argument."""
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return spell_tuple([type_of(each) for each in cast("tuple[object, ...]", value)])
    if isinstance(value, Described):
        return spell_descriptor(BY_NUMPY[value.base.dtype.name].name, value.block_shape)
    if isinstance(value, np.ndarray):
        return f"*{BY_NUMPY[value.dtype.name].name}"
    if isinstance(value, Typed):
        return value.dtype
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32"
    assert isinstance(value, float), value
    return "f32"


@dataclass(frozen=True)
class Program:
    """A compiled kernel, ready to run on the host."""

    artifact: Artifact

    def __call__(
        self,
        arguments: Mapping[str, object],
        grid: Sequence[int] = (1,),
        *,
        programs: tuple[int, int] | None = None,
    ) -> dict[str, Array]:
        """Runs the grid (or linear programs ``first`` to ``last`` - 1 of it); the arrays as they are afterwards, by the names of the ABI."""
        abi = self.artifact.abi
        arguments = {n: v for name, value in arguments.items() for n, v in passed(name, value)}
        held: dict[str, Guarded] = {}
        packed = bytearray(max(abi["packed_size"], 1))
        for row in abi["arguments"]:
            value = arguments[row["name"]]
            if isinstance(value, np.ndarray):
                alignment = row["assume"].get("div", 1)
                guarded = held[row["name"]] = Guarded(value, alignment, writable=row["access"] != "read")
                value = guarded.address
            struct.pack_into(f"<{_STRUCT[row['size']]}", packed, row["offset"], argument_bits(value, row))
        extents = [*grid, 1, 1][:3]
        first, last = programs if programs is not None else (0, extents[0] * extents[1] * extents[2])
        function = _function(str(self.artifact.path), f"{abi['symbol']}_range")
        with aligned_scratch(abi["scratch_bytes"]) as scratch:
            function((ctypes.c_char * len(packed)).from_buffer(packed), first, last, *extents, scratch)
        found = {name: guarded.take() for name, guarded in held.items()}
        for name, value in arguments.items():
            if isinstance(value, np.ndarray) and name not in found:
                found[name] = value
        return found


def argument_bits(value: object, row: Mapping[str, Any]) -> int:
    """The bits of a scalar or of an address."""
    if row["kind"] == "pointer":
        assert isinstance(value, int)
        return value
    dtype = BY_NAME[row["dtype"]]
    number = value.value if isinstance(value, Typed) else value
    if dtype.is_float:
        return int(np.array(number).astype(numpy_dtype(dtype.name)).view(f"u{dtype.size}"))
    assert isinstance(number, int)
    return number & ((1 << 8 * dtype.size) - 1)


@cache
def _function(path: str, symbol: str) -> Any:
    function = getattr(ctypes.CDLL(path), symbol)
    i32, i64, pointer = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p
    function.argtypes = [pointer, i64, i64, i32, i32, i32, pointer]
    function.restype = None
    return function


#: Targets whose results :func:`run` holds against each other, the first's is given; how their artifacts run. Tests on a GPU add it.
COMPARED: dict[
    str, Callable[[Artifact], Callable[[Mapping[str, object], Sequence[int]], dict[str, Array]]]
] = dict.fromkeys(HOST_TARGETS, Program)


def build(
    source: str,
    arguments: Mapping[str, object],
    const: Mapping[str, Any] | None = None,
    *,
    target: str = "cpu",
    **options: Any,
) -> Program:
    """Compiles ``kernel`` of ``source`` for arguments like these, for the host."""
    return Program(compiled(source, arguments, const, target, **options))


def compiled(
    source: str,
    arguments: Mapping[str, object],
    const: Mapping[str, Any] | None,
    target: str,
    *,
    types: Mapping[str, str] | None = None,
    kernel: str = "kernel",
    **options: Any,
) -> Artifact:
    said = dict(types or {})
    for name, value in arguments.items():
        said.setdefault(name, type_of(value))
    path = write_source(source)
    return compile(f"{path}:{kernel}", target, said, const, cache_dir=workspace() / "cache", **options)


def run(
    source: str,
    arguments: Mapping[str, object],
    const: Mapping[str, Any] | None = None,
    grid: Sequence[int] = (1,),
    **options: Any,
) -> dict[str, Array]:
    """What a kernel leaves in its arrays; the same bits on every target of :data:`COMPARED`, or AssertionError."""
    results = {
        target: make(compiled(source, arguments, const, target, **options))(arguments, grid)
        for target, make in COMPARED.items()
    }
    first, *others = results
    for target in others:
        for name, array in results[first].items():
            assert_same_bits(results[target][name], array, f"{name} on {target} and {first}")
    return results[first]


def bits(array: Array) -> NDArray[np.unsignedinteger[Any]]:
    """An array's bit patterns."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def canonical_bits(array: Array) -> NDArray[np.unsignedinteger[Any]]:
    """Bit patterns with every NaN alike: which NaN comes out of an operation is not specified anywhere."""
    found = bits(array).copy()
    if is_float(array.dtype):
        with np.errstate(invalid="ignore"):  # signalling NaNs
            nan = np.isnan(array.astype(np.float64))
        found[nan] = np.iinfo(found.dtype).max
    return found


def is_float(dtype: np.dtype[Any]) -> bool:
    """Floats, those of ml_dtypes included."""
    return BY_NUMPY[dtype.name].is_float


def assert_same_bits(actual: Array, expected: Array, what: str = "") -> None:
    """Bit for bit, every NaN alike; says where the first difference is."""
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype}, not {expected.dtype}"
    assert actual.shape == expected.shape, f"{what}: {actual.shape}, not {expected.shape}"
    differ = np.argwhere(canonical_bits(actual) != canonical_bits(expected))
    if len(differ):
        at = tuple(differ[0])
        raise AssertionError(
            f"{what}: {len(differ)} of {actual.size} differ, first at {at}: {actual[at]!r}, not {expected[at]!r}"
        )
