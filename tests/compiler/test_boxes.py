"""Boxes that hardware moves: together they are the tile, each element where the buffer has it; a warp's own are what the warp holds."""

from __future__ import annotations

import itertools
from math import prod

import pytest

from teenybuild.compiler.layout.boxes import Boxes, boxes, parts_warps
from teenybuild.compiler.layout.buffers import placed
from teenybuild.compiler.layout.fragments import fragments, group_fragments
from teenybuild.compiler.layout.linear import Layout, axis_offsets, blocked


def elements(found: Boxes, start: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """Offsets along the box's axes of each of its elements, from the tile's start, and how many of the box come before it."""
    inside = itertools.product(*(range(side) for side in reversed(found.sides)))
    return {
        tuple(a + b for a, b in zip(start, reversed(at), strict=True)): number
        for number, at in enumerate(inside)
    }


def index_of(found: Boxes, shape: tuple[int, ...], offsets: tuple[int, ...]) -> int:
    """The number of an element of the tile."""
    bits = axis_offsets(shape)
    return sum(at << bits[axis] for axis, at in zip(found.axes, offsets, strict=True))


def check_places(
    found: Boxes, shape: tuple[int, ...], size: int, starts: list[tuple[tuple[int, ...], int]]
) -> set[int]:
    """That boxes lie as the buffer has it (pieces of rows change places within 1,024 bytes); the elements that are in them."""
    places, seen = placed(shape, found.axes[0], size), set[int]()
    for offsets, byte in starts:
        for at, number in elements(found, offsets).items():
            index = index_of(found, shape, at)
            place = places.moved(index) * size
            straight = byte + number * size
            assert place // found.row == straight // found.row, (offsets, at)
            assert place % 16 == straight % 16
            assert index not in seen
            seen.add(index)
    return seen


SHAPES = [((128, 256), 1), ((64, 64), 0), ((256, 16), 1), ((8, 32, 64), 2), ((512, 64), 1), ((4, 64, 32), 1)]


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize(("shape", "fastest"), SHAPES)
def test_boxes_are_the_tile(shape: tuple[int, ...], fastest: int, size: int) -> None:
    found = boxes(shape, fastest, size)
    assert found is not None
    assert max(found.sides) <= 256
    assert found.row <= 128
    assert check_places(found, shape, size, list(found.starts())) == set(range(prod(shape)))


def held_by_warp(layout: Layout, warp: int) -> set[int]:
    found = {0}
    for basis in (*layout.registers, *layout.lanes):
        found |= {index ^ basis for index in found}
    for bit, basis in enumerate(layout.warps):
        if warp >> bit & 1:
            found = {index ^ basis for index in found}
    return found


def product_layouts() -> list[tuple[str, Layout]]:
    found: list[tuple[str, Layout]] = []
    for m, n, warps in ((128, 256, 8), (256, 128, 8), (128, 64, 4), (64, 256, 4), (128, 128, 4)):
        group = group_fragments(m, n, 64, 2, warps)
        assert group is not None
        found.append((f"group {m} {n} {warps}", group.c))
    for m, n, warps in ((64, 64, 4), (128, 64, 8), (16, 128, 1)):
        several = fragments(m, n, 64, 2, warps)
        assert several is not None
        found.append((f"mma {m} {n} {warps}", several.c))
    found.append(("rows", blocked((64, 64), (1, 0), (1, 8), 32, 4)))
    return found


@pytest.mark.parametrize(("name", "layout"), product_layouts(), ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("size", [2, 4])
def test_each_warp_has_its_own(name: str, layout: Layout, size: int) -> None:
    shape, warps = layout.shape, layout.warps
    found = boxes(shape, 1, size, warps) if parts_warps(layout) else None
    if found is None:
        assert name.startswith(("mma", "rows")), (
            "what products of four warps leave is in rows of a warp's own"
        )
        return
    assert found.row * prod(found.sides[1:]) % 1024 == 0
    first, moves = list(found.starts(warps)), found.moves(warps)
    everything: set[int] = set()
    for warp in range(1 << len(warps)):
        own: list[tuple[tuple[int, ...], int]] = []
        for offsets, byte in first:
            for bit, (along, bytes_) in enumerate(moves):
                if warp >> bit & 1:
                    offsets = tuple(a + b for a, b in zip(offsets, along, strict=True))
                    byte += bytes_
            own.append((offsets, byte))
        seen = check_places(found, shape, size, own)
        assert seen == held_by_warp(layout, warp)
        everything |= seen
    assert everything == set(range(prod(shape)))


def test_warps_that_hold_the_same_have_nothing_of_their_own() -> None:
    assert not parts_warps(Layout((16, 64), (1, 2, 4, 8, 16), (32, 64, 128, 256, 512), (0,)))
    # A warp's rows lie across each other: 1 is in a register's basis too.
    assert not parts_warps(Layout((16, 64), (3, 2, 4, 8, 16), (32, 64, 128, 256, 512), (1,)))
    # Four rows of 128 bytes: the places within a row would not begin anew.
    assert boxes((32, 64), 1, 2, (4 * 64, 8 * 64, 16 * 64)) is None
    assert boxes((32, 64), 1, 2, (8 * 64, 16 * 64)) is not None
