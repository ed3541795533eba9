"""Blocks copied beside the program on a CPU, element by element, and the signals they arrive at.

A signal is a word that counts what has been announced to it.  A block is put in a queue with its signal, and lands when that is waited for in the
phase that was announced last: a wait for another phase, on which a GPU would hang or go on too early, lets nothing land.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from teenybuild.compiler.ir.arrays import Argument, Given
from teenybuild.compiler.ir.core import Op, Value
from teenybuild.compiler.ir.ttg import CopyBlocks, StoreBlock
from teenybuild.compiler.ir.types import Pointer, dtype_of, shape_of
from teenybuild.compiler.layout.linear import View, row_major
from teenybuild.compiler.layout.swizzle import WIDEST, moved
from teenybuild.compiler.lower.blocks import SIGNAL, TensorMap
from teenybuild.compiler.lower.buffers import addresses, stage_bytes
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import Access, LaneRegisters
from teenybuild.compiler.targets import host_copies
from teenybuild.dtypes import i1, i8, i64

if TYPE_CHECKING:
    from teenybuild.compiler.targets.host import HostMachine


def open_signals(machine: HostMachine, offset: int, count: int) -> None:
    """Nothing has been announced."""
    for i in range(count):
        machine.text.do(f"store i64 0, ptr {_word(machine, str(offset + SIGNAL * i))}, align 8")
    machine.barrier()


def _word(machine: HostMachine, signal: str) -> str:
    return machine.text.op(f"getelementptr i8, ptr %shared, i32 {signal}")


def expect(machine: HostMachine, signal: str) -> None:
    """One more."""
    text, word = machine.text, _word(machine, signal)
    count = text.op(f"load i64, ptr {word}, align 8")
    text.do(f"store i64 {text.op(f'add i64 {count}, 1')}, ptr {word}, align 8")


def await_signal(machine: HostMachine, signal: str, phase: str) -> None:
    """What is under way to the signal lands, if the phase is that which was announced last."""
    text = machine.text
    count = text.op(f"load i64, ptr {_word(machine, signal)}, align 8")
    latest = text.op(f"and i64 {text.op(f'sub i64 {count}, 1')}, 1")
    meant = text.op(f"icmp eq i64 {latest}, {text.op(f'zext i32 {phase} to i64')}")
    tag = text.op(f"zext i32 {signal} to i64")
    host_copies.land(machine, machine.blocks, "eq", text.op(f"select i1 {meant}, i64 {tag}, i64 -1"))


def copy_block(
    machine: HostMachine,
    op: CopyBlocks,
    buffer: Value,
    map_: TensorMap,
    corner: Sequence[str],
    address: str,
    signal: str,
) -> None:
    """One element a lane."""
    text, dtype = machine.text, dtype_of(buffer.type)
    tag = text.op(f"zext i32 {signal} to i64")
    host_copies.put(text, machine.blocks, address, stage_bytes(buffer), tag)
    block = _Block(machine, op, buffer, map_, corner)
    outside = text.op(f"icmp ne i64 {_given(machine, map_.array.padding)}, 0")

    def element(lane: Lane) -> LaneRegisters:
        pointer, inside = block.place(lane)
        fill = lane.number(0, dtype)
        if dtype.is_float:
            nan = lane.number(float("nan"), dtype)
            fill = lane.select(lane.broadcast(i1, outside), machine.carrier(dtype), nan, fill)
        values = machine.load(lane, block.access, pointer, 0, inside, [fill])
        to = addresses(machine, lane, buffer, op.stage, block.there)(0)
        host_copies.copy(machine, lane, block.access, values, to)
        return []

    machine.each_lane([], element, block.lanes)


def store_block(machine: HostMachine, op: StoreBlock, map_: TensorMap, corner: Sequence[str]) -> None:
    """One element a lane; as hardware does it, pieces of 16 bytes whole; and nothing where hardware would refuse."""
    block = _Block(machine, op, op.buffer, map_, corner)
    legal = block.may_be_stored()

    def element(lane: Lane) -> LaneRegisters:
        pointer, inside = block.place(lane, WIDEST // block.access.element.size)
        start = addresses(machine, lane, op.buffer, None, block.there)(0)
        values = machine.shared_load(lane, block.access.element, start, 1)
        written = lane.two("and", "i1", inside, lane.broadcast(i1, legal))
        machine.store(lane, block.access, pointer, 0, written, values)
        return []

    machine.each_lane([], element, block.lanes)


class _Block:
    """A block of an array, each element of which is a lane's."""

    def __init__(
        self, machine: HostMachine, op: Op, buffer: Value, map_: TensorMap, corner: Sequence[str]
    ) -> None:
        self._machine, self._shape = machine, shape_of(buffer.type)
        self._layout, self._fastest = row_major(self._shape), map_.boxes.axes[0]
        #: Where elements lie in the buffer.
        self.there = moved(self._layout, cast(View, buffer.layout))
        self.lanes = 1 << len(self._layout.threads)
        run = self._shape[-1] if self._fastest == len(self._shape) - 1 else 1
        self.access = Access(map_.dtype, 1, map_.dtype.size, run, 1, op=op)
        array, text = map_.array, machine.text
        self._base = machine.argument(array.base)
        pairs = zip(map_.boxes.axes, corner, strict=True)
        self._starts = {axis: text.op(f"sext i32 {at} to i64") for axis, at in pairs}
        self._extents = [_extent(machine, each) for each in array.shape]
        self._strides = [_given(machine, each) for each in array.strides]

    def may_be_stored(self) -> str:
        """Whether no offset is negative, and that along rows a multiple of 16 bytes."""
        text, legal = self._machine.text, "true"
        for start in self._starts.values():
            legal = text.op(f"and i1 {legal}, {text.op(f'icmp sge i64 {start}, 0')}")
        piece = WIDEST // self.access.element.size
        within = text.op(f"and i64 {self._starts[self._fastest]}, {piece - 1}")
        return text.op(f"and i1 {legal}, {text.op(f'icmp eq i64 {within}, 0')}")

    def place(self, lane: Lane, piece: int = 1) -> tuple[str, str]:
        """Where the lane's element lies, and whether that is within the array, or the first of its piece along rows of so many."""
        inside, place = lane.splat("i1", "true"), lane.splat("i64", "0")
        for axis in range(len(self._shape)):
            at = self._machine.coordinate(lane, self._layout, axis)
            within = lane.convert("zext", "i32", at, "i64")
            index = lane.two("add", "i64", lane.broadcast(i64, self._starts[axis]), within)
            first = index
            if piece > 1 and axis == self._fastest:
                past = lane.two("and", "i64", within, lane.splat("i64", str(piece - 1)))
                first = lane.two("sub", "i64", index, past)
            # A negative index is a large one without its sign.
            known = lane.compare("icmp ult", "i64", first, lane.broadcast(i64, self._extents[axis]))
            inside = lane.two("and", "i1", inside, known)
            step = lane.two("mul", "i64", index, lane.broadcast(i64, self._strides[axis]))
            place = lane.two("add", "i64", place, step)
        base = lane.broadcast(Pointer(i8), self._base)
        bytes_ = lane.two("mul", "i64", place, lane.splat("i64", str(self.access.element.size)))
        pointer = lane.op(f"getelementptr i8, {lane.of('ptr')} {base}, {lane.of('i64')} {bytes_}")
        return pointer, inside


def _extent(machine: HostMachine, given: Given) -> str:
    """The same of an extent; an array with fewer elements than none is empty."""
    extent = _given(machine, given)
    positive = machine.text.op(f"icmp sgt i64 {extent}, 0")
    return machine.text.op(f"select i1 {positive}, i64 {extent}, i64 0")


def _given(machine: HostMachine, given: Given) -> str:
    """A number that is known or passed, i64."""
    if not isinstance(given, Argument):
        return str(given)
    name, dtype = machine.argument(given), dtype_of(machine.arguments[given.number].type)
    if dtype.bits == i64.bits:
        return name
    return machine.text.op(f"{'zext' if dtype == i1 else 'sext'} {dtype.llvm} {name} to i64")
