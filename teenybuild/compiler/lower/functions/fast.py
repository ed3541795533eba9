"""The ``fast_…f`` functions of f32: a GPU's approximate instructions there, and on the host, which has none, the accurate functions.

So they are the functions, beside ``rsqrt``, whose bits differ between machines, as ``tl.exp`` does. What the instructions are off by is in the PTX ISA.
"""

from __future__ import annotations

from collections.abc import Callable

from teenybuild.compiler.lower.formula import NAN, Term, smallest_normal, where, with_sign
from teenybuild.compiler.lower.functions.registry import call, function, symbols
from teenybuild.dtypes import f32, f64

LN2, LOG10_2 = 0.6931471805599453, 0.30102999566398120
LOG2E, LOG2_10 = 1.4426950408889634, 3.3219280948873623


def _quick(name: str, *operands: Term) -> Term | None:
    """The machine's own instruction, or None."""
    lane = operands[0].lane
    made = lane.machine.approximate(lane, name, [o.name for o in operands])
    return None if made is None else Term(lane, made, f32)


def _or_accurate(quick: Term | None, symbol: str, *operands: Term) -> Term:
    return call(operands[0].lane, symbol, operands, f32) if quick is None else quick


def _register(name: str, accurate: str, instruction: str, make: Callable[[Term], Term | None]) -> None:
    def formula(x: Term) -> Term:
        return _or_accurate(make(x), accurate, x)

    formula.__doc__ = f"``{instruction}``, or the accurate function."
    symbols(name, own=False)(formula)


def _times(x: Term | None, factor: float) -> Term | None:
    return None if x is None else x * factor


_register("fast_sinf", "__nv_sinf", "sin.approx", lambda x: _quick("sin", x))
_register("fast_cosf", "__nv_cosf", "cos.approx", lambda x: _quick("cos", x))
_register("fast_expf", "__nv_expf", "ex2.approx", lambda x: _quick("exp2", x * LOG2E))
_register("fast_exp10f", "__nv_exp10f", "ex2.approx", lambda x: _quick("exp2", x * LOG2_10))
_register("fast_log2f", "__nv_log2f", "lg2.approx", lambda x: _quick("log2", x))
_register("fast_logf", "__nv_logf", "lg2.approx", lambda x: _times(_quick("log2", x), LN2))
_register("fast_log10f", "__nv_log10f", "lg2.approx", lambda x: _times(_quick("log2", x), LOG10_2))


@symbols("fast_tanf", own=False)
def tan(x: Term) -> Term:
    """The quotient of the machine's sine and cosine."""
    above, below = _quick("sin", x), _quick("cos", x)
    if above is None or below is None:
        return call(x.lane, "__nv_tanf", [x], f32)
    return divide(above, below)


@symbols("fast_fdividef", own=False)
def divide(x: Term, y: Term) -> Term:
    """``div.full``."""
    quick = _quick("div", x, y)
    return x / y if quick is None else quick


@symbols("fast_powf", own=False)
def pow(x: Term, y: Term) -> Term:
    """2^(y log2 x)."""
    logarithm = _quick("log2", x)
    quick = None if logarithm is None else _quick("exp2", y * logarithm)
    return _or_accurate(quick, "__nv_powf", x, y)


@symbols("rcp64h", own=False)
def reciprocal_of_upper_half(x: Term) -> Term:
    """1 / x by the upper 32 bits of x, and of the result; denormals count as 0, and so do those that come out. ``rcp.approx.ftz.f64``."""
    quick = x.lane.machine.approximate(x.lane, "rcp64h", [x.name])
    if quick is not None:
        return Term(x.lane, quick, f64)
    upper = (x.bits & -(1 << 32)).float
    upper = where(abs(x) < smallest_normal(f64), with_sign(x.number(0.0), x), upper)
    value = ((1.0 / upper).bits & -(1 << 32)).float
    value = where(abs(value) < smallest_normal(f64), with_sign(x.number(0.0), x), value)
    return where(x.is_nan, NAN, value)


@function("rsqrt", own=False)
def rsqrt(x: Term) -> Term:
    """1 / sqrt(x), as ``tl.rsqrt``: approximate in f32 on a GPU."""
    quick = _quick("rsqrt", x) if x.dtype == f32 else None
    return 1.0 / x.call("sqrt") if quick is None else quick
