"""Scans: each element combined with all that come before it along an axis, inclusive.

In step ``b`` every position whose bit ``b`` is set takes in what the last position before it, with that bit clear, has gathered
(Sklansky, "Conditional-Sum Addition Logic", 1960).  So the tree is a matter of positions alone: it is the same in every layout, and
every target gives the same bits.  A lane holds its part of the axis, and lanes meet within their warp.  Where the axis runs on from warp to
warp, the steps within warps come first (:func:`~teenybuild.compiler.layout.linear.scan_layout` has seen to it): from then on all that a
warp takes in is what whole warps have gathered, so each writes its last element to shared memory, and every lane makes the rest of the
tree that leads to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.types import element
from teenybuild.compiler.layout.linear import Layout, axis_offsets, drop_axis, log2
from teenybuild.compiler.lower.lane import Lane, element_bits
from teenybuild.compiler.lower.machine import Combine, Held, LaneRegisters, Machine
from teenybuild.compiler.lower.memory import element_address
from teenybuild.compiler.lower.reduce import combiner, warp_rank
from teenybuild.dtypes import i32


@dataclass(frozen=True, slots=True)
class _Step:
    """One step: the bit that decides, and those below it, as masks of register and lane numbers."""

    register: int
    lane: int
    registers_below: int
    lanes_below: int
    reverse: bool

    def takes(self, register: int) -> bool:
        """Whether a register takes something in, as far as its own number says."""
        return not self.register or bool(register & self.register) != self.reverse

    def source(self, register: int) -> int:
        """The register of the lane it is taken from."""
        if self.reverse:
            return (register | self.register) & ~self.registers_below
        return (register & ~self.register) | self.registers_below

    @property
    def cleared_and_put(self) -> tuple[int, int]:
        """Bits of the lane's number to clear, then to set: the lane it is taken from."""
        return (self.lanes_below, self.lane) if self.reverse else (self.lane, self.lanes_below)


def _steps(layout: Layout, axis: int, reverse: bool) -> list[_Step]:
    """The steps within warps."""
    low = axis_offsets(layout.shape)[axis]

    def mask(bases: tuple[int, ...], wanted: range) -> int:
        indices = {1 << (low + b) for b in wanted}
        return sum(1 << i for i, basis in enumerate(bases) if basis in indices)

    found: list[_Step] = []
    for bit in range(log2(layout.shape[axis]) - len(_warps_along(layout, axis))):
        this, below = range(bit, bit + 1), range(bit)
        registers, lanes = layout.registers, layout.lanes
        step = _Step(
            mask(registers, this), mask(lanes, this), mask(registers, below), mask(lanes, below), reverse
        )
        assert bool(step.register) != bool(step.lane), "the layout does not hold the axis once"
        found.append(step)
    return found


def lower_scan(machine: Machine, op: tt.Scan) -> None:
    """See the module's text."""
    layout = cast(Layout, op.sources[0].layout)
    elements = [element(s.type) for s in op.sources]
    threads = 1 << len(layout.threads)
    combine = combiner(op)
    helds = machine.each_lane(
        elements, lambda lane: [lane.registers(s) for s in op.sources], threads, op.sources
    )
    for step in _steps(layout, op.axis, op.reverse):
        helds = machine.each_lane(elements, _rule(machine, step, helds, combine), threads)
    if warps := _warps_along(layout, op.axis):
        helds = _across_warps(machine, op, helds, layout, warps, combine)
    for result, held in zip(op.results, helds, strict=True):
        machine.bind(result, held)


def _rule(
    machine: Machine, step: _Step, helds: list[Held], combine: Combine
) -> Callable[[Lane], LaneRegisters]:
    def rule(lane: Lane) -> LaneRegisters:
        found = [list(machine.read(lane, held)) for held in helds]
        mine = [list(registers) for registers in found]
        takes: str | None = None
        if step.lane:
            bit = lane.two("and", "i32", machine.thread(lane), lane.number(step.lane, i32))
            takes = lane.compare("icmp eq" if step.reverse else "icmp ne", "i32", bit, lane.number(0, i32))
        earlier: dict[int, list[str]] = {}
        for r in range(helds[0].count):
            if not step.takes(r):
                continue
            source = step.source(r)
            if source not in earlier:
                earlier[source] = [machine.read_lane(lane, h, source, *step.cleared_and_put) for h in helds]
            own = [registers[r] for registers in mine]
            for i, value in enumerate(combine(lane, earlier[source], own)):
                if takes is not None:
                    value = lane.select(takes, machine.carrier(helds[i].element), value, own[i])
                found[i][r] = value
        return found

    return rule


def _warps_along(layout: Layout, axis: int) -> tuple[int, ...]:
    """Warp bits that count along the axis, the highest first."""
    low = axis_offsets(layout.shape)[axis]
    along = range(low, low + log2(layout.shape[axis]))
    found = [(basis, bit) for bit, basis in enumerate(layout.warps) if basis and log2(basis) in along]
    return tuple(bit for _, bit in sorted(found, reverse=True))


def _across_warps(
    machine: Machine,
    op: tt.Scan,
    helds: list[Held],
    layout: Layout,
    along: tuple[int, ...],
    combine: Combine,
) -> list[Held]:
    """The steps between warps. What warps gathered for one place beside the axis lies side by side, in the order of the warps."""
    beside = drop_axis(layout.shape, op.axis)
    totals = layout.viewed(beside)
    sizes = [element_bits(held.element) // 8 for held in helds]
    warps = 1 << len(along)
    buffers = [machine.shared((warps << totals.bits) * size, 16) for size in sizes]
    registers, lanes = (
        sum(1 << bit for bit, basis in enumerate(bases) if basis and not beside.moved(basis))
        for bases in (layout.registers, layout.lanes)
    )
    # The last of a warp's elements, of each of its rows.
    last = [r for r in range(layout.count) if r & registers == (0 if op.reverse else registers)]

    def address(lane: Lane, row: int, warp: str, size: int, base: int) -> str:
        at = element_address(lane, totals, row, warps * size, base)
        return lane.two("add", "i32", at, lane.two("mul", "i32", warp, lane.number(size, i32)))

    def write(lane: Lane) -> LaneRegisters:
        rank = warp_rank(lane, layout, along)
        # Replicas differ in bits that must be clear, lanes along the axis in bits that say which is the last.
        masked = lane.two("and", "i32", machine.thread(lane), lane.number(layout.replica_bits | lanes, i32))
        owner = lane.compare("icmp eq", "i32", masked, lane.number(0 if op.reverse else lanes, i32))
        for held, size, base in zip(helds, sizes, buffers, strict=True):
            values = machine.read(lane, held)
            for row, register in enumerate(last):
                at = address(lane, row, rank, size, base)
                machine.shared_store(lane, held.element, at, [values[register]], owner)
        return []

    def gathered(lane: Lane, row: int, rank: str, step: int) -> list[str]:
        """What all warps before this one that ``step`` is about have gathered, when it comes."""
        count = 1 << step
        first = lane.two("and", "i32", rank, lane.number(warps - 2 * count, i32))
        if op.reverse:
            first = lane.two("or", "i32", first, lane.number(count, i32))
        parts = [
            machine.shared_load(lane, held.element, address(lane, row, first, size, base), count)
            for held, size, base in zip(helds, sizes, buffers, strict=True)
        ]
        sets = [[part[w] for part in parts] for w in range(count)]
        if op.reverse:
            sets.reverse()
        while len(sets) > 1:
            sets = [combine(lane, *pair) for pair in zip(sets[::2], sets[1::2], strict=True)]
        return sets[0]

    def read(lane: Lane) -> LaneRegisters:
        found = [list(machine.read(lane, held)) for held in helds]
        rank = warp_rank(lane, layout, along)
        for step in range(len(along)):
            bit = lane.two("and", "i32", rank, lane.number(1 << step, i32))
            takes = lane.compare("icmp eq" if op.reverse else "icmp ne", "i32", bit, lane.number(0, i32))
            earlier = [gathered(lane, row, rank, step) for row in range(len(last))]
            for r in range(layout.count):
                row = last.index(r & ~registers if op.reverse else r | registers)
                own = [each[r] for each in found]
                for i, value in enumerate(combine(lane, earlier[row], own)):
                    found[i][r] = lane.select(takes, machine.carrier(helds[i].element), value, own[i])
        return found

    threads = 1 << len(layout.threads)
    machine.each_lane([], write, threads)
    machine.barrier()
    return machine.each_lane([held.element for held in helds], read, threads)
