"""The Bessel functions j0, j1, jn, y0, y1, yn, and i0, i1 of imaginary arguments. All is computed in f64, of f32 too.

Below 8 the functions are polynomials, piece by piece; where a piece has a zero the polynomial is of what is left when it is divided out, so
that digits are kept near it.  Y_0 and Y_1 have a logarithm near 0 (DLMF 10.8).  From 8 on they are a cosine and a sine whose amplitudes
are polynomials in 1/x (DLMF 10.17), and the argument is reduced exactly; near the zeros there only the absolute error is small, as
NVIDIA says of its own.  Other orders come by the recurrence (DLMF 10.6.1): upward where the order is below x, else downward from an
order where J is nothing, by Miller's algorithm (DLMF 3.6).  The tables say how their coefficients were made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from teenybuild.compiler.lower.double import single
from teenybuild.compiler.lower.formula import (
    INFINITY,
    NAN,
    Term,
    fma,
    polynomial,
    root,
    scaled,
    where,
    with_sign,
)
from teenybuild.compiler.lower.functions.bessel_tables import (
    FAR_I0,
    FAR_I1,
    I0,
    I1,
    J0,
    J1,
    P0,
    P1,
    Q0,
    Q1,
    Y0,
    Y0_BELOW_2,
    Y0_NEAR_0,
    Y1,
    Y1_NEAR_0,
    Piece,
)
from teenybuild.compiler.lower.functions.exponential import exponential, log1p_double, log_double
from teenybuild.compiler.lower.functions.registry import call, function
from teenybuild.compiler.lower.functions.trigonometric import sine_and_cosine
from teenybuild.compiler.lower.loops import counted
from teenybuild.dtypes import f64, i32, i64

TWO_OVER_PI = 0.6366197723675814
#: 1 / sqrt(π).
_AMPLITUDE = 0.5641895835477563
#: From here on the functions are waves.
_FAR = 8.0
#: The first zero of Y_0, in two floats.
_FIRST_ZERO = (0.8935769662791675, 2.659623153972038e-17)


def _in_f64(formula: Callable[[Term], Term]) -> Callable[[Term], Term]:
    """A formula of f64, for f32 too."""

    def either(x: Term) -> Term:
        return formula(x.to(f64)).to(x.dtype)

    return either


def _by_piece(a: Term, pieces: Sequence[Piece]) -> Term:
    """A function by its pieces, for ``a`` below the last one's end."""
    inside = [a < piece.below for piece in pieces[:-1]]

    def of_piece(values: Sequence[float]) -> Term:
        *others, last = values
        chosen = a.number(last)
        for condition, value in zip(reversed(inside), reversed(others), strict=True):
            chosen = where(condition, value, chosen)
        return chosen

    longest = max(len(piece.coefficients) for piece in pieces)
    padded = [(*p.coefficients, *(0.0,) * (longest - len(p.coefficients))) for p in pieces]
    offset = a - of_piece([piece.middle for piece in pieces])
    result = of_piece([c[-1] for c in padded])
    for k in reversed(range(longest - 1)):
        result = fma(result, offset, of_piece([c[k] for c in padded]))
    zeros = [piece.zero or (0.0, 0.0) for piece in pieces]
    distance = (a - of_piece([high for high, _ in zeros])) - of_piece([low for _, low in zeros])
    has_zero = of_piece([float(piece.zero is not None) for piece in pieces]).differs(0.0)
    return result * where(has_zero, distance, 1.0)


def _waves(a: Term, p: Sequence[float], q: Sequence[float]) -> tuple[Term, Term, Term, Term]:
    """(P, Q, sin + cos, sin - cos), the amplitudes with what all have in common, for ``a`` from 8 on."""
    inverse = 1.0 / a
    square = inverse * inverse
    common = _AMPLITUDE / root(a)
    sine, cosine = sine_and_cosine(a)
    return (
        polynomial(square, p) * common,
        polynomial(square, q) * inverse * common,
        sine + cosine,
        sine - cosine,
    )


def _first_kind(a: Term, pieces: Sequence[Piece], far: Term) -> Term:
    """J of a number that is not negative; infinity gives 0."""
    near = where(a < _FAR, a, 0.0)
    value = where(a < _FAR, _by_piece(near, pieces), far)
    return where(a.is_nan, a, where(a.equals(INFINITY), 0.0, value))


def _j0(x: Term) -> Term:
    a = abs(x)
    p, q, plus, minus = _waves(a, P0, Q0)
    return _first_kind(a, J0, p * plus - q * minus)


def _j1(x: Term) -> Term:
    a = abs(x)
    p, q, plus, minus = _waves(a, P1, Q1)
    value = _first_kind(a, J1, p * minus + q * plus)
    return where(x < 0.0, -value, where(x.equals(0.0), x, value))


def _second_kind(x: Term, near_0: Term, until: float, pieces: Sequence[Piece], far: Term) -> Term:
    """Y: -inf at 0, NaN below, 0 at infinity."""
    inside = where((x >= until) & (x < _FAR), x, until)
    value = where(x < until, near_0, where(x < _FAR, _by_piece(inside, pieces), far))
    value = where(x.equals(0.0), -INFINITY, where(x.equals(INFINITY), 0.0, value))
    return where(x.is_nan, x, where(x < 0.0, NAN, value))


def _y0(x: Term) -> Term:
    """Near 0, (2/π) log(x) J_0 and a polynomial; beyond 0.4 log(x/z), and (x^2 - z^2) times one: both are 0 at the zero z."""
    p, q, plus, minus = _waves(x, P0, Q0)
    far = p * minus + q * plus
    a = where((x > 0.0) & (x < 2.0), x, 1.0)
    close = a < 0.4
    high, low = _FIRST_ZERO
    distance = (a - high) - low
    ratio = where(close, 0.0, distance / high)
    logarithm = where(close, log_double(a).value, log1p_double(single(ratio)).value)
    square = a * a
    rest = where(
        close, polynomial(square, Y0_NEAR_0), distance * (a + high) * polynomial(square - 2.075, Y0_BELOW_2)
    )
    near = fma(logarithm * TWO_OVER_PI, _by_piece(a, J0[:1]), rest)
    return _second_kind(x, near, 2.0, Y0, far)


def _y1(x: Term) -> Term:
    """Near 0, (2/π) (log(x) J_1 - 1/x) and x times a polynomial."""
    p, q, plus, minus = _waves(x, P1, Q1)
    far = q * minus - p * plus
    a = where((x > 0.0) & (x < 2.0), x, 1.0)
    pole = TWO_OVER_PI / a
    small = fma(log_double(a).value * TWO_OVER_PI, _by_piece(a, J1[:1]), a * polynomial(a * a, Y1_NEAR_0))
    return _second_kind(x, small - pole, 1.25, Y1, far)


function("j0")(_in_f64(_j0))
function("j1")(_in_f64(_j1))
function("y0")(_in_f64(_y0))
function("y1")(_in_f64(_y1))


# Other orders -------------------------------------------------------------------------------------------------


def _most_turns(turns: Term) -> str:
    """The largest of a count in lanes that are side by side, at least 1, as an LLVM i64."""
    lane = turns.lane
    wide = where(turns > 1, turns, 1).to(i64)
    if lane.width == 1:
        return wide.name
    full, ty = f"@llvm.vector.reduce.smax.v{lane.width}i64", lane.of("i64")
    lane.text.declare(f"i64 {full}({ty})")
    return lane.op(f"call i64 {full}({ty} {wide.name})")


def _loop(
    turns: Term, first: Sequence[Term], turn: Callable[[Term, Sequence[Term]], Sequence[Term]]
) -> list[Term]:
    """Carries numbers through as many turns as any lane needs; ``turn`` is given the number of the turn, f64, and leaves be what is done."""
    lane = turns.lane

    def body(index: str, carried: Sequence[str]) -> list[str]:
        i = Term(lane, lane.broadcast(i64, index), i64).to(f64)
        values = [Term(lane, name, term.dtype) for name, term in zip(carried, first, strict=True)]
        return [v.name for v in turn(i, values)]

    entering = [(lane.of(term.dtype.llvm), term.name) for term in first]
    after = counted(lane.text, _most_turns(turns), 1, entering, body)
    return [Term(lane, name, term.dtype) for name, term in zip(after, first, strict=True)]


def _upward(n: Term, order: Term, a: Term, zeroth: Term, first: Term) -> Term:
    """From orders 0 and 1 to ``n``; what has become infinite stays so."""

    def turn(i: Term, values: Sequence[Term]) -> Sequence[Term]:
        before, now = values
        k = i + 1.0
        goes_on = (k < order) & (abs(now) < INFINITY)
        following = (2.0 * k / a) * now - before
        return [where(goes_on, now, before), where(goes_on, following, now)]

    return _loop(n - 1, [zeroth, first], turn)[1]


#: Numbers that grow past this on the way down are made smaller; below the other, the second factor of a step may overflow.
_LARGE, _TINY = 2.0**400, 2.0**-480


def _downward(n: Term, order: Term, a: Term, zeroth: Term, first: Term) -> Term:
    """J from an order where it is nothing, down to 0, where it is known: the better of J_0 and J_1 gives the scale."""
    above = 14.0 + 14.0 * root(order)
    start = order + above.call("floor")

    def turn(i: Term, values: Sequence[Term]) -> Sequence[Term]:
        later, now, found = values
        k = start - i
        goes_on = k >= 1.0
        following = (2.0 * k / a) * now - later
        found = where((k - 1.0).equals(order), following, found)
        shrink = where(abs(following) > _LARGE, now.number(1.0 / _LARGE), 1.0)
        return [
            where(goes_on, now * shrink, later),
            where(goes_on, following * shrink, now),
            where(goes_on, found * shrink, found),
        ]

    turns = n + above.saturated(i32) + 1
    zero = a.number(0.0)
    later, now, found = _loop(turns, [zero, a.number(1.0), zero], turn)
    by_first = abs(later) > abs(now)
    return found / where(by_first, later, now) * where(by_first, first, zeroth)


@function("jn")
def jn(n: Term, x: Term) -> Term:
    """NaN for n < 0."""
    wide = x.to(f64)
    a = abs(wide)
    zeroth, first = (call(a.lane, f"__nv_{name}", [a], f64) for name in ("j0", "j1"))
    order = n.to(f64)
    usual = (n > 1) & (a > _TINY) & (a < INFINITY)
    up = usual & (a >= order)
    down = usual & (a < order)
    upward = _upward(where(up, n, 0), where(up, order, 0.0), where(up, a, 1.0), zeroth, first)
    downward = _downward(where(down, n, 2), where(down, order, 2.0), where(down, a, 1.0), zeroth, first)
    value = where(up, upward, where(down, downward, 0.0))
    # So near 0 the first term of the series is all there is, and of higher orders not even that.
    value = where(n.equals(2) & (a <= _TINY), a * a * 0.125, value)
    value = where(n.equals(0), zeroth, where(n.equals(1), first, value))
    odd = (n & 1).differs(0)
    value = where(odd & (wide < 0.0), -value, where(odd & wide.equals(0.0), with_sign(a, wide), value))
    return where(x.is_nan | (n < 0), NAN, value).to(x.dtype)


@function("yn")
def yn(n: Term, x: Term) -> Term:
    """NaN for n < 0 and for x < 0."""
    wide = x.to(f64)
    zeroth, first = (call(wide.lane, f"__nv_{name}", [wide], f64) for name in ("y0", "y1"))
    order = n.to(f64)
    usual = (n > 1) & (wide > 0.0) & (wide < INFINITY)
    a = where(usual, wide, 1.0)
    upward = _upward(where(usual, n, 0), where(usual, order, 0.0), a, zeroth, first)
    value = where(n.equals(0), zeroth, where(n.equals(1) | ~usual, first, upward))
    return where(n < 0, NAN, value).to(x.dtype)


# Of imaginary arguments ---------------------------------------------------------------------------------------

#: Both are infinite from here on.
_OVERFLOWS = 720.0


def _modified(a: Term, near: Sequence[float], far: Sequence[float]) -> tuple[Term, Term]:
    """(the polynomial in a^2 up to 8, the function from there on: e^a / sqrt(a) times one in 1/a)."""
    small = where(a < _FAR, a, 0.0)
    large = where(a < _FAR, _FAR, where(a < _OVERFLOWS, a, _OVERFLOWS))
    e = exponential(single(large))
    value = e.factor.value * (polynomial(1.0 / large - 1.0 / 16.0, far) / root(large))
    return polynomial(small * small, near), scaled(value, e.n)


def _i0(x: Term) -> Term:
    a = abs(x)
    near, far = _modified(a, I0, FAR_I0)
    return where(a.is_nan, a, where(a < _FAR, near, far))


def _i1(x: Term) -> Term:
    a = abs(x)
    near, far = _modified(a, I1, FAR_I1)
    value = where(a < _FAR, where(a < _FAR, a, 0.0) * near, far)
    return where(a.is_nan, a, with_sign(value, x))


function("cyl_bessel_i0")(_in_f64(_i0))
function("cyl_bessel_i1")(_in_f64(_i1))
