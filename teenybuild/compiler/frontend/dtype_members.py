"""What kernels ask of a dtype: attributes, and methods that take nothing, by Triton's names."""

from __future__ import annotations

from collections.abc import Callable

from teenybuild.dtypes import BY_NAME, DType


def triton_name(dtype: DType) -> str:
    """``fp32``, ``int32``: what Triton calls a dtype in kernels (its types of arguments say ``i32``)."""
    return dtype.triton if dtype.is_float else dtype.language


ATTRIBUTES: dict[str, Callable[[DType], object]] = {
    "primitive_bitwidth": lambda dtype: dtype.bits,
    "int_bitwidth": lambda dtype: dtype.bits,
    "itemsize": lambda dtype: dtype.size,
    "name": triton_name,
    "element_ty": lambda dtype: dtype,
    "scalar": lambda dtype: dtype,
}


def _is(name: str) -> Callable[[DType], bool]:
    return lambda dtype: triton_name(dtype) == name


#: Triton counts int1 among the unsigned.
QUESTIONS: dict[str, Callable[[DType], bool]] = {
    **{f"is_{triton_name(dtype)}": _is(triton_name(dtype)) for dtype in BY_NAME.values()},
    "is_fp8": lambda dtype: dtype.is_float and dtype.bits == 8,
    "is_floating": lambda dtype: dtype.is_float,
    "is_standard_floating": lambda dtype: dtype.is_float and dtype.bits > 8,
    "is_int": lambda dtype: not dtype.is_float,
    "is_int_signed": lambda dtype: not dtype.is_float and dtype.is_signed,
    "is_int_unsigned": lambda dtype: not dtype.is_float and not dtype.is_signed,
    "is_bool": lambda dtype: dtype.is_bool,
    "is_block": lambda _: False,
    "is_ptr": lambda _: False,
}
