"""Tiles that warps move in matrices: every register holds what the instruction's tables say (PTX ISA, ``ldmatrix``)."""

from __future__ import annotations

import pytest

from teenybuild.compiler.layout.buffers import placed
from teenybuild.compiler.layout.fragments import fragments, group_fragments
from teenybuild.compiler.layout.linear import Layout, blocked
from teenybuild.compiler.layout.matrices import matrices
from teenybuild.compiler.layout.swizzle import moved


def place(layout: Layout, register: int, thread: int) -> int:
    """The place of a thread's register, bit by bit."""
    found = layout.indices[register]
    for bit, basis in enumerate(layout.threads):
        if thread >> bit & 1:
            found ^= basis
    return found


def moves(there: Layout, size: int) -> bool | None:
    """Moves a tile as the instruction does, and holds every element against the layout; None where it does not consist of matrices."""
    found = matrices(there, size)
    if found is None:
        return None
    word, row = 4 // size, 16 // size
    seen: set[int] = set()
    for warp in range(1 << len(there.warps)):
        for group, each in enumerate(found.registers):
            for matrix, registers in enumerate(each):
                # The address of row j of a matrix is that of lane 8 * matrix + j.
                rows = [place(found.rows, group, 32 * warp + 8 * matrix + j) for j in range(8)]
                assert all(start % row == 0 for start in rows)
                for lane in range(32):
                    for i, register in enumerate(registers):
                        j, column = lane // 4, lane % 4 * word + i
                        wanted = rows[column] + j if found.turned else rows[j] + column
                        assert place(there, register, 32 * warp + lane) == wanted
                        seen.add(register)
    assert seen == set(range(there.count))
    return found.turned


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize(("m", "n", "k"), [(16, 8, 32), (32, 64, 128), (64, 64, 64), (128, 32, 32)])
def test_operands_along_rows(m: int, n: int, k: int, warps: int, size: int) -> None:
    """Of every width: both operands, k along rows of the buffer."""
    held = fragments(m, n, k, size, warps)
    assert held is not None
    assert held.b is not None
    assert moves(moved(held.a, placed((m, k), 1, size)), size) is False
    assert moves(moved(held.b, placed((k, n), 0, size)), size) is False


@pytest.mark.parametrize(("m", "n", "k"), [(16, 8, 32), (32, 64, 128), (64, 64, 64)])
def test_operands_along_columns(m: int, n: int, k: int) -> None:
    """Of two bytes: k runs down the buffer. Others cannot be had so."""
    held = fragments(m, n, k, 2, 4)
    assert held is not None
    assert held.b is not None
    assert moves(moved(held.a, placed((m, k), 0, 2)), 2) is True
    assert moves(moved(held.b, placed((k, n), 1, 2)), 2) is True
    for size in (1, 4):
        held = fragments(m, n, k, size, 4)
        assert held is not None
        assert held.b is not None
        assert moves(moved(held.b, placed((k, n), 1, size)), size) is None


def test_results() -> None:
    """What products leave behind, rounded to 16 bits."""
    held = group_fragments(128, 256, 64, 2, 8)
    assert held is not None
    assert moves(moved(held.c, placed((128, 256), 1, 2)), 2) is False


def test_what_does_not_consist_of_matrices() -> None:
    layout = blocked((64, 64), (1, 0), (1, 4), 32, 4)
    assert moves(moved(layout, placed((64, 64), 1, 2)), 2) is None
    assert moves(moved(layout, placed((64, 64), 1, 8)), 8) is None
