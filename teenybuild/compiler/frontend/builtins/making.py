"""Making tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend import constants
from teenybuild.compiler.frontend.builtins.checks import a_dtype, constant_int, sides
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.compiler.ir import tt
from teenybuild.dtypes import DType, i32

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


@builtin("tl.arange")
def arange(s: Semantics, start: object, end: object) -> Tensor:
    first, last = (
        constant_int(s, start, "the start of tl.arange"),
        constant_int(s, end, "the end of tl.arange"),
    )
    if not (first >= -(1 << 31) and last < 1 << 31):
        raise s.builder.error("tl.arange counts in 32 bits; its bounds do not fit")
    length = last - first
    if length <= 0:
        raise s.builder.error(f"tl.arange({first}, {last}) is empty: the end must be above the start")
    if length & (length - 1):
        raise s.builder.error(
            f"tl.arange({first}, {last}) has {length} elements, which is not a power of two",
            f"use tl.arange({first}, {first + constants.next_power_of_2(length)}) and mask what is too many",
        )
    s.check_shape((length,))
    return s.builder.tensor(tt.MakeRange(first, last), i32)


def positions(s: Semantics, shape: tuple[int, ...], axis: int) -> Tensor:
    """For each element of a tile, where it stands along ``axis``; i32."""
    index = arange(s, 0, shape[axis])
    for other in range(len(shape)):
        if other != axis:
            index = s.expand_dims(index, other)
    return s.broadcast_to(index, shape)


@builtin("tl.full")
def full(s: Semantics, shape: object, value: object, dtype: object) -> Tensor:
    return _full(s, shape, value, a_dtype(s, dtype, "the dtype of tl.full"))


def _full(s: Semantics, shape: object, value: object, wanted: DType) -> Tensor:
    if isinstance(value, Tensor):
        if value.is_tile or value.is_pointer:
            raise s.builder.error(f"tl.full takes a scalar, got {describe(value)}")
        scalar = s.cast(value, wanted)
    else:
        if not isinstance(value, bool | int | float):
            raise s.builder.error(f"tl.full takes a number, got {describe(value)}")
        scalar = s.number_as(value, wanted)
    return s.splat(scalar, sides(s, shape, "a tile"))


@builtin("tl.zeros")
def zeros(s: Semantics, shape: object, dtype: object) -> Tensor:
    return _full(s, shape, 0, a_dtype(s, dtype, "the dtype of tl.zeros"))


@builtin("tl.zeros_like")
def zeros_like(s: Semantics, input: object) -> Tensor:
    like = s.tensor(input)
    if like.is_pointer:
        raise s.builder.error(f"tl.zeros_like takes numbers, got {describe(like)}")
    return s.splat(s.builder.number(0, like.scalar), like.shape)
