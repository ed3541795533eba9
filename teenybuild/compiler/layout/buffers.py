"""How a tile lies in a buffer of shared memory, and how products of four warps are told so.

Rows of 128 bytes (64 or 32 where the tile is narrower) follow each other; what is wider goes on after the last row.  Within a row, pieces of
16 bytes change places by the row's number, so that neither a row nor a column of pieces meets in one bank.  It is the one arrangement that
copies, lanes, tensor cores and the tensor memory accelerator all understand (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout",
the 128, 64 and 32 byte swizzling modes).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from teenybuild.compiler.layout.linear import View, axis_offsets, log2
from teenybuild.compiler.layout.swizzle import ROW_BYTES, WIDEST

#: Bytes after which the change of places repeats; a buffer starts at a multiple.
ALIGNMENT = 1024
#: Bytes of the shortest row that products read.
_SHORTEST = 32
#: The lowest bit of a row's number, as a bit of the address: rows of 128 bytes take three such bits, shorter ones what of them lies above.
_ROW_BIT, _PIECE_BIT = 7, 4


def placed(shape: tuple[int, ...], fastest: int, size: int) -> View:
    """From elements of ``size`` bytes to their places, the axis ``fastest`` along rows."""
    offsets = axis_offsets(shape)
    along = [1 << (offsets[fastest] + i) for i in range(log2(shape[fastest]))]
    across = [1 << b for b in range(log2(prod(shape))) if 1 << b not in along]
    row = min(len(along), log2(ROW_BYTES // size))
    order = [*along[:row], *across, *along[row:]]
    mask = max(0, (size << row) // WIDEST - 1) << _PIECE_BIT
    place: dict[int, int] = {}
    for bit, basis in enumerate(order):
        at = size << bit
        place[basis] = (at ^ (at >> (_ROW_BIT - _PIECE_BIT) & mask)) // size
    bits = len(order)
    return View((1 << bits,), tuple(place[1 << b] for b in range(bits)))


@dataclass(frozen=True, slots=True)
class Matrix:
    """How an operand of a product lies in a buffer, in bytes.

    ``along``: k runs along rows, of ``row`` bytes. ``stride`` is from eight rows to the next eight; ``leading`` from one piece of a row to
    that which goes on after the last row, where the other axis runs along rows.
    """

    along: bool
    row: int
    leading: int
    stride: int


def matrix(places: View, shape: tuple[int, ...], k: int, size: int) -> Matrix | None:
    """How products read a tile whose axis ``k`` is summed over; None where they cannot."""
    offsets = axis_offsets(shape)

    def at(axis: int, bit: int) -> int:
        return size * places.moved(1 << (offsets[axis] + bit)) if 1 << bit < shape[axis] else 0

    other = 1 - k
    along = at(k, 0) == size
    fast, slow = (k, other) if along else (other, k)
    row = min(ROW_BYTES, size * shape[fast])
    stride, leading = at(slow, 3), at(fast, log2(row // size))
    if row < _SHORTEST or shape[slow] < 8 or places != placed(shape, fast, size):
        return None
    # What lies along k for tensor cores is two bytes wide in the other case.
    if not along and size != 2:
        return None
    return Matrix(along, row, leading, stride)
