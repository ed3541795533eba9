"""Tiles on their way through shared memory: every element has one place, lanes reach theirs in wide accesses, and no bank is asked twice."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teenybuild.compiler.layout.linear import Layout
from teenybuild.compiler.layout.policy import WarpPolicy
from teenybuild.compiler.layout.swizzle import moved, pieces, swizzle

BANKS, BANK_BYTES = 32, 4
SIZES = st.sampled_from([1, 2, 4, 8])


def requests(layout: Layout, size: int) -> list[tuple[int, list[int]]]:
    """What lanes of the first warp ask for in each access: its bytes, and the first byte of each lane."""
    found: list[tuple[int, list[int]]] = []
    for piece in pieces(layout, size):
        starts: list[int] = []
        for lane in range(32):
            index = layout.indices[piece[0]]
            for bit, basis in enumerate(layout.lanes):
                index ^= basis if lane >> bit & 1 else 0
            starts.append(index * size)
        found.append((len(piece) * size, starts))
    return found


def conflicts(layout: Layout, size: int) -> int:
    """How many words of one bank are asked for at once, at most. Of wide accesses, fewer lanes are served at once: 128 bytes of them."""
    worst = 0
    for width, starts in requests(layout, size):
        together = min(32, BANKS * BANK_BYTES // max(width, BANK_BYTES))
        for first in range(0, 32, together):
            words = {
                byte // BANK_BYTES
                for start in starts[first : first + together]
                for byte in range(start, start + width)
            }
            banks = [word % BANKS for word in words]
            worst = max(worst, *(banks.count(bank) for bank in banks))
    return worst


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Layout, Layout]:
    """Two layouts of one tile, for accesses along different axes or for a product."""
    policy = WarpPolicy(draw(st.sampled_from([1, 2, 4, 8])))
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 4, 8, 16, 32, 64]), min_size=1, max_size=3)))

    def layout() -> Layout:
        if len(shape) == 2 and draw(st.booleans()):
            return policy.dot(shape)
        order = tuple(draw(st.permutations(range(len(shape)))))
        return policy.access(shape, order, draw(st.sampled_from([1, 2, 4, 8, 16])))

    return layout(), layout()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(both=pairs(), size=SIZES)
def test_no_bank_is_asked_for_two_words(both: tuple[Layout, Layout], size: int) -> None:
    places = swizzle(*both, size)
    assert [conflicts(moved(layout, places), size) for layout in both] == [1, 1]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(both=pairs(), size=SIZES)
def test_every_element_has_its_own_place(both: tuple[Layout, Layout], size: int) -> None:
    count = prod(both[0].shape)
    places = swizzle(*both, size)
    assert sorted(map(places, range(count))) == list(range(count))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(both=pairs(), size=SIZES, data=st.data())
def test_pieces_are_consecutive_wherever_the_lane(
    both: tuple[Layout, Layout], size: int, data: st.DataObject
) -> None:
    """From an aligned address on, in every lane; and all registers are in one piece."""
    places = swizzle(*both, size)
    for layout in (moved(one, places) for one in both):
        thread = data.draw(st.integers(0, (1 << len(layout.threads)) - 1))
        mine = 0
        for bit, basis in enumerate(layout.threads):
            mine ^= basis if thread >> bit & 1 else 0
        parts = pieces(layout, size)
        assert sorted(r for part in parts for r in part) == list(range(layout.count))
        for part in parts:
            first = mine ^ layout.indices[part[0]]
            assert first % len(part) == 0
            assert [mine ^ layout.indices[r] for r in part] == list(range(first, first + len(part)))
            assert len(part) * size <= 16


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_a_transposed_tile_is_written_and_read_in_the_widest_accesses_there_are(size: int) -> None:
    policy = WarpPolicy(4)
    rows, columns = (policy.access((64, 64), order, 16 // size) for order in ((1, 0), (0, 1)))
    places = swizzle(rows, columns, size)
    # One side holds 16 neighbours along one axis, the other along the other: what both hold is a square.
    wide = {1: (16, 4), 2: (8, 4), 4: (4, 4), 8: (2, 2)}[size]
    assert tuple(len(pieces(moved(layout, places), size)[0]) for layout in (rows, columns)) == wide
    # As they lie, row by row, lanes would wait for each other.
    assert conflicts(columns, size) >= 4
