"""Which dtype two operands meet in, for every pair of dtypes, and what comes out: tiles, scalars and Python numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from teenybuild.diagnostics import UserError
from tests.support.elementwise import evaluate, language_dtype
from tests.support.run import Array, Typed, assert_same_bits, numpy_dtype, run

from . import oracle

PAIRS = list(itertools.product(oracle.ALL, repeat=2))
NUMBERS = (
    True,
    0,
    1,
    -1,
    100,
    3_000_000_000,
    -5_000_000_000,
    10**19,
    0.5,
    -0.0,
    3.0,
    1e300,
    float("inf"),
    float("nan"),
)

#: One operator for each way of treating operands: the others promote by the same code.
SOME = ("-", "&", "//", "%", "maximum", "<")

Meet = Callable[[str], "str | None"]


def operations(
    x: Array,
    y: Array,
    meet: Meet,
    divisor: Callable[[str], str],
    b: str = "b",
    some: Sequence[str] = tuple(oracle.BINARY),
) -> dict[str, tuple[str, Array]]:
    """Every operator that takes the operands: {name: (expression, what it gives)}.

    ``meet(op)`` is the dtype the operands of an operator are brought to; ``divisor(dtype)`` spells ``b`` with 1 in place of 0.
    """
    found: dict[str, tuple[str, Array]] = {}
    for op in some:
        _, kind, division = oracle.BINARY[op]
        dtype = meet(op)
        if dtype is None or (kind == "int" and dtype in oracle.FLOATS):
            continue
        text, other = b, y
        if division:
            text, other = divisor(dtype), oracle.nonzero(oracle.cast(y, dtype))
        found[f"r{len(found)}"] = (oracle.spell(op, "a", text), oracle.binary(op, x, other, dtype))
    dtype = meet("/")
    if dtype is not None:
        found[f"r{len(found)}"] = (f"(a / {b})", oracle.divide(x, y, dtype))
        if dtype in oracle.FLOATS:
            found[f"r{len(found)}"] = (f"(a % {b})", oracle.remainder(x, y, dtype))
    return found


def check(
    a: Array | Typed, b: Array | Typed, found: dict[str, tuple[str, Array]], prologue: str = ""
) -> None:
    """Runs the operations in one kernel and compares, bit for bit."""
    expressions = {name: (text, oracle.name_of(wanted)) for name, (text, wanted) in found.items()}
    results = evaluate(expressions, {"a": a, "b": b}, prologue=prologue)
    for name, (text, wanted) in found.items():
        assert_same_bits(results[name], wanted, f"{text} of {_what(a)} and {_what(b)}")


def _what(value: Array | Typed) -> str:
    return f"a scalar {value.dtype}" if isinstance(value, Typed) else f"a tile of {oracle.name_of(value)}"


@pytest.mark.parametrize(("left", "right"), PAIRS, ids="-".join)
def test_tile_and_tile(left: str, right: str) -> None:
    x, y = oracle.pairs(left, right, 400)

    def divisor(dtype: str) -> str:
        one = "True" if dtype == "i1" else "1"
        return f"tl.where(b.to({language_dtype(dtype)}) == 0, {one}, b.to({language_dtype(dtype)}))"

    check(x, y, operations(x, y, lambda op: oracle.meet(op, left, right), divisor))


@pytest.mark.parametrize(("left", "right"), PAIRS, ids="-".join)
def test_tile_and_scalar(left: str, right: str) -> None:
    """A run-time scalar promotes as a tile does, on either side."""
    x = oracle.values(left, 40)
    number = {"i1": True, "f16": 2.5, "bf16": -2.5, "f32": 1e20, "f64": 1e200}.get(right, 101)
    y = np.full(40, number, numpy_dtype(right))
    scalar = Typed(number, right)

    def meet(op: str) -> str | None:
        return oracle.meet(op, left, right)

    check(x, scalar, operations(x, y, meet, lambda _: "b", some=SOME))
    z = oracle.nonzero(x)
    check(scalar, z, operations(y, z, meet, lambda dtype: f"b.to({language_dtype(dtype)})", some=SOME))


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("left", oracle.ALL)
def test_tile_and_number(left: str, number: float) -> None:
    """A Python number of no higher kind takes the tile's dtype; one of a higher kind has its own."""
    x = oracle.values(left, 40)
    meets = [oracle.promote_number(left, number, division=division) for division in (False, True)]
    if not all(dtype is None or _fits(number, dtype) for dtype in meets):
        with pytest.raises(UserError, match="is out of range for"):
            evaluate({"r": (f"a + {_literal(number)}", left)}, {"a": x}, check_dtypes=False)
        return
    # A number is rounded once, to the dtype it takes.
    y = np.full(
        40, number, np.float64 if isinstance(number, float) else numpy_dtype(oracle.number_dtype(number))
    )
    found = operations(
        x,
        y,
        lambda op: oracle.meet_number(op, left, number),
        lambda _: _literal(number),
        _literal(number),
        SOME,
    )
    if number == 0:
        found = {
            name: (text, wanted)
            for name, (text, wanted) in found.items()
            if "//" not in text and "%" not in text
        }
    check(x, Typed(False, "i1"), found, prologue="NAN = float('nan')\nINF = float('inf')\n\n\n")


def _fits(number: float, dtype: str) -> bool:
    if dtype not in oracle.INTEGERS or isinstance(number, bool):
        return True
    limits = np.iinfo(numpy_dtype(dtype))
    return bool(limits.min <= number <= limits.max)


def _literal(number: float) -> str:
    text = {"inf": "INF", "nan": "NAN"}.get(repr(number), repr(number))
    return f"({text})"


@pytest.mark.parametrize(
    ("left", "right"), [p for p in PAIRS if oracle.promote(*p, division=True) is None], ids="-".join
)
@pytest.mark.parametrize("op", ["/", "//", "%"])
def test_division_refuses_mixed_signs(op: str, left: str, right: str) -> None:
    x, y = oracle.values(left, 4), oracle.values(right, 4)
    with pytest.raises(UserError, match=f"cannot divide {left} and {right}|cannot divide {right} and {left}"):
        evaluate({"r": (f"a {op} b", "i32")}, {"a": x, "b": y}, check_dtypes=False)


#: (expression, dtype of a, dtype that it gives, lower and upper bound).
EXTREMA = [
    ("tl.maximum(a, 0)", "u8", "i32", 0, None),
    ("tl.minimum(7, a)", "i16", "i32", None, 7),
    ("tl.maximum(a, True)", "i64", "i64", 1, None),
    ("tl.maximum(a, 0.5)", "f16", "f32", 0.5, None),
    ("tl.maximum(a, 1)", "f16", "f16", 1, None),
    ("tl.minimum(a, a)", "bf16", "f32", None, None),
    ("tl.maximum(a, 1)", "bf16", "f32", 1, None),
    ("tl.clamp(a, -1.0, 1.0)", "f16", "f32", -1, 1),
    ("tl.clamp(a, a, a)", "bf16", "f32", None, None),
    ("max(a, 3000000000)", "i32", "u32", 3000000000, None),
]


@pytest.mark.parametrize(("text", "given", "found", "low", "high"), EXTREMA)
def test_numbers_of_extrema_widen(
    text: str, given: str, found: str, low: float | None, high: float | None
) -> None:
    """A number has the dtype it takes by itself there, and bf16 becomes f32: as Triton's front end has it."""
    x = oracle.values(given, 40)
    x = x[x == x]
    kernel = f"""
@triton.jit
def kernel(x, o, N: tl.constexpr):
    a = tl.load(x + tl.arange(0, 64), mask=tl.arange(0, 64) < N)
    r = {text}
    tl.static_assert(r.dtype == {language_dtype(found)})
    tl.store(o + tl.arange(0, 64), r, mask=tl.arange(0, 64) < N)
"""
    wanted = oracle.cast(x, found)
    if low is not None:
        wanted = oracle.binary("maximum", wanted, np.full(len(x), low, wanted.dtype), found)
    if high is not None:
        wanted = oracle.binary("minimum", wanted, np.full(len(x), high, wanted.dtype), found)
    got = run(kernel, {"x": x, "o": np.zeros(len(x), numpy_dtype(found))}, {"N": len(x)})
    assert_same_bits(got["o"], wanted, text)
