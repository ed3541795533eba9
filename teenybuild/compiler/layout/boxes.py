"""How hardware copies a tile of an array to a buffer: as boxes, each with one instruction.

A box's rows have at most 128 bytes, and no side of it more than 256 elements (CUDA driver API, ``cuTensorMapEncodeTiled``).  Boxes follow
each other in the buffer so that together they lie as :func:`~teenybuild.compiler.layout.buffers.placed` has it, which is what decides where one ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from teenybuild.compiler.layout.buffers import ALIGNMENT
from teenybuild.compiler.layout.linear import Layout, axis_offsets
from teenybuild.compiler.layout.swizzle import ROW_BYTES

#: The longest side of a box, and the bytes of its shortest row.
_LONGEST, _SHORTEST = 256, 16


@dataclass(frozen=True, slots=True)
class Boxes:
    """``axes`` of the tile, the one along rows first; a box's ``sides`` along those, and the bytes of its ``row``."""

    axes: tuple[int, ...]
    sides: tuple[int, ...]
    row: int
    #: Elements of the tile along the same axes.
    tile: tuple[int, ...]

    def starts(self, warps: Sequence[int] | None = None) -> Iterator[tuple[tuple[int, ...], int]]:
        """Of each box: its offsets along ``axes``, and its byte in the buffer; with what parts ``warps``, of each of the first one's."""
        others = [along for along, _ in self.moves(warps)] if warps is not None else []
        rows = prod(self.tile[1:])
        for panel in range(self.tile[0] // self.sides[0]):
            for first in range(0, rows, prod(self.sides[1:])):
                offsets = [panel * self.sides[0]]
                at = first
                for side in self.tile[1:]:
                    offsets.append(at % side)
                    at //= side
                if not any(step & at for move in others for step, at in zip(move, offsets, strict=True)):
                    yield tuple(offsets), (panel * rows + first) * self.row

    def moves(self, warps: Sequence[int]) -> tuple[tuple[tuple[int, ...], int], ...]:
        """For each bit of a warp's number, how far it moves the boxes that are the warp's own: along ``axes``, and in bytes of the buffer."""
        found: list[tuple[tuple[int, ...], int]] = []
        shape = tuple(side for _, side in sorted(zip(self.axes, self.tile, strict=True)))
        for basis in warps:
            along = tuple(_along(shape, axis, basis) for axis in self.axes)
            rows, step = 0, 1
            for side, at in zip(self.tile[1:], along[1:], strict=True):
                rows, step = rows + at * step, step * side
            found.append((along, (along[0] // self.sides[0] * step + rows) * self.row))
        return tuple(found)


def _along(shape: tuple[int, ...], axis: int, basis: int) -> int:
    """How far a step of an element's index goes along an axis."""
    return basis >> axis_offsets(shape)[axis] & shape[axis] - 1


def boxes(
    shape: tuple[int, ...], fastest: int, size: int, warps: Sequence[int] | None = None
) -> Boxes | None:
    """For a tile of elements of ``size`` bytes that lie next to each other along the axis ``fastest``; None where its rows are too short.

    With ``warps``, the bases of a layout that parts them, boxes of which each is a warp's own; None where those are too small.
    """
    axes = (fastest, *(axis for axis in reversed(range(len(shape))) if axis != fastest))
    tile = tuple(shape[axis] for axis in axes)
    row = min(tile[0], ROW_BYTES // size)
    if row * size < _SHORTEST:
        return None
    limits = tile if warps is None else tuple(_unshared(shape, warps, axis) for axis in axes)
    sides = [row]
    for side, limit in zip(tile[1:], limits[1:], strict=True):
        # What does not fit goes on in the next box; further axes are then one wide.
        whole = all(a == b for a, b in zip(sides[1:], tile[1:], strict=False))
        sides.append(min(side, limit, _LONGEST) if whole else 1)
    found = Boxes(axes, tuple(sides), row * size, tile)
    # Places within a row are changed by where it lies: a box must begin where that begins anew.
    fits = warps is None or (limits[0] >= row and prod(sides) * size % ALIGNMENT == 0)
    return found if fits else None


def parts_warps(held: Layout) -> bool:
    """Whether each bit of a warp's number is one bit of an element's index, which nothing else changes."""
    others = 0
    for basis in (*held.registers, *held.lanes):
        others |= basis
    own = set(held.warps)
    return len(own) == len(held.warps) and all(w.bit_count() == 1 and not w & others for w in own)


def _unshared(shape: tuple[int, ...], warps: Sequence[int], axis: int) -> int:
    """How many elements along an axis have one owner."""
    steps = [_along(shape, axis, basis) for basis in warps]
    return min((step for step in steps if step), default=shape[axis])
