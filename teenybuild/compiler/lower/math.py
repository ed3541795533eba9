"""Mathematics, written once for every target: exp, exp2, log, log2 of f32 and f64 as plain arithmetic.

NVPTX has no libm, and a host object may call nothing.  Each function reduces its argument to a small interval, evaluates a polynomial there
with fused multiply-adds, and scales back.  The polynomials are near-minimax: Chebyshev fits on slightly more than the interval, computed with
60 digits, so their error is far below half a unit in the last place; what is left is rounding.  ``tests/compiler/test_math.py`` measures the whole
against mpmath in ULPs.

Where Triton uses a GPU's approximate f32 instruction (``exp``, ``exp2``, ``sqrt``, ``rsqrt``, ``/``), the target offers it and it is used instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir import math
from teenybuild.compiler.ir.numbers import bits_of, round_to
from teenybuild.compiler.ir.types import dtype_of
from teenybuild.compiler.lower.lane import Lane
from teenybuild.dtypes import DType, f32, f64, i32, i64

LN2 = 0.6931471805599453
LOG2E = 1.4426950408889634


@dataclass(frozen=True, slots=True)
class Format:
    """A float format, and the constants its functions use."""

    dtype: DType
    integer: DType
    #: ln 2 in two parts, the first with so few bits that its product with any exponent is exact.
    ln2_high: float
    ln2_low: float
    #: Not above the first e^x is 0 (rounded), not below the second it overflows; 2^x likewise at them times log2(e).
    lowest: float
    highest: float
    #: (e^r - 1 - r) / r^2 on |r| <= ln2 / 2, lowest power first.
    exp: tuple[float, ...]
    #: (2^r - 1) / r on |r| <= 1/2.
    exp2: tuple[float, ...]

    @property
    def llvm(self) -> str:
        return self.dtype.llvm

    @property
    def bits(self) -> str:
        return self.integer.llvm


F32 = Format(
    f32,
    i32,
    0.693115234375,
    3.1946184945309415e-05,
    -104.0,
    95.0,
    (0.5, 0.16666576845993977, 0.04166655443768594, 0.008363202971575855, 0.0013926213466332444),
    (
        0.6931471805599453,
        0.24022650922288757,
        0.055504108839096185,
        0.009618056678524637,
        0.001333350238616277,
        0.0001546144469856913,
        1.5297323760701075e-05,
    ),
)
F64 = Format(
    f64,
    i64,
    0.6931471803691238,
    1.9082149292705877e-10,
    -745.2,
    720.0,
    (
        0.5,
        0.1666666666666667,
        0.04166666666666667,
        0.008333333333326112,
        0.001388888888888373,
        0.0001984126987490126,
        2.4801587325605324e-05,
        2.7557255297969643e-06,
        2.755727357010214e-07,
        2.5105259538448494e-08,
        2.0914717341716378e-09,
    ),
    (
        0.6931471805599453,
        0.24022650695910072,
        0.055504108664821625,
        0.00961812910762848,
        0.001333355814640647,
        0.00015403530393370734,
        1.5252733841556773e-05,
        1.3215486808705563e-06,
        1.0178057087733941e-07,
        7.0548973041554995e-09,
        4.4558179083360645e-10,
        2.5729324177362305e-11,
    ),
)

#: (log(1 + f) - f + f^2/2) / f^3 on |f| <= 1/3.
_LOG_F32 = (
    0.3333333333333333,
    -0.24999944186243983,
    0.19999948351310606,
    -0.1667331625320225,
    0.14291867181988005,
    -0.12288721609296725,
    0.10915654793276691,
    -0.12422200575409693,
    0.11330617385023778,
)
#: (2 atanh(s) - 2 s) / s^3 as a function of s^2, for s = f / (2 + f) with 1 + f between sqrt(1/2) and sqrt(2).
_LOG_F64 = (
    0.6666666666666666,
    0.40000000000000885,
    0.28571428570799784,
    0.22222222392581045,
    0.18181795547521137,
    0.15386244737621665,
    0.13268638369266825,
    0.13088034850927555,
)


class Write:
    """Arithmetic of one format, written into a lane."""

    def __init__(self, lane: Lane, form: Format) -> None:
        self.lane = lane
        self.form = form

    def number(self, value: float) -> str:
        return self.lane.number(round_to(value, self.form.dtype), self.form.dtype)

    def whole(self, value: int) -> str:
        return self.lane.number(value, self.form.integer)

    def add(self, a: str, b: str) -> str:
        return self.lane.two("fadd", self.form.llvm, a, b)

    def sub(self, a: str, b: str) -> str:
        return self.lane.two("fsub", self.form.llvm, a, b)

    def mul(self, a: str, b: str) -> str:
        return self.lane.two("fmul", self.form.llvm, a, b)

    def fma(self, a: str, b: str, c: str) -> str:
        return self.lane.intrinsic("fma", self.form.llvm, a, b, c)

    def iop(self, opcode: str, a: str, b: str) -> str:
        return self.lane.two(opcode, self.form.bits, a, b)

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        """Horner's rule, lowest power first."""
        result = self.number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            result = self.fma(result, x, self.number(c))
        return result

    def to_bits(self, x: str) -> str:
        return self.lane.convert("bitcast", self.form.llvm, x, self.form.bits)

    def from_bits(self, x: str) -> str:
        return self.lane.convert("bitcast", self.form.bits, x, self.form.llvm)

    def select(self, condition: str, a: str, b: str) -> str:
        return self.lane.select(condition, self.form.llvm, a, b)

    def compare(self, predicate: str, a: str, b: str) -> str:
        return self.lane.compare(f"fcmp {predicate}", self.form.llvm, a, b)

    def bounded(self, x: str, low: float, high: float) -> tuple[str, str]:
        """(``x`` brought below ``high``, and 0 where it is not above ``low``; where it is above).

        Below ``low`` the exponential is 0. Computing it there would pass through denormal numbers, which CPUs are slow at, for every
        masked-off lane of a softmax.
        """
        above = self.compare("ogt", x, self.number(low))
        x = self.select(above, x, self.number(0.0))
        return self.select(self.compare("olt", x, self.number(high)), x, self.number(high)), above

    def finished(self, x: str, above: str, result: str) -> str:
        """``result`` where ``x`` is above the lower bound, 0 below it, NaN for NaN."""
        result = self.select(above, result, self.number(0.0))
        return self.select(self.compare("uno", x, x), x, result)

    def scaled(self, x: str, n: str) -> str:
        """``x`` · 2^n for whole ``n`` (as a float), in two steps so that neither factor leaves the normal range."""
        form = self.form
        whole = self.lane.convert("fptosi", form.llvm, n, form.bits)
        half = self.iop("ashr", whole, self.whole(1))
        rest = self.iop("sub", whole, half)
        return self.mul(self.mul(x, self.power(half)), self.power(rest))

    def power(self, n: str) -> str:
        """2^n for whole ``n`` within the normal range."""
        bias = self.iop("add", n, self.whole(self.form.dtype.exponent_bias))
        return self.from_bits(self.iop("shl", bias, self.whole(self.form.dtype.mantissa)))


def _format(dtype: DType) -> Format:
    return F64 if dtype == f64 else F32


def exp(lane: Lane, op: math.Exp, x: str) -> str:
    """e^x: x = n ln2 + r with |r| <= ln2/2, so e^x = 2^n (1 + r + r^2 q(r))."""
    dtype = dtype_of(op.source.type)
    if dtype == f32:
        # Triton: 2^(x · log2 e), by the machine's exponential where it has one.
        scaled = lane.two("fmul", "float", x, lane.number(round_to(LOG2E, f32), f32))
        quick = lane.machine.approximate(lane, "exp2", [scaled])
        if quick is not None:
            return quick
    form = _format(dtype)
    w = Write(lane, form)
    bounded, above = w.bounded(x, form.lowest, form.highest)
    n = lane.intrinsic("rint", form.llvm, w.mul(bounded, w.number(LOG2E)))
    minus = w.sub(w.number(-0.0), n)
    r = w.fma(minus, w.number(form.ln2_high), bounded)
    r = w.fma(minus, w.number(form.ln2_low), r)
    q = w.polynomial(r, form.exp)
    p = w.add(w.fma(w.mul(r, r), q, r), w.number(1.0))
    return w.finished(x, above, w.scaled(p, n))


def exp2(lane: Lane, op: math.Exp2, x: str) -> str:
    """2^x: x = n + r with |r| <= 1/2, so 2^x = 2^n (1 + r q(r))."""
    dtype = dtype_of(op.source.type)
    if dtype == f32:
        quick = lane.machine.approximate(lane, "exp2.ftz", [x])
        if quick is not None:
            return quick
    form = _format(dtype)
    w = Write(lane, form)
    bounded, above = w.bounded(x, form.lowest * LOG2E, form.highest * LOG2E)
    n = lane.intrinsic("rint", form.llvm, bounded)
    r = w.sub(bounded, n)
    p = w.fma(r, w.polynomial(r, form.exp2), w.number(1.0))
    return w.finished(x, above, w.scaled(p, n))


def _split(w: Write, x: str, lowest: float) -> tuple[str, str]:
    """x = 2^e m with ``lowest`` <= m < 2 · ``lowest``: (e as a float, m). For positive finite x, denormals included."""
    form, lane = w.form, w.lane
    mantissa = form.dtype.mantissa
    tiny = w.compare("olt", x, w.number(2.0 ** (1 - form.dtype.exponent_bias)))
    grown = w.select(tiny, w.mul(x, w.number(2.0**mantissa)), x)
    less = w.select(tiny, w.number(float(-mantissa)), w.number(0.0))
    bits = w.to_bits(grown)
    # Counting from the pattern of `lowest`, the exponent field says how many doublings there are.
    above = w.iop("sub", bits, w.whole(_bit_pattern(lowest, form)))
    e = w.iop("ashr", above, w.whole(mantissa))
    m = w.from_bits(w.iop("sub", bits, w.iop("shl", e, w.whole(mantissa))))
    return w.add(lane.convert("sitofp", form.bits, e, form.llvm), less), m


def _bit_pattern(value: float, form: Format) -> int:
    return bits_of(round_to(value, form.dtype), form.dtype)


def _special(w: Write, x: str, result: str) -> str:
    """The logarithm's edges: 0 gives -inf, a negative NaN, +inf and NaN themselves."""
    infinity, nan = w.number(float("inf")), w.number(float("nan"))
    result = w.select(w.compare("oeq", x, w.number(0.0)), w.number(float("-inf")), result)
    result = w.select(w.compare("olt", x, w.number(0.0)), nan, result)
    kept = w.lane.two("or", "i1", w.compare("oeq", x, infinity), w.compare("uno", x, x))
    return w.select(kept, x, result)


def _log_parts(w: Write, x: str) -> tuple[str, str, str]:
    """(e, f, g) with x = 2^e (1 + f) and log(1 + f) = f + g."""
    if w.form.dtype == f32:
        e, m = _split(w, x, 2 / 3)
        f = w.sub(m, w.number(1.0))
        square = w.mul(f, f)
        cubic = w.mul(w.mul(square, f), w.polynomial(f, _LOG_F32))
        return e, f, w.fma(square, w.number(-0.5), cubic)
    e, m = _split(w, x, 0.5**0.5)
    f = w.sub(m, w.number(1.0))
    s = w.lane.two("fdiv", w.form.llvm, f, w.add(f, w.number(2.0)))
    z = w.mul(s, s)
    tail = w.mul(z, w.polynomial(z, _LOG_F64))
    # log(1 + f) = 2s + s·tail, and 2s = f - s·f: the sum f + g loses nothing to the division's rounding of s.
    half_square = w.mul(w.mul(f, f), w.number(0.5))
    g = w.sub(w.mul(s, w.add(half_square, tail)), half_square)
    return e, f, g


def log(lane: Lane, op: math.Log, x: str) -> str:
    """log(x), on every machine by :func:`log_of`."""
    return log_of(Write(lane, _format(dtype_of(op.source.type))), x)


def log2(lane: Lane, op: math.Log2, x: str) -> str:
    """log2(x), on every machine by :func:`log2_of`."""
    return log2_of(Write(lane, _format(dtype_of(op.source.type))), x)


def log_of(w: Write, x: str) -> str:
    """log(x) = e ln2 + log(1 + f), small parts first."""
    form = w.form
    e, f, g = _log_parts(w, x)
    low = w.fma(e, w.number(form.ln2_low), g)
    return _special(w, x, w.fma(e, w.number(form.ln2_high), w.add(low, f)))


def log2_of(w: Write, x: str) -> str:
    """log2(x) = e + log(1 + f) log2(e), the product carried in two parts."""
    form = w.form
    e, f, g = _log_parts(w, x)
    log2e = round_to(LOG2E, form.dtype)
    rest = 2.0355273740931033e-17 if form.dtype == f64 else LOG2E - log2e
    # f·log2e exactly, as high + low.
    high = w.mul(f, w.number(log2e))
    low = w.fma(f, w.number(log2e), w.sub(w.number(-0.0), high))
    low = w.fma(f, w.number(rest), low)
    low = w.fma(g, w.number(log2e), low)
    return _special(w, x, w.add(e, w.add(high, low)))


def sqrt(lane: Lane, op: math.Sqrt, x: str) -> str:
    """The machine's own for f32 where it has one, else correctly rounded."""
    dtype = dtype_of(op.source.type)
    quick = lane.machine.approximate(lane, "sqrt", [x]) if dtype == f32 else None
    return lane.intrinsic("sqrt", dtype.llvm, x) if quick is None else quick


def rsqrt(lane: Lane, op: math.Rsqrt, x: str) -> str:
    """1 / sqrt(x): the machine's own for f32 where it has one, else two rounded operations."""
    dtype = dtype_of(op.source.type)
    quick = lane.machine.approximate(lane, "rsqrt", [x]) if dtype == f32 else None
    if quick is not None:
        return quick
    root = lane.intrinsic("sqrt", dtype.llvm, x)
    return lane.two("fdiv", dtype.llvm, lane.number(1.0, dtype), root)
