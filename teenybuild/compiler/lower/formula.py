"""Arithmetic in a lane, written as formulas: ``a * b + 1.0`` appends the instructions that compute it.

Every operator is one instruction, rounded to nearest and never fused with its neighbour, so a formula gives the same bits on every machine.
Where a product and a sum are to round once, the formula says ``fma``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from teenybuild.compiler.ir.numbers import round_to
from teenybuild.compiler.lower.lane import Lane
from teenybuild.dtypes import INTEGERS, DType, f32, f64, i1, i64

Number = int | float
INFINITY, NAN = float("inf"), float("nan")


class Term:
    """A scalar of a lane: a float, a signless integer or a truth."""

    __slots__ = ("dtype", "lane", "name")

    def __init__(self, lane: Lane, name: str, dtype: DType) -> None:
        self.lane = lane
        self.name = name
        self.dtype = dtype

    # Constants and operands -----------------------------------------------------------------------------------

    def number(self, value: Number) -> Term:
        """A constant of the same dtype."""
        return constant(self.lane, value, self.dtype)

    def _other(self, value: Term | Number) -> Term:
        return value if isinstance(value, Term) else self.number(value)

    def _two(self, opcode: str, a: Term | Number, b: Term | Number) -> Term:
        x, y = self._other(a), self._other(b)
        return Term(self.lane, self.lane.two(opcode, self.dtype.llvm, x.name, y.name), self.dtype)

    def call(self, intrinsic: str, *others: Term | Number) -> Term:
        """An intrinsic that takes and gives this dtype."""
        names = [self._other(o).name for o in others]
        return Term(self.lane, self.lane.intrinsic(intrinsic, self.dtype.llvm, self.name, *names), self.dtype)

    # Arithmetic -----------------------------------------------------------------------------------------------

    def __add__(self, other: Term | Number) -> Term:
        return self._two("fadd" if self.dtype.is_float else "add", self, other)

    def __radd__(self, other: Number) -> Term:
        return self._two("fadd" if self.dtype.is_float else "add", other, self)

    def __sub__(self, other: Term | Number) -> Term:
        return self._two("fsub" if self.dtype.is_float else "sub", self, other)

    def __rsub__(self, other: Number) -> Term:
        return self._two("fsub" if self.dtype.is_float else "sub", other, self)

    def __mul__(self, other: Term | Number) -> Term:
        return self._two("fmul" if self.dtype.is_float else "mul", self, other)

    def __rmul__(self, other: Number) -> Term:
        return self * other

    def __truediv__(self, other: Term | Number) -> Term:
        return self._two("fdiv", self, other)

    def __rtruediv__(self, other: Number) -> Term:
        return self._two("fdiv", other, self)

    def __neg__(self) -> Term:
        if self.dtype.is_float:
            return Term(
                self.lane, self.lane.op(f"fneg {self.lane.of(self.dtype.llvm)} {self.name}"), self.dtype
            )
        return 0 - self

    def __abs__(self) -> Term:
        return self.call("fabs")

    def __and__(self, other: Term | Number) -> Term:
        return self._two("and", self, other)

    def __or__(self, other: Term | Number) -> Term:
        return self._two("or", self, other)

    def __xor__(self, other: Term | Number) -> Term:
        return self._two("xor", self, other)

    def __invert__(self) -> Term:
        return self ^ (1 if self.dtype == i1 else -1)

    def __lshift__(self, other: Term | Number) -> Term:
        return self._two("shl", self, other)

    def __rshift__(self, other: Term | Number) -> Term:
        """The sign moves in."""
        return self._two("ashr", self, other)

    def shifted_right(self, other: Term | Number) -> Term:
        """Zeros move in."""
        return self._two("lshr", self, other)

    # Comparisons: false of a NaN, but for ``differs`` ----------------------------------------------------------

    def _compare(self, of_floats: str, of_ints: str, other: Term | Number) -> Term:
        opcode = f"fcmp {of_floats}" if self.dtype.is_float else f"icmp {of_ints}"
        name = self.lane.compare(opcode, self.dtype.llvm, self.name, self._other(other).name)
        return Term(self.lane, name, i1)

    def __lt__(self, other: Term | Number) -> Term:
        return self._compare("olt", "slt", other)

    def __le__(self, other: Term | Number) -> Term:
        return self._compare("ole", "sle", other)

    def __gt__(self, other: Term | Number) -> Term:
        return self._compare("ogt", "sgt", other)

    def __ge__(self, other: Term | Number) -> Term:
        return self._compare("oge", "sge", other)

    def equals(self, other: Term | Number) -> Term:
        return self._compare("oeq", "eq", other)

    def differs(self, other: Term | Number) -> Term:
        return self._compare("une", "ne", other)

    def below(self, other: Term | Number) -> Term:
        """Of integers without signs."""
        return self._compare("olt", "ult", other)

    @property
    def is_nan(self) -> Term:
        return self._compare("uno", "ne", self)

    # Other dtypes ---------------------------------------------------------------------------------------------

    def _convert(self, opcode: str, to: DType) -> Term:
        return Term(self.lane, self.lane.convert(opcode, self.dtype.llvm, self.name, to.llvm), to)

    @property
    def bits(self) -> Term:
        """A float's bit pattern."""
        return self._convert("bitcast", INTEGERS[self.dtype.bits, True])

    @property
    def float(self) -> Term:
        """The float with this bit pattern."""
        return self._convert("bitcast", f64 if self.dtype.bits == 64 else f32)

    def to(self, dtype: DType, *, signed: bool = True) -> Term:
        """Converted: integers to floats and to other widths, floats to other widths. (To integers: :meth:`whole`.)"""
        if self.dtype == dtype:
            return self
        if not self.dtype.is_float:
            if dtype.is_float:
                return self._convert("sitofp" if signed else "uitofp", dtype)
            wider = "sext" if signed and self.dtype != i1 else "zext"
            return self._convert(wider if dtype.bits > self.dtype.bits else "trunc", dtype)
        return self._convert("fpext" if dtype.bits > self.dtype.bits else "fptrunc", dtype)

    def saturated(self, dtype: DType, *, signed: bool = True) -> Term:
        """A float toward zero, brought into the integer's range; 0 for NaN."""
        if dtype.bits >= 32:
            name = self.lane.machine.truncate(self.lane, self.name, self.dtype, dtype.bits, signed)
            return Term(self.lane, name, dtype)
        # Instructions saturate at 32 bits; to hold whole numbers in a narrower range costs less than to hold floats.
        wide, most = self.saturated(INTEGERS[32, signed], signed=signed), (1 << (dtype.bits - signed)) - 1
        held = wide.call("smin", most).call("smax", -most - 1) if signed else wide.call("umin", most)
        return held.to(dtype)


def constant(lane: Lane, value: Number, dtype: DType) -> Term:
    """A number in every lane."""
    rounded = round_to(float(value), dtype) if dtype.is_float else value
    return Term(lane, lane.number(rounded, dtype), dtype)


def fma(a: Term, b: Term | Number, c: Term | Number) -> Term:
    """``a * b + c``, rounded once."""
    return a.call("fma", b, c)


def where(condition: Term, a: Term | Number, b: Term | Number) -> Term:
    """``a`` where the condition holds, else ``b``."""
    like = cast(Term, a if isinstance(a, Term) else b)
    x, y = (v if isinstance(v, Term) else like.number(v) for v in (a, b))
    lane = like.lane
    return Term(lane, lane.select(condition.name, like.dtype.llvm, x.name, y.name), like.dtype)


def least(a: Term, b: Term | Number) -> Term:
    """The smaller; ``b`` where ``a`` is NaN."""
    return where(a < b, a, b)


def greatest(a: Term, b: Term | Number) -> Term:
    """The larger; ``b`` where ``a`` is NaN."""
    return where(a > b, a, b)


def root(a: Term) -> Term:
    """The square root, correctly rounded."""
    return a.call("sqrt")


def with_sign(magnitude: Term, sign: Term) -> Term:
    """A number that is not negative, with the sign of another."""
    return (magnitude.bits | sign_of(sign)).float


def sign_of(x: Term) -> Term:
    """The sign bit, as it stands in the bit pattern."""
    return x.bits & INTEGERS[x.dtype.bits, True].minimum


def pick(x: Term, of_f32: tuple[float, ...], of_f64: tuple[float, ...]) -> tuple[float, ...]:
    """What a function keeps for each format."""
    return of_f64 if x.dtype == f64 else of_f32


def polynomial(x: Term, coefficients: Sequence[float]) -> Term:
    """Horner's rule with fused steps, lowest power first."""
    result = x.number(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = fma(result, x, c)
    return result


def to_whole(x: Term) -> tuple[Term, Term]:
    """The nearest whole number of a float below 2^(mantissa - 2), as a float and as an integer of the same width.

    Adding 1.5 · 2^mantissa pushes the fraction off the end; what is left in the low bits is the integer.  NaN gives NaN and some integer.
    """
    magic = x.number(1.5 * 2.0**x.dtype.mantissa)
    moved = x + magic
    return moved - magic, moved.bits - magic_bits(x.dtype)


def to_float(n: Term, dtype: DType) -> Term:
    """A small integer as a float of its width, by the same trick (the vector units of CPUs convert no 64-bit integers)."""
    magic = 1.5 * 2.0**dtype.mantissa
    return (n + magic_bits(dtype)).float - magic


def magic_bits(dtype: DType) -> int:
    """The bit pattern of 1.5 · 2^mantissa."""
    return (dtype.exponent_bias + dtype.mantissa) * (1 << dtype.mantissa) + (1 << (dtype.mantissa - 1))


def power_of_two(n: Term) -> Term:
    """2^n for an integer within the float's normal range."""
    dtype = f64 if n.dtype == i64 else f32
    return ((n + dtype.exponent_bias) << dtype.mantissa).float


def scaled(x: Term, n: Term) -> Term:
    """``x`` · 2^n, in two steps so that neither factor leaves the normal range (n within twice that)."""
    half = n >> 1
    return x * power_of_two(half) * power_of_two(n - half)


def smallest_normal(dtype: DType) -> float:
    """The least float that is no denormal."""
    return 2.0 ** (1 - dtype.exponent_bias)


def split(x: Term, lowest: int) -> tuple[Term, Term]:
    """x = 2^e · m with ``lowest`` <= m < 2 · ``lowest`` (a bit pattern): (e as an integer, m). For positive finite x, denormals included."""
    mantissa = x.dtype.mantissa
    tiny = x < smallest_normal(x.dtype)
    bits = where(tiny, x * 2.0**mantissa, x).bits
    above = bits - lowest
    e = above >> mantissa
    m = (bits - (e << mantissa)).float
    return e - where(tiny, e.number(mantissa), 0), m


def upper_half(a: Term, b: Term, *, signed: bool = False) -> Term:
    """The upper half of the product of two integers of one width."""
    lane, dtype = a.lane, a.dtype
    wide, opcode = f"i{2 * dtype.bits}", "sext" if signed else "zext"
    x, y = (lane.convert(opcode, dtype.llvm, v.name, wide) for v in (a, b))
    product = lane.two("mul", wide, x, y)
    upper = lane.two("lshr", wide, product, lane.splat(wide, str(dtype.bits)))
    return Term(lane, lane.convert("trunc", wide, upper, dtype.llvm), dtype)


def any_lane(condition: Term) -> str:
    """Whether a condition holds in any of the lanes that are side by side, as an LLVM i1."""
    lane = condition.lane
    if lane.width == 1:
        return condition.name
    full, ty = f"@llvm.vector.reduce.or.v{lane.width}i1", lane.of("i1")
    lane.text.declare(f"i1 {full}({ty})")
    return lane.op(f"call i1 {full}({ty} {condition.name})")


def replaced(condition: Term, values: Sequence[Term], rare: Callable[[], Sequence[Term]]) -> list[Term]:
    """``values``, and where the condition holds what ``rare`` gives, which runs only if it holds anywhere. In functions of their own only."""
    lane, text = condition.lane, condition.lane.text
    before, inside, after = text.block, text.label(), text.label()
    text.do(f"br i1 {any_lane(condition)}, label %{inside}, label %{after}")
    text.open(inside)
    found = [where(condition, r, v) for r, v in zip(rare(), values, strict=True)]
    inside = text.block
    text.do(f"br label %{after}")
    text.open(after)
    return [
        Term(
            lane,
            lane.op(f"phi {lane.of(v.dtype.llvm)} [ {v.name}, %{before} ], [ {r.name}, %{inside} ]"),
            v.dtype,
        )
        for v, r in zip(values, found, strict=True)
    ]
