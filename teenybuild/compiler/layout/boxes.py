"""How hardware copies a tile of an array to a buffer: as boxes, each with one instruction.

A box's rows have at most 128 bytes, and no side of it more than 256 elements (CUDA driver API, ``cuTensorMapEncodeTiled``).  Boxes follow
each other in the buffer so that together they lie as :func:`~teenybuild.compiler.layout.buffers.placed` has it, which is what decides where one ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

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

    def starts(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """Of each box: its offsets along ``axes``, and its byte in the buffer."""
        size = self.row // self.sides[0]
        rows = prod(self.tile[1:])
        for panel in range(self.tile[0] // self.sides[0]):
            for first in range(0, rows, prod(self.sides[1:])):
                offsets = [panel * self.sides[0]]
                at = first
                for side in self.tile[1:]:
                    offsets.append(at % side)
                    at //= side
                yield tuple(offsets), (panel * rows + first) * self.sides[0] * size


def boxes(shape: tuple[int, ...], fastest: int, size: int) -> Boxes | None:
    """For a tile of elements of ``size`` bytes that lie next to each other along the axis ``fastest``; None where its rows are too short."""
    axes = (fastest, *(axis for axis in reversed(range(len(shape))) if axis != fastest))
    tile = tuple(shape[axis] for axis in axes)
    sides = [min(tile[0], ROW_BYTES // size)]
    if sides[0] * size < _SHORTEST:
        return None
    for side in tile[1:]:
        # What does not fit goes on in the next box; further axes are then one wide.
        whole = all(a == b for a, b in zip(sides[1:], tile[1:], strict=False))
        sides.append(min(side, _LONGEST) if whole else 1)
    return Boxes(axes, tuple(sides), sides[0] * size, tile)
