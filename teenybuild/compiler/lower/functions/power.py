"""pow, roots, and lengths of vectors."""

from __future__ import annotations

from collections.abc import Sequence

from teenybuild.compiler.ir.numbers import bits_of
from teenybuild.compiler.lower.double import (
    Double,
    exact_product,
    ordered_sum,
    over,
    plus,
    root_of,
    single,
    times,
    times_one,
)
from teenybuild.compiler.lower.formula import (
    INFINITY,
    NAN,
    Term,
    fma,
    power_of_two,
    root,
    split,
    to_float,
    where,
    with_sign,
)
from teenybuild.compiler.lower.functions.exponential import (
    bounded_double,
    exponential,
    log_double,
)
from teenybuild.compiler.lower.functions.registry import function, symbols
from teenybuild.dtypes import f32, f64


@function("pow")
def pow(x: Term, y: Term) -> Term:
    """|x|^y = e^(y log|x|); the rest is C's table of special cases (C17, F.10.4.4)."""
    a = abs(x)
    whole = y.call("floor").equals(y)
    half = y * 0.5
    odd = whole & half.call("floor").differs(half) & (abs(y) < INFINITY)
    result = _power(a, single(where(abs(y) < INFINITY, y, 1.0)), y)
    result = where((x < 0.0) & ~whole & (a < INFINITY), NAN, result)
    result = where(odd, with_sign(result, x), result)
    result = where(a.equals(1.0) & abs(y).equals(INFINITY), 1.0, result)
    result = where(x.is_nan | y.is_nan, NAN, result)
    return where(y.equals(0.0) | x.equals(1.0), 1.0, result)


@symbols("powif", "powi")
def pow_of_integer(x: Term, n: Term) -> Term:
    """x^n for an i32: exact in f64, and in two parts in f32."""
    if x.dtype == f64:
        y = single(n.to(f64))
    else:
        low = n & 0xFFF
        y = ordered_sum((n - low).to(f32), low.to(f32))
    odd = (n & 1).differs(0)
    result = _power(abs(x), y, y.high)
    result = where(odd, with_sign(result, x), result)
    result = where(x.is_nan, NAN, result)
    return where(n.equals(0) | x.equals(1.0), 1.0, result)


def _power(a: Term, y: Double, sign: Term) -> Term:
    """a^y for ``a`` >= 0; of 0, infinity and infinite ``sign`` (y, as it was given) the limit."""
    plain = (a > 0.0) & (a < INFINITY) & (abs(sign) < INFINITY)
    # Beyond this every power but those of 1 is 0 or infinite, and the product is no infinity yet.
    most = 2.0**60
    inside = where(y.high > most, most, where(y.high < -most, -most, y.high))
    product = times(log_double(where(plain, a, 1.0)), Double(inside, y.low))
    result = exponential(bounded_double(product)).value
    grows = (a > 1.0) ^ (sign < 0.0)
    return where(plain, result, where(grows, a.number(INFINITY), 0.0))


@symbols("frsqrt_rn")
def rsqrt_rn(x: Term) -> Term:
    """1 / sqrt(x) of f32, correctly rounded: f64 says which of two floats it lies between, and x times the square of their middle, exactly, which is nearer."""
    usual = (x > 0.0) & (x < INFINITY)
    wide = where(usual, x, 1.0).to(f64)
    nearest = (1.0 / root(wide)).to(f32)
    for step in (1, -1):
        other = (nearest.bits + step).float
        # 25 bits, its square 50.
        middle = (nearest.to(f64) + other.to(f64)) * 0.5
        product = exact_product(middle * middle, wide)
        left = (product.high - 1.0) + product.low
        # Larger results have smaller products.
        passed = left < 0.0 if step > 0 else left > 0.0
        nearest = where(passed, other, nearest)
    ends = where(
        x.equals(0.0), with_sign(x.number(INFINITY), x), where(x.equals(INFINITY), 0.0, x.number(NAN))
    )
    return where(usual, nearest, ends)


def _third(x: Term) -> tuple[Term, Term, Term]:
    """(m, k, about m^(-1/3)) with |x| = m 2^(3k), m between 1 and 8."""
    dtype = x.dtype
    a = abs(x)
    a = where((a > 0.0) & (a < INFINITY), a, 1.0)
    e, m = split(a, bits_of(1.0, dtype))
    # floor(e / 3) for |e| < 2^11, by multiplying.
    k = ((e + 3 * 400) * 21846).shifted_right(16) - 400
    j = to_float(e - k * 3, dtype)
    m = m * where(j.equals(0.0), 1.0, where(j.equals(1.0), 2.0, m.number(4.0)))
    # A line through 1 and 1/2 at m = 1 and 8, bent: three steps of Newton's method for m^(-1/3) follow, each squaring the error.
    y = fma(m, fma(m, 0.0137, -0.186), 1.155)
    third = 1.0 / 3.0
    for _ in range(4 if dtype == f32 else 5):
        rest = fma(-(y * y * y), m, 1.0)
        y = fma(y * rest, third, y)
    return m, k, y


@function("cbrt")
def cbrt(x: Term) -> Term:
    """m y^2 for y = m^(-1/3) by Newton's method without divisions, and one step in two floats."""
    m, k, y = _third(x)
    t = m * y * y
    cube = times_one(exact_product(t, t), t)
    rest = (m - cube.high) - cube.low
    # t - (t^3 - m) / (3 t^2), with 1 / t^2 = y^2.
    t = fma(rest * y * y, 1.0 / 3.0, t)
    value = with_sign(t * power_of_two(k), x)
    return where((abs(x) < INFINITY) & x.differs(0.0), value, x)


@function("rcbrt")
def rcbrt(x: Term) -> Term:
    """1 / cbrt(x)."""
    m, k, y = _third(x)
    cube = times_one(exact_product(y, y), y)
    product = times_one(cube, m)
    rest = (1.0 - product.high) - product.low
    y = fma(y * rest, 1.0 / 3.0, y)
    value = with_sign(y * power_of_two(-k), x)
    value = where(x.equals(0.0), with_sign(x.number(INFINITY), x), value)
    value = where(abs(x).equals(INFINITY), with_sign(x.number(0.0), x), value)
    return where(x.is_nan, x, value)


def _length(*sides: Term) -> tuple[Double, Term, Term, Term]:
    """(the length of a vector times 2^-n, the half of n, the rest of n, the largest side's magnitude)."""
    dtype = sides[0].dtype
    magnitudes = [abs(s) for s in sides]
    largest = magnitudes[0]
    for m in magnitudes[1:]:
        largest = where(m > largest, m, largest)
    usual = (largest > 0.0) & (largest < INFINITY)
    exponent = split(where(usual, largest, 1.0), bits_of(1.0, dtype))[0]
    half = exponent >> 1
    rest = exponent - half
    first, second = power_of_two(-half), power_of_two(-rest)
    total: Double | None = None
    for m in magnitudes:
        side = where(usual, m, 1.0) * first * second
        square = exact_product(side, side)
        total = square if total is None else plus(total, square)
    assert total is not None
    return root_of(total), half, rest, largest


def _any_nan(values: Sequence[Term]) -> Term:
    found = values[0].is_nan
    for v in values[1:]:
        found = found | v.is_nan
    return found


def _any_infinite(values: Sequence[Term]) -> Term:
    found = abs(values[0]).equals(INFINITY)
    for v in values[1:]:
        found = found | abs(v).equals(INFINITY)
    return found


@symbols("hypotf", "hypot", "norm3df", "norm3d", "norm4df", "norm4d")
def norm(*sides: Term) -> Term:
    """The length of a vector: the root of its squares in two floats, of numbers scaled so that none overflows. An infinite side wins over NaN."""
    length, half, rest, largest = _length(*sides)
    value = length.value * power_of_two(half) * power_of_two(rest)
    value = where(largest.equals(0.0), 0.0, value)
    return where(_any_infinite(sides), INFINITY, where(_any_nan(sides), NAN, value))


@symbols("rhypotf", "rhypot", "rnorm3df", "rnorm3d", "rnorm4df", "rnorm4d")
def reciprocal_norm(*sides: Term) -> Term:
    """1 / the length of a vector."""
    length, half, rest, largest = _length(*sides)
    value = over(single(largest.number(1.0)), length).value * power_of_two(-half) * power_of_two(-rest)
    value = where(largest.equals(0.0), INFINITY, value)
    return where(_any_infinite(sides), 0.0, where(_any_nan(sides), NAN, value))


@function("sqrt", own=False)
def sqrt(x: Term) -> Term:
    return root(x)
