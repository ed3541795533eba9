"""Rounding, signs, exponents, remainders: what is exact."""

from __future__ import annotations

from teenybuild.compiler.ir.numbers import bits_of
from teenybuild.compiler.lower import fmod as exact_fmod
from teenybuild.compiler.lower.formula import (
    INFINITY,
    NAN,
    Term,
    greatest,
    least,
    power_of_two,
    sign_of,
    split,
    where,
    with_sign,
)
from teenybuild.compiler.lower.formula import fma as fused
from teenybuild.compiler.lower.functions.registry import function, symbols
from teenybuild.dtypes import i32, i64


@function("floor", own=False)
def floor(x: Term) -> Term:
    return x.call("floor")


@function("ceil", own=False)
def ceil(x: Term) -> Term:
    return x.call("ceil")


@function("trunc", own=False)
def trunc(x: Term) -> Term:
    return x.call("trunc")


@function("rint", "nearbyint", own=False)
def rint(x: Term) -> Term:
    """To the nearest whole number, ties to even."""
    return x.call("rint")


@function("round", own=False)
def round_half_away(x: Term) -> Term:
    """To the nearest whole number, ties away from 0."""
    whole = abs(x).call("floor")
    whole = whole + where(abs(x) - whole >= 0.5, x.number(1.0), 0.0)
    # What is whole already stays: infinity less itself is no number.
    return where(abs(x) < 2.0**x.dtype.mantissa, with_sign(whole, x), x)


@function("llrint", own=False)
def llrint(x: Term) -> Term:
    return x.call("rint").saturated(i64)


@function("llround", own=False)
def llround(x: Term) -> Term:
    return round_half_away(x).saturated(i64)


@symbols("fabsf", "fabs", own=False)
def absolute(x: Term) -> Term:
    return abs(x)


@symbols("isnanf", "isnand", own=False)
def isnan(x: Term) -> Term:
    return x.is_nan.to(i32)


@symbols("isinff", "isinfd", own=False)
def isinf(x: Term) -> Term:
    return abs(x).equals(INFINITY).to(i32)


@symbols("finitef", "isfinited", own=False)
def isfinite(x: Term) -> Term:
    return (abs(x) < INFINITY).to(i32)


@symbols("signbitf", "signbitd", own=False)
def signbit(x: Term) -> Term:
    """1 for numbers with a minus, -0.0 and such NaNs among them."""
    return x.bits.shifted_right(x.dtype.bits - 1).to(i32)


@function("copysign", own=False)
def copysign(x: Term, y: Term) -> Term:
    return with_sign(abs(x), y)


@function("fdim", own=False)
def fdim(x: Term, y: Term) -> Term:
    """x - y where that is positive, else 0."""
    return where(x <= y, 0.0, x - y)


@symbols("fmaf", "fma", "fmaf_rn", "fma_rn", own=False)
def fma(x: Term, y: Term, z: Term) -> Term:
    return fused(x, y, z)


@symbols("saturatef", own=False)
def saturate(x: Term) -> Term:
    """Between 0 and 1; 0 for NaN."""
    return where(x > 0.0, where(x > 1.0, 1.0, x), 0.0)


@function("nextafter", own=False)
def nextafter(x: Term, y: Term) -> Term:
    """The float after x on the way to y."""
    bits = x.bits
    # Away from 0 the bit pattern grows by one; from 0 the way is to the smallest number of y's sign.
    away = (y > x) ^ (x < 0.0)
    stepped = where(x.equals(0.0), sign_of(y) | 1, where(away, bits + 1, bits - 1)).float
    result = where(x.equals(y), y, stepped)
    return where(x.is_nan | y.is_nan, NAN, result)


@function("ldexp", "scalbn")
def ldexp(x: Term, n: Term) -> Term:
    """x 2^n, rounded once: a denormal result comes of one last product."""
    bias, mantissa = x.dtype.exponent_bias, x.dtype.mantissa
    most = 2 * bias + mantissa + 4
    steps = greatest(least(n, most), -most).to(x.bits.dtype)
    # Normalised first, so that what is left can be one factor.
    usual = (abs(x) > 0.0) & (abs(x) < INFINITY)
    e, m = split(where(usual, abs(x), 1.0), bits_of(1.0, x.dtype))
    to = e + steps
    normal = m * power_of_two(greatest(least(to, bias), 1 - bias))
    low = greatest(to, -bias - mantissa - 2)
    denormal = m * power_of_two(low + 2 * mantissa) * 2.0 ** (-2 * mantissa)
    value = where(to > bias, INFINITY, where(to < 1 - bias, denormal, normal))
    return where(usual, with_sign(value, x), x)


def _exponent(x: Term) -> tuple[Term, Term]:
    """(the exponent of a finite number that is not 0, whether x is one)."""
    usual = (abs(x) > 0.0) & (abs(x) < INFINITY)
    return split(where(usual, abs(x), 1.0), bits_of(1.0, x.dtype))[0], usual


@function("logb")
def logb(x: Term) -> Term:
    """The exponent; -inf of 0, inf of infinities."""
    exponent, usual = _exponent(x)
    value = exponent.to(i32).to(x.dtype)
    return where(usual, value, where(x.equals(0.0), -INFINITY, where(x.is_nan, x, INFINITY)))


@symbols("ilogbf", "ilogb")
def ilogb(x: Term) -> Term:
    """The exponent; the smallest integer of 0 and NaN, the largest of infinities."""
    exponent, usual = _exponent(x)
    infinite = abs(x).equals(INFINITY)
    return where(usual, exponent.to(i32), where(infinite, exponent.to(i32).number(i32.maximum), i32.minimum))


@function("fmod", own=False)
def fmod(x: Term, y: Term) -> Term:
    """x - n y for the whole n toward 0, exactly."""
    return Term(x.lane, exact_fmod.remainder(x.lane, x.dtype, x.name, y.name), x.dtype)


@function("remainder")
def remainder(x: Term, y: Term) -> Term:
    """x - n y for the nearest whole n (of two, the even one), exactly."""
    a, b = abs(x), abs(y)
    doubles = b < 2.0**x.dtype.exponent_bias
    r = fmod(a, where(doubles, b + b, b))
    r = where(doubles, r, where(a.equals(b), 0.0, r))
    # Halves are compared by doubling or halving, whichever is exact.
    small = b < 2.0 ** (2 - x.dtype.exponent_bias)

    def above_half(r: Term, *, or_equal: bool) -> Term:
        doubled, halved = r + r, b * 0.5
        if or_equal:
            return where(small, (doubled >= b).to(i32), (r >= halved).to(i32)).differs(0)
        return where(small, (doubled > b).to(i32), (r > halved).to(i32)).differs(0)

    first = above_half(r, or_equal=False)
    once = r - b
    twice = first & above_half(once, or_equal=True)
    r = where(twice, once - b, where(first, once, r))
    # r is now signed as if x were positive; 0 has the sign of x.
    result = (r.bits ^ sign_of(x)).float
    result = where((b.equals(INFINITY)) & (a < INFINITY), x, result)
    bad = x.is_nan | y.is_nan | a.equals(INFINITY) | b.equals(0.0)
    return where(bad, NAN, result)
