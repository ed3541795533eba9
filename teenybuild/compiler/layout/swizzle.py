"""Where a tile lies in shared memory while it moves from one layout to another.

Shared memory has 32 banks of 4 bytes; what a warp asks for at once is served at once where no two of its lanes want different words
of one bank.  Row-major, a tile that is written along rows and read along columns has all lanes in one bank.  So the bits of an
element's index are dealt out anew: the low bits of its place, a *row* of 128 bytes, go to what lanes tell apart on either side, and
where both sides want more of them than there are, they share: a lane's bit of one side also flips a bit of the other's.
(The idea: Zhou et al., "Linear Layouts", arXiv 2505.23819, section 5.4; here for layouts of one index bit a basis, as all of ours.)
"""

from __future__ import annotations

from teenybuild.compiler.layout.linear import Layout, View, log2

#: Bytes of all banks together, and of the widest access of one lane.
ROW_BYTES, WIDEST = 128, 16


def swizzle(write: Layout, read: Layout, size: int, whole: int = 1) -> View:
    """From elements of ``size`` bytes to their places: what a lane writes or reads lies together, and no bank is asked twice.

    ``whole`` elements of a lane that are written are neighbours there, whatever else is.
    """
    bits = write.bits
    row = min(bits, log2(ROW_BYTES // size))
    vector = _together(write, read, row, log2(WIDEST // size), list(write.registers[: log2(whole)]))
    many, few = sorted((_apart(write, vector, row), _apart(read, vector, row)), key=len, reverse=True)
    alone = sorted(few - many)
    # What has no place of its own in the row: each such bit flips one that the other side alone tells apart.
    room = max(0, row - len({*vector, *many, *(few & many)}))
    shared = alone[: max(0, len(alone) - room)]
    low = {*vector, *many, *few} - set(shared)
    free = [1 << b for b in range(bits) if 1 << b not in {*low, *shared}]
    low |= set(free[: max(0, row - len(low))])
    high = [1 << b for b in range(bits) if 1 << b not in low]
    place = {basis: 1 << b for b, basis in enumerate([*vector, *sorted(low - set(vector)), *high])}
    # The highest: two elements of one word are in one bank.
    for one, other in zip(reversed(shared), sorted(many - few - set(vector), reverse=True), strict=False):
        place[one] |= place[other]
    return View((1 << bits,), tuple(place[1 << b] for b in range(bits)))


def moved(layout: Layout, places: View) -> Layout:
    """The layout with each element under the number of its place."""
    registers, lanes, warps = (
        tuple(map(places.moved, bases)) for bases in (layout.registers, layout.lanes, layout.warps)
    )
    return Layout(places.source, registers, lanes, warps)


def pieces(layout: Layout, size: int) -> list[list[int]]:
    """Registers in groups whose elements lie one after the other, wherever the lane; up to 16 bytes a group."""
    bases = layout.registers + layout.threads
    count = 1
    while (
        count in layout.registers and sum(bool(b & count) for b in bases) == 1 and 2 * count * size <= WIDEST
    ):
        count *= 2
    order = sorted(range(layout.count), key=layout.indices.__getitem__)
    return [order[i : i + count] for i in range(0, len(order), count)]


def _together(write: Layout, read: Layout, row: int, most: int, first: list[int]) -> list[int]:
    """Index bits within one access: ``first``, those that a lane holds on both sides, then those of one side that lanes of the other tell apart."""
    both = [*first, *sorted(set(write.registers) & set(read.registers) - set(first))][:most]
    one = max(
        (
            sorted(set(a.registers) & set(_lanes(b, row - len(both))))
            for a, b in ((write, read), (read, write))
        ),
        key=len,
    )
    return list(dict.fromkeys(both + one))[:most]


def _apart(layout: Layout, vector: list[int], row: int) -> set[int]:
    """Index bits that must lie in a row: those within an access, and those of the lanes that are served at once."""
    within = [b for b in vector if b in layout.registers]
    return {*within, *_lanes(layout, row - len(within))}


def _lanes(layout: Layout, count: int) -> list[int]:
    """Bases of the lanes that are served at once when together they ask for 2^``count`` elements."""
    return [b for b in layout.lanes if b][:count]
