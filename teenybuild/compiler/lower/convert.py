"""Moving a tile from one layout to another: renaming registers where that is enough, else through shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from teenybuild.compiler.ir import tt
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
    _through_shared(machine, op, source, result)


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


def _through_shared(machine: Machine, op: tt.ConvertLayout, source: Layout, result: Layout) -> None:
    """Elements lie row-major in shared memory for a moment; lanes move as many neighbours at once as both sides hold."""
    kind = element(op.source.type)
    size = element_bits(kind) // 8
    address = shared_tile(machine, kind, source.bits)

    def write(lane: Lane) -> LaneRegisters:
        values = lane.registers(op.source)
        owner = owns(lane, source.replica_bits) if source.replica_bits else None
        step = _neighbours(source, size)
        for r in range(0, source.count, step):
            machine.shared_store(
                lane, kind, address(lane, source, r), [values[i] for i in range(r, r + step)], owner
            )
        return []

    def read(lane: Lane) -> LaneRegisters:
        step = _neighbours(result, size)
        found: list[str] = []
        for r in range(0, result.count, step):
            found += machine.shared_load(lane, kind, address(lane, result, r), step)
        return [found]

    machine.each_lane([], write, 1 << len(source.threads), [op.source])
    machine.barrier()
    held = machine.each_lane([kind], read, 1 << len(result.threads))
    machine.bind(op.result, held[0])
