"""Scans: each element combined with all that come before it along an axis, inclusive.

In step ``b`` every position whose bit ``b`` is set takes in what the last position before it, with that bit clear, has gathered
(Sklansky, "Conditional-Sum Addition Logic", 1960).  So the tree is a matter of positions alone: it is the same in every layout, and
every target gives the same bits.  A lane holds its part of the axis, lanes meet within their warp:
:func:`~teenybuild.compiler.layout.linear.within_warps` has seen to it that warps need not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.types import element
from teenybuild.compiler.layout.linear import Layout, axis_offsets, log2
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import Combine, Held, LaneRegisters, Machine
from teenybuild.compiler.lower.reduce import combiner
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
    low = axis_offsets(layout.shape)[axis]

    def mask(bases: tuple[int, ...], wanted: range) -> int:
        indices = {1 << (low + b) for b in wanted}
        return sum(1 << i for i, basis in enumerate(bases) if basis in indices)

    found: list[_Step] = []
    for bit in range(log2(layout.shape[axis])):
        this, below = range(bit, bit + 1), range(bit)
        registers, lanes = layout.registers, layout.lanes
        step = _Step(
            mask(registers, this), mask(lanes, this), mask(registers, below), mask(lanes, below), reverse
        )
        assert bool(step.register) != bool(step.lane), (
            "the layout does not hold the axis once, within its warps"
        )
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
