"""Sorting along an axis, by Batcher's bitonic network ("Sorting networks and their applications", 1968).

What is compared are integers, into which floats are turned so that they keep their order: -0.0 comes before 0.0, and a NaN after all
numbers, as in NumPy.  So each step keeps every element, which a comparison of floats would not where a NaN is among them.

The elements that meet in a step differ in one bit of their position, and one picture of the bits says which of the two keeps the
larger: whatever lies in registers, lanes or warps, a step is a gather by a known pattern, two extrema and a choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import a_flag, a_tile, an_axis, constant_int
from teenybuild.compiler.frontend.builtins.gathering import gathered
from teenybuild.compiler.frontend.builtins.making import positions
from teenybuild.compiler.frontend.builtins.reductions import reduced
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.dtypes import INTEGERS, DType, f32, i32, u8

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


class _Network:
    """Steps of the network along one axis of tiles of one shape."""

    def __init__(self, s: Semantics, shape: tuple[int, ...], axis: int) -> None:
        self._s = s
        self._axis = axis
        self._at = positions(s, shape, axis)

    def _bit(self, bit: int) -> Tensor:
        """Whether a position has the bit."""
        return self._s.compare("!=", self._s.bit_and(self._at, 1 << bit), 0)

    def merge(self, keys: Tensor, stage: int, descending: bool | None) -> Tensor:
        """Sorts every 2^``stage`` elements that are bitonic; upward and downward by turns for None."""
        s = self._s
        turn = self._bit(stage) if descending is None else None
        for bit in reversed(range(stage)):
            other = gathered(s, keys, s.bit_xor(self._at, 1 << bit), self._axis)
            largest, smallest = (
                s.extremum(keys, other, largest=which, propagate_nan=False) for which in (True, False)
            )
            upper = self._bit(bit) if turn is None else s.bit_xor(self._bit(bit), turn)
            keys = s.where(upper, smallest, largest) if descending else s.where(upper, largest, smallest)
        return keys


def _log2(side: int) -> int:
    """The exponent of a power of two."""
    return side.bit_length() - 1


def _nans(dtype: DType) -> int:
    """How many NaNs of one sign a float format has."""
    return (1 << dtype.mantissa) - 1


def _key(s: Semantics, value: Tensor) -> Tensor:
    """Integers in the order of the elements.

    Of a float's bits all but the sign are turned where it is negative: that is the order of numbers.  Taking off as many as there are
    negative NaNs, which are the lowest now, makes them wrap around to the top.
    """
    dtype = value.scalar
    if dtype.is_int:
        return s.cast(value, u8) if dtype.is_bool else value
    return s.sub(_turned(s, s.bitcast(value, INTEGERS[dtype.bits, True])), _nans(dtype))


def _turned(s: Semantics, bits: Tensor) -> Tensor:
    """With all bits but the sign turned where it is set; twice gives what it was."""
    dtype = bits.scalar
    return s.bit_xor(bits, s.bit_and(s.shift_right(bits, dtype.bits - 1), dtype.maximum))


def _value(s: Semantics, keys: Tensor, dtype: DType) -> Tensor:
    """What :func:`_key` was made from."""
    if dtype.is_int:
        return s.cast(keys, dtype)
    return s.bitcast(_turned(s, s.add(keys, _nans(dtype))), dtype)


def _sortable(s: Semantics, x: object, dim: object, name: str) -> tuple[Tensor, int]:
    """A tile of numbers, and the axis: the last one for None."""
    value = a_tile(s, x, name)
    if value.is_pointer:
        raise s.builder.error(f"{name} takes numbers, got {describe(value)}")
    if value.scalar.is_float and value.scalar.bits < 16:
        raise s.builder.error(f"{name} takes no {value.scalar}", "convert it first with .to(tl.float16)")
    rank = len(value.shape)
    axis = rank - 1 if dim is None else an_axis(s, dim, rank, name, f"for {describe(value)}")
    return value, axis


def _largest(s: Semantics, value: Tensor, axis: int, k: int, descending: bool) -> Tensor:
    """The first ``k`` along an axis, sorted."""
    keys, shape = _key(s, value), value.shape
    total, kept = _log2(shape[axis]), _log2(k)
    network = _Network(s, shape, axis)
    for stage in range(1, kept + 1):
        keys = network.merge(keys, stage, None if stage < total else descending)
    # Of two sorted runs of k, one upward and one downward, the better of each pair are the first k of both; bitonic again.
    for left in reversed(range(kept, total)):
        pairs = (*shape[:axis], 1 << (left - kept), 2, k, *shape[axis + 1 :])
        shape = (*shape[:axis], 1 << left, *shape[axis + 1 :])
        keys = s.reshape(
            reduced(
                s,
                s.reshape(keys, pairs),
                axis + 1,
                lambda a, b: s.extremum(a, b, largest=descending, propagate_nan=False),
            ),
            shape,
        )
        keys = _Network(s, shape, axis).merge(keys, kept, None if left > kept else descending)
    return _value(s, keys, value.scalar)


@builtin("tl.sort")
def sort(s: Semantics, x: object, dim: object = None, descending: object = False) -> Tensor:
    value, axis = _sortable(s, x, dim, "tl.sort")
    return _largest(s, value, axis, value.shape[axis], a_flag(s, descending, "descending of tl.sort"))


@builtin("tl.topk")
def topk(s: Semantics, x: object, k: object, dim: object = None) -> Tensor:
    value, axis = _sortable(s, x, dim, "tl.topk")
    count, most = constant_int(s, k, "k of tl.topk"), value.shape[axis]
    if not 0 < count <= most or count & (count - 1):
        raise s.builder.error(
            f"k of tl.topk is a power of two up to {most} for {describe(value)}, got {count}"
        )
    found = _largest(s, value, axis, count, True)
    if count == most or found.scalar.bits >= 32:
        return found
    # As in Triton, where runs are merged by tl.max.
    return s.cast(found, f32 if found.scalar.is_float else i32)


@builtin("tl.bitonic_merge")
def bitonic_merge(s: Semantics, x: object, dim: object = None, descending: object = False) -> Tensor:
    value, axis = _sortable(s, x, dim, "tl.bitonic_merge")
    downward = a_flag(s, descending, "descending of tl.bitonic_merge")
    keys = _Network(s, value.shape, axis).merge(_key(s, value), _log2(value.shape[axis]), downward)
    return _value(s, keys, value.scalar)
