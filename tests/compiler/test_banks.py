"""Kernels on tensor cores, as they are benchmarked: whatever lanes and warps do in shared memory, no bank is asked for two words at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teenybuild.api import compile
from teenybuild.compiler.layout.linear import Layout
from teenybuild.compiler.layout.matrices import Matrices
from teenybuild.compiler.lower import buffers, convert
from tests.compiler.test_matrices import place
from tests.compiler.test_swizzle import BANK_BYTES, BANKS, conflicts
from tests.kernels import sources
from tests.support.multiplying import assumed, attention, descriptors, ones, pointers
from tests.support.run import workspace

SOURCES = Path(sources.__file__).parent


class Seen:
    """What a kernel does in shared memory, while it is lowered: layouts of places, and sizes of elements."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.accesses: list[tuple[Layout, int]] = []
        self.matrices: list[tuple[Matrices, int]] = []
        for module in (buffers, convert):
            monkeypatch.setattr(module, "pieces", self._noting(module.pieces))
        tiles = buffers.matrices

        def matrices(there: Layout, size: int) -> Matrices | None:
            found = tiles(there, size)
            if found is not None:
                self.matrices.append((found, size))
            return found

        monkeypatch.setattr(buffers, "matrices", matrices)
        copy = buffers.lower_copy

        def lower_copy(machine: Any, op: Any, axes: Any) -> None:
            # A lane's copy is written as a lane's store would be.
            there = buffers.moved(op.pointer.layout, op.buffer.layout)
            self.accesses.append((there, buffers.plan(op, axes)[0].element.size))
            copy(machine, op, axes)

        monkeypatch.setattr("teenybuild.compiler.lower.function.lower_copy", lower_copy)

    def _noting(self, pieces: Callable[[Layout, int], Any]) -> Callable[[Layout, int], Any]:
        def noting(there: Layout, size: int) -> Any:
            self.accesses.append((there, size))
            return pieces(there, size)

        return noting

    def worst(self) -> int:
        found = [conflicts(there, size) for there, size in self.accesses]
        found += [_rows_in_one_bank(each, size) for each, size in self.matrices]
        return max(found)


def _rows_in_one_bank(moved: Matrices, size: int) -> int:
    """Of the eight rows of a matrix, which are served at once."""
    worst = 1
    for group, each in enumerate(moved.registers):
        for matrix in range(len(each)):
            starts = [place(moved.rows, group, 8 * matrix + row) * size for row in range(8)]
            banks = [start // BANK_BYTES % BANKS for start in starts]
            worst = max(worst, *(banks.count(bank) for bank in banks))
    return worst


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    return Seen(monkeypatch)


def built(
    source: str, types: dict[str, str], const: dict[str, Any], warps: int, ones: set[str] | None = None
) -> None:
    compile(
        f"{SOURCES / source}", "sm_90a", types, const, assume=assumed(types, ones or ()), num_warps=warps,
        cache_dir=workspace() / "cache", force=True,
    )  # fmt: skip


@pytest.mark.parametrize("tile", [(128, 256, 8), (64, 64, 4), (32, 64, 4), (16, 32, 4)], ids=str)
@pytest.mark.parametrize(("dtype", "out", "turned"), [
    ("bf16", "bf16", False), ("bf16", "bf16", True), ("f8e4m3", "bf16", True), ("i8", "i32", True), ("f32", "f32", True),
])  # fmt: skip
def test_products_of_pointers(
    seen: Seen, dtype: str, out: str, turned: bool, tile: tuple[int, int, int]
) -> None:
    m, n, warps = tile
    deep = 64 * 2 // {"bf16": 2, "f32": 4}.get(dtype, 1)
    total = "tl.int32" if dtype == "i8" else "tl.float32"
    const = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": deep, "GROUP_M": 8, "SUM": total}
    built("products.py:product_pointers", pointers(dtype, out), const, warps, ones(turned))
    assert seen.accesses
    assert seen.worst() == 1


@pytest.mark.parametrize("tile", [(128, 256, 8), (64, 64, 4)], ids=str)
def test_products_of_descriptors(seen: Seen, tile: tuple[int, int, int]) -> None:
    m, n, warps = tile
    const = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 64, "GROUP_M": 8}
    built("products.py:product_described", descriptors(m, n, 64), const, warps)
    assert seen.matrices
    assert seen.worst() == 1


@pytest.mark.parametrize(
    ("rows", "columns", "width", "warps"), [(128, 64, 64, 8), (128, 128, 128, 8), (128, 64, 128, 4)]
)
def test_attention(seen: Seen, rows: int, columns: int, width: int, warps: int) -> None:
    const = {"HEAD_DIM": width, "BLOCK_M": rows, "BLOCK_N": columns, "CAUSAL": False, "RAGGED": False}
    built("flash_attention.py:flash_forward", attention(), const, warps)
    assert seen.worst() == 1
