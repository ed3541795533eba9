"""sin, cos, tan and their like, and the inverses.

x = n π/2 + r with |r| <= π/4, r in two floats.  Up to a bound, n times π/2 in three parts is subtracted with fused steps (Cody and Waite, chapter 8); beyond it,
the bits of 2/π that matter are picked out and multiplied as integers (Payne and Hanek, "Radian reduction for trigonometric functions", 1983), in
a function that is called only where some lane needs it.  2/π is computed from π by Machin's formula when first asked for.
sin and cos of r are polynomials, Chebyshev fits of our own; the last steps keep what rounding would take.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from teenybuild.compiler.lower.double import (
    Double,
    exact_product,
    exact_sum,
    ordered_sum,
    over,
    parts,
    plus,
    plus_one,
    root_of,
    single,
    times_constant,
)
from teenybuild.compiler.lower.formula import (
    INFINITY,
    NAN,
    Term,
    fma,
    pick,
    polynomial,
    power_of_two,
    replaced,
    sign_of,
    to_whole,
    upper_half,
    where,
    with_sign,
)
from teenybuild.compiler.lower.functions.registry import function, in_a_function
from teenybuild.compiler.lower.lane import Lane
from teenybuild.dtypes import f32, f64, i32, i64

PI = "3.14159265358979323846264338327950288419716939937510582097494459"
HALF_PI = "1.57079632679489661923132169163975144209858469968755291048747230"
QUARTER_PI = "0.785398163397448309615660845819875721049292349843776455243736"

#: (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 as functions of r^2, for |r| <= π/4.
_SIN_F32 = (-0.166666666639606, 0.008333331882542878, -0.0001984008738424051, 2.7249810960005165e-06)
_SIN_F64 = (
    -0.16666666666666666,
    0.008333333333333331,
    -0.00019841269841265117,
    2.755731921935803e-06,
    -2.505210623467365e-08,
    1.6058531535329184e-10,
    -7.586674385333565e-13,
)
_COS_F32 = (0.04166666666440906, -0.0013888887678550075, 2.4800600917462386e-05, -2.7300863234770506e-07)
_COS_F64 = (
    0.041666666666666664,
    -0.0013888888888888887,
    2.4801587301584676e-05,
    -2.755731922141331e-07,
    2.087675579231732e-09,
    -1.1470460841000464e-11,
    4.745859258336615e-14,
)
#: (atan(u) - u) / u^3 as a function of u^2, for |u| <= sqrt(2) - 1.
_ATAN_F32 = (
    -0.333333332969109,
    0.1999997862023231,
    -0.14284172682534996,
    0.11071348804979961,
    -0.08622842254735663,
    0.050406148226655866,
)
_ATAN_F64 = (
    -0.3333333333333333,
    0.19999999999999876,
    -0.14285714285669074,
    0.11111111105672063,
    -0.09090908768282485,
    0.0769229659821128,
    -0.06666426333750605,
    0.05878923988397405,
    -0.05230295482824714,
    0.045504316746751594,
    -0.034531647234581415,
    0.016234427587810643,
)

#: Up to here three parts of π/2 do.
_PLAIN = {f32: 2.0**16, f64: 2.0**29}


# Reduction ----------------------------------------------------------------------------------------------------


def _reduced(x: Term) -> tuple[Term, Double]:
    """(n modulo 4 in its low bits, r) with |x| = n π/2 + r; of a NaN or infinity, something."""
    magnitude = abs(x)
    n, whole = to_whole(magnitude * (1 / (0.5 * float(PI))))
    first, second, third = _three_parts(x)
    near = exact_product(n, first)
    middle = exact_product(n, second)
    # The first difference is exact: the product is within a factor of two of x.
    s = exact_sum(magnitude - near.high, -near.low)
    t = exact_sum(s.high, -middle.high)
    r = ordered_sum(t.high, (s.low + t.low) - fma(n, third, middle.low))
    low_bits = whole.to(i32)
    big = magnitude > _PLAIN[x.dtype]
    quadrant, high, low = replaced(big, (low_bits, r.high, r.low), lambda: _far(magnitude))
    return quadrant, Double(high, low)


def _three_parts(x: Term) -> tuple[float, float, float]:
    high, low = parts(HALF_PI, x.dtype)
    rest = Fraction(HALF_PI) - Fraction(high) - Fraction(low)
    return high, low, float(rest)


def _far(x: Term) -> Sequence[Term]:
    """The reduction of large numbers, lane by lane."""
    lane = x.lane
    one = Lane(lane.machine, 1, lane.text)
    name, dtypes = f"reduce.{x.dtype.name}", [i32, x.dtype, x.dtype]
    if lane.width == 1:
        return in_a_function(one, name, [x], dtypes, _payne_hanek)
    made = ["poison"] * 3
    for i in range(lane.width):
        part = Term(one, lane.op(f"extractelement {lane.of(x.dtype.llvm)} {x.name}, i64 {i}"), x.dtype)
        for k, value in enumerate(in_a_function(one, name, [part], dtypes, _payne_hanek)):
            llvm = value.dtype.llvm
            made[k] = lane.op(f"insertelement {lane.of(llvm)} {made[k]}, {llvm} {value.name}, i64 {i}")
    return [Term(lane, name, dtype) for name, dtype in zip(made, dtypes, strict=True)]


def _payne_hanek(x: Term) -> Sequence[Term]:
    """(n modulo 4, r): of the product with 2/π only what is below 4 is computed, as integers.

    x is m 2^e for an integer m. Bits of 2/π before the (e - 1)th behind the point give multiples of 4. The product of m with the next bits, 128 of them
    for f32 and 192 for f64, is off by less than m, far below how near such an x comes to a multiple of π/2 (2^-30 and 2^-62).
    """
    mantissa, words = x.dtype.mantissa, (2 if x.dtype == f32 else 3)
    bits = x.bits.to(i64)
    field = bits.shifted_right(mantissa)
    m = (bits & ((1 << mantissa) - 1)) | (1 << mantissa)
    # Where in 2/π, which has a word of zeros in front, the first bit stands that counts.
    start = field - (x.dtype.exponent_bias + mantissa + 2) + 64
    last = _LARGEST_START[x.dtype]
    start = where(start < 0, 0, where(start > last, last, start))
    window = _window(start, words)
    below: list[Term] = []
    top = upper_half(m, window[1]) + m * window[0]
    if words == 3:
        lowest, middle = m * window[2], m * window[1]
        sum_ = upper_half(m, window[2]) + middle
        top = top + sum_.below(middle).to(i64)
        below = [sum_, lowest]
    quadrant = (top + (1 << 61)).shifted_right(62)
    rest = top - (quadrant << 62)
    if words == 2:
        r = rest.to(f64) * (2.0**-62 * 0.5 * float(PI))
        high = r.to(f32)
        return [quadrant.to(i32), high, (r - high.to(f64)).to(f32)]
    total = ordered_sum((rest >> 32).to(f64) * 2.0**-30, (rest & 0xFFFFFFFF).to(f64) * 2.0**-62)
    for i, word in enumerate(below):
        total = plus_one(total, word.shifted_right(32).to(f64) * 2.0 ** (-94 - 64 * i))
        total = plus_one(total, (word & 0xFFFFFFFF).to(f64) * 2.0 ** (-126 - 64 * i))
    r = times_constant(total, HALF_PI)
    return [quadrant.to(i32), r.high, r.low]


#: Where the window of the largest finite number starts.
_LARGEST_START = {f32: 254 - (127 + 23 + 2) + 64, f64: 2046 - (1023 + 52 + 2) + 64}


def _window(start: Term, words: int) -> list[Term]:
    """``words`` words of 2/π from a bit on."""
    lane = start.lane
    table = _two_over_pi()
    name = "@teeny.two_over_pi"
    values = ", ".join(f"i64 {w}" for w in table)
    lane.text.define(name, f"{name} = internal unnamed_addr constant [{len(table)} x i64] [{values}]")
    index, shift = start.shifted_right(6), start & 63
    found: list[Term] = []
    for i in range(words + 1):
        at = index + i
        place = lane.op(f"getelementptr i64, ptr {name}, i64 {at.name}")
        found.append(Term(lane, lane.op(f"load i64, ptr {place}, align 8"), i64))
    return [found[i].call("fshl", found[i + 1], shift) for i in range(words)]


@cache
def _two_over_pi() -> tuple[int, ...]:
    """The bits of 2/π, in words of 64 as signed numbers, behind a word of zeros: as many as the largest f64 asks for."""
    words = (_LARGEST_START[f64] >> 6) + 5
    precision = 64 * words + 64

    def arctangent(n: int) -> int:
        term = total = (1 << precision) // n
        k = 1
        while term:
            term //= -n * n
            k += 2
            total += term // k
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    behind = 64 * (words - 1)
    fraction = (1 << (precision + 1 + behind)) // pi
    unsigned = [0, *((fraction >> (behind - 64 * i)) & (2**64 - 1) for i in range(1, words))]
    return tuple(w - 2**64 if w >> 63 else w for w in unsigned)


# Functions ----------------------------------------------------------------------------------------------------


def _sin_of(r: Double) -> Double:
    """sin(r) for |r| <= π/4."""
    square = r.high * r.high
    series = polynomial(square, pick(square, _SIN_F32, _SIN_F64))
    # sin(r + l) = sin(r) + l cos(r)
    tail = fma(square * r.high, series, fma(r.low * square, -0.5, r.low))
    return ordered_sum(r.high, tail)


def _cos_of(r: Double) -> Double:
    """cos(r) for |r| <= π/4."""
    square = exact_product(r.high, r.high)
    series = polynomial(square.high, pick(r.high, _COS_F32, _COS_F64))
    first = ordered_sum(r.high.number(1.0), square.high * -0.5)
    # cos(r + l) = cos(r) - l r
    tail = fma(square.high * square.high, series, fma(square.low, -0.5, -(r.low * r.high)))
    return ordered_sum(first.high, first.low + tail)


def _turned(quadrant: Term, r: Double, sign: Term | None) -> Term:
    """sin of n π/2 + r, with the sign bit flipped by ``sign``."""
    odd = (quadrant & 1).differs(0)
    value = where(odd, _cos_of(r).value, _sin_of(r).value)
    dtype = value.dtype
    flip = (quadrant & 2).to(value.bits.dtype) << (dtype.bits - 2)
    bits = value.bits ^ flip
    return (bits if sign is None else bits ^ sign).float


def _of_finite(x: Term, result: Term) -> Term:
    """The result; NaN for infinities and NaN."""
    return where(abs(x) < INFINITY, result, NAN)


@function("sin")
def sin(x: Term) -> Term:
    quadrant, r = _reduced(x)
    return _of_finite(x, _turned(quadrant, r, sign_of(x)))


@function("cos")
def cos(x: Term) -> Term:
    quadrant, r = _reduced(x)
    return _of_finite(x, _turned(quadrant + 1, r, None))


def sine_and_cosine(x: Term) -> tuple[Term, Term]:
    """sin and cos of a finite number."""
    quadrant, r = _reduced(x)
    return _turned(quadrant, r, sign_of(x)), _turned(quadrant + 1, r, None)


@function("tan")
def tan(x: Term) -> Term:
    """sin / cos, both in two floats."""
    quadrant, r = _reduced(x)
    sine, cosine = _sin_of(r), _cos_of(r)
    odd = (quadrant & 1).differs(0)
    above = Double(where(odd, cosine.high, sine.high), where(odd, cosine.low, sine.low))
    below = Double(where(odd, sine.high, cosine.high), where(odd, sine.low, cosine.low))
    value = over(above, below).value
    value = where(sine.high.equals(0.0) & ~odd, 0.0, value)
    flip = (quadrant & 1).to(value.bits.dtype) << (x.dtype.bits - 1)
    return _of_finite(x, (value.bits ^ flip ^ sign_of(x)).float)


def _half_turns(x: Term) -> tuple[Term, Double]:
    """(n modulo 4 in its low bits, r) with π |x| = n π/2 + r. What is left of a whole number of turns is exact."""
    magnitude = abs(x)
    turns = magnitude - (magnitude * 0.5).call("floor") * 2.0
    n, whole = to_whole(turns * 2.0)
    return whole.to(i32), times_constant(single(fma(n, -0.5, turns)), PI)


def sine_of_half_turns(x: Term) -> Double:
    """sin(π x) of a finite x in two floats."""
    quadrant, r = _half_turns(x)
    sine, cosine = _sin_of(r), _cos_of(r)
    odd = (quadrant & 1).differs(0)
    flip = ((quadrant & 2).to(sign_of(x).dtype) << (x.dtype.bits - 2)) ^ sign_of(x)
    high, low = where(odd, cosine.high, sine.high), where(odd, cosine.low, sine.low)
    return Double((high.bits ^ flip).float, (low.bits ^ flip).float)


@function("sinpi")
def sinpi(x: Term) -> Term:
    quadrant, r = _half_turns(x)
    return _of_finite(x, _signed_zero(x, _turned(quadrant, r, sign_of(x))))


@function("cospi")
def cospi(x: Term) -> Term:
    """(Its zeros are positive.)"""
    quadrant, r = _half_turns(x)
    value = _turned(quadrant + 1, r, None)
    return _of_finite(x, where(value.equals(0.0), 0.0, value))


def _signed_zero(x: Term, value: Term) -> Term:
    """Zeros of sin(π x) have the sign of x."""
    return where(value.equals(0.0), with_sign(x.number(0.0), x), value)


# Inverses -----------------------------------------------------------------------------------------------------


def _angle(y: Double, x: Double, left: Term) -> Term:
    """The angle of a point with ``y``, ``x`` >= 0 in two floats, mirrored to the left where ``left`` holds; neither infinite, not both 0.

    The smaller by the larger is at most 1; above sqrt(2) - 1, atan(t) = π/4 + atan((t - 1) / (t + 1)).
    """
    swap = y.high > x.high
    small = Double(where(swap, x.high, y.high), where(swap, x.low, y.low))
    large = Double(where(swap, y.high, x.high), where(swap, y.low, x.low))
    folds = small.high > large.high * (2.0**0.5 - 1.0)
    zero = small.high.number(0.0)
    other = Double(where(folds, large.high, zero), where(folds, large.low, zero))
    up = plus(small, -other)
    down = plus(large, Double(where(folds, small.high, zero), where(folds, small.low, zero)))
    u = over(up, down)
    square = u.high * u.high
    series = polynomial(square, pick(square, _ATAN_F32, _ATAN_F64))
    part = ordered_sum(u.high, fma(square * u.high, series, u.low))
    quarters = where(folds, 1.0, zero)
    quarters = where(swap, 2.0 - quarters, quarters)
    quarters = where(left, 4.0 - quarters, quarters)
    mirrored = swap ^ left
    part = Double(where(mirrored, -part.high, part.high), where(mirrored, -part.low, part.low))
    angle = times_constant(single(quarters), QUARTER_PI)
    return where(quarters.equals(0.0), part.value, plus(angle, part).value)


def _scaled_apart(y: Term, x: Term) -> tuple[Term, Term]:
    """Two positive numbers times one power of two, so that the larger is about 1."""
    dtype = x.dtype
    larger = where(y > x, y, x)
    tiny = larger < 2.0 ** (2 + dtype.mantissa - dtype.exponent_bias)
    lift = where(tiny, 2.0 ** (2 * dtype.mantissa), x.number(1.0))
    y, x, larger = y * lift, x * lift, larger * lift
    exponent = larger.bits.shifted_right(dtype.mantissa) - dtype.exponent_bias
    half = exponent >> 1
    first, second = power_of_two(-half), power_of_two(half - exponent)
    return y * first * second, x * first * second


@function("atan2")
def atan2(y: Term, x: Term) -> Term:
    """The angle of the point (x, y)."""
    a, b = abs(y), abs(x)
    both_zero = (a.equals(0.0)) & (b.equals(0.0))
    far_a, far_b = a.equals(INFINITY), b.equals(INFINITY)
    # Infinities stand for the largest direction there is; two of them are equal.
    a, b = where(far_a, 1.0, where(far_b, 0.0, a)), where(far_b, 1.0, where(far_a, 0.0, b))
    b = where(both_zero, 1.0, b)
    a, b = _scaled_apart(a, b)
    left = sign_of(x).differs(0)
    result = with_sign(_angle(single(a), single(b), left), y)
    return where(x.is_nan | y.is_nan, NAN, result)


@function("atan")
def atan(x: Term) -> Term:
    a = abs(x)
    huge = 2.0 ** (x.dtype.mantissa + 5)
    a = where(a > huge, huge, a)
    never = a < 0.0
    result = with_sign(_angle(single(a), single(a.number(1.0)), never), x)
    return where(x.is_nan, x, result)


def _other_side(x: Term) -> Double:
    """sqrt(1 - x^2) for |x| <= 1."""
    square = exact_product(x, x)
    rest = plus_one(Double(-square.high, -square.low), 1.0)
    found = root_of(rest)
    zero = rest.high.equals(0.0)
    return Double(where(zero, 0.0, found.high), where(zero, 0.0, found.low))


@function("asin")
def asin(x: Term) -> Term:
    """The angle of (sqrt(1 - x^2), x)."""
    a = abs(x)
    inside = where(a > 1.0, 1.0, a)
    result = with_sign(_angle(single(inside), _other_side(inside), inside < 0.0), x)
    return where(a <= 1.0, result, NAN)


@function("acos")
def acos(x: Term) -> Term:
    """The angle of (x, sqrt(1 - x^2))."""
    a = abs(x)
    inside = where(a > 1.0, 1.0, a)
    result = _angle(_other_side(inside), single(inside), x < 0.0)
    return where(a <= 1.0, result, NAN)
