"""Pieces of scalar arithmetic that more than one target spells out: conversions to bf16, division that cannot trap."""

from __future__ import annotations

from teenybuild.compiler.ir.numbers import bits_of
from teenybuild.compiler.lower.lane import Lane
from teenybuild.dtypes import DType, bf16, f32, i32


def f32_to_bf16(lane: Lane, value: str) -> str:
    """f32 rounded to bf16 (carried as i16), to nearest even, in integers; NaN becomes the quiet one."""
    bits = lane.convert("bitcast", "float", value, "i32")
    lowest = lane.two("and", "i32", lane.two("lshr", "i32", bits, lane.number(16, i32)), lane.number(1, i32))
    rounding = lane.two("add", "i32", lowest, lane.number(0x7FFF, i32))
    rounded = lane.two("lshr", "i32", lane.two("add", "i32", bits, rounding), lane.number(16, i32))
    nan = lane.compare("fcmp uno", "float", value, value)
    return lane.convert("trunc", "i32", lane.select(nan, "i32", lane.number(0x7FFF, i32), rounded), "i16")


def bf16_to_f32(lane: Lane, value: str) -> str:
    """bf16 (carried as i16) as f32: the same bits, higher up."""
    wide = lane.convert("zext", "i16", value, "i32")
    return lane.convert("bitcast", "i32", lane.two("shl", "i32", wide, lane.number(16, i32)), "float")


def f32_to_fp8(lane: Lane, value: str, to: DType) -> str:
    """f32 rounded to 8 bits (carried as i8), to nearest even, in integers; what is too large becomes the largest, NaN the quiet one."""
    cut, smallest = 23 - to.mantissa, 1 - to.exponent_bias
    bits = lane.convert("bitcast", "float", value, "i32")
    magnitude = lane.two("and", "i32", bits, lane.number(0x7FFFFFFF, i32))
    lowest = lane.two(
        "and", "i32", lane.two("lshr", "i32", magnitude, lane.number(cut, i32)), lane.number(1, i32)
    )
    rounding = lane.two("add", "i32", lowest, lane.number((1 << (cut - 1)) - 1, i32))
    shifted = lane.two("lshr", "i32", lane.two("add", "i32", magnitude, rounding), lane.number(cut, i32))
    normal = lane.two("sub", "i32", shifted, lane.number((127 - to.exponent_bias) << to.mantissa, i32))
    # Below the smallest exponent: added to a number whose last bit is worth the smallest step, which rounds to that.
    unit = 2.0 ** (smallest - to.mantissa + 23)
    small = lane.convert("bitcast", "i32", magnitude, "float")
    counted = lane.convert(
        "bitcast", "float", lane.two("fadd", "float", small, lane.number(unit, f32)), "i32"
    )
    subnormal = lane.two("sub", "i32", counted, lane.number(bits_of(unit, f32), i32))
    tiny = lane.compare("icmp ult", "i32", magnitude, lane.number(bits_of(2.0**smallest, f32), i32))
    found = lane.select(tiny, "i32", subnormal, normal)
    limit = lane.number(bits_of(to.largest, f32), i32)
    above = lane.compare("icmp ugt", "i32", magnitude, limit)
    found = lane.select(above, "i32", lane.number(bits_of(to.largest, to), i32), found)
    sign = lane.two("and", "i32", lane.two("lshr", "i32", bits, lane.number(24, i32)), lane.number(0x80, i32))
    nan = lane.compare("fcmp uno", "float", value, value)
    whole = lane.select(nan, "i32", lane.number(0x7F, i32), lane.two("or", "i32", found, sign))
    return lane.convert("trunc", "i32", whole, "i8")


def fp8_to_f32(lane: Lane, value: str, source: DType) -> str:
    """8 bits (carried as i8) as f32: the bits as the top of one of another exponent bias, scaled by the difference."""
    wide = lane.convert("zext", "i8", value, "i32")
    magnitude = lane.two("and", "i32", wide, lane.number(0x7F, i32))
    placed = lane.two("shl", "i32", magnitude, lane.number(23 - source.mantissa, i32))
    scale = lane.number(2.0 ** (127 - source.exponent_bias), f32)
    scaled = lane.two("fmul", "float", lane.convert("bitcast", "i32", placed, "float"), scale)
    bits = lane.convert("bitcast", "float", scaled, "i32")
    # Infinity is the first above the largest where there is one; e4m3 goes from its largest to NaN.
    last = bits_of(source.largest, source) + 1
    beyond = lane.compare("icmp uge", "i32", magnitude, lane.number(last, i32))
    infinite = lane.number(0x7F800000, i32)
    if last < 0x7F:
        infinity = lane.compare("icmp eq", "i32", magnitude, lane.number(last, i32))
        special = lane.select(infinity, "i32", infinite, lane.number(0x7FC00000, i32))
    else:
        special = lane.number(0x7FC00000, i32)
    bits = lane.select(beyond, "i32", special, bits)
    sign = lane.two("shl", "i32", lane.two("and", "i32", wide, lane.number(0x80, i32)), lane.number(24, i32))
    return lane.convert("bitcast", "i32", lane.two("or", "i32", bits, sign), "float")


def f64_to_f32_odd(lane: Lane, value: str) -> str:
    """f64 to f32, rounded to odd: rounding the result again to a narrower float rounds ``value`` once.

    (Boldo and Melquiond, "When double rounding is odd", 2005: right where the wider format has two more bits.)
    """
    near = lane.convert("fptrunc", "double", value, "float")
    back = lane.convert("fpext", "float", near, "double")
    inexact = lane.compare("fcmp one", "double", back, value)
    too_far = lane.compare(
        "fcmp ogt", "double", lane.intrinsic("fabs", "double", back), lane.intrinsic("fabs", "double", value)
    )
    bits = lane.convert("bitcast", "float", near, "i32")
    step = lane.convert("zext", "i1", too_far, "i32")
    truncated = lane.two("sub", "i32", bits, step)
    odd = lane.two("or", "i32", truncated, lane.number(1, i32))
    return lane.convert("bitcast", "i32", lane.select(inexact, "i32", odd, bits), "float")


def to_be_narrowed(lane: Lane, value: str, source: DType) -> str:
    """A float as the f32 that, rounded to a narrower one, rounds ``value`` once."""
    if source.bits == 64:
        return f64_to_f32_odd(lane, value)
    return value if source == f32 else widen(lane, value, source, f32)


def safe_divisor(lane: Lane, opcode: str, dtype: DType, a: str, b: str) -> str:
    """``b``, or 1 where dividing by it would trap or overflow: by zero, and the smallest number by -1.

    Division by zero has no defined result, but lanes that are masked off compute it all the time.
    """
    if is_nonzero_constant(b):
        return b
    llvm = dtype.llvm
    zero, one = lane.splat(llvm, "0"), lane.splat(llvm, "1")
    bad = lane.compare("icmp eq", llvm, b, zero)
    if opcode[0] == "s":
        smallest = lane.compare("icmp eq", llvm, a, lane.splat(llvm, str(dtype.minimum)))
        minus_one = lane.compare("icmp eq", llvm, b, lane.splat(llvm, "-1"))
        bad = lane.two("or", "i1", bad, lane.two("and", "i1", smallest, minus_one))
    return lane.select(bad, llvm, one, b)


def is_nonzero_constant(operand: str) -> bool:
    """Whether an operand's text is a positive literal, in one lane or in all."""
    literal = operand.removesuffix(")").rpartition(" ")[2] if operand.startswith("splat") else operand
    return literal.isdigit() and int(literal) > 0


def widen(lane: Lane, value: str, source: DType, to: DType) -> str:
    """A float as a wider one: bf16 by shifting bits, 8 bits by way of f32, the others by the machine's conversions."""
    if source.is_fp8:
        value, source = fp8_to_f32(lane, value, source), f32
        if to == bf16:
            return f32_to_bf16(lane, value)
        if to.bits == 16:
            return lane.convert("fptrunc", "float", value, to.llvm)
        if to == f32:
            return value
    if source == bf16:
        value, source = bf16_to_f32(lane, value), f32
        if to == f32:
            return value
    return lane.convert("fpext", source.llvm, value, to.llvm)


def select_nan(lane: Lane, llvm: str, a: str, b: str, otherwise: str) -> str:
    """``a`` or ``b``, whichever is NaN, else ``otherwise``."""
    first = lane.compare("fcmp uno", llvm, a, a)
    second = lane.compare("fcmp uno", llvm, b, b)
    return lane.select(first, llvm, a, lane.select(second, llvm, b, otherwise))
