"""Atomic steps: each element's by one lane, the owner where lanes hold replicas, which then learn from it what was there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.types import Pointer, Tile, element
from teenybuild.compiler.layout.linear import Layout
from teenybuild.compiler.lower.convert import shared_tile
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import Atomic, LaneRegisters, Machine
from teenybuild.compiler.lower.memory import owns


def lower_atomic(machine: Machine, op: tt.AtomicRmw | tt.AtomicCas, used: bool) -> None:
    """``used``: whether anything reads what was there."""
    how = _how(op)
    lacking = machine.lacks(how)
    if lacking is not None:
        assert op.location is not None
        raise op.location.error(lacking)
    operands = (op.value,) if isinstance(op, tt.AtomicRmw) else (op.compare, op.value)
    mask = op.mask if isinstance(op, tt.AtomicRmw) else None
    if not isinstance(op.pointer.type, Tile):
        machine.meet()
        names = [machine.scalar(v) for v in operands]
        guard = machine.scalar(mask) if mask is not None else None
        machine.set_scalar(
            op.result, machine.atomic_once(how, machine.scalar(op.pointer), guard, names, used)
        )
        return
    layout = cast(Layout, op.pointer.layout)
    replicas = layout.replica_bits

    def step(lane: Lane) -> LaneRegisters:
        return [_registers(machine, lane, how, op.pointer, mask, operands, replicas)]

    if not replicas or not used:
        machine.local(op, step)
        return
    held = machine.each_lane([how.element], step, 1 << len(layout.threads), op.operands)[0]
    address = shared_tile(machine, how.element, layout.bits)

    def tell(lane: Lane) -> LaneRegisters:
        for register, value in enumerate(machine.read(lane, held)):
            machine.shared_store(
                lane, how.element, address(lane, layout, register), [value], owns(lane, replicas)
            )
        return []

    def learn(lane: Lane) -> LaneRegisters:
        return [
            [
                machine.shared_load(lane, how.element, address(lane, layout, r), 1)[0]
                for r in range(layout.count)
            ]
        ]

    machine.each_lane([], tell, 1 << len(layout.threads))
    machine.barrier()
    machine.bind(op.result, machine.each_lane([how.element], learn, 1 << len(layout.threads))[0])


def _how(op: tt.AtomicRmw | tt.AtomicCas) -> Atomic:
    pointer = element(op.pointer.type)
    assert isinstance(pointer, Pointer)
    kind = op.kind if isinstance(op, tt.AtomicRmw) else "cas"
    return Atomic(kind, pointer.pointee, op.ordering, op.scope, op)


def _registers(
    machine: Machine,
    lane: Lane,
    how: Atomic,
    pointer: Value,
    mask: Value | None,
    operands: Sequence[Value],
    replicas: int,
) -> list[str]:
    owner = owns(lane, replicas) if replicas else None
    layout = cast(Layout, pointer.layout)
    found: list[str] = []
    for r in range(layout.count):
        guard = lane.registers(mask)[r] if mask is not None else owner
        if mask is not None and owner is not None:
            guard = lane.two("and", "i1", owner, cast(str, guard))
        values = [lane.registers(v)[r] for v in operands]
        found.append(machine.atomic(lane, how, lane.registers(pointer)[r], guard, values))
    return found
