"""Buffers of shared memory that live through several operations: tiles are put there, copied there beside the program, and read."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from teenybuild.compiler.ir import ttg
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.types import Buffer, Element, element, numel
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.buffers import ALIGNMENT
from teenybuild.compiler.layout.linear import Layout, View
from teenybuild.compiler.layout.matrices import Matrices, matrices
from teenybuild.compiler.layout.swizzle import moved, pieces
from teenybuild.compiler.lower.convert import write_pieces
from teenybuild.compiler.lower.lane import Lane, element_bits
from teenybuild.compiler.lower.machine import LaneRegisters, Machine, Room
from teenybuild.compiler.lower.memory import Pieces, index_of, plan
from teenybuild.dtypes import DType, i1, i32


def stage_bytes(buffer: Value) -> int:
    """Bytes from one stage of a buffer to the next."""
    type_ = buffer.type
    assert isinstance(type_, Buffer)
    return numel(type_.tile) * element_bits(type_.tile.element) // 8


def lower_allocate(machine: Machine, op: ttg.Allocate) -> None:
    """Room is taken until the buffer is freed."""
    size = op.type.stages * stage_bytes(op.result)
    machine.buffers[op.result] = Room(machine.hold_shared(size, ALIGNMENT), size)


def lower_free(machine: Machine, op: ttg.Free) -> None:
    """The room may be used again, after a barrier."""
    machine.meet()
    machine.release(machine.buffers[op.buffer].offset)


def lower_viewed(machine: Machine, op: ttg.Viewed) -> None:
    """The same room."""
    machine.buffers[op.result] = machine.buffers[op.buffer]


def lower_put(machine: Machine, op: ttg.Put) -> None:
    """A tile goes where a stage of the buffer has it."""
    there = moved(cast(Layout, op.value.layout), cast(View, op.buffer.layout))
    kind = element(op.value.type)
    found = _matrices(kind, there) if machine.writes_matrices and not there.replica_bits else None
    if found is not None:
        assert isinstance(kind, DType)
        lane = machine.uniform
        values, address = (
            lane.registers(op.value),
            addresses(machine, lane, op.buffer, op.stage, found.rows),
        )
        for group, matrices_ in enumerate(found.registers):
            words = [[values[r] for r in word] for word in matrices_]
            machine.store_matrices(kind, address(group), words, found.turned)
        return
    write_pieces(machine, op.value, there, lambda lane: addresses(machine, lane, op.buffer, op.stage, there))


def lower_get(machine: Machine, op: ttg.Get) -> None:
    """Each lane reads what it is to hold, neighbours at once."""
    kind, layout = element(op.result.type), cast(Layout, op.result.layout)
    there, size = moved(layout, cast(View, op.buffer.layout)), element_bits(kind) // 8
    matrices_ = _matrices(kind, there) if machine.reads_matrices else None

    def read_matrices(lane: Lane) -> LaneRegisters:
        assert matrices_ is not None
        assert isinstance(kind, DType)
        found = Pieces(there.count)
        address = addresses(machine, lane, op.buffer, op.stage, matrices_.rows)
        for group, registers in enumerate(matrices_.registers):
            words = machine.load_matrices(kind, address(group), len(registers), matrices_.turned)
            for word, values in zip(registers, words, strict=True):
                found.put(word, values)
        return [found]

    def read(lane: Lane) -> LaneRegisters:
        found = [""] * there.count
        address = addresses(machine, lane, op.buffer, op.stage, there)
        for piece in pieces(there, size):
            for register, value in zip(
                piece, machine.shared_load(lane, kind, address(piece[0]), len(piece)), strict=True
            ):
                found[register] = value
        return [found]

    machine.meet()
    rule = read if matrices_ is None else read_matrices
    machine.bind(op.result, machine.each_lane([kind], rule, 1 << len(layout.threads))[0])


def _matrices(kind: Element, there: Layout) -> Matrices | None:
    """How warps move elements that lie ``there``; a bool is no element that they know."""
    return matrices(there, kind.size) if isinstance(kind, DType) and kind != i1 else None


def lower_copy(machine: Machine, op: ttg.CopyAsync, axes: AxisAnalysis) -> None:
    """A group of neighbours a copy, from where a load would read them."""
    access, groups = plan(op, axes)
    layout = cast(Layout, op.pointer.layout)
    there = moved(layout, cast(View, op.buffer.layout))
    when = machine.scalar(op.when)

    machine.meet()
    machine.begin_copy(op)

    def copy(lane: Lane) -> LaneRegisters:
        pointers = lane.registers(op.pointer)
        masks = lane.registers(op.mask) if op.mask is not None else None
        address = addresses(machine, lane, op.buffer, op.stage, there)
        for group in groups:
            first = group.registers[0]
            mask = masks[first] if masks is not None else None
            machine.copy_async(lane, access, pointers[group.anchor], group.offset, mask, address(first), when)
        return []

    machine.each_lane([], copy, 1 << len(layout.threads), [op.pointer, *([op.mask] if op.mask else [])])


def stage_offset(machine: Machine, lane: Lane, buffer: Value, stage: Value | None) -> str:
    """Bytes (i32) from a buffer's start to one of its stages; empty where it has only one."""
    bytes_ = stage_bytes(buffer)
    if stage is None or machine.buffers[buffer].size == bytes_:
        return ""
    return lane.two("mul", "i32", lane.broadcast(i32, machine.scalar(stage)), lane.number(bytes_, i32))


def stage_address(machine: Machine, lane: Lane, buffer: Value, stage: Value | None) -> str:
    """Where a stage of a buffer starts (i32)."""
    start, shift = (
        lane.number(machine.buffers[buffer].offset, i32),
        stage_offset(machine, lane, buffer, stage),
    )
    return lane.two("add", "i32", shift, start) if shift else start


def addresses(
    machine: Machine, lane: Lane, buffer: Value, stage: Value | None, there: Layout
) -> Callable[[int], str]:
    """The address (i32) of a register's element in a stage of a buffer, whose places ``there`` holds."""
    size, base = element_bits(element(buffer.type)) // 8, stage_address(machine, lane, buffer, stage)
    own = lane.two("mul", "i32", index_of(lane, there), lane.number(size, i32))
    lanes = 0
    for basis in there.threads:
        lanes |= basis
    start = lane.two("add", "i32", base, own)

    def address(register: int) -> str:
        flip = there.indices[register]
        # What no lane's number reaches is as good added: it then stands in the instruction.
        if not flip & lanes:
            return lane.two("add", "i32", start, lane.number(flip * size, i32)) if flip else start
        high = flip & ~lanes
        other = lane.two("xor", "i32", own, lane.number((flip ^ high) * size, i32))
        at = lane.two("add", "i32", base, other)
        return lane.two("add", "i32", at, lane.number(high * size, i32)) if high else at

    return address
