"""What the language's operations give, said once more in NumPy and Python integers: Triton's rules, not our compiler's code.

Arrays in, arrays out; dtypes by their manifest names. Everything is exact: no tolerance is needed anywhere.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal

import ml_dtypes
import numpy as np

from teenybuild.dtypes import BY_NUMPY
from tests.support.run import Array, numpy_dtype

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("f16", "bf16", "f32", "f64")
ALL = ("i1", *INTEGERS, *FLOATS)

#: Bits of precision (with the hidden one), smallest normal exponent, largest finite value.
_FORMATS = {
    "f16": (11, -14, 65504.0),
    "bf16": (8, -126, float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)),
    "f32": (24, -126, float(np.finfo(np.float32).max)),
    "f64": (53, -1022, float(np.finfo(np.float64).max)),
}


def name_of(array: Array) -> str:
    """The manifest's name of an array's dtype."""
    return BY_NUMPY[array.dtype.name].name


def width(name: str) -> int:
    """Value bits of a dtype."""
    return 16 if name == "bf16" else int(name[1:])


# Promotion (Triton semantics, "Type Promotion") -----------------------------------------------------------------


def promote_integers(a: str, b: str) -> str:
    """C's usual conversions without the promotion to int; a bool counts as unsigned."""
    signed_a, signed_b = a in SIGNED, b in SIGNED
    if signed_a == signed_b:
        return a if width(a) > width(b) else b
    unsigned, signed = (b, a) if signed_a else (a, b)
    return unsigned if width(unsigned) >= width(signed) else signed


def promote(a: str, b: str, *, division: bool = False) -> str | None:
    """The dtype two run-time values meet in; None where they may not be divided."""
    for wide in ("f64", "f32"):
        if wide in (a, b):
            return wide
    if "f16" in (a, b):
        return "f32" if division else "f16"
    if a == b == "bf16":
        return "f32" if division else "bf16"
    if "bf16" in (a, b):
        return "f32"
    if division and (a in SIGNED) != (b in SIGNED):
        return None
    return promote_integers(a, b)


_KIND = {"i1": 0} | dict.fromkeys(INTEGERS, 1) | dict.fromkeys(FLOATS, 2)


def number_dtype(value: float) -> str:
    """The dtype a Python number has by itself."""
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        for name in ("i32", "u32", "i64", "u64"):
            limits = np.iinfo(numpy_dtype(name))
            if limits.min <= value <= limits.max:
                return name
        raise AssertionError(value)
    normal = 2.0**-126 <= abs(value) <= _FORMATS["f32"][2]
    return "f32" if normal or value == 0 or abs(value) == float("inf") or value != value else "f64"


def promote_number(a: str, number: float, *, division: bool = False) -> str | None:
    """The dtype a run-time value of dtype ``a`` and a Python number meet in."""
    own = number_dtype(number)
    if _KIND[own] <= _KIND[a]:
        return "f32" if division and a in ("f16", "bf16") else a
    return promote(a, own, division=division)


# Casts ----------------------------------------------------------------------------------------------------------


def _round_exactly(value: Fraction, name: str) -> float:
    """The nearest number of a float format, ties to even; overflow gives an infinity."""
    if value == 0:
        return 0.0
    precision, lowest, largest = _FORMATS[name]
    exponent = 0
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, lowest) - precision + 1)
    rounded = round(magnitude / step) * step  # Python rounds ties to even
    result = float("inf") if rounded > largest else float(rounded)
    return result if value > 0 else -result


def round_to(array: Array, name: str) -> Array:
    """A float64 or integer array rounded once, correctly, to a float format."""
    flat: list[float] = []
    for value in array.reshape(-1).tolist():
        number = float(value) if isinstance(value, float) else None
        if number is not None and (number != number or number in (0.0, float("inf"), float("-inf"))):
            flat.append(number)  # keeps -0.0 too
        else:
            flat.append(_round_exactly(Fraction(value), name))
    return (
        np.array(flat, np.float64)
        .reshape(array.shape)
        .astype(np.float32 if name != "f64" else np.float64)
        .astype(numpy_dtype(name))
    )


def cast(array: Array, to: str) -> Array:
    """``array`` as another dtype: floats to nearest even, float to integer toward zero and saturating, NaN to 0."""
    source = name_of(array)
    if source == to:
        return array
    if to == "i1":
        return array != np.zeros((), array.dtype)
    if source in FLOATS and to in INTEGERS:
        limits = np.iinfo(numpy_dtype(to))
        flat = [
            0
            if v != v
            else max(limits.min, min(limits.max, int(v) if abs(v) < 2.0**70 else (1 if v > 0 else -1) << 70))
            for v in array.astype(np.float64).reshape(-1).tolist()
        ]
        return np.array(flat, numpy_dtype(to)).reshape(array.shape)
    if to in FLOATS:
        with np.errstate(all="ignore"):
            if to in ("f16", "bf16") and width(source) > 16 and source != "f32":
                return round_to(array, to)  # NumPy would round twice
            if source in FLOATS or width(source) > 16:
                return array.astype(numpy_dtype(to))
            return array.astype(np.float32).astype(numpy_dtype(to))
    return array.astype(numpy_dtype(to))


# Operators ------------------------------------------------------------------------------------------------------


def _wrapped(f: Callable[[Any, Any], Any]) -> Callable[[Array, Array], Array]:
    """Integers wrap; a bool is one bit; floats are NumPy's, which rounds f16 and bf16 from f32 as we do."""

    def compute(a: Array, b: Array) -> Array:
        if a.dtype == np.bool_:
            return f(a.astype(np.uint8), b.astype(np.uint8)).astype(np.uint8) % 2 == 1
        return f(a, b)

    return compute


def _toward_zero(f: Callable[[int, int], int]) -> Callable[[Array, Array], Array]:
    """Integer division by Python's exact integers. Divisors are not zero."""

    def compute(a: Array, b: Array) -> Array:
        flat = [
            f(int(x), int(y)) for x, y in zip(a.reshape(-1).tolist(), b.reshape(-1).tolist(), strict=True)
        ]
        mask = (1 << width(name_of(a))) - 1
        unsigned = np.array([v & mask for v in flat], f"u{max(1, a.dtype.itemsize)}").reshape(a.shape)
        return unsigned.astype(np.bool_) if a.dtype == np.bool_ else unsigned.view(a.dtype)

    return compute


def _quotient(x: int, y: int) -> int:
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _true_divide(a: Array, b: Array) -> Array:
    return (a.astype(np.float32) / b.astype(np.float32)) if a.dtype.itemsize <= 2 else a / b


def _extremum(largest: bool, propagate: bool) -> Callable[[Array, Array], Array]:
    def compute(a: Array, b: Array) -> Array:
        if name_of(a) not in FLOATS:
            return np.maximum(a, b) if largest else np.minimum(a, b)
        wins = (a > b) if largest else (a < b)
        # Equal numbers differ in the sign of zero only: -0.0 is below 0.0.
        zeros = (a == b) & (np.signbit(a) != np.signbit(b))
        wins = np.where(zeros, np.signbit(b) if largest else np.signbit(a), wins)
        result = np.where(wins, a, b)
        nan_a, nan_b = np.isnan(a), np.isnan(b)
        if propagate:
            return np.where(nan_a, a, np.where(nan_b, b, result))
        return np.where(nan_a, b, np.where(nan_b, a, result))

    return compute


Kind = Literal["any", "int", "float"]

#: Operators by their spelling: (what they compute on equal dtypes, what operands they take, whether promotion is that of division).
BINARY: dict[str, tuple[Callable[[Array, Array], Array], Kind, bool]] = {
    "+": (_wrapped(operator.add), "any", False),
    "-": (_wrapped(operator.sub), "any", False),
    "*": (_wrapped(operator.mul), "any", False),
    "&": (operator.and_, "int", False),
    "|": (operator.or_, "int", False),
    "^": (operator.xor, "int", False),
    "//": (_toward_zero(_quotient), "int", True),
    "%": (_toward_zero(lambda x, y: x - _quotient(x, y) * y), "int", True),
    "maximum": (_extremum(True, False), "any", False),
    "minimum": (_extremum(False, False), "any", False),
    "maximum_nan": (_extremum(True, True), "any", False),
    "minimum_nan": (_extremum(False, True), "any", False),
    "<": (operator.lt, "any", False),
    "<=": (operator.le, "any", False),
    ">": (operator.gt, "any", False),
    ">=": (operator.ge, "any", False),
    "==": (operator.eq, "any", False),
    "!=": (operator.ne, "any", False),
}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def meet(op: str, a: str, b: str) -> str | None:
    """The dtype two run-time values are brought to for an operator; extrema compare bf16 as f32."""
    if _extreme(op):
        a, b = ("f32" if dtype == "bf16" else dtype for dtype in (a, b))
    return promote(a, b, division=op == "/" or op == "%" or op == "//")


def meet_number(op: str, a: str, number: float) -> str | None:
    """The same of a run-time value and a Python number, which for extrema is a value of its own dtype."""
    if _extreme(op):
        return meet(op, a, number_dtype(number))
    return promote_number(a, number, division=op == "/" or op == "%" or op == "//")


def _extreme(op: str) -> bool:
    return op.startswith(("maximum", "minimum"))


def spell(op: str, a: str, b: str) -> str:
    """The operation as a kernel writes it."""
    name, _, nan = op.partition("_")
    if name in ("maximum", "minimum"):
        return f"tl.{name}({a}, {b}{', propagate_nan=tl.PropagateNan.ALL' if nan else ''})"
    return f"({a} {op} {b})"


def binary(op: str, a: Array, b: Array, dtype: str) -> Array:
    """``a op b``, both brought to ``dtype`` first."""
    with np.errstate(all="ignore"):
        return BINARY[op][0](cast(a, dtype), cast(b, dtype))


def divide(a: Array, b: Array, dtype: str) -> Array:
    """``a / b``: integers as f32."""
    with np.errstate(all="ignore"):
        return _true_divide(
            cast(cast(a, dtype), dtype if dtype in FLOATS else "f32"),
            cast(cast(b, dtype), dtype if dtype in FLOATS else "f32"),
        )


def remainder(a: Array, b: Array, dtype: str) -> Array:
    """``a % b`` of floats: C's fmod."""
    with np.errstate(all="ignore"):
        return np.fmod(cast(a, dtype), cast(b, dtype))


# Values to try --------------------------------------------------------------------------------------------------


def values(name: str, count: int, seed: int = 0) -> Array:
    """``count`` values of a dtype: its edges first, then random bit patterns (finite and not)."""
    generator = np.random.default_rng([seed, ALL.index(name)])
    dtype = numpy_dtype(name)
    if name == "i1":
        return generator.integers(0, 2, count).astype(np.bool_)
    random = generator.integers(0, 256, (count, dtype.itemsize), np.uint8).view(dtype).reshape(-1)
    if name in INTEGERS:
        limits = np.iinfo(dtype)
        edges = [0, 1, 2, 3, 7, limits.max, limits.max - 1, limits.min, limits.min + 1]
        if name in SIGNED:
            edges += [-1, -2, -3, -7]
        small = generator.integers(max(limits.min, -20), 21, count).astype(dtype)
        random = np.where(generator.integers(0, 2, count) == 0, small, random)
    else:
        precision, lowest, largest = _FORMATS[name]
        tiny = 2.0 ** (lowest - precision + 1)
        edges = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, float("inf"), float("-inf"), float("nan")]
        edges += [largest, -largest, 2.0**lowest, tiny, -tiny, 1.0 + 2.0 ** (1 - precision), 100.25, -1000.5]
        small = (generator.standard_normal(count) * 4).astype(np.float32).astype(dtype)
        random = np.where(generator.integers(0, 3, count) > 0, small, random)
        # NaNs with payloads say nothing more than NaN.
        with np.errstate(invalid="ignore"):
            random = np.where(np.isnan(random), np.array(np.nan, dtype), random)
    head = np.array(edges, np.float64 if name in FLOATS else object).astype(dtype)[:count]
    return np.concatenate([head, random[: count - len(head)]])


def pairs(a: str, b: str, count: int = 512, *, seed: int = 0) -> tuple[Array, Array]:
    """``count`` pairs of values in which every edge of one meets many of the other."""
    x, y = values(a, count, seed), values(b, count, seed + 1)
    side = 20
    grid = np.array([(i, j) for i in range(side) for j in range(side)])[:count]
    x[: len(grid)], y[: len(grid)] = values(a, side, seed)[grid[:, 0]], values(b, side, seed)[grid[:, 1]]
    return x, y


def nonzero(array: Array) -> Array:
    """The array with 1 for every 0: divisors."""
    return np.where(array == 0, np.ones((), array.dtype), array)
