"""Blocks of arrays that are copied to shared memory as a whole, and the signals that say when they are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teenybuild.compiler.ir import ttg
from teenybuild.compiler.ir.arrays import Array
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.types import Signals, dtype_of, shape_of
from teenybuild.compiler.layout.boxes import Boxes, boxes
from teenybuild.compiler.lower.buffers import stage_address, stage_bytes
from teenybuild.compiler.lower.machine import Machine, Room
from teenybuild.dtypes import DType, i32

#: Bytes of a signal (PTX ISA, ``mbarrier``).
SIGNAL = 8

#: Bytes of a tensor map, and what its address is a multiple of (CUDA driver API, ``CUtensorMap``).
MAP_BYTES, MAP_ALIGNMENT = 128, 64


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


def lower_copy_blocks(machine: Machine, op: ttg.CopyBlocks) -> None:
    """Once for all lanes: what is going to arrive, and then each block."""
    machine.meet()

    def ask() -> None:
        signal = _signal(machine, op.signals, op.stage)
        machine.expect(signal, sum(stage_bytes(buffer) for buffer in op.buffers))
        for buffer, corner, array, fastest in op.copies():
            map_ = _map(buffer, array, fastest)
            start = stage_address(machine, machine.uniform, buffer, op.stage)
            machine.copy_block(op, buffer, map_, _offsets(machine, map_, corner), start, signal)

    machine.once(machine.scalar(op.when), ask)


def lower_store_block(machine: Machine, op: ttg.StoreBlock) -> None:
    """Once for all lanes, or for those of each warp; where memory is read again, all of them know that it is written."""
    machine.meet()
    map_ = _map(op.buffer, op.array, op.fastest, op.warps)
    start = machine.uniform.number(machine.buffers[op.buffer].offset, i32)
    machine.store_block(op, map_, _offsets(machine, map_, op.corner), start)
    if op.done == "written":
        machine.barrier()


def lower_wait_stores(machine: Machine) -> None:
    """Each warp for itself."""
    machine.meet()
    machine.wait_stores()


def _map(buffer: Value, array: Array, fastest: int, warps: Sequence[int] | None = None) -> TensorMap:
    """What hardware is told of the array."""
    dtype = dtype_of(buffer.type)
    found = boxes(shape_of(buffer.type), fastest, dtype.size, warps)
    assert found is not None, "only what is copied in boxes becomes such a copy"
    return TensorMap(array, dtype, found)


def _offsets(machine: Machine, map_: TensorMap, corner: Sequence[Value]) -> list[str]:
    """A block's offsets along the map's axes."""
    return [machine.scalar(corner[axis]) for axis in map_.boxes.axes]


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
