"""Calls of kernels with what they should compute, and the list of all kernels that have some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from teenybuild import testing
from teenybuild.api import Artifact, compile
from tests.support.run import Array, Described, passed, type_of, workspace

SOURCES = Path(__file__).with_name("sources")

F32, F16, BF16, F64 = np.float32, np.float16, ml_dtypes.bfloat16, np.float64


@dataclass(frozen=True)
class Case:
    """One call of one kernel."""

    #: Arrays and scalars by name, tuples of them, and descriptors; outputs filled by :func:`poison`.
    arguments: Mapping[str, Any]
    #: What arrays hold afterwards, in float64 (integers as they are), entries of tuples by their own names.
    wanted: Mapping[str, Array]
    grid: tuple[int, ...]
    const: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: Relative to the largest value of an array, for all or by name; the rest are a few roundings of their dtype.
    tolerance: float | Mapping[str, float] = field(default_factory=dict[str, float])
    #: Of scalars and pointers whose type their value does not tell.
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    num_warps: int = 4
    num_stages: int = 3
    #: Whether pointers and sizes are compiled as multiples of 16 where they are, as a launcher finds out.
    assumed: bool = True
    #: Whether every run adds up in the same order: not where floats meet in atomics.
    ordered: bool = True

    @property
    def argument_types(self) -> dict[str, str]:
        """The manifest's types of all arguments."""
        return {name: type_of(value) for name, value in self.arguments.items()} | dict(self.types)

    @property
    def assume(self) -> dict[str, dict[str, int]]:
        """What a launcher would find out about the arguments."""
        given = {n: v for name, value in self.arguments.items() for n, v in passed(name, value)}
        told = {name for name, value in self.arguments.items() if isinstance(value, Described)}
        return {n: {"div": 16} for n, v in given.items() if self.assumed and _divides(n, v) and n not in told}

    def check(self, results: Mapping[str, Array], where: str) -> None:
        """AssertionError where arrays are not what they should be, or one changed that should not."""
        given_arrays = {n: v for name, value in self.arguments.items() for n, v in passed(name, value)}
        for name, array in results.items():
            wanted = self.wanted.get(name)
            if wanted is None:
                before: Any = given_arrays[name]
                same = np.array_equal(array.view(np.uint8), before.view(np.uint8))
                assert same, f"{name} changed, and nothing is said of that"
                continue
            given = self.tolerance
            allowed = given.get(name) if isinstance(given, Mapping) else given
            testing.compare(name, where, array, np.asarray(wanted).reshape(array.shape), allowed)


def _divides(name: str, value: object) -> bool:
    if ".strides[" in name:
        return False
    return isinstance(value, np.ndarray) or (type(value) is int and value % 16 == 0)


Cases = Callable[[np.random.Generator], Iterator[Case]]


@dataclass(frozen=True)
class Kernel:
    """A kernel of ``sources`` and its calls."""

    path: Path
    function: str
    cases: Cases

    def compile(self, case: Case, target: str, cache: Path | None = None, **options: Any) -> Artifact:
        """The specialisation that a call needs."""
        return compile(
            f"{self.path}:{self.function}", target, case.argument_types, case.const, assume=case.assume,
            num_warps=case.num_warps, num_stages=case.num_stages, cache_dir=cache or workspace() / "cache", **options,
        )  # fmt: skip


#: All of them, by ``file.function``; filled as the modules of ``cases`` are imported.
KERNELS: dict[str, Kernel] = {}


def cases(function: Cases) -> Cases:
    """Marks a generator of calls: of the kernel with its name, in the source with its module's."""
    file = function.__module__.rpartition(".")[2]
    KERNELS[f"{file}.{function.__name__}"] = Kernel(SOURCES / f"{file}.py", function.__name__, function)
    return function


def poison(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """An output that shows what was not written."""
    made = np.empty(shape, dtype)
    made.view(np.uint8)[...] = 0xA5
    if made.dtype.kind not in "iub":
        made[...] = np.nan
    return made


def wide(array: Array) -> Any:
    """In float64, for references."""
    return array.astype(np.float64)


def normal(rng: np.random.Generator, *shape: int, dtype: Any = F32) -> Any:
    """Random numbers of a dtype."""
    return rng.standard_normal(shape).astype(dtype)


def strides(array: Array) -> tuple[int, ...]:
    """In elements."""
    return tuple(s // array.itemsize for s in array.strides)


def cdiv(x: int, y: int) -> int:
    """Quotient, rounded up."""
    return -(-x // y)
