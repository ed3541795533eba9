"""sinh, cosh, tanh and their inverses, from e^x and log in two floats."""

from __future__ import annotations

from teenybuild.compiler.lower.double import (
    Double,
    exact_product,
    over,
    plus,
    plus_one,
    root_of,
    single,
    times,
    times_constant,
)
from teenybuild.compiler.lower.formula import (
    INFINITY,
    NAN,
    Term,
    fma,
    polynomial,
    power_of_two,
    scaled,
    where,
    with_sign,
)
from teenybuild.compiler.lower.functions.exponential import (
    LOG2E,
    Exponential,
    exp2,
    expm1_scaled,
    exponential,
    format_of,
    log1p_double,
    log_double,
    smallest,
)
from teenybuild.compiler.lower.functions.registry import function
from teenybuild.dtypes import f32

LN2 = "0.693147180559945309417232121458176568075500134360255254"


def _of_magnitude(x: Term, most: float) -> tuple[Exponential, Term]:
    """(e^|x|, 2^-n), for |x| up to ``most``."""
    a = abs(x)
    e = exponential(single(where(a > most, most, a)))
    half = e.n >> 1
    # In two steps: 2^-n may be denormal.
    return e, power_of_two(-half) * power_of_two(half - e.n)


def _odd(x: Term, magnitude: Term) -> Term:
    """A function's value with the sign of x; x itself where that is tiny, and NaN for NaN."""
    return where(abs(x) >= smallest(x), with_sign(magnitude, x), x)


@function("sinh")
def sinh(x: Term) -> Term:
    """With t = e^|x| - 1: (t + t / (t + 1)) / 2."""
    e, minus_n = _of_magnitude(x, _most(x))
    t = expm1_scaled(e, minus_n)
    value = plus(t, over(t, e.factor).scaled(minus_n)).value
    return _odd(x, scaled(value, e.n - 1))


def _most(x: Term) -> float:
    """e^x overflows there, and e^x / 2 too."""
    return format_of(x).highest


@function("cosh")
def cosh(x: Term) -> Term:
    """(e^|x| + 1 / e^|x|) / 2."""
    e, minus_n = _of_magnitude(x, _most(x))
    factor = e.factor
    value = plus_one(factor, (minus_n * minus_n) / factor.high).value
    return where(x.is_nan, x, scaled(value, e.n - 1))


#: (tanh(x) / x - 1) / x² as a polynomial in x² up to 0.625²: a minimax fit by Remez' exchange, within 4.2e-9 of tanh(x) / x.
_TANH_NEAR = (-0.333332839253, 0.133314912887, -0.0537434982112, 0.0206505876963, -0.00571704547795)
_TANH_SEAM = 0.625


@function("tanh")
def tanh(x: Term) -> Term:
    """With t = e^2|x| - 1: t / (t + 2)."""
    if x.dtype == f32:
        return _tanh_of_single(x)
    # Beyond this it rounds to 1.
    e, minus_n = _of_magnitude(x + x, float(x.dtype.mantissa + 4))
    t = expm1_scaled(e, minus_n)
    value = over(t, plus_one(t, minus_n + minus_n)).value
    return _odd(x, value)


def _tanh_of_single(x: Term) -> Term:
    """In single floats, half the work and within 2 units: a polynomial near 0; beyond, 1 - 2 / (e^2|x| + 1) cancels nothing."""
    a, square = abs(x), x * x
    near = fma(a * square, polynomial(square, _TANH_NEAR), a)
    far = x.number(1.0) - x.number(2.0) / (exp2((a + a) * LOG2E) + 1.0)
    return where(x.is_nan, x, with_sign(where(a < _TANH_SEAM, near, far), x))


def _logarithm(w: Double, large: Term, x: Term) -> Term:
    """log(1 + w), or log(2 x) for large x, where w is not to be had."""
    near = log1p_double(Double(where(large, 1.0, w.high), where(large, 0.0, w.low)))
    one = x.number(1.0)
    far = plus(log_double(where(large & (x < INFINITY), x, one)), times_constant(single(one), LN2))
    return where(large, far.value, near.value)


@function("asinh")
def asinh(x: Term) -> Term:
    """log(1 + |x| + x^2 / (1 + sqrt(1 + x^2)))."""
    a = abs(x)
    large = a > 2.0 ** (x.dtype.mantissa + 2)
    inside = where(large, 1.0, a)
    square = exact_product(inside, inside)
    w = plus_one(over(square, plus_one(root_of(plus_one(square, 1.0)), 1.0)), inside)
    result = _logarithm(w, large, a)
    return where(a < INFINITY, _odd(x, result), x)


@function("acosh")
def acosh(x: Term) -> Term:
    """With t = x - 1: log(1 + t + sqrt(t (t + 2)))."""
    large = x > 2.0 ** (x.dtype.mantissa + 2)
    usual = (x > 1.0) & ~large
    t = plus_one(single(where(usual, x, 2.0)), -1.0)
    w = plus(t, root_of(times(t, plus_one(t, 2.0))))
    result = _logarithm(w, large, x)
    result = where(x.equals(1.0), 0.0, where(x < 1.0, NAN, result))
    return where(x.is_nan | x.equals(INFINITY), x, result)


@function("atanh")
def atanh(x: Term) -> Term:
    """log(1 + 2 |x| / (1 - |x|)) / 2."""
    a = abs(x)
    inside = where(a < 1.0, a, 0.5)
    w = over(single(inside + inside), plus_one(single(-inside), 1.0))
    result = _odd(x, log1p_double(w).value * 0.5)
    result = where(a.equals(1.0), with_sign(x.number(INFINITY), x), where(a > 1.0, NAN, result))
    return where(x.is_nan, x, result)
