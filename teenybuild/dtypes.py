"""Element types: one row each, and nothing else in the tree maps them.

To add a dtype, add a row; the manifest, the language, the compiler and the loader follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["bool", "int", "uint", "float"]

#: The order of :attr:`DType.rank` in Triton's scalar promotion: a Python scalar of a kind no higher than a tile's
#: takes the tile's dtype.
_KIND_RANK = {"bool": 0, "uint": 1, "int": 1, "float": 2}


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    ``name`` is the manifest's spelling, ``language`` what kernels write (``tl.float32``), ``triton`` what Triton
    prints (``fp32``), ``mlir`` and ``llvm`` the types in the two textual IRs, ``numpy`` the NumPy (or ml_dtypes)
    name.  ``bits`` counts value bits; ``size`` is the bytes one element takes in memory.
    ``minimum_sm`` is the first compute capability that can hold it.  ``largest`` is not 0 where a conversion of what is larger, or infinite,
    gives that (``.satfinite`` of the PTX ISA's ``cvt``).
    """

    name: str
    bits: int
    kind: Kind
    language: str
    triton: str
    mlir: str
    llvm: str
    numpy: str
    mantissa: int = 0
    exponent_bias: int = 0
    minimum_sm: int = 75
    largest: float = 0.0

    @property
    def size(self) -> int:
        """Bytes of one element in memory (a bool takes a byte)."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_fp8(self) -> bool:
        """Floats that are only kept and converted: nothing is computed in them."""
        return self.is_float and self.bits == 8

    @property
    def is_int(self) -> bool:
        """Integers and bool, as Triton counts them."""
        return self.kind != "float"

    @property
    def is_bool(self) -> bool:
        return self.kind == "bool"

    @property
    def is_signed(self) -> bool:
        """Signed integers only: a bool extends with zeros, as in Triton."""
        return self.kind == "int"

    @property
    def rank(self) -> int:
        """Place in Triton's order of kinds: bool, integer, float."""
        return _KIND_RANK[self.kind]

    @property
    def minimum(self) -> int:
        """The smallest value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def maximum(self) -> int:
        """The largest value of an integer type."""
        return (1 << (self.bits - 1)) - 1 if self.kind == "int" else (1 << self.bits) - 1

    def __str__(self) -> str:
        return self.name


i1 = DType("i1", 1, "bool", "int1", "i1", "i1", "i1", "bool")
i8 = DType("i8", 8, "int", "int8", "i8", "i8", "i8", "int8")
i16 = DType("i16", 16, "int", "int16", "i16", "i16", "i16", "int16")
i32 = DType("i32", 32, "int", "int32", "i32", "i32", "i32", "int32")
i64 = DType("i64", 64, "int", "int64", "i64", "i64", "i64", "int64")
u8 = DType("u8", 8, "uint", "uint8", "u8", "i8", "i8", "uint8")
u16 = DType("u16", 16, "uint", "uint16", "u16", "i16", "i16", "uint16")
u32 = DType("u32", 32, "uint", "uint32", "u32", "i32", "i32", "uint32")
u64 = DType("u64", 64, "uint", "uint64", "u64", "i64", "i64", "uint64")
f16 = DType("f16", 16, "float", "float16", "fp16", "f16", "half", "float16", 10, 15)
bf16 = DType("bf16", 16, "float", "bfloat16", "bf16", "bf16", "i16", "bfloat16", 7, 127)
f32 = DType("f32", 32, "float", "float32", "fp32", "f32", "float", "float32", 23, 127)
f64 = DType("f64", 64, "float", "float64", "fp64", "f64", "double", "float64", 52, 1023)
f8e4m3 = DType(
    "f8e4m3", 8, "float", "float8e4nv", "fp8e4nv", "f8E4M3FN", "i8", "float8_e4m3fn", 3, 7, largest=448.0
)
f8e5m2 = DType(
    "f8e5m2", 8, "float", "float8e5", "fp8e5", "f8E5M2", "i8", "float8_e5m2", 2, 15, largest=57344.0
)

#: Every dtype by its manifest name, in the order the documentation lists them.
BY_NAME: dict[str, DType] = {
    d.name: d for d in (i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, f8e4m3, f8e5m2)
}

#: Every dtype by what kernels call it (``float32`` of ``tl.float32``).
BY_LANGUAGE: dict[str, DType] = {d.language: d for d in BY_NAME.values()}

#: Every dtype by its NumPy or ml_dtypes name.
BY_NUMPY: dict[str, DType] = {d.numpy: d for d in BY_NAME.values()}

#: Integer types by (bits, signed).
INTEGERS: dict[tuple[int, bool], DType] = {(d.bits, d.is_signed): d for d in BY_NAME.values() if d.is_int}


def signless(dtype: DType) -> DType:
    """The row that stands for ``dtype`` where signs live in operations, not in types (tile IR, LLVM IR)."""
    return INTEGERS[dtype.bits, True] if dtype.kind == "uint" else dtype
