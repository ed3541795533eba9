"""Tensor cores: lanes hold what the PTX ISA says they hold, and tiles are covered once."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teenybuild.compiler.layout.fragments import Fragments, batch_fragments, fragments, in_word, steps
from teenybuild.compiler.layout.linear import Layout

SIDES = st.sampled_from([16, 32, 64, 128])
SIZES = st.sampled_from([1, 2, 4, 8])


def held(layout: Layout, register: int, lane: int, warp: int = 0) -> tuple[int, ...]:
    """(row, column) of what a lane holds; rows are counted on from tile to tile."""
    index = layout.indices[register]
    for number, bases in ((lane, layout.lanes), (warp, layout.warps)):
        for bit, basis in enumerate(bases):
            index ^= basis if number >> bit & 1 else 0
    return divmod(index, layout.shape[-1])


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_one_instruction(size: int) -> None:
    """PTX ISA, matrix fragments for mma.m16n8k16 (16 bits), m16n8k8 (tf32, f64) and m16n8k32 (8 bits): lane 4 g + t, register i."""
    many = in_word(size)
    k = 8 * many
    found = fragments(16, 8, k, size, 1)
    assert found is not None
    (step,) = steps(found, size)
    for lane in range(32):
        g, t = divmod(lane, 4)
        for i, register in enumerate(step.a):
            word, inside = divmod(i, many)
            column = t * many + inside + (k // 2 if word >= 2 else 0)
            assert held(found.a, register, lane) == (g + 8 * (word & 1), column)
        for i, register in enumerate(step.b):
            word, inside = divmod(i, many)
            assert held(found.b, register, lane) == (t * many + inside + word * k // 2, g)
        for i, register in enumerate(step.c):
            assert held(found.c, register, lane) == (g + 8 * (i >> 1), 2 * t + (i & 1))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    m=SIDES,
    n=st.one_of(st.just(8), SIDES),
    k=st.sampled_from([32, 64]),
    size=SIZES,
    warps=st.sampled_from([1, 2, 4, 8, 16]),
)
def test_tiles_of_many_instructions(m: int, n: int, k: int, size: int, warps: int) -> None:
    """Each warp multiplies every row and column of its part once, k in order, and all parts together are the result."""
    found = fragments(m, n, k, size, warps)
    assert found is not None
    every = list(steps(found, size))
    assert sorted(r for step in every for r in step.c) == sorted(
        [*range(found.c.count)] * (k // 8 // in_word(size))
    )
    seen: set[tuple[int, ...]] = set()
    for warp in range(warps):
        parts: dict[tuple[int, ...], list[int]] = {}
        for step in every:
            row, column = held(found.c, step.c[0], 0, warp)
            (left, first), (again, right) = (
                held(found.a, step.a[0], 0, warp),
                held(found.b, step.b[0], 0, warp),
            )
            assert (left, right, again) == (row, column, first)
            parts.setdefault((row, column), []).append(first)
        assert all(order == [*range(0, k, 8 * in_word(size))] for order in parts.values())
        seen |= set(parts)
    assert len(seen) == m * n // 128


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    count=st.sampled_from([1, 2, 8, 32]),
    m=st.sampled_from([16, 32]),
    n=st.sampled_from([8, 32]),
    size=SIZES,
    warps=st.sampled_from([1, 2, 4, 8]),
)
def test_several_products(count: int, m: int, n: int, size: int, warps: int) -> None:
    """Each warp multiplies parts of one product with that product's own operands, and all parts of all products are some warp's."""
    k = 16 * in_word(size)
    found = batch_fragments(count, m, n, k, size, warps)
    assert found is not None
    assert found.b is not None
    seen: set[tuple[int, int]] = set()
    for warp in range(warps):
        for step in steps(found, size):
            (row, column), (left, first), (right, own) = (
                held(layout, register, 0, warp)
                for layout, register in ((found.c, step.c[0]), (found.a, step.a[0]), (found.b, step.b[0]))
            )
            assert left == row
            assert own == column
            assert right == row // m * k + first
            seen.add((row, column))
    assert len(seen) == count * m * n // 128
    assert (0 in found.c.warps) == (count * m * n // 128 < warps)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(m=SIDES, n=SIDES, warps=st.sampled_from([1, 4, 8]))
def test_every_element_is_held(m: int, n: int, warps: int) -> None:
    found = fragments(m, n, 32, 2, warps)
    assert found is not None
    for layout in (found.a, found.b, found.c):
        bases = [b for b in layout.registers + layout.threads if b]
        assert len(set(bases)) == len(bases)
        assert sum(bases) == prod(layout.shape) - 1
    # Nobody has the same part of the result as another, as long as there are parts for all.
    assert (0 in found.c.warps) == (m * n // 128 < warps)


@pytest.mark.parametrize(("m", "n", "k"), [(8, 16, 16), (16, 4, 16), (16, 16, 8)])
def test_small_tiles_are_not_for_tensor_cores(m: int, n: int, k: int) -> None:
    assert fragments(m, n, k, 2, 4) is None


def test_warps_share_the_result_in_squares() -> None:
    """Each row and column that goes into a part is read by its warp: 64 and 64 rather than 32 and 128."""

    def part(found: Fragments | None) -> tuple[int, int]:
        assert found is not None
        rows = {held(found.c, r, lane)[0] for r in range(found.c.count) for lane in range(32)}
        columns = {held(found.c, r, lane)[1] for r in range(found.c.count) for lane in range(32)}
        return len(rows), len(columns)

    assert part(fragments(128, 128, 32, 2, 4)) == (64, 64)
    assert part(fragments(128, 256, 64, 2, 8)) == (64, 64)
    assert part(fragments(16, 128, 32, 2, 4)) == (16, 32)
    assert part(fragments(64, 8, 32, 2, 8)) == (16, 8)
