"""exp, exp2, exp10, expm1, and the logarithms, with what the other functions need of them: in two floats.

e^x = 2^n e^r with |r| <= ln2 / 2 (Cody and Waite, "Software Manual for the Elementary Functions", chapter 6), where r is carried in two floats.
log(2^e m) = e ln2 + log(m), and log(1 + f) = 2 atanh(f / (2 + f)) as a series in two floats where others build on it.  The polynomials
are Chebyshev fits of our own, computed with 60 digits.
"""

from __future__ import annotations

from typing import NamedTuple

from teenybuild.compiler.ir.numbers import bits_of
from teenybuild.compiler.lower.double import (
    Double,
    exact_product,
    exact_sum,
    ordered_sum,
    over,
    parts,
    plus,
    plus_one,
    single,
    times,
    times_constant,
)
from teenybuild.compiler.lower.formula import (
    INFINITY,
    NAN,
    Term,
    fma,
    greatest,
    least,
    pick,
    polynomial,
    power_of_two,
    scaled,
    split,
    to_float,
    to_whole,
    where,
)
from teenybuild.compiler.lower.functions.registry import function
from teenybuild.compiler.lower.math import F32, F64, LOG2E, Format, Write, log2_of, log_of
from teenybuild.dtypes import f64

LN10 = "2.302585092994045684017991454684364207601101488628772976"
#: 1 / ln 10.
LOG10E = "0.43429448190325182765112891891660508229439700580366656611"

#: ((2 atanh(s) - 2 s) / s^3 - 2/3) / s^2 as a function of s^2, for |s| <= (sqrt(2) - 1) / (sqrt(2) + 1).
_LOG_F32 = (0.3999999990088741, 0.285715351136624, 0.2220439062310778, 0.19130510197398493)
_LOG_F64 = (
    0.4,
    0.28571428571429425,
    0.22222222221619164,
    0.1818181834367367,
    0.15384594082306358,
    0.13334852318866816,
    0.11704967584027481,
    0.11736377705598688,
)


def format_of(x: Term) -> Format:
    """The constants of a float's format."""
    return F64 if x.dtype == f64 else F32


class Exponential(NamedTuple):
    """e^x as 2^``n`` (1 + ``rest``)."""

    n: Term
    rest: Double

    @property
    def factor(self) -> Double:
        """1 + rest."""
        return plus_one(self.rest, 1.0)

    @property
    def value(self) -> Term:
        """The whole as a float."""
        return scaled(self.factor.value, self.n)


def exponential(x: Double) -> Exponential:
    """e^x, for x that does not leave the float's range by much. Relative error about 2^-(p + 3)."""
    form = format_of(x.high)
    n, whole = to_whole(x.high * LOG2E)
    # The product with the first part is exact, and so is the difference: n is the quotient, rounded.
    first = fma(-n, form.ln2_high, x.high)
    low = exact_product(n, -form.ln2_low)
    r = plus_one(Double(low.high, low.low + x.low), first)
    square = r.high * r.high
    tail = fma(square, polynomial(r.high, form.exp), fma(r.high, r.low, r.low))
    return Exponential(whole, ordered_sum(r.high, tail))


def bounded(x: Term) -> Term:
    """``x`` brought to where e^x goes from 0 to infinity. NaN stays."""
    form = format_of(x)
    return where(x > form.highest, form.highest, where(x < form.lowest, form.lowest, x))


def bounded_double(x: Double) -> Double:
    """The same, of two floats; the low one is dropped where the high one was out of bounds."""
    high = bounded(x.high)
    return Double(high, where(high.equals(x.high), x.low, 0.0))


def _write(x: Term) -> Write:
    return Write(x.lane, format_of(x))


@function("exp")
def exp(x: Term) -> Term:
    return exponential(single(bounded(x))).value


@function("exp2")
def exp2(x: Term) -> Term:
    """2^x: x = n + r with |r| <= 1/2, so 2^x = 2^n (1 + r q(r))."""
    form = format_of(x)
    high, low = form.highest * LOG2E, form.lowest * LOG2E
    inside = where(x > high, high, where(x < low, low, x))
    n, whole = to_whole(inside)
    r = inside - n
    return scaled(fma(r, polynomial(r, form.exp2), 1.0), whole)


@function("exp10")
def exp10(x: Term) -> Term:
    """10^x = e^(x ln10), the product in two floats."""
    form = format_of(x)
    high, low = form.highest / 2.0, form.lowest / 2.0
    inside = where(x > high, high, where(x < low, low, x))
    return exponential(times_constant(single(inside), LN10)).value


@function("expm1")
def expm1(x: Term) -> Term:
    """2^n rest + (2^n - 1), so that nothing is lost where n = 0; in two steps where 2^n overflows."""
    e = exponential(single(where(x < -60.0, -60.0, bounded(x))))
    half = e.n >> 1
    first, second = power_of_two(half), power_of_two(e.n - half)
    unit = expm1_scaled(e, power_of_two(-half) * power_of_two(half - e.n))
    result = unit.value * first * second
    return where(abs(x) < smallest(x), x, result)


def smallest(x: Term) -> float:
    """Below this, f(x) = x + c x² + … is x; the formulas' low parts would underflow."""
    return 2.0 ** -(format_of(x).dtype.exponent_bias // 2)


def expm1_scaled(e: Exponential, minus_n: Term) -> Double:
    """2^-n (e^x - 1), given 2^-n."""
    return plus_one(e.rest, 1.0 - minus_n)


# Logarithms ---------------------------------------------------------------------------------------------------


def log_near_one(f: Double) -> Double:
    """log(1 + f) for 1 + f between sqrt(1/2) and sqrt(2). Relative error about 2^-(p + 11)."""
    s = over(f, _two_plus(f))
    square = times(s, s)
    high, low = parts("2/3", f.high.dtype)
    c = pick(f.high, _LOG_F32, _LOG_F64)
    series = ordered_sum(f.high.number(high), square.high * polynomial(square.high, c))
    series = Double(series.high, series.low + fma(square.low, 0.4, low))
    return plus(s.scaled(2.0), times(times(s, square), series))


def _two_plus(f: Double) -> Double:
    s = ordered_sum(f.high.number(2.0), f.high)
    return Double(s.high, s.low + f.low)


def log_double(x: Term) -> Double:
    """log(x) of a positive finite number. Relative error about 2^-(p + 11)."""
    return log_of_double(single(x))


def log_of_double(x: Double) -> Double:
    """log(x) of a positive finite number in two floats."""
    form = format_of(x.high)
    n, m = split(x.high, bits_of(0.5**0.5 if form.dtype == f64 else 0.70710677, form.dtype))
    # Where 2^-n would leave the normal range, a low part is nothing beside 1.
    most = form.dtype.exponent_bias - 7
    low = x.low * power_of_two(-least(greatest(n, -most), most))
    e = to_float(n, form.dtype)
    near = log_near_one(ordered_sum(m - 1.0, low))
    tail = exact_product(e, form.ln2_low)
    return plus(plus_one(tail, e * form.ln2_high), near)


def log1p_double(x: Double) -> Double:
    """log(1 + x) for 1 + x positive and finite; small x keep their digits."""
    one = exact_sum(x.high.number(1.0), x.high)
    return log_of_double(Double(one.high, one.low + x.low))


def checked(x: Term, result: Term) -> Term:
    """A logarithm's edges: 0 gives -inf, a negative NaN, +inf and NaN themselves."""
    result = where(x.equals(0.0), -INFINITY, where(x < 0.0, NAN, result))
    return where(x.is_nan | x.equals(INFINITY), x, result)


@function("log")
def log(x: Term) -> Term:
    """As ``tl.log``."""
    return Term(x.lane, log_of(_write(x), x.name), x.dtype)


@function("log2")
def log2(x: Term) -> Term:
    """As ``tl.log2``."""
    return Term(x.lane, log2_of(_write(x), x.name), x.dtype)


@function("log10")
def log10(x: Term) -> Term:
    """log(x) / ln10, both in two floats."""
    return checked(x, times_constant(log_double(x), LOG10E).value)


@function("log1p")
def log1p(x: Term) -> Term:
    result = log1p_double(single(x)).value
    result = where(x.equals(-1.0), -INFINITY, where(x < -1.0, NAN, result))
    result = where(x.is_nan | x.equals(INFINITY), x, result)
    return where(abs(x) < smallest(x), x, result)
