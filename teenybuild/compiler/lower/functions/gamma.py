"""The gamma function and its logarithm.

log Γ(z) = (z - 1/2) log z - z + log(2π) / 2 + μ(z) for large z (Stirling; μ is a Chebyshev fit of our own); a smaller x is brought there by
Γ(x) = Γ(x + n) / (x (x + 1) … (x + n - 1)), a negative one by Γ(x) Γ(1 - x) = π / sin(π x) (DLMF 5.5, 5.11). All but μ is in two floats.
Near 1 and 2, where log Γ is 0, its Taylor series there has all digits (DLMF 5.7.3).
"""

from __future__ import annotations

from typing import NamedTuple

from teenybuild.compiler.lower.double import (
    Double,
    exact_sum,
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
    pick,
    polynomial,
    scaled,
    where,
    with_sign,
)
from teenybuild.compiler.lower.functions.exponential import (
    exponential,
    log_of_double,
)
from teenybuild.compiler.lower.functions.registry import function
from teenybuild.compiler.lower.functions.trigonometric import PI, sine_of_half_turns
from teenybuild.dtypes import f32

HALF_LOG_2PI = "0.9189385332046727417803297364056176398613974736377834128"
EULER = "0.5772156649015328606065120900824024310421593359399235988"
ONE_MINUS_EULER = "0.4227843350984671393934879099175975689578406640600764012"

#: Where Stirling's series begins, and how many steps lead there from 0.
_LARGE = {"f32": 4, "f64": 10}
#: z μ(z) as a function of 1 / z^2, for z >= 4 and for z >= 10.
_STIRLING_F32 = (0.0833333332523785, -0.0027777365737540727, 0.0007903158150298992, -0.0005059502825082738)
_STIRLING_F64 = (
    0.08333333333333333,
    -0.0027777777777570466,
    0.0007936507696272049,
    -0.0005952278790066844,
    0.0008397750511709818,
    -0.0017388263955690534,
)
#: ζ(k) (-1)^k / k and (ζ(k) - 1) (-1)^k / k for k from 2: what follows the linear terms at 1 and at 2.
_AT_1 = (
    0.8224670334241132,
    -0.40068563438653143,
    0.27058080842778454,
    -0.20738555102867398,
    0.1695571769974082,
    -0.1440498967688461,
    0.12550966952474304,
    -0.11133426586956469,
    0.1000994575127818,
    -0.09095401714582904,
    0.083353840546109,
    -0.0769325164113522,
    0.07143294629536133,
)
_AT_2 = (
    0.3224670334241132,
    -0.0673523010531981,
    0.020580808427784546,
    -0.007385551028673986,
    0.0028905103307415234,
    -0.001192753911703261,
    0.0005096695247430425,
    -0.00022315475845357939,
    9.945751278180853e-05,
    -4.492623673813314e-05,
    2.050721277567069e-05,
    -9.439488275268397e-06,
)
#: How far from 1 and 2 the series are used.
_NEAR = 0.0625


class _Gamma(NamedTuple):
    """Γ(x) = e^``exponent`` / ``product``, for x > 0."""

    exponent: Double
    product: Double


def _stirling(x: Double) -> _Gamma:
    """For positive x, not so large that (x - 1/2) log x overflows."""
    large = _LARGE[x.high.dtype.name]
    one = single(x.high.number(1.0))
    product, z = one, x
    for k in range(large):
        step = plus_one(x, float(k)) if k else x
        needed = step.high < float(large)
        product = _choose(needed, times(product, step), product)
        z = _choose(needed, plus_one(x, float(k + 1)), z)
    inverse = 1.0 / z.high
    mu = inverse * polynomial(inverse * inverse, pick(inverse, _STIRLING_F32, _STIRLING_F64))
    main = plus(times(plus_one(z, -0.5), log_of_double(z)), -z)
    high, low = parts(HALF_LOG_2PI, x.high.dtype)
    rest = exact_sum(mu.number(high), mu)
    return _Gamma(plus(main, Double(rest.high, rest.low + low)), product)


def _choose(condition: Term, a: Double, b: Double) -> Double:
    return Double(where(condition, a.high, b.high), where(condition, a.low, b.low))


def _reflected(x: Term) -> tuple[Term, Double]:
    """(whether x is negative, x or else 1 - x)."""
    negative = x < 0.0
    other = exact_sum(x.number(1.0), -x)
    return negative, _choose(negative, other, single(x))


@function("tgamma")
def tgamma(x: Term) -> Term:
    """e^t / p, and of a negative x π p e^-t / sin(π x)."""
    # Farther out it is infinite or, however near to a whole number, 0; so far e^±t is no more than its scaling can do.
    bound = 46.0 if x.dtype == f32 else 200.0
    inside = where(x > bound, bound, where(x < -bound, -bound, x))
    tiny = abs(x) < 2.0 ** -(x.dtype.mantissa + 8)
    negative, w = _reflected(where(tiny, 1.0, inside))
    g = _stirling(w)
    sine = sine_of_half_turns(x)
    whole = x.call("floor").equals(x)
    sine = _choose(negative & ~whole, sine, single(x.number(1.0)))
    pi_product = times_constant(g.product, PI)
    factor = _choose(negative, over(pi_product, sine), over(single(x.number(1.0)), g.product))
    exponent = _choose(negative, -g.exponent, g.exponent)
    e = exponential(exponent)
    value = scaled(times(factor, e.factor).value, e.n)
    value = where(tiny, 1.0 / x, value)
    value = where(negative & whole, NAN, value)
    value = where(x.equals(-INFINITY) | x.is_nan, NAN, value)
    # 0 has the sign that the sine has.
    beyond = where(x > bound, INFINITY, with_sign(x.number(0.0), sine.high))
    return where((abs(x) > bound) & ~(x.is_nan | x.equals(-INFINITY) | (negative & whole)), beyond, value)


@function("lgamma")
def lgamma(x: Term) -> Term:
    """log|Γ(x)|. Where it is 0 for a negative x, only the absolute error is small."""
    a = abs(x)
    huge = a > 2.0 ** (x.dtype.exponent_bias // 2)
    tiny = a < 2.0 ** -(x.dtype.mantissa + 8)
    negative, w = _reflected(where(huge | tiny, 1.5, x))
    g = _stirling(w)
    usual = plus(g.exponent, -log_of_double(g.product))
    sine = sine_of_half_turns(where(huge | tiny, 1.5, x))
    distance = _choose(sine.high < 0.0, -sine, sine)
    whole = x.call("floor").equals(x)
    distance = _choose(negative & ~whole, distance, single(x.number(1.0)))
    mirrored = plus(times_constant(single(x.number(1.0)), LOG_PI), -plus(log_of_double(distance), usual))
    value = where(negative, mirrored.value, usual.value)
    one, two = x - 1.0, x - 2.0
    value = where(abs(one) <= _NEAR, _series(one, f"-{EULER}", _AT_1), value)
    value = where(abs(two) <= _NEAR, _series(two, ONE_MINUS_EULER, _AT_2), value)
    value = where(tiny, -log_of_double(single(where(tiny & (a > 0.0), a, 1.0))).value, value)
    # So far out x (log x - 1) is all there is.
    far = where(huge & (x > 0.0) & (a < INFINITY), x, 2.0)
    distant = times(single(far * 2.0**-16), plus_one(log_of_double(single(far)), -1.0)).value * 2.0**16
    value = where(huge & (x > 0.0), distant, value)
    value = where((whole & (x <= 0.0)) | a.equals(INFINITY), INFINITY, value)
    return where(x.is_nan, x, value)


#: log π.
LOG_PI = "1.144729885849400174143427351353058711647294812915311572"


def _series(f: Term, slope: str, rest: tuple[float, ...]) -> Term:
    """A function that is 0 at f = 0, by its Taylor series; the first coefficient in two floats."""
    high, low = parts(slope, f.dtype)
    return fma(f, high, f * fma(f, polynomial(f, rest), low))
