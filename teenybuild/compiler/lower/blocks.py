"""Blocks of arrays that are copied to shared memory as a whole, and the signals that say when they are there."""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir import ttg
from teenybuild.compiler.ir.arrays import Array
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.types import Signals, dtype_of, shape_of
from teenybuild.compiler.layout.boxes import Boxes, boxes
from teenybuild.compiler.lower.buffers import stage_address
from teenybuild.compiler.lower.machine import Machine, Room
from teenybuild.dtypes import DType, i32

#: Bytes of a signal (PTX ISA, ``mbarrier``).
SIGNAL = 8


@dataclass(frozen=True, slots=True)
class TensorMap:
    """What hardware is told of an array and of how blocks of it are copied, before the program begins."""

    array: Array
    dtype: DType
    boxes: Boxes


def lower_open_signals(machine: Machine, op: ttg.OpenSignals) -> None:
    """Room is taken, and all lanes may use it."""
    machine.meet()
    room = Room(machine.hold_shared(SIGNAL * op.count, SIGNAL), SIGNAL * op.count)
    machine.buffers[op.result] = room
    machine.open_signals(room.offset, op.count)


def lower_close_signals(machine: Machine, op: ttg.CloseSignals) -> None:
    """Nobody waits any more."""
    machine.meet()
    room = machine.buffers[op.signals]
    machine.barrier()
    machine.close_signals(room.offset, room.size // SIGNAL)
    machine.release(room.offset)


def lower_expect(machine: Machine, op: ttg.Expect) -> None:
    """Once for all lanes."""
    machine.meet()
    machine.expect(_signal(machine, op.signals, op.which), machine.scalar(op.when), op.bytes)


def lower_copy_block(machine: Machine, op: ttg.CopyBlock) -> None:
    """Once for all lanes."""
    machine.meet()
    map_, corner = _block(machine, op)
    start = stage_address(machine, machine.uniform, op.buffer, op.stage)
    machine.copy_block(op, map_, corner, start, _signal(machine, op.signals, op.which))


def lower_store_block(machine: Machine, op: ttg.StoreBlock) -> None:
    """Once for all lanes; where memory is read again, all of them know that it is written."""
    machine.meet()
    map_, corner = _block(machine, op)
    machine.store_block(op, map_, corner, machine.uniform.number(machine.buffers[op.buffer].offset, i32))
    if op.settled:
        machine.barrier()


def _block(machine: Machine, op: ttg.CopyBlock | ttg.StoreBlock) -> tuple[TensorMap, list[str]]:
    """What hardware is told of the array, and the block's offsets along the map's axes."""
    dtype = dtype_of(op.buffer.type)
    found = boxes(shape_of(op.buffer.type), op.fastest, dtype.size)
    assert found is not None, "only what is copied in boxes becomes such a copy"
    return TensorMap(op.array, dtype, found), [machine.scalar(op.corner[axis]) for axis in found.axes]


def lower_await(machine: Machine, op: ttg.Await) -> None:
    """All lanes wait."""
    machine.meet()
    machine.await_signal(_signal(machine, op.signals, op.which), machine.scalar(op.phase))


def _signal(machine: Machine, signals: Value, which: Value) -> str:
    """Where a signal lies, i32."""
    assert isinstance(signals.type, Signals)
    lane, offset = machine.uniform, machine.buffers[signals].offset
    shift = lane.two("mul", "i32", machine.scalar(which), lane.number(SIGNAL, i32))
    return lane.two("add", "i32", shift, lane.number(offset, i32))
