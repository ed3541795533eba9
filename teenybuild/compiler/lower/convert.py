"""Moving a tile from one layout to another: renaming registers where that is enough, else through shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import Op, Value
from teenybuild.compiler.ir.types import Element, element
from teenybuild.compiler.layout.linear import Layout
from teenybuild.compiler.lower.lane import Lane, element_bits
from teenybuild.compiler.lower.machine import LaneRegisters, Machine
from teenybuild.compiler.lower.memory import element_address, owns


def lower_convert(machine: Machine, op: tt.ConvertLayout) -> None:
    """See the module's text."""
    source, result = cast(Layout, op.source.layout), cast(Layout, op.result.layout)
    if source.threads == result.threads:
        place = {index: register for register, index in enumerate(source.indices)}
        renamed = [place[index] for index in result.indices]
        machine.local(op, lambda lane: [[lane.registers(op.source)[r] for r in renamed]])
        return
    through_shared(machine, op, source, result)


def _neighbours(layout: Layout, size: int) -> int:
    """How many consecutive registers hold consecutive elements, up to 16 bytes."""
    count = 1
    for basis in layout.registers:
        if basis != count or 2 * count * size > 16:
            break
        count *= 2
    return count


def shared_tile(machine: Machine, kind: Element, bits: int) -> Callable[[Lane, Layout, int], str]:
    """Room in shared memory for a tile of 2^``bits`` elements, and where a register's element stands in it."""
    size = element_bits(kind) // 8
    base = machine.shared((1 << bits) * size, 16)
    return lambda lane, layout, register: element_address(lane, layout, register, size, base)


def write_shared(machine: Machine, value: Value, at: int | None = None) -> int:
    """Writes a tile row-major to shared memory, neighbours of a lane at once; its offset. A barrier must come before it is read.

    ``at`` is room that was set aside for it, a multiple of 16; else it is set aside here.
    """
    kind, layout = element(value.type), cast(Layout, value.layout)
    size = element_bits(kind) // 8
    base = machine.shared((1 << layout.bits) * size, 16) if at is None else at

    def write(lane: Lane) -> LaneRegisters:
        values = lane.registers(value)
        owner = owns(lane, layout.replica_bits) if layout.replica_bits else None
        step = _neighbours(layout, size)
        for r in range(0, layout.count, step):
            address = element_address(lane, layout, r, size, base)
            machine.shared_store(lane, kind, address, [values[i] for i in range(r, r + step)], owner)
        return []

    machine.each_lane([], write, 1 << len(layout.threads), [value])
    return base


def through_shared(machine: Machine, op: Op, source: Layout, result: Layout, flip: int = 0) -> None:
    """Elements lie row-major in shared memory for a moment; each is read from where its index, XOR ``flip``, says."""
    value = op.operands[0]
    kind = element(value.type)
    size = element_bits(kind) // 8
    base = write_shared(machine, value)
    machine.barrier()

    def read(lane: Lane) -> LaneRegisters:
        step = _neighbours(result, size)
        inside = flip & (step - 1)
        found: list[str] = []
        for r in range(0, result.count, step):
            address = element_address(lane, result, r, size, base, flip - inside)
            values = machine.shared_load(lane, kind, address, step)
            found += [values[i ^ inside] for i in range(step)]
        return [found]

    held = machine.each_lane([kind], read, 1 << len(result.threads))
    machine.bind(op.results[0], held[0])
