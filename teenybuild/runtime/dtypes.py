"""Element types at run time: how a scalar is packed and what it may hold, and what frameworks call each type."""

from __future__ import annotations

import struct
from typing import Literal, NamedTuple


class DType(NamedTuple):
    """One element type. ``format`` is how :mod:`struct` packs a scalar of it; ``bits`` counts value bits."""

    name: str
    kind: Literal["bool", "int", "uint", "float"]
    bits: int
    size: int
    format: str

    @property
    def lowest(self) -> int:
        """The smallest value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def highest(self) -> int:
        """The largest value of an integer type."""
        return (1 << (self.bits - 1)) - 1 if self.kind == "int" else (1 << self.bits) - 1


#: Every element type by name.
DTYPES: dict[str, DType] = {
    row.name: row
    for row in (
        DType("i1", "bool", 1, 1, "?"),
        DType("i8", "int", 8, 1, "b"),
        DType("i16", "int", 16, 2, "h"),
        DType("i32", "int", 32, 4, "i"),
        DType("i64", "int", 64, 8, "q"),
        DType("u8", "uint", 8, 1, "B"),
        DType("u16", "uint", 16, 2, "H"),
        DType("u32", "uint", 32, 4, "I"),
        DType("u64", "uint", 64, 8, "Q"),
        DType("f16", "float", 16, 2, "e"),
        # struct has no bf16: its bits are packed, see bf16_bits.
        DType("bf16", "float", 16, 2, "H"),
        DType("f32", "float", 32, 4, "f"),
        DType("f64", "float", 64, 8, "d"),
        # Only arrays of these: no scalar of them is packed.
        DType("f8e4m3", "float", 8, 1, "B"),
        DType("f8e5m2", "float", 8, 1, "B"),
    )
}

#: What NumPy, ml_dtypes, PyTorch and JAX call an element type → its name here.
FRAMEWORK_NAMES: dict[str, str] = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
}


def bf16_bits(value: float) -> int:
    """The bits of ``value`` as bf16, rounded to nearest, ties to even.

    Raises OverflowError where a finite value is too large, as :mod:`struct` does for the other types.
    """
    # A double is rounded to bf16 in one step, by its own bits: by way of f32 it would be rounded twice.
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    sign, exponent, fraction = bits >> 63 << 15, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1)
    if exponent == 0x7FF:
        return sign | 0x7F80 | (0x40 if fraction else 0)
    # As the multiple of a unit: bf16 has 8 significant bits, and 2^-133 is the smallest.
    unit = max(exponent - 1023 - 7, -133)
    shift = unit - (max(exponent, 1) - 1075)
    significand = fraction | (1 << 52 if exponent else 0)
    quotient, rest = significand >> shift, significand & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    if rest > half or (rest == half and quotient & 1):
        quotient += 1
    # Carrying into the exponent is what adding to the bits does.
    magnitude = (unit + 133 << 7) + quotient
    if magnitude >= 0x7F80:
        raise OverflowError("float too large to pack with bf16 format")
    return sign | magnitude
