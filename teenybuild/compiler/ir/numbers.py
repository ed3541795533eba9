"""Numbers at compile time: how a constant rounds, wraps and prints."""

from __future__ import annotations

import math
import struct

from teenybuild.dtypes import DType, i1

Number = int | float


def round_to(value: float, dtype: DType) -> float:
    """``value`` rounded to ``dtype`` (nearest, ties to even), as a double; overflow gives an infinity, or the largest of some dtypes."""
    if dtype.largest and abs(value) >= dtype.largest:
        return math.copysign(dtype.largest, value)
    if math.isnan(value) or math.isinf(value) or dtype.bits == 64:
        return value
    if dtype.mantissa == 23:
        code = "f"
    elif dtype.mantissa == 10:
        code = "e"
    else:
        return _round_narrow(value, dtype)
    try:
        return struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _round_narrow(value: float, dtype: DType) -> float:
    """Rounding by exact arithmetic, for formats :mod:`struct` does not know."""
    if value == 0.0:
        return value
    _, exponent = math.frexp(value)
    smallest = 1 - dtype.exponent_bias
    step = math.ldexp(1.0, max(exponent - 1, smallest) - dtype.mantissa)
    rounded = round(value / step) * step  # both exact: step is a power of two, round() ties to even
    if dtype.largest:
        return math.copysign(min(abs(rounded), dtype.largest), value)
    largest = math.ldexp(2.0 - math.ldexp(1.0, -dtype.mantissa), dtype.exponent_bias)
    return math.copysign(math.inf, value) if abs(rounded) > largest else math.copysign(rounded, value)


def bits_of(value: float, dtype: DType) -> int:
    """The bit pattern of a value already rounded to ``dtype``."""
    if dtype.bits == 64:
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if dtype.mantissa == 23:
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if dtype.mantissa == 10:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    if dtype.mantissa == 7:
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16 if not math.isnan(value) else 0x7FFF
    if dtype.is_fp8:
        return _fp8_bits(value, dtype)
    raise AssertionError(f"no bit pattern for {dtype}")


def _fp8_bits(value: float, dtype: DType) -> int:
    if math.isnan(value):
        return 0x7F
    sign = 0x80 if math.copysign(1.0, value) < 0 else 0
    # In units of the smallest number, doubled for each step of the exponent.
    units = int(math.ldexp(abs(value), dtype.exponent_bias - 1 + dtype.mantissa))
    exponent = max(0, units.bit_length() - 1 - dtype.mantissa)
    return sign | (exponent << dtype.mantissa) + (units >> exponent)


def wrap(value: int, dtype: DType) -> int:
    """``value`` modulo 2^bits, as the signed number (i1: 0 or 1) that stands for it."""
    mask = (1 << dtype.bits) - 1
    value &= mask
    if dtype == i1:
        return value
    return value - (1 << dtype.bits) if value >> (dtype.bits - 1) else value


def literal(value: Number, dtype: DType) -> str:
    """The constant as MLIR prints it."""
    if dtype == i1:
        return "true" if value else "false"
    if not dtype.is_float:
        return str(int(value))
    value = float(value)
    if math.isinf(value) or math.isnan(value):
        return f"0x{bits_of(value, dtype):0{dtype.bits // 4}X}"
    digits, _, exponent = repr(value).partition("e")
    if "." not in digits:
        digits += ".0"
    return f"{digits}e{exponent}" if exponent else digits
