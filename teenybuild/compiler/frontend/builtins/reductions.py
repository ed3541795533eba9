"""Reductions along an axis, or of a whole tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import a_dtype, a_flag, a_tile, constant_int, not_yet
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import Block, Value
from teenybuild.compiler.ir.types import element, numel
from teenybuild.dtypes import bf16, f32, i32, u32

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


def _reduce(
    s: Semantics,
    value: Tensor,
    axis: object,
    keep_dims: object,
    combine: Callable[[Tensor, Tensor], Tensor],
    name: str,
) -> Tensor:
    """Combines a tile along ``axis`` (over all of it for None) with a function of two scalars."""
    keep = a_flag(s, keep_dims, f"keep_dims of {name}")
    rank = len(value.shape)
    if axis is None:
        along, source = 0, s.reshape(value, (numel(value.type),))
    else:
        along = constant_int(s, axis, f"the axis of {name}")
        if not -rank <= along < rank:
            raise s.builder.error(
                f"the axis of {name} is between {-rank} and {rank - 1} for {describe(value)}, got {along}"
            )
        along, source = along % rank, value
    scalar = element(source.type)
    block = Block(args=[Value(scalar), Value(scalar)])
    with s.builder.into(block):
        result = combine(Tensor(block.args[0], value.dtype), Tensor(block.args[1], value.dtype))
        s.builder.add(tt.ReduceReturn((result.value,)))
    reduced = s.builder.tensor(tt.Reduce((source.value,), along, block), value.dtype)
    if not keep:
        return reduced
    if axis is None:
        return s.splat(reduced, (1,) * rank)
    return s.expand_dims(reduced, along)


@builtin("tl.sum", method=True)
def sum_(
    s: Semantics, input: object, axis: object = None, keep_dims: object = False, dtype: object = None
) -> Tensor:
    value = a_tile(s, input, "tl.sum")
    if value.is_pointer:
        raise s.builder.error(f"tl.sum takes numbers, got {describe(value)}")
    if dtype is not None:
        value = s.cast(value, a_dtype(s, dtype, "the dtype of tl.sum"))
    elif value.scalar.is_int and value.scalar.bits < 32:
        value = s.cast(value, i32 if value.scalar.is_signed else u32)
    return _reduce(s, value, axis, keep_dims, s.add, "tl.sum")


def _extreme(
    s: Semantics, input: object, axis: object, keep_dims: object, name: str, largest: bool
) -> Tensor:
    value = a_tile(s, input, name)
    if value.is_pointer:
        raise s.builder.error(f"{name} takes numbers, got {describe(value)}")
    if value.scalar == bf16 or (value.scalar.is_float and value.scalar.bits < 32):
        value = s.cast(value, f32)
    elif value.scalar.bits < 32:
        value = s.cast(value, i32)

    def combine(a: Tensor, b: Tensor) -> Tensor:
        return s.extremum(a, b, largest=largest, propagate_nan=False)

    return _reduce(s, value, axis, keep_dims, combine, name)


@builtin("tl.max", method=True)
def max_(
    s: Semantics,
    input: object,
    axis: object = None,
    return_indices: object = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> Tensor:
    not_yet(s, "tl.max", return_indices=(return_indices, False))
    return _extreme(s, input, axis, keep_dims, "tl.max", True)


@builtin("tl.min", method=True)
def min_(
    s: Semantics,
    input: object,
    axis: object = None,
    return_indices: object = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> Tensor:
    not_yet(s, "tl.min", return_indices=(return_indices, False))
    return _extreme(s, input, axis, keep_dims, "tl.min", False)
