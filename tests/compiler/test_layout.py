"""Linear layouts: every element has one place, places and elements invert each other, views need no movement."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teenybuild.compiler.layout.fragments import fragments
from teenybuild.compiler.layout.linear import (
    Layout,
    View,
    axis_offsets,
    blocked,
    broadcast_view,
    drop_axis,
    exchanged,
    half_view,
    identity,
    log2,
    reduction_order,
    row_major,
    scan_layout,
    thread_runs,
    twice_view,
)
from teenybuild.compiler.layout.policy import RowMajorPolicy, Use, WarpPolicy
from teenybuild.compiler.layout.swizzle import moved, pieces, swizzle

SIDES = st.sampled_from([1, 2, 4, 8, 16, 64])
POWERS = st.sampled_from([1, 2, 4, 8])


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Blocked layouts of one to three axes."""
    shape = tuple(draw(st.lists(SIDES, min_size=1, max_size=3)))
    order = tuple(draw(st.permutations(range(len(shape)))))
    vector = tuple(min(draw(POWERS), side) for side in shape)
    return blocked(shape, order, vector, draw(st.sampled_from([1, 4, 32])), draw(POWERS))


def index(layout: Layout, register: int, thread: int) -> int:
    """The element a register of a thread holds, by the definition."""
    found = 0
    for bases, number in ((layout.registers, register), (layout.threads, thread)):
        for bit, basis in enumerate(bases):
            if number >> bit & 1:
                found ^= basis
    return found


def held(layout: Layout) -> dict[int, list[tuple[int, int]]]:
    """Every element's places."""
    found: dict[int, list[tuple[int, int]]] = {}
    for register, thread in itertools.product(range(layout.count), range(1 << len(layout.threads))):
        found.setdefault(index(layout, register, thread), []).append((register, thread))
    return found


@settings(max_examples=60, deadline=None, derandomize=True)
@given(layout=layouts())
def test_every_element_has_one_owner(layout: Layout) -> None:
    """All elements are held, equally often; one place of each is the owner's, and ``place`` gives it."""
    places = held(layout)
    assert sorted(places) == list(range(prod(layout.shape)))
    replicas = 1 << layout.replica_bits.bit_count()
    for element, where in places.items():
        assert len(where) == replicas
        owners = [(r, t) for r, t in where if not t & layout.replica_bits]
        assert owners == [layout.place(element)]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(layout=layouts())
def test_indices_are_the_registers_of_the_first_lane(layout: Layout) -> None:
    assert list(layout.indices) == [index(layout, r, 0) for r in range(layout.count)]
    assert layout.bits == log2(prod(layout.shape))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(layout=layouts(), data=st.data())
def test_a_view_reads_its_own_lane(layout: Layout, data: st.DataObject) -> None:
    """The layout of a view's source holds, in each lane, every element that the lane's registers read."""
    source = tuple(1 if data.draw(st.booleans()) else side for side in layout.shape)
    view = broadcast_view(source, layout.shape)
    through = layout.viewed(view)
    assert through.shape == source
    for thread in range(1 << len(layout.threads)):
        mine = {index(through, r, thread) for r in range(through.count)}
        assert mine == {view(index(layout, r, thread)) for r in range(layout.count)}
    # No register holds what another of the lane holds.
    assert through.count == len({index(through, r, 0) for r in range(through.count)})


@settings(max_examples=60, deadline=None, derandomize=True)
@given(layout=layouts(), side=st.sampled_from([0, 1]))
def test_halves_lie_in_the_lane_that_reads_one(layout: Layout, side: int) -> None:
    """The source of a split, laid out for its result, is held whole; and read as twice, each lane has what it had."""
    shape = (*layout.shape, 2)
    half, twice = half_view(shape, side), twice_view(layout.shape)
    source = layout.viewed(half)
    assert sorted(held(source)) == list(range(prod(shape)))
    assert source.registers[0] == 1
    for thread in range(1 << len(layout.threads)):
        mine = {index(source, r, thread) for r in range(source.count)}
        for r in range(layout.count):
            element = index(layout, r, thread)
            assert half(element) == 2 * element + side
            assert half(element) in mine
            assert twice(half(element)) == element
    assert source.viewed(twice) == layout


@settings(max_examples=60, deadline=None, derandomize=True)
@given(layout=layouts(), data=st.data())
def test_elements_that_differ_in_some_bits_are_as_far_apart_everywhere(
    layout: Layout, data: st.DataObject
) -> None:
    flip = data.draw(st.integers(0, prod(layout.shape) - 1))
    register, thread = layout.place(flip)
    for r, t in itertools.product(range(layout.count), range(1 << len(layout.threads))):
        assert index(layout, r ^ register, t ^ thread) == index(layout, r, t) ^ flip


def coordinates(shape: tuple[int, ...], element: int) -> tuple[int, ...]:
    found: list[int] = []
    for side in reversed(shape):
        found.append(element % side)
        element //= side
    return tuple(reversed(found))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(shape=st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=3).map(tuple), data=st.data())
def test_views_by_coordinates(shape: tuple[int, ...], data: st.DataObject) -> None:
    """Row-major index bits do what coordinates do."""
    axis = data.draw(st.integers(0, len(shape) - 1))
    dropped, rest = drop_axis(shape, axis), shape[:axis] + shape[axis + 1 :]
    small = tuple(1 if i == axis else side for i, side in enumerate(shape))
    spread = broadcast_view(small, shape)
    assert dropped.source == rest
    for element in range(prod(shape)):
        at = coordinates(shape, element)
        assert coordinates(rest, dropped(element)) == at[:axis] + at[axis + 1 :]
        assert coordinates(small, spread(element)) == (*at[:axis], 0, *at[axis + 1 :])
        assert identity((prod(shape),), prod(shape))(element) == element
    offsets = axis_offsets(shape)
    assert [
        coordinates(shape, 1 << o)[i] if s > 1 else 1
        for i, (o, s) in enumerate(zip(offsets, shape, strict=True))
    ] == [1] * len(shape)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(layout=layouts(), data=st.data())
def test_reductions_combine_every_bit_once(layout: Layout, data: st.DataObject) -> None:
    """The order is a permutation of the axis' bits: what a lane holds first, then lanes, then warps, halves first."""
    axis = data.draw(st.integers(0, len(layout.shape) - 1))
    order = reduction_order(layout, axis)
    assert sorted(order) == list(range(log2(layout.shape[axis])))
    low = axis_offsets(layout.shape)[axis]

    def group(bit: int) -> int:
        return next(
            i for i, b in enumerate((layout.registers, layout.lanes, layout.warps)) if 1 << (low + bit) in b
        )

    groups = [group(bit) for bit in order]
    assert groups == sorted(groups)
    for number in range(3):
        inside = [bit for bit in order if group(bit) == number]
        assert inside == sorted(inside, reverse=True)


#: (shape, order, vector, lanes, warps) and the layout: registers, lanes, warps.
BLOCKED = [
    ((1024,), (0,), (4,), 32, 4, (1, 2, 128), (4, 8, 16, 32, 64), (256, 512)),
    ((1024,), (0,), (1,), 32, 4, (32, 64, 128), (1, 2, 4, 8, 16), (256, 512)),
    ((16, 64), (1, 0), (1, 2), 32, 4, (1, 64, 128), (2, 4, 8, 16, 32), (256, 512)),
    ((16,), (0,), (1,), 32, 4, (), (1, 2, 4, 8, 0), (0, 0)),
    ((8, 16), (1, 0), (1, 4), 32, 2, (1, 2), (4, 8, 16, 32, 64), (0,)),
    ((16, 8), (0, 1), (2, 1), 32, 1, (8, 4), (16, 32, 64, 1, 2), ()),
    ((1, 1), (1, 0), (1, 1), 32, 1, (), (0, 0, 0, 0, 0), ()),
]


@pytest.mark.parametrize(("shape", "order", "vector", "lanes", "warps", "r", "n", "w"), BLOCKED)
def test_blocked(
    shape: tuple[int, ...], order: tuple[int, ...], vector: tuple[int, ...], lanes: int, warps: int,
    r: tuple[int, ...], n: tuple[int, ...], w: tuple[int, ...],
) -> None:  # fmt: skip
    found = blocked(shape, order, vector, lanes, warps)
    assert (found.registers, found.lanes, found.warps) == (r, n, w)


def test_policies() -> None:
    """What a GPU and a CPU want for a load, a product and a store."""
    warps = WarpPolicy(4)
    assert warps.access((1024,), (0,), 4) == blocked((1024,), (0,), (4,), 32, 4)
    # No wider than leaves every thread something to do.
    assert warps.access((128,), (0,), 4) == blocked((128,), (0,), (1,), 32, 4)
    assert warps.access((4, 64), (1, 0), 8) == blocked((4, 64), (1, 0), (1, 2), 32, 4)
    assert warps.dot((64, 64)) == blocked((64, 64), (1, 0), (4, 4), 32, 4)
    assert warps.dot((1, 1)) == blocked((1, 1), (1, 0), (1, 1), 32, 4)
    small, large = row_major((128,)), row_major((256,))
    wide = warps.access((256,), (0,), 2)
    assert (warps.stored(small, wide), warps.stored(large, wide)) == (small, wide)
    host = RowMajorPolicy()
    assert host.access((4, 8), (0, 1), 4) == host.dot((4, 8)) == row_major((4, 8))
    assert host.stored(large, wide) == large
    assert host.viewed(row_major((4, 8)), drop_axis((4, 8), 1)) == row_major((4,))
    assert warps.viewed(wide, identity((16, 16), 256)) == replace(wide, shape=(16, 16))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(bases=st.lists(st.sampled_from([0, 1, 2, 4, 8, 16, 3, 12]), max_size=6).map(tuple))
def test_thread_runs_move_every_bit(bases: tuple[int, ...]) -> None:
    """Shifts of runs of thread bits give the XOR of the bases."""
    runs = thread_runs(bases)
    for thread in range(1 << len(bases)):
        by_runs = 0
        for first, count, at in runs:
            piece = thread >> first & ((1 << count) - 1)
            by_runs ^= piece << at
        wanted = 0
        for bit, basis in enumerate(bases):
            wanted ^= basis if thread >> bit & 1 else 0
        assert by_runs == wanted


def scan_of(layout: Layout, axis: int) -> tuple[Layout, list[int]]:
    """Its layout for a scan, and for each bit along the axis, the lowest first, who holds it: 0 for warps, 1 for others."""
    low = axis_offsets(layout.shape)[axis]
    found = scan_layout(layout, axis)
    along = range(low, low + log2(layout.shape[axis]))
    return found, [0 if 1 << bit in found.warps else 1 for bit in along]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(layout=layouts(), data=st.data())
def test_scans_find_warps_one_after_the_other(layout: Layout, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(layout.shape) - 1))
    found, holders = scan_of(layout, axis)
    assert holders == sorted(holders, reverse=True)
    # Nobody holds more or less than before, and who was right stays.
    assert sorted(held(found)) == sorted(held(layout))
    assert [len(bases) for bases in (found.registers, found.lanes, found.warps)] == [
        len(bases) for bases in (layout.registers, layout.lanes, layout.warps)
    ]
    assert found.replica_bits == layout.replica_bits
    assert scan_layout(found, axis) == found


def test_layouts_know_what_is_never_touched() -> None:
    """Of 4,096 elements for 128 threads, a third is masked off for good: then each thread has some of what is left."""
    warps = WarpPolicy(4)
    together, apart = blocked((4096,), (0,), (8,), 32, 4), blocked((4096,), (0,), (8,), 32, 4, scattered=True)
    assert together.warps == (1024, 2048)
    assert apart.warps == (256, 512)
    assert warps.access((4096,), (0,), 8) == together
    assert warps.access((4096,), (0,), 8, Use(reach=3073)) == together
    assert warps.access((4096,), (0,), 8, Use(reach=3072)) == apart


def test_two_accesses_lie_apart_where_several_arrays_are_written() -> None:
    warps = WarpPolicy(4)
    for stores, expected in ((1, (512, 1024)), (2, (256, 512))):
        assert warps.access((2048,), (0,), 8, Use(stores)).warps == expected
        assert warps.access((4096,), (0,), 8, Use(stores)).warps == (1024, 2048)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(layout=layouts(), data=st.data())
def test_bits_are_exchanged_for_wanted_ones(layout: Layout, data: st.DataObject) -> None:
    """Nobody holds more or less than before; what is to be kept stays; of the rest, registers have as much as they can that is wanted."""
    bits = [1 << i for i in range(layout.bits)]
    keep = {bit for bit in bits if data.draw(st.booleans())}
    wanted = {bit for bit in bits if data.draw(st.booleans())}
    found = exchanged(layout, keep, wanted)
    assert sorted(held(found)) == sorted(held(layout))
    assert found.replica_bits == layout.replica_bits
    for before, after in (
        (layout.registers, found.registers),
        (layout.lanes, found.lanes),
        (layout.warps, found.warps),
    ):
        assert len(before) == len(after)
        assert all(a == b for a, b in zip(before, after, strict=True) if b in keep)
    others = {b for b in layout.threads if b} - keep
    idle = set(layout.registers) - keep - wanted
    assert len(wanted & set(found.registers)) - len(wanted & set(layout.registers)) == min(
        len(others & wanted), len(idle)
    )


def test_loads_for_tensor_cores_hold_what_they_are_read_by() -> None:
    """Lines of b [64, 256] in pieces of 16 bytes, but of the lines those that one lane multiplies: they cross shared memory together."""
    warps = WarpPolicy(8)
    access = warps.access((64, 256), (1, 0), 8)
    read = fragments(128, 256, 64, 2, 8)
    assert read is not None
    found = warps.read_as(access, 1, read.b)
    assert found.registers[:3] == access.registers[:3] == (1, 2, 4)
    assert found.lanes == access.lanes
    for layout, together in ((access, 2), (found, 8)):
        places = swizzle(layout, read.b, 2)
        assert len(pieces(moved(read.b, places), 2)[0]) == together


def test_stores_take_what_another_warp_would_write_alike() -> None:
    warps = WarpPolicy(4)
    together, apart = blocked((2048,), (0,), (8,), 32, 4), blocked((2048,), (0,), (8,), 32, 4, scattered=True)
    narrow = blocked((2048,), (0,), (2,), 32, 4)
    assert warps.stored(together, apart) == together
    assert warps.stored(narrow, apart) == apart


def test_a_view_is_linear() -> None:
    view = View((4, 4), (3, 4, 8))
    assert [view(i) for i in range(8)] == [0, 3, 4, 7, 8, 11, 12, 15]
