"""Products under way: waits where their results are first read, and buffers for operands that are made in the program.

A product of four warps runs beside the program until it is waited for.  What adds to its result need not wait; anything else does.  A
result that goes round a loop may still be under way when the next turn begins.  They end in the order in which they were begun.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from teenybuild.compiler.ir import scf, ttg
from teenybuild.compiler.ir.constant import Constant
from teenybuild.compiler.ir.core import TERMINATOR, Block, Op, Value, walk
from teenybuild.compiler.ir.types import Buffer
from teenybuild.dtypes import i32


@dataclass(slots=True)
class Landed:
    """What became of a block."""

    ops: list[Op]
    #: Carried values that may be under way at the end of a turn, by number.
    flying: list[int]
    #: After which operation of a turn all products of the turn before are done, if any are carried.
    done: Op | None


def land(block: Block, loop: scf.For | None, under_way: Iterable[Value]) -> Landed:
    """The operations of a block with waits, allocations and frees. ``loop`` is whose body it is.

    ``under_way``: results of loops in the block that may not be there yet when those end.
    """
    return _Landing(block, loop, set(under_way)).landed()


def _reads(op: Op) -> set[Value]:
    """All that an operation reads, and what is inside it."""
    found = set(op.operands)
    for inner in op.blocks:
        for each in walk(inner):
            found.update(each.operands)
    return found


@dataclass(slots=True)
class _Held:
    """A buffer of this block: who still reads it, and the latest product that does."""

    readers: int
    latest: int = 0
    freed: bool = False


class _Landing:
    def __init__(self, block: Block, loop: scf.For | None, under_way: set[Value]) -> None:
        self._block = block
        self._under_way = under_way
        self._ops: list[Op] = []
        #: Products begun since the block's start, and how many of those (and of all before) are known to be done.
        self._begun = self._done = 0
        #: Results not waited for, with the number of their product.
        self._flying: dict[Value, int] = {}
        self._now: dict[Value, Value] = {}
        self._buffers: dict[Value, _Held] = {}
        self._unpublished = False
        self._uses: dict[Value, int] = {}
        for op in block.ops:
            for value in _reads(op):
                self._uses[value] = self._uses.get(value, 0) + 1
        #: Buffers of this block that no product can read.
        self._unread = {op.results[0] for op in block.ops if isinstance(op, ttg.Allocate)}
        for op in walk(block):
            if not isinstance(op, ttg.Put | ttg.Get | ttg.StoreBlock | ttg.Free):
                self._unread.difference_update(op.operands)
        own = {op.results[0] for op in block.ops if isinstance(op, ttg.Staged)}
        own |= {op.results[0] for op in block.ops if isinstance(op, ttg.Viewed) and op.buffer in own}
        self._carried: list[int] = []
        if loop is not None:
            yielded = block.terminator.operands
            for i, (arg, value) in enumerate(zip(block.args[1:], yielded, strict=True)):
                op = value.op
                if not isinstance(op, ttg.GroupMma) or op not in block.ops:
                    continue
                if self._uses[value] == 1 and not own & {op.a, op.b}:
                    self._carried.append(i)
                    self._flying[arg] = 0
        self._covered: Op | None = None

    def landed(self) -> Landed:
        for op in self._block.ops:
            self._op(op)
        if self._carried and self._covered is None:
            self._cover()
        return Landed(self._ops, self._carried, self._covered)

    def _op(self, op: Op) -> None:
        reads = _reads(op)
        if op.traits & TERMINATOR:
            stay = {op.operands[i] for i in self._carried}
            self._wait([v for v in self._flying if v not in stay], stay)
            self._free(at_end=True)
        else:
            # What it adds to is changed in place, unless somebody else wants it as it was.
            passed_on = {op.c} if isinstance(op, ttg.GroupMma) and self._uses[op.c] == 1 else set[Value]()
            # A buffer that goes may be read by all of them, if it is any that products read.
            everything = isinstance(op, ttg.Free) and op.buffer not in self._unread
            self._wait([v for v in self._flying if everything or v in reads - passed_on], passed_on)
            for value in passed_on:
                self._flying.pop(value, None)
        self._publish(reads)
        self._rename(op)
        if isinstance(op, ttg.Staged):
            self._stage(op)
            return
        self._ops.append(op)
        if isinstance(op, ttg.Viewed) and op.buffer in self._buffers:
            held = self._buffers[op.result] = self._buffers[op.buffer]
            held.readers += self._uses.get(op.result, 0)
        if isinstance(op, ttg.GroupMma):
            self._begun += 1
            self._flying[op.result] = self._begun
        for result in op.results:
            if result in self._under_way:
                self._begun += 1
                self._flying[result] = self._begun
        for value in {self._now.get(v, v) for v in reads}:
            held = self._buffers.get(value)
            if held is not None:
                held.readers -= 1
                held.latest = self._begun
        self._free(at_end=False)

    def _cover(self) -> None:
        """Where nothing in a turn waits for the products of the last, that is done after its first.

        Not where something does: the assembler lets products run one by one if a result is read after two waits.
        """
        first = next(i for i, op in enumerate(self._ops) if isinstance(op, ttg.GroupMma))
        self._covered = ttg.WaitProducts((), 1)
        self._ops.insert(first + 1, self._covered)

    def _note(self, wait: ttg.WaitProducts) -> None:
        self._done = max(self._done, self._begun - wait.pending)
        if self._covered is None and wait.pending <= self._begun:
            self._covered = wait

    def _wait(self, values: list[Value], keep: Collection[Value] = ()) -> None:
        if not values:
            return
        latest = max(self._flying[v] for v in values)
        pending = self._begun - latest
        # What is done with it, whether it is read now or later.
        values = [v for v, number in self._flying.items() if number <= latest and v not in keep]
        wait = ttg.WaitProducts(tuple(self._now.get(v, v) for v in values), pending)
        for value, result in zip(values, wait.results, strict=True):
            result.layout = value.layout
            self._now[value] = result
            del self._flying[value]
        self._ops.append(wait)
        self._note(wait)

    def _rename(self, op: Op) -> None:
        if not self._now:
            return
        op.map_operands(lambda v: self._now.get(v, v))
        for inner in op.blocks:
            for each in walk(inner):
                each.map_operands(lambda v: self._now.get(v, v))

    def _stage(self, op: ttg.Staged) -> None:
        assert isinstance(op.result.type, Buffer)
        room, first = ttg.Allocate(op.result.type), Constant(0, i32)
        room.result.layout = op.result.layout
        put = ttg.Put(room.result, first.result, op.source)
        for each in (room, first, put):
            each.at(op.location)
        self._ops += [room, first, put]
        self._now[op.result] = room.result
        self._buffers[room.result] = _Held(self._uses.get(op.result, 0))
        self._unpublished = True

    def _publish(self, reads: set[Value]) -> None:
        used = {self._now.get(v, v) for v in reads} & self._buffers.keys()
        if used and self._unpublished:
            self._ops.append(ttg.Publish(products=True))
            self._unpublished = False

    def _free(self, *, at_end: bool) -> None:
        """What is read no more, and by no product under way, is given back."""
        for value, held in self._buffers.items():
            if not held.freed and held.readers <= 0 and (held.latest <= self._done or at_end):
                # The first of its names is the allocation's.
                held.freed = True
                self._ops.append(ttg.Free(value))
