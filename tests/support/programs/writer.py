"""A random program while it is written: its text, its arguments, and what NumPy says of every value.

A program is a list of steps. A step gives names to values, or changes arrays; it is some lines of source and, beside them, a function on
arrays that does the same.  Where chance decides, :class:`Writer` asks a function for a number below n: Hypothesis, which makes failures
small, or a seeded generator, which gives the same program for the same seed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from tests.language import oracle
from tests.support.elementwise import language_dtype
from tests.support.run import Array, assert_same_bits, numpy_dtype, passed

T = TypeVar("T")

#: A number from 0 to below the one that is given.
Chance = Callable[[int], int]
#: From the arrays of what a step uses to those of what it gives and writes.
Compute = Callable[..., Any]
Shape = tuple[int, ...]

FP8 = ("f8e4m3", "f8e5m2")
#: The programs of a grid: each has results of its own, and all meet in atomics.
PROGRAMS = 2
#: Tiles stay small: what is tried here are combinations, not sizes.
LARGEST = 512
KINDS = (
    (), (8,), (16,), (32,), (64,), (1,), (2,), (128,), (512,), (4, 8), (16, 4), (8, 16), (16, 16), (4, 64), (64, 8), (2, 128), (16, 32),
    (1, 16), (32, 1), (2, 2), (2, 4, 8), (8, 4, 16), (4, 1, 16), (2, 8, 2), (2, 4, 2, 4), (1, 2, 8, 2), (2, 2, 4, 2, 2), (4, 1, 2, 2, 4),
)  # fmt: skip


@dataclass(frozen=True)
class Rules:
    """What programs may not do, where they run."""

    #: Operations that are not written, by name.
    without: frozenset[str] = frozenset()
    dtypes: tuple[str, ...] = (*oracle.ALL, *FP8)
    #: Neither NaN, nor zeros below zero, nor numbers that integers cannot hold, where peers differ in them.
    tame: bool = False


@dataclass(frozen=True)
class Value:
    """What a name in a program holds: a scalar, whose shape is (), or a tile."""

    name: str
    dtype: str
    shape: Shape


@dataclass(frozen=True)
class Near:
    """A value that is known but for some error an element; where that is infinite nothing is known."""

    value: Array
    error: Array


@dataclass(frozen=True)
class Step:
    """Some lines of a program."""

    lines: tuple[str, ...]
    gives: tuple[Value, ...]
    uses: tuple[str, ...]
    compute: Compute
    #: Arguments that the step reads: arrays, tuples, descriptors.
    reads: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: Arguments that it changes, as they are before.
    writes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    #: Whether ``compute`` takes what is not known as well.
    takes_unknown: bool = False

    @property
    def memory(self) -> dict[str, Array]:
        """The arrays of what it changes, by the names of the ABI."""
        return {n: part for n, part in parts(self.writes).items() if isinstance(part, np.ndarray)}


def parts(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What is passed for some arguments, by the names of the ABI."""
    return {n: part for name, value in arguments.items() for n, part in passed(name, value)}


#: How a kernel begins: which program of the grid it is decides what it reads and writes.
FIRST = Step(("p = tl.program_id(0)",), (Value("p", "i32", ()),), (), lambda: (None,))


def run_steps(steps: Iterable[Step], known: dict[str, Any], memory: dict[str, Any]) -> None:
    """Adds what steps give to ``known`` and changes ``memory``: arrays, :class:`Near`, or None for what nobody knows."""
    for step in steps:
        if step is FIRST:
            continue
        changed = step.memory
        names = [*(v.name for v in step.gives), *changed]
        operands = [known[n] for n in step.uses] + [memory[n] for n in changed]
        found: Sequence[Any] = [None] * len(names)
        if step.takes_unknown or all(isinstance(o, np.ndarray) for o in operands):
            found = step.compute(*operands)
        assert len(found) == len(names), step
        for name, value in zip(names, found, strict=True):
            if name in changed:
                memory[name] = value
            else:
                known[name] = value


@dataclass(frozen=True)
class Program:
    """A kernel, as it was written."""

    steps: tuple[Step, ...]
    helpers: Mapping[str, str]
    #: How it is compiled: :func:`tests.support.run.run` takes these.
    options: Mapping[str, Any]

    @property
    def fused(self) -> bool:
        """Whether multiplications and additions are rounded together, of which NumPy knows nothing."""
        return bool(self.options["enable_fp_fusion"])

    def source(self, *, checked: bool = True) -> str:
        """The text; with the assertions that every name has the dtype and shape that it should."""
        lines = [line for step in self.steps for line in _lines(step, checked)]
        body = "\n".join(f"    {line}" for line in lines)
        used = _reached(body, self.helpers)
        helpers = "".join(f"{text}\n\n\n" for name, text in self.helpers.items() if name in used)
        return f"{helpers}@triton.jit\ndef kernel({', '.join(self.arguments)}):\n{body}\n"

    @property
    def arguments(self) -> dict[str, Any]:
        """What the kernel takes, before it runs: arrays, tuples, descriptors."""
        return {n: a for step in self.steps for n, a in (*step.reads.items(), *step.writes.items())}

    @property
    def written(self) -> list[str]:
        """The arrays that tell what it did, by the names of the ABI."""
        return list(self.memory)

    @property
    def memory(self) -> dict[str, Array]:
        """What they hold before."""
        return {n: a for step in self.steps for n, a in step.memory.items()}

    def expected(self) -> dict[str, Any]:
        """What its arrays hold afterwards, as far as NumPy can tell."""
        memory: dict[str, Any] = {name: array.copy() for name, array in self.memory.items()}
        with np.errstate(all="ignore"):
            for program in range(PROGRAMS):
                run_steps(self.steps, {"p": np.array(program, np.int32)}, memory)
        return memory

    def only(self, argument: str) -> Program:
        """The part of the program that one of its arrays depends on."""
        wanted: set[str] = set()
        kept: list[Step] = []
        for step in reversed(self.steps):
            if step is FIRST or argument in step.memory or wanted & {v.name for v in step.gives}:
                kept.append(step)
                wanted |= set(step.uses)
        return Program(tuple(reversed(kept)), self.helpers, self.options)

    def check(self, found: Mapping[str, Array], where: str) -> None:
        """AssertionError, with the part of the program that is wrong, where NumPy says another thing than ``found``."""
        for name, wanted in {} if self.fused else self.expected().items():
            self.compare(name, found[name], wanted, where)

    def compare(self, name: str, found: Array, wanted: Any, where: str) -> None:
        """Holds one array against what is known of it."""
        try:
            if isinstance(wanted, Near):
                _assert_near(found, wanted)
            elif wanted is not None:
                assert_same_bits(found, wanted)
        except AssertionError as wrong:
            raise AssertionError(f"{name}, {where}: {wrong}\n\n{self.only(name).source()}") from None


def _lines(step: Step, checked: bool) -> Iterable[str]:
    yield from step.lines
    for v in step.gives if checked else ():
        yield f"tl.static_assert({v.name}.dtype == {language(v.dtype)})"
        if v.shape:
            yield f"tl.static_assert({v.name}.shape == {list(v.shape)})"


def _reached(text: str, helpers: Mapping[str, str]) -> set[str]:
    found: set[str] = set()
    texts = [text]
    while texts:
        called = set(re.findall(r"\w+", texts.pop())) & set(helpers) - found
        found |= called
        texts += [helpers[name] for name in called]
    return found


def _assert_near(found: Array, wanted: Near) -> None:
    x, y = found.astype(np.float64), np.asarray(wanted.value).astype(np.float64)
    with np.errstate(all="ignore"):
        same = (
            (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= wanted.error) | np.isinf(wanted.error)
        )
    if not same.all():
        at = tuple(np.argwhere(~same)[0])
        raise AssertionError(
            f"{(~same).sum()} are far off, first at {at}: {found[at]!r}, not {wanted.value[at]!r}"
        )


def language(dtype: str) -> str:
    """``tl.float16`` for ``f16``."""
    return language_dtype(dtype)


def pointer(dtype: str) -> str:
    """The type of what points to a dtype."""
    return f"tl.pointer_type({language(dtype)})"


def offsets(shape: Shape) -> str:
    """Where the elements of a row-major array lie."""
    if not shape:
        return "0"
    terms: list[str] = []
    for axis, side in enumerate(shape):
        stride = int(np.prod(shape[axis + 1 :]))
        at = (
            ""
            if len(shape) == 1
            else f"[{', '.join(':' if a == axis else 'None' for a in range(len(shape)))}]"
        )
        terms.append(f"tl.arange(0, {side}){at}{f' * {stride}' if stride > 1 else ''}")
    return " + ".join(terms)


class Writer:
    """Writes one program, one step after the other."""

    def __init__(self, chance: Chance, rules: Rules, outer: Writer | None = None) -> None:
        self.chance, self.rules, self.outer = chance, rules, outer
        self.steps: list[Step] = []
        self.values: list[Value] = [] if outer is None else list(outer.values)
        self.helpers: dict[str, str] = {} if outer is None else outer.helpers
        self._count: list[int] = [0] if outer is None else outer._count

    # Chance ------------------------------------------------------------------------------------------------------

    def choose(self, options: Sequence[T]) -> T:
        """One of some things; the first is the simplest."""
        return options[self.chance(len(options))]

    def number(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``."""
        return low + self.chance(high - low + 1)

    def maybe(self) -> bool:
        """No, or yes."""
        return self.chance(2) == 1

    def dtype(self, among: Sequence[str]) -> str:
        """One of some dtypes that the rules allow."""
        return self.choose([d for d in among if d in self.rules.dtypes])

    # Values ------------------------------------------------------------------------------------------------------

    def value(
        self,
        dtypes: Sequence[str] = oracle.ALL,
        shape: Shape | None = None,
        *,
        fits: Callable[[Shape], bool] = lambda shape: True,
    ) -> Value:
        """A value that there is already, else a new one: of one of the dtypes and, unless any will do, of the shape."""
        allowed = [d for d in dtypes if d in self.rules.dtypes]
        there = [
            v
            for v in reversed(self.values)
            if v.dtype in allowed and fits(v.shape) and (shape is None or v.shape == shape)
        ]
        if there and self.chance(4) < 3:
            return self.choose(there)
        if shape is None:
            shape = self.choose([s for s in KINDS if fits(s)])
        return self.load(self.choose(allowed), shape)

    def tile(self, dtypes: Sequence[str] = oracle.ALL, rank: int = 1) -> Value:
        """A tile with at least ``rank`` axes."""
        return self.value(dtypes, fits=lambda shape: len(shape) >= rank)

    def load(self, dtype: str, shape: Shape, array: Array | None = None) -> Value:
        """A value of an argument of its own, another for each program of the grid."""
        if array is None:
            array = self.array(dtype, (PROGRAMS, *shape))
        name = self.fresh("x")
        size = int(np.prod(shape))
        at = f"tl.load({name} + p * {size} + {offsets(shape)})"
        # Seen as the scalar or the tile of the program.
        return self.emit(at, dtype, shape, compute=lambda p: array[int(p)], uses=("p",), reads={name: array})

    def array(self, dtype: str, shape: Shape) -> Array:
        """Numbers for an argument: with all the edges of a dtype, or small and whole."""
        count = int(np.prod(shape))
        seed = self.chance(1 << 16)
        generator = np.random.default_rng(seed)
        if dtype in FP8:
            codes = generator.integers(0, 256, count).astype(np.uint8)
            return codes.view(numpy_dtype(dtype)).reshape(shape)
        if dtype == "i1":
            return generator.integers(0, 2, shape).astype(np.bool_)
        if self.maybe() and not (self.rules.tame and dtype in oracle.FLOATS):
            pool = oracle.values(dtype, max(count, 32), seed)
            return generator.permutation(pool)[:count].reshape(shape)
        low = 0 if dtype in oracle.UNSIGNED else -7
        found = generator.integers(low, 8, shape).astype(numpy_dtype(dtype))
        return found * np.array(0.5, found.dtype) if dtype in oracle.FLOATS and self.maybe() else found

    def fresh(self, letter: str = "v") -> str:
        """A name that nothing has."""
        self._count[0] += 1
        return f"{letter}{self._count[0]}"

    # Steps -------------------------------------------------------------------------------------------------------

    def emit(
        self,
        text: str,
        dtype: str,
        shape: Shape,
        *operands: Value,
        compute: Compute,
        uses: tuple[str, ...] = (),
        reads: Mapping[str, Any] | None = None,
        near: bool = False,
        before: Sequence[str] = (),
    ) -> Value:
        """``v = text``, in which ``{0}`` is the first operand.

        ``compute`` gives an array, which is brought to the dtype and shape; with ``near`` that and an error. ``before`` are lines that
        the text needs.
        """
        value = Value(self.fresh(), dtype, shape)

        def one(*arrays: Array) -> tuple[Any]:
            found = compute(*arrays)
            if found is None:
                return (None,)
            if near:
                exact, error = (np.asarray(f) for f in found)
                return (
                    Near(
                        exact.astype(numpy_dtype(dtype)).reshape(shape),
                        np.broadcast_to(error, exact.shape).reshape(shape),
                    ),
                )
            return (np.asarray(found).astype(numpy_dtype(dtype)).reshape(shape),)

        names = [o.name for o in operands]
        line = f"{value.name} = {text.format(*names)}"
        self.add(Step((*before, line), (value,), (*names, *uses), one, reads or {}))
        return value

    def give(self, text: str, values: Sequence[Value], *operands: Value, compute: Compute) -> None:
        """``v, w = text``: several values at once."""
        names = [o.name for o in operands]
        line = f"{', '.join(v.name for v in values)} = {text.format(*names)}"

        def all_of(*arrays: Array) -> Sequence[Any]:
            found = compute(*arrays)
            return [
                np.asarray(f).astype(numpy_dtype(v.dtype)).reshape(v.shape)
                for f, v in zip(found, values, strict=True)
            ]

        self.add(Step((line,), tuple(values), tuple(names), all_of))

    def add(self, step: Step) -> None:
        """A step of any kind."""
        self.steps.append(step)
        self.values += step.gives

    def helper(self, text: str, above: str = "@triton.jit") -> str:
        """A function beside the kernel, ``def NAME(…)``; once, however often it is asked for. Gives its name.

        ``above`` it stand its decorator, or what a class needs.
        """
        text = f"{above}\n{text}"
        for name, there in self.helpers.items():
            if there == text.replace("NAME", name):
                return name
        name = self.fresh("f")
        self.helpers[name] = text.replace("NAME", name)
        return name

    def nested(self) -> Writer:
        """A writer of lines inside of a loop or branch: it sees what there is, and what it makes is seen by nobody else."""
        return Writer(self.chance, self.rules, self)

    def store(self, value: Value) -> None:
        """What is left of a value when the program has run."""
        size = int(np.prod(value.shape))
        name = self.fresh("o")
        made = np.zeros((PROGRAMS, *value.shape), numpy_dtype(value.dtype))

        def compute(p: Array, found: Any, memory: Any) -> tuple[Any]:
            if found is None or memory is None:
                return (None,)
            near = isinstance(found, Near) or isinstance(memory, Near)
            before = memory if isinstance(memory, Near) else Near(memory, np.zeros(memory.shape))
            after = Near(before.value.copy(), before.error.copy())
            after.value[int(p)] = found.value if isinstance(found, Near) else found
            after.error[int(p)] = found.error if isinstance(found, Near) else 0
            return (after if near else after.value,)

        line = f"tl.store({name} + p * {size} + {offsets(value.shape)}, {value.name})"
        self.add(Step((line,), (), ("p", value.name), compute, writes={name: made}, takes_unknown=True))
