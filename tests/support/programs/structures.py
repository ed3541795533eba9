"""Values that hold others, and what is asked and computed while a kernel compiles."""

from __future__ import annotations

import math

import numpy as np

from tests.language import oracle
from tests.support.run import Array

from .registry import operation
from .writer import Shape, Step, Value, Writer

#: Sums of these are the same everywhere, to the last bit.
ADDED = ("i32", "i64", "u32", "u16", "i8", "f64", "f32")

PAIR = "class NAME(NamedTuple):\n    a: tl.tensor\n    b: tl.tensor"
SWAPPED = "def NAME(pair):\n    return PAIR(pair.b, b=pair[0])"


def plus(w: Writer, text: str, number: int, x: Value) -> None:
    """Emits ``text``, which adds a number to a value."""
    w.emit(
        text, x.dtype, x.shape, x,
        compute=lambda a: oracle.binary("+", a, np.array(number, a.dtype), x.dtype),
    )  # fmt: skip


@operation
def named_tuples(w: Writer) -> None:
    """Made by a function, carried by a loop, or chosen by a branch."""
    pair = w.helper(PAIR, "from typing import NamedTuple\n\n")
    kind = w.choose(["function", "loop", "branch"])
    if kind == "function":
        x, y = w.value(oracle.ALL), w.value(oracle.ALL)
        swapped = w.helper(SWAPPED.replace("PAIR", pair))
        both = (Value(w.fresh(), y.dtype, y.shape), Value(w.fresh(), x.dtype, x.shape))
        w.give(f"{swapped}({pair}({{0}}, {{1}}))", both, x, y, compute=lambda a, b: (b, a))
        return
    x = w.value(ADDED)
    y, made = w.value((x.dtype,), x.shape), w.fresh("t")
    gives = (Value(w.fresh(), x.dtype, x.shape), Value(w.fresh(), x.dtype, x.shape))
    turns = w.number(0, 2) if kind == "loop" else 0
    again = f"for {w.fresh('i')} in range(p + {turns}):" if kind == "loop" else "if p == 1:"
    lines = (
        f"{made} = {pair}({x.name}, {y.name})",
        again,
        f"    {made} = {pair}({made}.b, {made}.a + {made}.b)",
        *(f"{v.name} = {made}.{field}" for v, field in zip(gives, "ab", strict=True)),
    )

    def compute(a: Array, b: Array, p: Array) -> tuple[Array, Array]:
        for _ in range(int(p) + turns):  # a branch is a loop of one turn, of the second program
            a, b = b, oracle.binary("+", a, b, x.dtype)
        return a, b

    w.add(Step(lines, gives, (x.name, y.name, "p"), compute))


@operation
def tuples(w: Writer) -> None:
    """Joined, repeated, turned round, and taken apart again."""
    x, y = w.value(oracle.ALL), w.value(oracle.ALL)
    nested = [
        ("tl.tuple((({0}, 5), {1}))[0][0]", 0)
    ]  # in the interpreter, whose inner tuples are Python's, it fails
    text, place = w.choose(
        [
            ("tl.tuple([{0}, {1}])[1]", 1),
            ("list(({0}, {1}))[-2]", 0),
            ("(({0}, 3) + ({1},))[::-1][0]", 1),
            ("(({0}, {1}) * 2)[1:][1]", 0),
            *(nested if not w.rules.tame else []),
        ]
    )
    given = (x, y)[place]
    w.emit(text, given.dtype, given.shape, x, y, compute=lambda *both: both[place])


@operation
def comprehensions(w: Writer) -> None:
    """Tuples of values, each made alike."""
    x = w.value(ADDED)
    text, number = w.choose(
        [
            ("[{0} + i for i in (1, 2, 3)][2]", 3),
            ("[[{0} + i * j for j in (1, 2)] for i in (3, 4)][1][0]", 4),
            ("tl.tuple([{0} + 2 * i for i in (0, 1, 2)])[2]", 4),
            ("[a + 5 for a in ({0}, 1)][0]", 5),
        ]
    )
    plus(w, text, number, x)


@operation
def counted_comprehensions(w: Writer) -> None:
    """Comprehensions that count."""
    plus(w, "[{0} + 2 * i for i in tl.static_range(1, 4)][2]", 6, w.value(ADDED))


RETURNS = """def NAME(n, x, TURNS: tl.constexpr):
    for i in tl.static_range(TURNS):
        if n == i:
            return x + i
        if i == 2:
            return x + 7
        x = x + x
    return x + 9"""


@operation
def early_returns(w: Writer) -> None:
    """A function that ends in one of the turns of an unrolled loop."""
    x, turns = w.value(ADDED), w.number(0, 4)
    n = w.value(("i32",), ())
    place = w.emit("{0} & 3", "i32", (), n, compute=lambda a: a & np.int32(3))

    def add(a: Array, number: int) -> Array:
        return oracle.binary("+", a, np.array(number, a.dtype), x.dtype)

    def compute(n: Array, a: Array) -> Array:
        for i in range(turns):
            if n == i:
                return add(a, i)
            if i == 2:
                return add(a, 7)
            a = oracle.binary("+", a, a, x.dtype)
        return add(a, 9)

    w.emit(f"{w.helper(RETURNS)}({{0}}, {{1}}, {turns})", x.dtype, x.shape, place, x, compute=compute)


@operation
def questions(w: Writer) -> None:
    """About types and attributes, and about the launch."""
    x = w.tile(ADDED)
    asked = [
        ("3 if isinstance({0}, tl.tensor) else 4", 3),
        ("6 if hasattr({0}, 'dtype') and not hasattr({0}, 'dtipe') else 7", 6),
        ("getattr({0}, 'shape')[0] // 8", x.shape[0] // 8),
        ("getattr({0}, 'nothing', 5)", 5),
    ]
    if not w.rules.tame:  # the interpreter's tuples are Python's, and it launches nothing
        asked += [
            ("1 if isinstance(({0}, {0}), tl.tuple) else 2", 1),
            ("tl.extra.cuda.num_threads() // tl.extra.cuda.num_warps()", 32),
        ]
    text, number = w.choose(asked)
    plus(w, f"{{0}} + ({text})", number, x)


DIVISORS = """def NAME(x):
    return len([n for n in range(1, x + 1) if x % n == 0])"""
SIDES = """def NAME(x):
    for side in [2**n for n in range(10)]:
        if side * side >= x:
            return (x // side, side)"""


@operation
def compile_time_functions(w: Writer) -> None:
    """Python that runs while the kernel is compiled: for numbers, and for shapes."""
    if w.maybe():
        x, size = w.value(ADDED), w.number(1, 60)
        divisors = w.helper(DIVISORS, "@triton.constexpr_function")
        count = sum(size % n == 0 for n in range(1, size + 1))
        plus(w, f"{{0}} + {divisors}({size})", count, x)
        return
    x = w.tile()
    size = math.prod(x.shape)
    side = 1 << math.ceil(math.log2(size) / 2)
    shape: Shape = (size // side, side)
    w.emit(
        f"tl.reshape({{0}}, {w.helper(SIDES, '@triton.constexpr_function')}({size}))", x.dtype, shape, x,
        compute=lambda a: a.reshape(shape),
    )  # fmt: skip
