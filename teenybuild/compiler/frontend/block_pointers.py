"""Block pointers: tiles of a strided array, as plain pointers and masks.

Triton's own compiler rewrites them in the same way before anything else happens to them; here nothing else ever sees one.
"""

from __future__ import annotations

from collections.abc import Sequence

from teenybuild.compiler.frontend.semantics import Semantics
from teenybuild.compiler.frontend.values import BlockOf, BlockPointer, Tensor, describe, is_tuple
from teenybuild.compiler.ir import arith, tt
from teenybuild.compiler.ir.arrays import Argument, Array, Given
from teenybuild.compiler.ir.constant import constant_of
from teenybuild.dtypes import DType, i32, i64


def make(
    s: Semantics, base: object, shape: object, strides: object, offsets: object, block: tuple[int, ...]
) -> BlockPointer:
    """A block of ``block`` elements at ``offsets`` of an array with ``shape`` and ``strides``, in elements."""
    if not isinstance(base, Tensor) or not base.is_pointer or base.is_tile:
        raise s.builder.error(f"the base of a block pointer is a scalar pointer, got {describe(base)}")
    found = [
        _integers(s, value, dtype, what)
        for value, dtype, what in (
            (shape, i64, "shape"),
            (strides, i64, "strides"),
            (offsets, i32, "offsets"),
        )
    ]
    for values, what in zip(found, ("shape", "strides", "offsets"), strict=True):
        if len(values) != len(block):
            raise s.builder.error(f"the block has {len(block)} axes, but {what} has {len(values)}")
    return BlockPointer(base, found[0], found[1], found[2], block)


def at(s: Semantics, pointer: BlockPointer, offsets: object) -> BlockPointer:
    """The block of the same array at ``offsets``."""
    found = _integers(s, offsets, i32, "offsets")
    if len(found) != len(pointer.block):
        raise s.builder.error(f"{describe(pointer)} takes {len(pointer.block)} offsets, got {len(found)}")
    return pointer.at(found)


def advance(s: Semantics, pointer: BlockPointer, deltas: object) -> BlockPointer:
    """The block ``deltas`` elements further along each axis."""
    by = at(s, pointer, deltas).offsets
    return pointer.at(tuple(s.add(a, b) for a, b in zip(pointer.offsets, by, strict=True)))


def addresses(s: Semantics, pointer: BlockPointer, checked: Sequence[int]) -> tuple[Tensor, Tensor | None]:
    """The tile of pointers, and where it lies within the array along the axes ``checked``; None where none is."""
    indices = [_indices(s, pointer, axis) for axis in range(len(pointer.block))]
    tile = pointer.base
    for axis, index in enumerate(indices):
        tile = s.add(tile, s.mul(index, pointer.strides[axis]))
    mask: Tensor | None = None
    for axis in checked:
        inside = s.bit_and(
            s.compare(">=", indices[axis], 0), s.compare("<", indices[axis], pointer.shape[axis])
        )
        mask = inside if mask is None else s.bit_and(mask, inside)
    tile = s.broadcast_to(tile, pointer.block)
    return tile, None if mask is None else s.broadcast_to(mask, pointer.block)


def block_of(s: Semantics, pointer: BlockPointer, padding: Tensor | int) -> BlockOf | None:
    """What a block that is checked along every axis is of, if a launch knows that array before it begins. ``padding`` is whether NaN stands outside."""
    base = _given(s, pointer.base)
    found = [_given(s, each) for each in (*pointer.shape, *pointer.strides)]
    outside = padding if isinstance(padding, int) else _given(s, padding)
    known = [each for each in found if each is not None]
    if not isinstance(base, Argument) or outside is None or len(known) < len(found):
        return None
    rank = len(pointer.block)
    array = Array(base, tuple(known[:rank]), tuple(known[rank:]), outside)
    return BlockOf(array, tuple(offset.value for offset in pointer.offsets))


def _given(s: Semantics, tensor: Tensor) -> Given | None:
    """A scalar that is a constant or an argument, whose value no widening changes."""
    value = tensor.value
    while isinstance(value.op, arith.ExtSI):
        value = value.op.source
    known = constant_of(value)
    if isinstance(known, int):
        return known
    return Argument(s.arguments.index(value)) if value in s.arguments else None


def _indices(s: Semantics, pointer: BlockPointer, axis: int) -> Tensor:
    """Positions in the array along one axis, i64, as a tile with all other axes of size 1."""
    run = s.builder.tensor(tt.MakeRange(0, pointer.block[axis]), i32)
    index = s.add(s.cast(pointer.offsets[axis], i64), s.cast(run, i64))
    for other in range(len(pointer.block)):
        if other != axis:
            index = s.expand_dims(index, other)
    return index


def _integers(s: Semantics, values: object, dtype: DType, what: str) -> tuple[Tensor, ...]:
    return tuple(_integer(s, v, dtype, what) for v in (values if is_tuple(values) else (values,)))


def _integer(s: Semantics, value: object, dtype: DType, what: str) -> Tensor:
    """A scalar of ``dtype``; offsets do not come in 64 bits, as in Triton."""
    if isinstance(value, int) and not isinstance(value, bool):
        return s.number_as(value, dtype)
    if not isinstance(value, Tensor) or value.is_tile or value.is_pointer or not value.scalar.is_int:
        raise s.builder.error(f"each of {what} is an integer, got {describe(value)}")
    if value.scalar.bits > dtype.bits:
        raise s.builder.error(
            f"{what} of a block pointer are i32, got {describe(value)}",
            "convert it with .to(tl.int32), and add larger offsets to the base",
        )
    return s.cast(value, dtype)


def checked_axes(s: Semantics, pointer: BlockPointer, value: object) -> tuple[int, ...]:
    """The argument ``boundary_check``: axes of the block, each once."""
    axes = () if value is None else value if is_tuple(value) else (value,)
    rank = len(pointer.block)
    known = [a for a in axes if isinstance(a, int) and not isinstance(a, bool) and 0 <= a < rank]
    if len(known) != len(axes) or len(set(known)) != len(known):
        raise s.builder.error(
            f"boundary_check names axes from 0 to {rank - 1} of {describe(pointer)}, each once, got "
            f"{[describe(a) if not isinstance(a, int) else a for a in axes]}"
        )
    return tuple(sorted(known))
