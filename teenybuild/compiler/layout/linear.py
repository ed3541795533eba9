"""Linear layouts: which element of a tile a register of a lane holds.

A tile of 2^n elements is numbered row-major, so an element's index has n bits, the last axis in the lowest.  A layout gives, for
each bit of the register number, the lane number and the warp number, the index bits it flips (its *basis*); the element held is the
XOR of the bases of all set bits.  The map is linear over F2: composing, inverting and comparing layouts is bit arithmetic.
(Zhou et al., "Linear Layouts", arXiv 2505.23819.)

A lane or warp bit whose basis is 0 changes nothing: the lanes it joins hold copies, *replicas*, of the same elements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod


def log2(n: int) -> int:
    """The exponent of a power of two."""
    assert n > 0, n
    assert n & (n - 1) == 0, n
    return n.bit_length() - 1


@dataclass(frozen=True)
class Layout:
    """Bases of the register, lane and warp bits, lowest bit first; see the module's text."""

    shape: tuple[int, ...]
    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]

    @cached_property
    def bits(self) -> int:
        """Bits of an element's index."""
        return log2(prod(self.shape))

    @property
    def threads(self) -> tuple[int, ...]:
        """Bases of the thread number's bits: lanes, then warps."""
        return self.lanes + self.warps

    @property
    def count(self) -> int:
        """Registers a lane holds."""
        return 1 << len(self.registers)

    @cached_property
    def indices(self) -> tuple[int, ...]:
        """For each register, the index it holds in lane 0 of warp 0; a lane's own index is XORed to it."""
        found = [0]
        for basis in self.registers:
            found += [i ^ basis for i in found]
        return tuple(found)

    @cached_property
    def replica_bits(self) -> int:
        """Mask of the thread-number bits that join replicas: the owner has all of them 0."""
        return sum(1 << i for i, basis in enumerate(self.threads) if basis == 0)

    @cached_property
    def _inverse(self) -> tuple[tuple[int, int, int], ...]:
        """Rows (index, register, thread) in echelon form, highest index bit first."""
        rows = [(basis, 1 << i, 0) for i, basis in enumerate(self.registers)]
        rows += [(basis, 0, 1 << i) for i, basis in enumerate(self.threads)]
        echelon: list[tuple[int, int, int]] = []
        for index, register, thread in rows:
            for pivot, r, t in echelon:
                if index ^ pivot < index:
                    index, register, thread = index ^ pivot, register ^ r, thread ^ t
            if index:
                echelon.append((index, register, thread))
                echelon.sort(reverse=True)
        return tuple(echelon)

    def place(self, index: int) -> tuple[int, int]:
        """(register, thread) that holds the element ``index``; the owner among replicas."""
        register = thread = 0
        for pivot, r, t in self._inverse:
            if index ^ pivot < index:
                index, register, thread = index ^ pivot, register ^ r, thread ^ t
        assert index == 0, "the layout does not cover its tile"
        return register, thread

    def viewed(self, view: View) -> Layout:
        """The layout of the tile that ``view`` reads, such that reading it takes no movement between lanes.

        What the view never reads lies in the lowest registers, beside what it does.
        """
        registers = [*view.unread, *map(view.moved, self.registers)]
        return Layout(
            view.source,
            tuple(dict.fromkeys(b for b in registers if b)),
            tuple(map(view.moved, self.lanes)),
            tuple(map(view.moved, self.warps)),
        )


@dataclass(frozen=True)
class View:
    """Where a tile's elements come from in another: a linear map from its index bits to the ``source``'s, and ``flip`` XORed to that."""

    source: tuple[int, ...]
    bits: tuple[int, ...]
    flip: int = 0

    def __call__(self, index: int) -> int:
        return self.moved(index) ^ self.flip

    def moved(self, index: int) -> int:
        """The linear part: how far a step of ``index`` moves in the source."""
        found, i = 0, 0
        while index:
            if index & 1:
                found ^= self.bits[i]
            index >>= 1
            i += 1
        return found

    @property
    def moves(self) -> bool:
        """Whether an element's index changes, or elements are left out."""
        return bool(self.unread) or any(basis != 1 << i for i, basis in enumerate(self.bits))

    @cached_property
    def unread(self) -> tuple[int, ...]:
        """Bits of the source's index that are the same wherever the view reads."""
        read = 0
        for basis in self.bits:
            read |= basis
        return tuple(1 << i for i in range(log2(prod(self.source))) if not read >> i & 1)


def axis_offsets(shape: tuple[int, ...]) -> tuple[int, ...]:
    """For each axis, the lowest index bit that counts along it."""
    offsets: list[int] = []
    at = log2(prod(shape))
    for side in shape:
        at -= log2(side)
        offsets.append(at)
    return tuple(offsets)


def identity(shape: tuple[int, ...], total: int) -> View:
    """A view that keeps the order of elements and only counts them in ``shape``."""
    return View(shape, tuple(1 << i for i in range(log2(total))))


def broadcast_view(source: tuple[int, ...], result: tuple[int, ...]) -> View:
    """Axes of size 1 in ``source`` are repeated to ``result``'s."""
    bits: list[int] = []
    at = 0
    for s, r in zip(reversed(source), reversed(result), strict=True):
        for _ in range(log2(r)):
            if s == 1:
                bits.append(0)
            else:
                bits.append(1 << at)
                at += 1
    return View(source, tuple(bits))


def transposed_view(source: tuple[int, ...], order: tuple[int, ...]) -> View:
    """Axis i of the result is axis ``order[i]`` of ``source``."""
    offsets = axis_offsets(source)
    bits = [1 << (offsets[axis] + i) for axis in reversed(order) for i in range(log2(source[axis]))]
    return View(source, tuple(bits))


def twice_view(source: tuple[int, ...]) -> View:
    """Each element twice, along a new last axis."""
    return View(source, (0, *(1 << i for i in range(log2(prod(source))))))


def half_view(source: tuple[int, ...], side: int) -> View:
    """What stands at ``side`` of the last axis, which has two elements."""
    return View(source, tuple(2 << i for i in range(log2(prod(source)) - 1)), side)


def drop_axis(shape: tuple[int, ...], axis: int) -> View:
    """From a tile to its reduction along ``axis``: the axis' bits vanish."""
    result = shape[:axis] + shape[axis + 1 :]
    low = axis_offsets(shape)[axis]
    width = log2(shape[axis])
    bits = [
        0 if low <= i < low + width else (1 << i if i < low else 1 << (i - width))
        for i in range(log2(prod(shape)))
    ]
    return View(result, tuple(bits))


def blocked(
    shape: tuple[int, ...],
    order: tuple[int, ...],
    vector: tuple[int, ...],
    lanes: int,
    warps: int,
    *,
    scattered: bool = False,
) -> Layout:
    """Consecutive registers hold ``vector`` neighbours, consecutive lanes the next ones along ``order`` (fastest axis first).

    Elements that are left over repeat the pattern in further registers, so that what one warp touches lies together: a row
    of 16 KB is then 2 KB a warp, a DRAM page, rather than pieces of 512 bytes (benchmarks/notes.md).  Warps share out the
    rest.  With ``scattered``, warps come before repetitions: each has its part of every repetition.  Lanes and warps that find nothing
    left hold replicas.  ``lanes`` and ``warps`` are counts, powers of two.
    """
    offsets = axis_offsets(shape)
    taken = [0] * len(shape)

    def take(axis: int, most: int) -> list[int]:
        count = min(most, log2(shape[axis]) - taken[axis])
        bases = [1 << (offsets[axis] + taken[axis] + i) for i in range(count)]
        taken[axis] += count
        return bases

    def spread(count: int, axes: Iterable[int]) -> list[int]:
        bases: list[int] = []
        for axis in axes:
            bases += take(axis, count - len(bases))
        return bases + [0] * (count - len(bases))

    registers = [b for axis in order for b in take(axis, log2(vector[axis]))]
    lane_bases = spread(log2(lanes), order)
    warp_bases = spread(log2(warps), order) if scattered else []
    left = sum(map(log2, shape)) - sum(taken) - (0 if scattered else log2(warps))
    for axis in order:
        repeated = take(axis, max(0, left))
        registers, left = registers + repeated, left - len(repeated)
    if not scattered:
        warp_bases = spread(log2(warps), order)
    return Layout(shape, tuple(registers), tuple(lane_bases), tuple(warp_bases))


def row_major(shape: tuple[int, ...]) -> Layout:
    """One element a lane, lanes in the order of elements: as many lanes as elements. What suits a CPU."""
    return Layout(shape, (), tuple(1 << i for i in range(log2(prod(shape)))), ())


def thread_runs(bases: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Bases of thread bits as runs (first thread bit, count, first index bit) that one shift each moves into place.

    A basis of several bits, as swizzles have, is in several runs.
    """
    runs: list[tuple[int, int, int]] = []
    left = list(bases)
    while any(left):
        end = (-1, -1)
        for bit, basis in enumerate(left):
            if not basis:
                continue
            lowest = basis & -basis
            left[bit] = basis ^ lowest
            at = log2(lowest)
            if end == (bit, at):
                first, count, index = runs[-1]
                runs[-1] = (first, count + 1, index)
            else:
                runs.append((bit, 1, at))
            end = (bit + 1, at + 1)
    return runs


def scan_layout(layout: Layout, axis: int) -> Layout:
    """Where a scan along ``axis`` takes its sources: warps follow each other along it, with all that a warp holds of it in between.

    Bits that warps hold of it are exchanged with higher ones that registers or lanes hold.
    """
    low = axis_offsets(layout.shape)[axis]
    along = [1 << (low + b) for b in range(log2(layout.shape[axis]))]
    taken = [basis for basis in layout.warps if basis in along]
    highest = along[len(along) - len(taken) :]
    given = [basis for basis in highest if basis not in taken]
    left = sorted(basis for basis in taken if basis not in highest)
    theirs, ours = dict(zip(given, left, strict=True)), dict(zip(sorted(taken), highest, strict=True))
    return Layout(
        layout.shape,
        tuple(theirs.get(basis, basis) for basis in layout.registers),
        tuple(theirs.get(basis, basis) for basis in layout.lanes),
        tuple(ours.get(basis, basis) for basis in layout.warps),
    )


def exchanged(layout: Layout, keep: Collection[int], wanted: Collection[int]) -> Layout:
    """The layout with more of the bits ``wanted`` in registers, in exchange for others; who holds a bit of ``keep`` still does."""
    given = [basis for basis in layout.registers if basis not in keep and basis not in wanted]
    taken = sorted(basis for basis in layout.threads if basis and basis not in keep and basis in wanted)[
        : len(given)
    ]
    theirs = dict(zip(taken, given, strict=False)) | dict(zip(given, taken, strict=False))
    registers, lanes, warps = (
        tuple(theirs.get(basis, basis) for basis in bases)
        for bases in (layout.registers, layout.lanes, layout.warps)
    )
    return Layout(layout.shape, registers, lanes, warps)


def reduction_order(layout: Layout, axis: int) -> tuple[int, ...]:
    """Bits of the position along ``axis``, in the order in which a reduction of this layout combines them.

    First what one lane holds, then across lanes, then across warps; within each, the highest bit first, so that halves meet.
    """
    low = axis_offsets(layout.shape)[axis]
    width = log2(layout.shape[axis])
    found: list[int] = []
    for bases in (layout.registers, layout.lanes, layout.warps):
        for basis in reversed(bases):
            bit = basis.bit_length() - 1 - low
            if basis and 0 <= bit < width:
                assert basis & (basis - 1) == 0, "reductions take layouts with one index bit a basis"
                found.append(bit)
    assert sorted(found) == list(range(width)), "the layout does not cover the axis once"
    return tuple(found)
