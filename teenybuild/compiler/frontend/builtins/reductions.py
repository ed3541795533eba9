"""Reductions along an axis, or of a whole tile, and scans along an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins import elementwise, making
from teenybuild.compiler.frontend.builtins.checks import a_dtype, a_flag, a_tile, an_axis
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Function, Tensor, describe, is_tuple
from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.constant import Constant
from teenybuild.compiler.ir.core import ELEMENTWISE, Block, Value
from teenybuild.compiler.ir.types import element
from teenybuild.dtypes import bf16, f32, i32, u32

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

#: Combines two sets of scalars, one of each tile that is reduced.
Combine = Callable[[Sequence[Tensor], Sequence[Tensor]], Sequence[Tensor]]


def _axis(s: Semantics, value: Tensor, axis: object, name: str) -> int:
    return an_axis(s, axis, len(value.shape), name, f"for {describe(value)}")


def _reduce(
    s: Semantics, values: Sequence[Tensor], axis: object, keep_dims: object, combine: Combine, name: str
) -> list[Tensor]:
    """Combines tiles of one shape along ``axis`` (over all of them for None), pair by pair."""
    keep = a_flag(s, keep_dims, f"keep_dims of {name}")
    rank = len(values[0].shape)
    if axis is None:
        along, sources = 0, [s.reshape(v, (v.numel,)) for v in values]
    else:
        along, sources = _axis(s, values[0], axis, name), list(values)
    block = _combine_block(s, values, combine, tt.ReduceReturn)
    op = s.builder.add(tt.Reduce(tuple(v.value for v in sources), along, block))
    reduced = [Tensor(r, v.dtype) for r, v in zip(op.results, values, strict=True)]
    if not keep:
        return reduced
    if axis is None:
        return [s.splat(r, (1,) * rank) for r in reduced]
    return [s.expand_dims(r, along) for r in reduced]


def reduced(s: Semantics, value: Tensor, axis: int, combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """A tile combined along an axis by a function of two scalars."""
    return _reduce(s, [value], axis, False, _each(combine), "a reduction")[0]


def only_element(s: Semantics, value: Tensor) -> Tensor:
    """The scalar that a tile of one element holds."""
    return reduced(s, value, 0, lambda a, _: a)


def _combine_block(
    s: Semantics, values: Sequence[Tensor], combine: Combine, end: type[tt.ReduceReturn | tt.ScanReturn]
) -> Block:
    scalars = [element(v.type) for v in values]
    block = Block(args=[Value(scalar) for scalar in (*scalars, *scalars)])
    args = [Tensor(arg, v.dtype) for arg, v in zip(block.args, [*values, *values], strict=True)]
    with s.builder.into(block):
        combined = combine(args[: len(values)], args[len(values) :])
        s.builder.add(end(tuple(c.value for c in combined)))
    return block


def _numbers(s: Semantics, input: object, name: str) -> Tensor:
    value = a_tile(s, input, name)
    if value.is_pointer:
        raise s.builder.error(f"{name} takes numbers, got {describe(value)}")
    return value


def _without_bf16(s: Semantics, value: Tensor) -> Tensor:
    return s.cast(value, f32) if value.scalar == bf16 else value


def _as_summed(s: Semantics, value: Tensor, dtype: object, name: str) -> Tensor:
    """In the dtype that was asked for; else narrow integers as 32 bits."""
    if dtype is not None:
        return s.cast(value, a_dtype(s, dtype, f"the dtype of {name}"))
    if value.scalar.is_int and value.scalar.bits < 32:
        return s.cast(value, i32 if value.scalar.is_signed else u32)
    return value


def _each(function: Callable[[Tensor, Tensor], Tensor]) -> Combine:
    return lambda a, b: [function(x, y) for x, y in zip(a, b, strict=True)]


@builtin("tl.sum", method=True)
def sum_(
    s: Semantics, input: object, axis: object = None, keep_dims: object = False, dtype: object = None
) -> Tensor:
    value = _numbers(s, input, "tl.sum")
    value = _as_summed(s, value, dtype, "tl.sum")
    return _reduce(s, [value], axis, keep_dims, _each(s.add), "tl.sum")[0]


def _integers(s: Semantics, input: object, name: str) -> Tensor:
    value = _numbers(s, input, name)
    if not value.scalar.is_int:
        raise s.builder.error(f"{name} is for integers, got {describe(value)}")
    return value


@builtin("tl.xor_sum", method=True)
def xor_sum(s: Semantics, input: object, axis: object = None, keep_dims: object = False) -> Tensor:
    value = _integers(s, input, "tl.xor_sum")
    return _reduce(s, [value], axis, keep_dims, _each(s.bit_xor), "tl.xor_sum")[0]


@builtin("tl.reduce_or", method=True)
def reduce_or(s: Semantics, input: object, axis: object, keep_dims: object = False) -> Tensor:
    value = _integers(s, input, "tl.reduce_or")
    return _reduce(s, [value], axis, keep_dims, _each(s.bit_or), "tl.reduce_or")[0]


def _extreme(
    s: Semantics, input: object, axis: object, keep_dims: object, name: str, largest: bool
) -> Tensor:
    value = _numbers(s, input, name)
    if value.scalar == bf16 or (value.scalar.is_float and value.scalar.bits < 32):
        value = s.cast(value, f32)
    elif value.scalar.bits < 32:
        value = s.cast(value, i32)

    def combine(a: Tensor, b: Tensor) -> Tensor:
        return s.extremum(a, b, largest=largest, propagate_nan=False)

    return _reduce(s, [value], axis, keep_dims, _each(combine), name)[0]


def _extreme_with_index(
    s: Semantics, input: object, axis: object, keep_dims: object, name: str, largest: bool, ties: object
) -> tuple[Tensor, Tensor]:
    """The extreme and where it is; of equal ones the first, if ``ties`` says so, else one of them."""
    value = _without_bf16(s, _numbers(s, input, name))
    left = a_flag(s, ties, f"tie_break_left of {name}")
    if axis is None:
        raise s.builder.error(f"{name} finds where something is along an axis; name it")
    along = _axis(s, value, axis, name)
    index = making.positions(s, value.shape, along)

    def combine(a: Sequence[Tensor], b: Sequence[Tensor]) -> Sequence[Tensor]:
        first = s.compare(">" if largest else "<", a[0], b[0])
        if left:
            tie = s.bit_and(s.compare("==", a[0], b[0]), s.compare("<", a[1], b[1]))
            first = s.bit_or(first, tie)
        return [s.where(first, x, y) for x, y in zip(a, b, strict=True)]

    found, where = _reduce(s, [value, index], along, keep_dims, combine, name)
    return found, where


def _register_extreme(name: str, largest: bool) -> None:
    """``tl.max`` and ``tl.argmax``, or ``min``."""

    def extreme(
        s: Semantics,
        input: object,
        axis: object = None,
        return_indices: object = False,
        return_indices_tie_break_left: object = True,
        keep_dims: object = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        if a_flag(s, return_indices, "return_indices"):
            ties = return_indices_tie_break_left
            return _extreme_with_index(s, input, axis, keep_dims, f"tl.{name}", largest=largest, ties=ties)
        return _extreme(s, input, axis, keep_dims, f"tl.{name}", largest=largest)

    def place(
        s: Semantics, input: object, axis: object, tie_break_left: object = True, keep_dims: object = False
    ) -> Tensor:
        ties = tie_break_left
        return _extreme_with_index(s, input, axis, keep_dims, f"tl.arg{name}", largest=largest, ties=ties)[1]

    builtin(f"tl.{name}", method=True)(extreme)
    builtin(f"tl.arg{name}", method=True)(place)


_register_extreme("max", largest=True)
_register_extreme("min", largest=False)


@builtin("tl.softmax", method=True)
def softmax(
    s: Semantics, x: object, dim: object = None, keep_dims: object = False, ieee_rounding: object = False
) -> Tensor:
    value, axis = _numbers(s, x, "tl.softmax"), 0 if dim is None else dim
    a_flag(s, ieee_rounding, "ieee_rounding")
    shifted = s.sub(value, _extreme(s, value, axis, keep_dims, "tl.softmax", largest=True))
    powers = elementwise.exp(s, shifted)
    return s.truediv(powers, sum_(s, powers, axis, keep_dims))


@builtin("tl.reduce", method=True)
def reduce(
    s: Semantics, input: object, axis: object, combine_fn: object, keep_dims: object = False
) -> Tensor | tuple[Tensor, ...]:
    values = _alike(s, input, "tl.reduce")
    combine = combining(s, combine_fn, [v.dtype for v in values], "tl.reduce")
    found = _reduce(s, values, axis, keep_dims, combine, "tl.reduce")
    return tuple(found) if is_tuple(input) else found[0]


def _alike(s: Semantics, input: object, name: str) -> list[Tensor]:
    """A tile of numbers, or several of one shape."""
    values = [_numbers(s, v, name) for v in (input if is_tuple(input) else (input,))]
    if any(v.shape != values[0].shape for v in values):
        raise s.builder.error(f"{name} takes tiles of one shape, got {', '.join(map(describe, values))}")
    return values


def _scan(
    s: Semantics, values: Sequence[Tensor], axis: object, reverse: object, combine: Combine, name: str
) -> list[Tensor]:
    backwards = a_flag(s, reverse, f"reverse of {name}")
    along = _axis(s, values[0], axis, name)
    block = _combine_block(s, values, combine, tt.ScanReturn)
    op = s.builder.add(tt.Scan(tuple(v.value for v in values), along, block, backwards))
    return [Tensor(r, v.dtype) for r, v in zip(op.results, values, strict=True)]


@builtin("tl.cumsum", method=True)
def cumsum(
    s: Semantics, input: object, axis: object = 0, reverse: object = False, dtype: object = None
) -> Tensor:
    value = _as_summed(s, _without_bf16(s, _numbers(s, input, "tl.cumsum")), dtype, "tl.cumsum")
    return _scan(s, [value], axis, reverse, _each(s.add), "tl.cumsum")[0]


@builtin("tl.cumprod", method=True)
def cumprod(s: Semantics, input: object, axis: object = 0, reverse: object = False) -> Tensor:
    value = _without_bf16(s, _numbers(s, input, "tl.cumprod"))
    return _scan(s, [value], axis, reverse, _each(s.mul), "tl.cumprod")[0]


@builtin("tl.associative_scan", method=True)
def associative_scan(
    s: Semantics, input: object, axis: object, combine_fn: object, reverse: object = False
) -> Tensor | tuple[Tensor, ...]:
    values = _alike(s, input, "tl.associative_scan")
    combine = combining(s, combine_fn, [v.dtype for v in values], "tl.associative_scan")
    found = _scan(s, values, axis, reverse, combine, "tl.associative_scan")
    return tuple(found) if is_tuple(input) else found[0]


def combining(s: Semantics, function: object, dtypes: Sequence[object], name: str) -> Combine:
    """A function of the kernel's file as a way to combine: of two sets of scalars it gives one, of the same dtypes."""
    if not isinstance(function, Function):
        raise s.builder.error(f"the combine function of {name} is a function, got {describe(function)}")

    def combine(a: Sequence[Tensor], b: Sequence[Tensor]) -> Sequence[Tensor]:
        result = s.call(function, [*a, *b])
        items = result if is_tuple(result) else (result,)
        given = [item for item in items if isinstance(item, Tensor) and not item.is_tile]
        if len(given) != len(items) or [g.dtype for g in given] != list(dtypes):
            wanted = ", ".join(map(str, dtypes))
            raise s.builder.error(
                f"{function.name} combines two of ({wanted}) into one; it gives {', '.join(map(describe, items))}",
                "convert with .to(...)" if len(items) == len(dtypes) else None,
            )
        for op in s.builder.block.ops:
            if not op.traits & ELEMENTWISE and not isinstance(op, Constant):
                raise s.builder.error(
                    f"{function.name} combines numbers; {op.name} has no place in it",
                    "tl.where chooses without a branch" if op.name == "scf.if" else None,
                )
        return given

    return combine
