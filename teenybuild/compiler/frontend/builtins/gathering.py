"""Elements of a tile picked by position, and how often numbers are in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins import making
from teenybuild.compiler.frontend.builtins.checks import a_tile, an_axis, constant_int
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.compiler.ir import tt
from teenybuild.dtypes import i1, i32

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


def gathered(s: Semantics, value: Tensor, index: Tensor, axis: int) -> Tensor:
    """The elements that ``index``, of i32 or i64, names along ``axis``."""
    return s.builder.tensor(tt.Gather(value.value, index.value, axis), value.dtype)


def _whole_numbers(s: Semantics, value: object, what: str) -> Tensor:
    """A tile of integers, of 32 or 64 bits whatever they were; ``what`` needs one."""
    if not isinstance(value, Tensor) or not value.is_tile or value.is_pointer or not value.scalar.is_int:
        raise s.builder.error(f"{what} a tile of integers, got {describe(value)}")
    return s.cast(value, i32) if value.scalar.bits < 32 else value


@builtin("tl.gather", method=True)
def gather(s: Semantics, src: object, index: object, axis: object) -> Tensor:
    value, where = a_tile(s, src, "tl.gather"), _whole_numbers(s, index, "the index of tl.gather is")
    along = an_axis(s, axis, len(value.shape), "tl.gather", f"for {describe(value)}")
    sides = zip(value.shape, where.shape, strict=False)
    if len(value.shape) != len(where.shape) or any(a != b for d, (a, b) in enumerate(sides) if d != along):
        raise s.builder.error(
            f"tl.gather takes two tiles whose sides differ along axis {along} at most, "
            f"got {describe(value)} and {describe(where)}"
        )
    return gathered(s, value, where, along)


@builtin("tl.flip", method=True)
def flip(s: Semantics, x: object, dim: object = None) -> Tensor:
    value = a_tile(s, x, "tl.flip")
    rank = len(value.shape)
    axis = rank - 1 if dim is None else an_axis(s, dim, rank, "tl.flip", f"for {describe(value)}")
    last = value.shape[axis] - 1
    return gathered(s, value, s.bit_xor(making.positions(s, value.shape, axis), last), axis)


@builtin("tl.histogram", method=True)
def histogram(s: Semantics, input: object, num_bins: object, mask: object = None) -> Tensor:
    value = _whole_numbers(s, input, "tl.histogram takes")
    if len(value.shape) != 1:
        raise s.builder.error(f"tl.histogram takes a tile of one axis, got {describe(value)}")
    (bins,) = s.check_shape((constant_int(s, num_bins, "num_bins of tl.histogram"),))
    held = None
    if mask is not None:
        held = s.tensor(mask)
        if held.dtype != i1:
            raise s.builder.error(f"the mask of tl.histogram is i1, got {describe(held)}")
        held = s.broadcast_to(held, value.shape).value
    return s.builder.tensor(tt.Histogram(bins, value.value, held), i32)
