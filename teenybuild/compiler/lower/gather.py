"""Elements from anywhere in a tile, and counts of them: through memory that all lanes share.

An index is taken modulo the side it counts along, which is a power of two: whatever it is, nothing beside the tile is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.moves import Exchange
from teenybuild.compiler.ir.types import dtype_of, element
from teenybuild.compiler.layout.linear import Layout, axis_offsets
from teenybuild.compiler.lower.convert import through_shared, write_shared
from teenybuild.compiler.lower.lane import Lane, element_bits
from teenybuild.compiler.lower.machine import LaneRegisters, Machine
from teenybuild.compiler.lower.memory import element_address, owns
from teenybuild.dtypes import DType, i32

#: Gives the element of a tile at an index (row-major, i32).
Read = Callable[[Lane, str], str]


def lower_gather(machine: Machine, op: tt.Gather) -> None:
    """Each lane reads the elements that its index says."""
    read = machine.whole(op.source) or _shared(machine, op.source)
    layout = cast(Layout, op.result.layout)
    side, dtype = cast(Layout, op.source.layout).shape[op.axis], dtype_of(op.index.type)

    def rule(lane: Lane) -> LaneRegisters:
        found: list[str] = []
        beside = _beside(machine, lane, op, layout)
        for r, index in enumerate(lane.registers(op.index)):
            narrow = index if dtype == i32 else lane.convert("trunc", dtype.llvm, index, "i32")
            along = lane.two("and", "i32", narrow, lane.number(side - 1, i32))
            found.append(read(lane, beside(r, along)))
        return [found]

    kind = element(op.source.type)
    held = machine.each_lane([kind], rule, 1 << len(layout.threads), [op.index])
    machine.bind(op.result, held[0])


def _shared(machine: Machine, value: Value) -> Read:
    """A tile in shared memory, once every lane has written its part."""
    kind = element(value.type)
    size = element_bits(kind) // 8
    base = write_shared(machine, value)
    machine.barrier()

    def read(lane: Lane, index: str) -> str:
        at = lane.two("mul", "i32", index, lane.number(size, i32))
        at = lane.two("add", "i32", at, lane.number(base, i32)) if base else at
        return machine.shared_load(lane, kind, at, 1)[0]

    return read


def _beside(machine: Machine, lane: Lane, op: tt.Gather, layout: Layout) -> Callable[[int, str], str]:
    """Where in the source a register of the result reads, given its place along the axis."""
    source = cast(Layout, op.source.layout).shape
    theirs, mine = axis_offsets(source), axis_offsets(layout.shape)
    others = [d for d in range(len(source)) if d != op.axis and source[d] > 1]
    parts = [
        lane.two("shl", "i32", machine.coordinate(lane, layout, d), lane.number(theirs[d], i32))
        for d in others
    ]

    def place(register: int, along: str) -> str:
        index = layout.indices[register]
        flip = sum((index >> mine[d] & (source[d] - 1)) << theirs[d] for d in others)
        at = lane.two("shl", "i32", along, lane.number(theirs[op.axis], i32)) if theirs[op.axis] else along
        for part in parts:
            at = lane.two("or", "i32", at, part)
        return lane.two("xor", "i32", at, lane.number(flip, i32)) if flip else at

    return place


def lower_exchange(machine: Machine, op: Exchange) -> None:
    """As a layout is linear, all elements move alike: by some bits of the register's number, of the lane's and of the warp's."""
    layout = cast(Layout, op.result.layout)
    flip = op.flip << axis_offsets(layout.shape)[op.axis]
    register, thread = layout.place(flip)
    if thread >> len(layout.lanes):
        through_shared(machine, op, layout, layout, flip)
    else:
        machine.exchange(op, register, thread)


def lower_histogram(machine: Machine, op: tt.Histogram) -> None:
    """One counter a number: set to zero, counted up by whoever holds an element, and read."""
    layout, result = cast(Layout, op.source.layout), cast(Layout, op.result.layout)
    dtype, threads = dtype_of(op.source.type), 1 << len(result.threads)
    base = machine.shared(4 * op.bins, 16)

    def clear(lane: Lane) -> LaneRegisters:
        owner = owns(lane, result.replica_bits) if result.replica_bits else None
        for r in range(result.count):
            address = element_address(lane, result, r, 4, base)
            machine.shared_store(lane, i32, address, [lane.number(0, i32)], owner)
        return []

    def count(lane: Lane) -> LaneRegisters:
        owner = owns(lane, layout.replica_bits) if layout.replica_bits else None
        masks = lane.registers(op.mask) if op.mask is not None else None
        for r, value in enumerate(lane.registers(op.source)):
            # Without a sign, what is below zero is far above: one comparison for both ends.
            held = lane.compare("icmp ult", dtype.llvm, value, lane.number(op.bins, dtype))
            held = lane.two("and", "i1", held, owner) if owner is not None else held
            held = lane.two("and", "i1", held, masks[r]) if masks is not None else held
            machine.shared_count(lane, _counter(lane, dtype, value, base), held)
        return []

    def read(lane: Lane) -> LaneRegisters:
        at = (element_address(lane, result, r, 4, base) for r in range(result.count))
        return [[machine.shared_load(lane, i32, address, 1)[0] for address in at]]

    machine.each_lane([], clear, threads)
    machine.barrier()
    machine.each_lane([], count, 1 << len(layout.threads), op.operands)
    machine.barrier(writing=(base, 4 * op.bins))
    machine.bind(op.result, machine.each_lane([i32], read, threads)[0])


def _counter(lane: Lane, dtype: DType, value: str, base: int) -> str:
    index = value if dtype == i32 else lane.convert("trunc", dtype.llvm, value, "i32")
    at = lane.two("shl", "i32", index, lane.number(2, i32))
    return lane.two("add", "i32", at, lane.number(base, i32)) if base else at
