"""Tiles as a warp moves them between registers and shared memory at once: in matrices of eight rows of 16 bytes.

A lane holds a word of 4 bytes of each: lane ``i`` that of row ``i / 4``, which is how tensor cores want operands that run along rows.  Where
they run along columns, elements of 2 bytes, it holds two neighbours of column ``i / 4`` (PTX ISA, ``ldmatrix`` and ``stmatrix``).
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.layout.linear import Layout, log2

#: Bytes of a row, and of what a lane holds of a matrix.
_ROW, _WORD = 16, 4
#: Bits of the number of matrices that one instruction moves at most.
_MOST = 2


@dataclass(frozen=True, slots=True)
class Matrices:
    """How a warp moves a tile; ``turned``: along columns.

    ``rows`` says, as a layout whose registers are groups of matrices, which place each lane names: lane ``i`` that of row ``i % 8`` of the
    group's matrix ``i / 8``. ``registers`` has, by group and matrix, the tile's registers that make a word.
    """

    turned: bool
    rows: Layout
    registers: tuple[tuple[tuple[int, ...], ...], ...]


def matrices(places: Layout, size: int) -> Matrices | None:
    """For a tile of elements of ``size`` bytes that lie at ``places``; None where it does not consist of such matrices."""
    if size > _WORD or len(places.lanes) != 5:
        return None
    many, piece = log2(_WORD // size), _ROW // size
    held, along, across = places.registers[:many], places.lanes[:2], places.lanes[2:]
    if (*held, *along) == tuple(1 << i for i in range(many + 2)):
        turned, row = False, across
    elif size == 2 and across == (1, 2, 4) and held:
        turned, row = True, (*held, *along)
    else:
        return None
    chosen, others = places.registers[many : many + _MOST], places.registers[many + _MOST :]
    if any(basis % piece for basis in (*row, *chosen, *others, *places.warps)):
        return None
    lanes = (*row, *chosen, *[0] * (_MOST - len(chosen)))
    word = range(1 << many)
    return Matrices(
        turned,
        Layout(places.shape, others, lanes, places.warps),
        tuple(
            tuple(
                tuple((group << len(chosen) | matrix) << many | i for i in word)
                for matrix in range(1 << len(chosen))
            )
            for group in range(1 << len(others))
        ),
    )
