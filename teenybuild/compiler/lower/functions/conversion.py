"""Conversions with a rounding of their own, and arithmetic with one.

A result rounded to nearest and the exact sign of what that rounding left say what rounding up, down or toward zero would have given: the same float or its neighbour.
Floats to integers are brought into range; NaN gives 0, as everywhere in the language.
"""

from __future__ import annotations

from functools import partial

from teenybuild.compiler.lower.double import exact_sum
from teenybuild.compiler.lower.formula import INFINITY, Term, fma, root, smallest_normal, where
from teenybuild.compiler.lower.functions.registry import FUNCTIONS, Formula, Known, symbols
from teenybuild.dtypes import DType, f32, f64, i32, i64

#: How floats become whole, by the ending of a name.
_WHOLE = {"rn": "rint", "rz": "trunc", "rd": "floor", "ru": "ceil"}


def _every_mode(names: str, formula: Formula, *, own: bool = False) -> None:
    """Registers ``formula(mode, ...)`` under names with each of the four endings."""
    for mode in _WHOLE:
        known = Known(partial(formula, mode), own)
        FUNCTIONS.update({f"__nv_{name}_{mode}": known for name in names.split()})


def _step(x: Term, *, up: bool) -> Term:
    """The next float up or down, of one that is not the last on that side."""
    away = (x >= 0.0) if up else (x < 0.0)
    bits = x.bits
    stepped = where(away, bits + 1, bits - 1).float
    smallest = bits.number(1 if up else bits.dtype.minimum + 1).float
    return where(x.equals(0.0), smallest, stepped)


def directed(mode: str, nearest: Term, left: Term) -> Term:
    """What rounding by ``mode`` gives, from the rounding to nearest and a number with the sign of (exact - nearest)."""
    too_high, too_low = left < 0.0, left > 0.0
    if mode == "rd":
        return where(too_high, _step(nearest, up=False), nearest)
    if mode == "ru":
        return where(too_low, _step(nearest, up=True), nearest)
    result = where(too_high & (nearest > 0.0), _step(nearest, up=False), nearest)
    return where(too_low & (nearest < 0.0), _step(nearest, up=True), result)


def _overflown(nearest: Term, left: Term, *operands: Term) -> Term:
    """``left``, and where finite operands gave an infinity, a number that says it is too far out."""
    finite = abs(operands[0]) < INFINITY
    for o in operands[1:]:
        finite = finite & (abs(o) < INFINITY)
    return where(abs(nearest).equals(INFINITY) & finite, -nearest, left)


# Floats to integers, integers to floats -----------------------------------------------------------------------


def _to_integer(mode: str, x: Term, *, dtype: DType, signed: bool) -> Term:
    return x.call(_WHOLE[mode]).saturated(dtype, signed=signed)


_every_mode("float2int double2int", partial(_to_integer, dtype=i32, signed=True))
_every_mode("float2uint double2uint", partial(_to_integer, dtype=i32, signed=False))
_every_mode("float2ll double2ll", partial(_to_integer, dtype=i64, signed=True))
_every_mode("float2ull double2ull", partial(_to_integer, dtype=i64, signed=False))


def _to_single(mode: str, x: Term) -> Term:
    """f64 as f32."""
    nearest = x.to(f32)
    if mode == "rn":
        return nearest
    # Compared, not subtracted: the difference may be too small for f32.
    back = nearest.to(f64)
    return directed(
        mode, nearest, where(x > back, nearest.number(1.0), where(x < back, nearest.number(-1.0), 0.0))
    )


def _int_to_single(mode: str, n: Term, *, signed: bool) -> Term:
    """32 bits are exact in f64."""
    return _to_single(mode, n.to(f64, signed=signed))


def _long_to_double(mode: str, n: Term, *, signed: bool) -> Term:
    """A 64-bit integer as f64: its halves are exact, and so is what their sum leaves."""
    high = ((n >> 32) if signed else n.shifted_right(32)).to(f64) * 2.0**32
    total = exact_sum(high, (n & 0xFFFFFFFF).to(f64))
    return total.high if mode == "rn" else directed(mode, total.high, total.low)


def _long_to_single(mode: str, n: Term, *, signed: bool) -> Term:
    """A 64-bit integer as f32: rounded twice the same way, or once to nearest by LLVM."""
    if mode == "rn":
        return n.to(f32, signed=signed)
    return _to_single(mode, _long_to_double(mode, n, signed=signed))


_every_mode("double2float", _to_single)
_every_mode("int2float", partial(_int_to_single, signed=True))
_every_mode("uint2float", partial(_int_to_single, signed=False))
_every_mode("ll2double", partial(_long_to_double, signed=True))
_every_mode("ull2double", partial(_long_to_double, signed=False))
_every_mode("ll2float", partial(_long_to_single, signed=True))
_every_mode("ull2float", partial(_long_to_single, signed=False))


@symbols("int2double_rn", own=False)
def int_to_double(n: Term) -> Term:
    """Exact."""
    return n.to(f64)


@symbols("uint2double_rn", own=False)
def uint_to_double(n: Term) -> Term:
    """Exact."""
    return n.to(f64, signed=False)


# Arithmetic ---------------------------------------------------------------------------------------------------


def _add(mode: str, x: Term, y: Term) -> Term:
    nearest = x + y
    if mode == "rn":
        return nearest
    # Halves of large numbers, so that no step on the way to what is left overflows.
    shrink = where((abs(x) > 1.0) | (abs(y) > 1.0), 0.5, x.number(1.0))
    left = exact_sum(x * shrink, y * shrink).low
    result = directed(mode, nearest, _overflown(nearest, left, x, y))
    # x - x is -0.0 when rounding down; zeros of one sign keep it.
    both_zero = x.equals(0.0) & x.bits.equals(y.bits)
    return where(nearest.equals(0.0) & ~both_zero, -0.0, result) if mode == "rd" else result


def _subtract(mode: str, x: Term, y: Term) -> Term:
    return _add(mode, x, -y)


def _multiply(mode: str, x: Term, y: Term) -> Term:
    nearest = x * y
    if mode == "rn":
        return nearest
    # Where what is left would underflow, the smaller factor is scaled up.
    tiny = abs(nearest) < smallest_normal(x.dtype) * _lift(x)
    small, large = _by_magnitude(x, y)
    by = where(tiny, _lift(x), x.number(1.0))
    left = fma(small * by, large, -(nearest * by))
    vanished = nearest.equals(0.0) & x.differs(0.0) & y.differs(0.0)
    left = where(vanished, _unit(x, y), left)
    return directed(mode, nearest, _overflown(nearest, left, x, y))


def _divide(mode: str, x: Term, y: Term) -> Term:
    nearest = x / y
    if mode == "rn":
        return nearest
    # The sign of (x - q y) / y: of a multiple where x is small, of a quarter where it is so large that q y may overflow.
    small_x = abs(x) < smallest_normal(x.dtype) * _lift(x)
    large_x = abs(x) > 2.0 ** (x.dtype.exponent_bias - 2)
    by = where(small_x, _lift(x), where(large_x, x.number(0.25), 1.0))
    low, high = _by_magnitude(nearest, y)
    rest = fma(-(low * by), high, x * by)
    left = where(y < 0.0, -rest, rest)
    vanished = nearest.equals(0.0) & x.differs(0.0) & (abs(y) < INFINITY)
    left = where(vanished, _unit(x, y), left)
    left = where(y.equals(0.0) | abs(y).equals(INFINITY), 0.0, _overflown(nearest, left, x, y))
    return directed(mode, nearest, left)


def _reciprocal(mode: str, x: Term) -> Term:
    return _divide(mode, x.number(1.0), x)


def _square_root(mode: str, x: Term) -> Term:
    nearest = root(x)
    if mode == "rn":
        return nearest
    mantissa = x.dtype.mantissa
    tiny = x < smallest_normal(x.dtype) * 2.0 ** (mantissa + 2)
    by = where(tiny, 2.0 ** (mantissa + 2), x.number(1.0))
    s = nearest * by
    left = where((x > 0.0) & (x < INFINITY), fma(-s, s, x * by * by), 0.0)
    return directed(mode, nearest, left)


def _lift(x: Term) -> float:
    """A power of two by which the last bit of a product of small numbers becomes a normal number."""
    return 2.0 ** (2 * x.dtype.mantissa + 4)


def _by_magnitude(a: Term, b: Term) -> tuple[Term, Term]:
    """The smaller and the larger."""
    swap = abs(a) > abs(b)
    return where(swap, b, a), where(swap, a, b)


def _unit(x: Term, y: Term) -> Term:
    """1 with the sign of the product."""
    return where((x < 0.0) ^ (y < 0.0), x.number(-1.0), 1.0)


_every_mode("fadd dadd", _add)
_every_mode("fsub dsub", _subtract)
_every_mode("fmul dmul", _multiply)
_every_mode("fdiv ddiv", _divide, own=True)
_every_mode("frcp drcp", _reciprocal, own=True)
_every_mode("fsqrt dsqrt", _square_root, own=True)
