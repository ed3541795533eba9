"""Inline assembly: a target's own, over the registers of a lane."""

from __future__ import annotations

from typing import cast

from teenybuild.compiler.ir import tt
from teenybuild.compiler.layout.linear import Layout
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import LaneRegisters, Machine


def lower_assembly(machine: Machine, op: tt.InlineAsm) -> None:
    """``pack`` registers at a time, in order; where a lane has fewer, the last are there more than once."""
    if not op.shape:
        machine.meet()
        given = machine.assemble(machine.uniform, op, [[machine.scalar(v)] * op.pack for v in op.args])
        for result, names in zip(op.results, given, strict=True):
            machine.set_scalar(result, names[0])
        return
    layout = cast(Layout, op.results[0].layout)

    def rule(lane: Lane) -> LaneRegisters:
        operands = [lane.registers(v) for v in op.args]
        found: list[list[str]] = [[] for _ in op.results]
        for first in range(0, layout.count, op.pack):
            places = [min(first + i, layout.count - 1) for i in range(op.pack)]
            given = machine.assemble(lane, op, [[values[r] for r in places] for values in operands])
            for names, more in zip(found, given, strict=True):
                names += more[: layout.count - first]
        return found

    machine.local(op, rule)
