"""Moving a tile from one layout to another: renaming registers where that is enough, else through shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from teenybuild.compiler.ir import ttg
from teenybuild.compiler.ir.core import Op, Value
from teenybuild.compiler.ir.types import Element, element
from teenybuild.compiler.layout.linear import Layout, View
from teenybuild.compiler.layout.swizzle import moved, pieces, swizzle
from teenybuild.compiler.lower.lane import Lane, element_bits
from teenybuild.compiler.lower.machine import LaneRegisters, Machine
from teenybuild.compiler.lower.memory import element_address, owns


def lower_convert(machine: Machine, op: ttg.ConvertLayout) -> None:
    """See the module's text."""
    source, result = cast(Layout, op.source.layout), cast(Layout, op.result.layout)
    if source.threads == result.threads:
        place = {index: register for register, index in enumerate(source.indices)}
        renamed = [place[index] for index in result.indices]
        machine.local(op, lambda lane: [[lane.registers(op.source)[r] for r in renamed]])
        return
    through_shared(machine, op, source, result)


def shared_tile(machine: Machine, kind: Element, bits: int) -> Callable[[Lane, Layout, int], str]:
    """Room in shared memory for a tile of 2^``bits`` elements, and where a register's element stands in it."""
    size = element_bits(kind) // 8
    base = machine.shared((1 << bits) * size, 16)
    return lambda lane, layout, register: element_address(lane, layout, register, size, base)


def write_shared(machine: Machine, value: Value, at: int | None = None, places: View | None = None) -> int:
    """Writes a tile to shared memory, neighbours of a lane at once; its offset. A barrier must come before it is read.

    ``at`` is room that was set aside for it, a multiple of 16; else it is set aside here.  Elements lie row-major, or as ``places`` says.
    """
    kind, layout = element(value.type), cast(Layout, value.layout)
    layout = layout if places is None else moved(layout, places)
    size = element_bits(kind) // 8
    base = machine.shared((1 << layout.bits) * size, 16) if at is None else at

    write_pieces(
        machine,
        value,
        layout,
        lambda lane: lambda register: element_address(lane, layout, register, size, base),
    )
    return base


def write_pieces(
    machine: Machine, value: Value, there: Layout, addresses: Callable[[Lane], Callable[[int], str]]
) -> None:
    """Each lane writes what it holds of a tile, neighbours at once, one of replicas.

    ``there`` has the elements under the numbers of their places; ``addresses`` gives where a register's element goes (i32).
    """
    kind = element(value.type)

    def write(lane: Lane) -> LaneRegisters:
        values = lane.registers(value)
        owner = owns(lane, there.replica_bits) if there.replica_bits else None
        address = addresses(lane)
        for piece in pieces(there, element_bits(kind) // 8):
            machine.shared_store(lane, kind, address(piece[0]), [values[r] for r in piece], owner)
        return []

    machine.each_lane([], write, 1 << len(there.threads), [value])


def through_shared(machine: Machine, op: Op, source: Layout, result: Layout, flip: int = 0) -> None:
    """Elements lie in shared memory for a moment; each is read from where its index, XOR ``flip``, says."""
    value = op.operands[0]
    kind = element(value.type)
    size = element_bits(kind) // 8
    places = swizzle(source, result, size)
    base = write_shared(machine, value, places=places)
    machine.barrier()
    there, away = moved(result, places), places.moved(flip)

    def read(lane: Lane) -> LaneRegisters:
        found = [""] * there.count
        for piece in pieces(there, size):
            inside = away & (len(piece) - 1)
            address = element_address(lane, there, piece[0], size, base, away - inside)
            values = machine.shared_load(lane, kind, address, len(piece))
            for i, register in enumerate(piece):
                found[register] = values[i ^ inside]
        return [found]

    held = machine.each_lane([kind], read, 1 << len(result.threads))
    machine.bind(op.results[0], held[0])
