"""Integers: counting, reversing and choosing bits, upper halves of products, averages; and bit casts."""

from __future__ import annotations

from teenybuild.compiler.lower.formula import Term, constant, upper_half, where
from teenybuild.compiler.lower.functions.registry import symbols
from teenybuild.dtypes import i32, i64


def _counted(x: Term, intrinsic: str) -> Term:
    """``ctlz`` or ``cttz``, the width for 0."""
    lane, ty = x.lane, x.lane.of(x.dtype.llvm)
    full = f"@llvm.{intrinsic}.{lane.suffix(x.dtype.llvm)}"
    lane.text.declare(f"{ty} {full}({ty}, i1)")
    return Term(lane, lane.op(f"call {ty} {full}({ty} {x.name}, i1 false)"), x.dtype)


@symbols("clz", "clzll", own=False)
def clz(x: Term) -> Term:
    """Leading zeros."""
    return _counted(x, "ctlz").to(i32)


@symbols("popc", "popcll", own=False)
def popc(x: Term) -> Term:
    """Bits that are set."""
    return x.call("ctpop").to(i32)


@symbols("ffs", "ffsll", own=False)
def ffs(x: Term) -> Term:
    """The place of the lowest bit that is set, counted from 1; 0 of 0."""
    return where(x.equals(0), 0, _counted(x, "cttz") + 1).to(i32)


@symbols("brev", "brevll", own=False)
def brev(x: Term) -> Term:
    """Bits from the other end."""
    return x.call("bitreverse")


@symbols("abs", "llabs", own=False)
def absolute(x: Term) -> Term:
    return where(x < 0, -x, x)


@symbols("mulhi", "mul64hi", own=False)
def mulhi(x: Term, y: Term) -> Term:
    return upper_half(x, y, signed=True)


@symbols("umulhi", "umul64hi", own=False)
def umulhi(x: Term, y: Term) -> Term:
    return upper_half(x, y)


@symbols("mul24", own=False)
def mul24(x: Term, y: Term) -> Term:
    """The product of the low 24 bits, signed."""
    return ((x << 8) >> 8) * ((y << 8) >> 8)


@symbols("umul24", own=False)
def umul24(x: Term, y: Term) -> Term:
    return (x & 0xFFFFFF) * (y & 0xFFFFFF)


@symbols("sad", own=False)
def sad(x: Term, y: Term, z: Term) -> Term:
    """|x - y| + z."""
    return where(x > y, x - y, y - x) + z


@symbols("usad", own=False)
def usad(x: Term, y: Term, z: Term) -> Term:
    return where(x.below(y), y - x, x - y) + z


@symbols("hadd", own=False)
def hadd(x: Term, y: Term) -> Term:
    """The average, rounded down."""
    return (x & y) + ((x ^ y) >> 1)


@symbols("uhadd", own=False)
def uhadd(x: Term, y: Term) -> Term:
    return (x & y) + (x ^ y).shifted_right(1)


@symbols("rhadd", own=False)
def rhadd(x: Term, y: Term) -> Term:
    """The average, rounded up."""
    return (x | y) - ((x ^ y) >> 1)


@symbols("urhadd", own=False)
def urhadd(x: Term, y: Term) -> Term:
    return (x | y) - (x ^ y).shifted_right(1)


@symbols("byte_perm", own=False)
def byte_perm(x: Term, y: Term, selector: Term) -> Term:
    """Four bytes of the eight of x and y: each is chosen by three bits of the selector, its fourth bit repeats the byte's sign instead."""
    both = (y.to(i64) << 32) | (x.to(i64) & 0xFFFFFFFF)
    result = constant(x.lane, 0, i32)
    for i in range(4):
        choice = selector.shifted_right(4 * i) & 15
        byte = both.shifted_right(((choice & 7) << 3).to(i64)).to(i32) & 0xFF
        signs = where((byte & 0x80).differs(0), byte.number(0xFF), 0)
        result = result | (where((choice & 8).differs(0), signs, byte) << (8 * i))
    return result


# Bits as other types ------------------------------------------------------------------------------------------


@symbols("int_as_float", "uint_as_float", "longlong_as_double", own=False)
def as_float(x: Term) -> Term:
    return x.float


@symbols("float_as_int", "float_as_uint", "double_as_longlong", own=False)
def as_integer(x: Term) -> Term:
    return x.bits


@symbols("double2loint", own=False)
def low_word(x: Term) -> Term:
    return x.bits.to(i32)


@symbols("double2hiint", own=False)
def high_word(x: Term) -> Term:
    return x.bits.shifted_right(32).to(i32)


@symbols("hiloint2double", own=False)
def from_words(high: Term, low: Term) -> Term:
    return ((high.to(i64) << 32) | (low.to(i64) & 0xFFFFFFFF)).float
