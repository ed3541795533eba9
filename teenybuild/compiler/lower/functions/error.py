"""erf, erfc and their like.

Near 0, erf(x) = x + x q(x^2).  Farther out, erfc(x) = e^(-x^2) erfcx(x), where (1 + 2x) erfcx(x) is smooth in t = (x - 3) / (x + 3) from 1/2 to infinity and one
polynomial does (the idea: Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", 1981; the coefficients are our own fits).
erfinv starts from a fit in w = -log(1 - x^2) (the idea: Giles, "Approximating the erfinv function", 2011) and takes one step of Halley's method.
"""

from __future__ import annotations

from teenybuild.compiler.lower.double import (
    Double,
    exact_product,
    exact_sum,
    over,
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
    root,
    scaled,
    where,
    with_sign,
)
from teenybuild.compiler.lower.functions.exponential import (
    Exponential,
    bounded_double,
    exponential,
    log1p_double,
)
from teenybuild.compiler.lower.functions.registry import call, function
from teenybuild.dtypes import f32, f64

#: 1 / sqrt(2), 1 / sqrt(π), 2 / sqrt(π).
HALF_ROOT = "0.707106781186547524400844362104849039284835937688474036588"
INVERSE_ROOT_PI = "0.564189583547756286948079451560772585844050629328998856844"
SLOPE = 1.1283791670955126

#: erf(x) / x - 1 as a function of x^2, for |x| <= 1/2.
_NEAR_F32 = (
    0.12837916586270406,
    -0.37612610377936717,
    0.11282850760808476,
    -0.026758740838854066,
    0.004720832934648408,
)
_NEAR_F64 = (
    0.12837916709551256,
    -0.3761263890318352,
    0.11283791670928031,
    -0.026866170633558416,
    0.005223977381896044,
    -0.000854829841880662,
    0.00012053363483237621,
    -1.484649033485725e-05,
    1.4731829318068378e-06,
)
#: (1 + 2x) e^(x^2) erfc(x) as a function of (x - 3) / (x + 3), for x >= 1/2.
_FAR_F32 = (
    1.2530080577236893,
    -0.13562108978736565,
    -0.04756222982937744,
    0.1296446233588644,
    -0.11927478151688413,
    0.06831321351500934,
    -0.023763923620334675,
    0.0025072425550022063,
    0.0018724483257613175,
    -0.0007331050941580743,
    -8.880193238703857e-05,
    7.751520855679597e-05,
)
_FAR_F64 = (
    1.2530080582697296,
    -0.1356211061245812,
    -0.04756229435345113,
    0.1296451587027646,
    -0.11927366341527457,
    0.0683080273438275,
    -0.02377051491973242,
    0.002529391818810272,
    0.001888690375598653,
    -0.0007798323013408085,
    -0.00010515993685419814,
    0.0001250995538715465,
    4.950175204746584e-06,
    -2.010150817736996e-05,
    -7.336911444614495e-07,
    3.475413439009144e-06,
    3.6112101064358114e-07,
    -6.230754380927336e-07,
    -1.4642712756497675e-07,
    1.1068724286942059e-07,
    4.4048342959860424e-08,
    -2.0305515131898635e-08,
    -7.762290073275158e-09,
    3.406597126883169e-09,
)
#: erfinv(x) / x as a function of w = -log(1 - x^2) up to 5, and of sqrt(w) beyond, to about 2^-18.
_INVERSE_NEAR = (
    0.8862263340798883,
    0.23202863007039687,
    0.011485196321079237,
    -0.0022270200345016105,
    -0.00022018788468989415,
    9.033563955444325e-05,
    -9.481644501429738e-06,
    3.6044964273797026e-07,
)
_INVERSE_FAR = (
    3.017876184491775,
    -4.739728166836765,
    4.508133514053354,
    -1.9934646729120002,
    0.5273383572257664,
    -0.07815748257784758,
    0.003593144482131588,
    0.0008296775211561075,
    -0.00016745399089052292,
    1.2646145044278995e-05,
    -3.669144870760258e-07,
)
#: erf is 1 from here on; erfc is 0.
_ONE = {f32: 4.0, f64: 6.0}
_NOTHING = {f32: 10.5, f64: 27.5}


def _near(x: Term) -> Term:
    """erf(x) / x - 1 for |x| <= 1/2."""
    return polynomial(x * x, pick(x, _NEAR_F32, _NEAR_F64))


def _scaled_complement(a: Double) -> Double:
    """erfcx(a) for a >= 1/2."""
    t = over(plus_one(a, -3.0), plus_one(a, 3.0))
    first, *rest = pick(a.high, _FAR_F32, _FAR_F64)
    tail = polynomial(t.high, rest)
    last = exact_product(t.high, tail)
    p = exact_sum(a.high.number(first), last.high)
    p = Double(p.high, p.low + fma(t.low, tail, last.low))
    return over(p, plus_one(a.scaled(2.0), 1.0))


def _gaussian(a: Double) -> Exponential:
    """e^(-a^2)."""
    square = exact_product(a.high, a.high)
    return exponential(bounded_double(Double(-square.high, -fma(a.high + a.high, a.low, square.low))))


def _complement(a: Double) -> Term:
    """erfc(a) for a >= 1/2."""
    e = _gaussian(a)
    return scaled(times(e.factor, _scaled_complement(a)).value, e.n)


@function("erf")
def erf(x: Term) -> Term:
    a = abs(x)
    one = _ONE[x.dtype]
    far = 1.0 - _complement(single(where(a < 0.5, 0.5, where(a > one, one, a))))
    return where(a >= 0.5, with_sign(far, x), fma(x, _near(x), x))


def _complement_anywhere(x: Double) -> Term:
    """erfc(x). Of the low part only where it is farther than 1/2 from 0, the sign is that of the high part."""
    a = abs(x.high)
    low = (x.low.bits ^ (x.high.bits & x.high.bits.dtype.minimum)).float
    most = _NOTHING[a.dtype]
    usual = (a >= 0.5) & (a < most)
    far = _complement(Double(where(usual, a, where(a < 0.5, a.number(0.5), most)), where(usual, low, 0.0)))
    value = where(x.high < 0.0, 2.0 - far, far)
    # 1 - erf(x), and erf(x) = x + x q.
    near = plus_one(exact_sum(-x.high, -fma(x.high, _near(x.high), x.low * SLOPE)), 1.0).value
    value = where(a < 0.5, near, value)
    return where(x.high.is_nan, x.high, value)


@function("erfc")
def erfc(x: Term) -> Term:
    return _complement_anywhere(single(x))


@function("normcdf")
def normcdf(x: Term) -> Term:
    """erfc(-x / sqrt(2)) / 2, the argument in two floats."""
    limit = 2.0 * _NOTHING[x.dtype]
    inside = where(x > limit, limit, where(x < -limit, -limit, x))
    argument = times_constant(single(-inside), HALF_ROOT)
    return _complement_anywhere(argument) * 0.5


@function("erfcx")
def erfcx(x: Term) -> Term:
    """e^(x^2) erfc(x): below 0, 2 e^(x^2) - erfcx(-x); between 0 and 1/2, the product."""
    a = abs(x)
    huge = a > 2.0 ** (x.dtype.mantissa // 2 + 3)
    usual = where(a < 0.5, 0.5, where(huge, 1.0, a))
    far = _scaled_complement(single(usual)).value
    large = over(times_constant(single(x.number(1.0)), INVERSE_ROOT_PI), single(where(huge, a, 1.0))).value
    far = where(a.equals(INFINITY), 0.0, where(huge, large, far))
    square = exact_product(where(a > 32.0, 32.0, a), where(a > 32.0, 32.0, a))
    e = exponential(bounded_double(square))
    growing = scaled(e.factor.value, e.n)
    left = growing + growing - far
    unit = e.factor
    near = 1.0 - fma(x, _near(x), x)
    middle = scaled(fma(unit.low, near, unit.high * near), e.n)
    value = where(a < 0.5, middle, where(x < 0.0, left, far))
    return where(x.is_nan, x, value)


def _inverse(inside: Term, rest: Term) -> Double:
    """y >= 0 with erf(y) = ``inside`` and erfc(y) = ``rest``, one of which is exact; neither 0. In two floats, but no better than one."""
    # Near 1, 1 - x^2 = (1 - x) (1 + x) keeps its digits.
    near_one = inside > 0.5
    product = where(near_one, rest * (2.0 - rest), 0.5)
    w = where(near_one, -_logarithm(product), -log1p_double(single(-(inside * inside))).high)
    s = root(w)
    start = inside * where(w < 5.0, polynomial(w, _INVERSE_NEAR), polynomial(least(s, 6.1), _INVERSE_FAR))
    start = where(s > 6.0, _far_start(rest), start)
    near = inside < 0.5
    y = where(near, start, where(start < 0.47, 0.47, start))
    e = _gaussian(single(y))
    # erf(y) - x, by whichever of erf and erfc has the digits; the latter times 2^-n, as it may be denormal.
    slope = e.factor.value * SLOPE
    off = fma(y, _near(where(near, y, 0.0)), y - inside)
    complement = times(e.factor, _scaled_complement(single(where(y < 0.47, 0.47, y))))
    beyond = plus_one(-complement, scaled(rest, -e.n)).value
    step = where(near, off / scaled(slope, e.n), beyond / slope)
    return exact_sum(y, -(step / fma(y, step, 1.0)))


def _logarithm(x: Term) -> Term:
    return call(x.lane, "__nv_log" if x.dtype == f64 else "__nv_logf", [x], x.dtype)


def _far_start(rest: Term) -> Term:
    """y with erfc(y) about ``rest`` for y above 5.6.

    From erfc(y) = e^(-y^2) / (y sqrt(π)) (1 - 1 / (2 y^2) + 3 / (4 y^4) - …) (DLMF 7.12.1), whose logarithm is solved for y^2 again and again.
    """
    exponent = -_logarithm(rest)
    y = root(greatest(exponent, 25.0))
    for _ in range(3):
        v = 1.0 / (y * y)
        series = v * polynomial(v, (0.5, -0.625, 37.0 / 24.0))
        y = root(greatest(exponent - _logarithm(y * (2.0 / SLOPE)) - series, 25.0))
    return y


@function("erfinv")
def erfinv(x: Term) -> Term:
    a = abs(x)
    tiny = a < 2.0 ** -(x.dtype.mantissa // 2 + 2)
    inside = where((a < 1.0) & ~tiny, a, 0.5)
    result = _inverse(inside, 1.0 - inside).value
    result = where(tiny, times_constant(single(a), ROOT_PI_HALF).value, result)
    result = where(a.equals(1.0), INFINITY, where(a > 1.0, NAN, result))
    return where(x.is_nan, x, with_sign(result, x))


def _complement_inverse(q: Term) -> Double:
    """y with erfc(y) = q for q between 0 and 2, those excluded; 1 too gives something."""
    mirrored = q > 1.0
    rest = where(mirrored, 2.0 - q, q)
    inside = 1.0 - rest
    tiny = inside < 2.0 ** -(q.dtype.mantissa // 2 + 2)
    found = _inverse(where(tiny, 0.5, inside), where(tiny, 0.5, rest))
    small = times_constant(single(inside), ROOT_PI_HALF)
    high, low = where(tiny, small.high, found.high), where(tiny, small.low, found.low)
    return Double(where(mirrored, -high, high), where(mirrored, -low, low))


@function("erfcinv")
def erfcinv(q: Term) -> Term:
    usual = (q > 0.0) & (q < 2.0)
    result = _complement_inverse(where(usual, q, 1.0)).value
    ends = where(q.equals(0.0), INFINITY, where(q.equals(2.0), -INFINITY, q.number(NAN)))
    return where(usual, result, ends)


@function("normcdfinv")
def normcdfinv(p: Term) -> Term:
    """-sqrt(2) erfcinv(2 p)."""
    usual = (p > 0.0) & (p < 1.0)
    y = _complement_inverse(where(usual, p + p, 1.0))
    result = times_constant(-y, ROOT_TWO).value
    ends = where(p.equals(0.0), -INFINITY, where(p.equals(1.0), INFINITY, p.number(NAN)))
    return where(usual, where(p.equals(0.5), 0.0, result), ends)


#: sqrt(π) / 2.
ROOT_PI_HALF = "0.886226925452758013649083741670572591398774728061193564107"
ROOT_TWO = "1.414213562373095048801688724209698078569671875376948073"
