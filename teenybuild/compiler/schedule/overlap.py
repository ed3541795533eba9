"""Loops whose loads run ahead of their products: software pipelining, ``num_stages`` deep.

Tiles that a product reads are copied to shared memory beside the program, ``stages - 1`` turns before they are read::

    copies of turns 0 … stages - 2                      (as far as there are such turns)
    for i in range(lower, upper, step):
        wait for the copies of turn i; barrier
        … products begin …
        wait for the products of turn i - 1; barrier    (where they may still be under way: else the barrier above will do)
        copies of turn i + stages - 1, to the room that turn i - 1 has read
        … what else there is to do …

What addresses and masks are made of runs ahead with the copies, with carried values of its own.  Where a load is a block of an array that the
launch knows, and the machine copies such by itself, it is told the block's corner; a turn's copies then arrive with one signal a stage, which
nothing but they and those who wait for them must know.  A loop that writes memory is left as it is:
what it reads ahead might be what it has not yet written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import copysign

from teenybuild.compiler.ir import arith, scf, tt, ttg
from teenybuild.compiler.ir.constant import Constant, constant_of
from teenybuild.compiler.ir.core import ELEMENTWISE, Block, Function, Op, Value, is_pure, walk
from teenybuild.compiler.ir.ttg import WaitCopies
from teenybuild.compiler.ir.types import Buffer, Tile, dtype_of, numel, shape_of
from teenybuild.compiler.layout.assign import fastest_axes, neighbours
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.block_copies import BlockCopies
from teenybuild.compiler.layout.boxes import Boxes
from teenybuild.compiler.layout.buffers import placed
from teenybuild.compiler.layout.linear import Layout, View
from teenybuild.compiler.schedule.dead import drop_dead
from teenybuild.compiler.schedule.flight import land
from teenybuild.dtypes import DType, i1, i32

#: Bytes of the narrowest copy (PTX ISA, ``cp.async``).
_NARROWEST = 4
_PRODUCTS = (ttg.GroupMma, ttg.Mma, tt.Dot)
#: Those that are faster than their loads. Sums of products by fused multiply-add are not, and stage their operands in a way of their own.
_FAST = (ttg.GroupMma, ttg.Mma)


@dataclass(frozen=True, slots=True)
class _Copied:
    """A load that runs ahead: where its tiles lie in a buffer, and as which boxes they get there, if it is not lanes that copy them."""

    load: tt.Load
    places: View
    boxes: Boxes | None = None

    @property
    def addressing(self) -> list[Value]:
        """What must be known to ask for a copy."""
        load = self.load
        if self.boxes is not None:
            return list(load.corner)
        return [load.pointer, *([load.mask] if load.mask is not None else [])]


@dataclass(frozen=True, slots=True)
class Overlap:
    """The pass, on a function with layouts; see the module's text. One stage: nothing runs ahead."""

    stages: int
    axes: AxisAnalysis
    #: What the machine copies as blocks of arrays, if it does.
    blocks: BlockCopies | None = None
    name: str = "overlap"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        self._block(function.body, None)
        drop_dead(function)

    def _block(self, block: Block, loop: scf.For | None) -> list[int]:
        """Rewrites a block and all inside it; which carried values may be under way when a turn ends."""
        ops: list[Op] = []
        under_way: list[Value] = []
        for op in block.ops:
            if isinstance(op, tt.Combining):
                ops.append(op)
            elif isinstance(op, scf.For):
                before, after, flying = self._loop(op)
                ops += [*before, op, *after]
                under_way += [op.results[i] for i in flying]
            else:
                for inner in op.blocks:
                    self._block(inner, None)
                ops.append(op)
        block.ops = ops
        landed = land(block, loop, under_way)
        block.ops = landed.ops
        return landed.flying

    def _loop(self, op: scf.For) -> tuple[list[Op], list[Op], list[int]]:
        """What comes before and after a loop, which is rewritten in place, and what it leaves under way."""
        loads = self._loads(op) if self.stages > 1 else []
        if not loads:
            return [], [], self._block(op.body, op)
        return _Pipelined(op, loads, self.stages, self.axes).written()

    def _loads(self, op: scf.For) -> list[_Copied]:
        """Loads of a loop that may run ahead."""
        body = op.body
        if any(inner.has_effect and not isinstance(inner, ttg.GroupMma) for inner in body.ops):
            return []
        wanted = _fed(body)
        found = [self._copied(o, body) for o in body.ops if isinstance(o, tt.Load) and o in wanted]
        loads = [each for each in found if each is not None and slice_of(body, each.addressing) is not None]
        # What others' addresses are read from is loaded where those are computed.
        while True:
            read = slice_of(body, [v for each in loads for v in each.addressing]) or set()
            kept = [each for each in loads if each.load not in read]
            if len(kept) == len(loads):
                return loads
            loads = kept

    def _copied(self, op: tt.Load, body: Block) -> _Copied | None:
        """How the machine copies what a load reads; None where it does not."""
        if not isinstance(op.result.type, Tile) or op.volatile or op.cache:
            return None
        staged = next((o for o in body.ops if isinstance(o, ttg.Staged) and o.source is op.result), None)
        wanted = staged.result.layout if staged is not None else None
        size = dtype_of(op.result.type).size
        found = self.blocks.boxes(op) if self.blocks is not None else None
        if found is not None:
            places = placed(op.result.type.shape, found.axes[0], size)
            if wanted in (None, places):
                return _Copied(op, places, found)
        if not self._copied_by_lanes(op):
            return None
        if isinstance(wanted, View):
            return _Copied(op, wanted)
        return _Copied(op, placed(op.result.type.shape, fastest_axes(op.pointer, self.axes)[0], size))

    def _copied_by_lanes(self, op: tt.Load) -> bool:
        if op.other is not None and not _is_zero(constant_of(op.other)):
            return False
        count = neighbours(op, _layout(op.result), self.axes)
        return count * dtype_of(op.result.type).size >= _NARROWEST


def _is_zero(known: int | float | None) -> bool:
    """Whether it is what copies leave where a mask is off; -0.0 is not."""
    return known is not None and known == 0 and copysign(1, known) > 0


def _layout(value: Value) -> Layout:
    assert isinstance(value.layout, Layout)
    return value.layout


def _fed(body: Block) -> set[Op]:
    """What the products of a block are computed from, within it: everything but what they add to."""
    own = set(body.ops)
    found: set[Op] = set()
    waiting: list[Value] = []
    for op in body.ops:
        for each in walk(Block(ops=[op])):
            if isinstance(each, _FAST):
                waiting += [each.a, each.b]
    while waiting:
        op = waiting.pop().op
        if op is None or op in found or op not in own:
            continue
        found.add(op)
        if op.traits & ELEMENTWISE or isinstance(
            op, tt.Viewing | ttg.Staged | ttg.Viewed | ttg.ConvertLayout
        ):
            waiting += op.operands
    return found


def slice_of(body: Block, values: Iterable[Value]) -> set[Op] | None:
    """What values are made of, from turn to turn; None where that can't run ahead."""
    own = set(body.ops)
    yielded = body.terminator.operands
    carried = {arg: i for i, arg in enumerate(body.args[1:])}
    found: set[Op] = set()
    seen: set[Value] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in carried:
            waiting.append(yielded[carried[value]])
        op = value.op
        if op is None or op not in own or op in found:
            continue
        plain = is_pure(op) and not isinstance(op, _PRODUCTS) and not isinstance(op, ttg.Staged | ttg.Viewed)
        if op.blocks and not isinstance(op, tt.Combining):
            return None
        if not plain and not isinstance(op, tt.Load):
            return None
        found.add(op)
        waiting += op.operands
    return found


@dataclass(frozen=True, slots=True)
class _Room:
    """Where a load's tiles go."""

    copied: _Copied
    buffer: Value


class _Pipelined:
    """One loop, while it is written anew."""

    def __init__(self, op: scf.For, loads: Sequence[_Copied], stages: int, axes: AxisAnalysis) -> None:
        self._op = op
        self._loads = loads
        self._stages = stages
        self._axes = axes
        addressing = [v for each in loads for v in each.addressing]
        ahead = slice_of(op.body, addressing)
        assert ahead is not None
        self._slice = [o for o in op.body.ops if o in ahead]
        read = {v for o in self._slice for v in o.operands} | set(addressing)
        #: Carried values that addresses are made of, by number.
        self._ahead = self._carried_by(read)
        self._by_lanes = any(each.boxes is None for each in loads)
        #: Where copies of blocks are waited for, if there are any.
        self._signals: Value | None = None
        self._ops: list[Op] = []

    def _carried_by(self, read: set[Value]) -> list[int]:
        args, yielded = self._op.body.args[1:], self._op.body.terminator.operands
        found: set[int] = set()
        while True:
            more = {i for i, arg in enumerate(args) if arg in read} - found
            if not more:
                return sorted(found)
            found |= more
            read = read | {yielded[i] for i in more}

    def written(self) -> tuple[list[Op], list[Op], list[int]]:
        op, body = self._op, self._op.body
        index = body.args[0]
        before = self._ops = []
        rooms = [self._room(each) for each in self._loads]
        if any(each.boxes is not None for each in self._loads):
            self._signals = self._add(ttg.OpenSignals(self._stages))
        kind = dtype_of(op.lower.type)
        span = self._add(arith.SubI(op.upper, op.lower))
        some = self._add(arith.CmpI("slt", op.lower, op.upper))
        values = [op.initial[i] for i in self._ahead]
        for turn in range(self._stages - 1):
            far = self._scaled(op.step, turn, kind)
            more = self._add(arith.CmpI("ugt", span, far))
            when = self._add(arith.AndI(some, more))
            at = self._add(arith.AddI(op.lower, far))
            values = self._copies(rooms, at, values, self._number(turn), when)
        first = len(op.initial)
        op.initial = (*op.initial, *values, self._number(0), self._number(0))
        ahead = [self._argument(op.body.args[1 + i]) for i in self._ahead]
        stage, phase = Value(i32), Value(i32)

        # The turn that is worked on.
        self._ops = []
        if self._by_lanes:
            self._add_op(WaitCopies(self._stages - 2))
            self._add_op(ttg.Publish(products=False))
        met = len(self._ops)
        if self._signals is not None:
            self._add_op(ttg.Await(self._signals, stage, phase))
        self._consume(rooms, stage)
        old = body.terminator
        landed = land(Block(body.args, [*self._ops, old]), op, ())
        last = landed.ops.pop()

        # The turn that is copied for, and what comes next.
        self._ops = []
        far = self._scaled(op.step, self._stages - 1, kind)
        left = self._add(arith.SubI(op.upper, index))
        when = self._add(arith.CmpI("ugt", left, far))
        at = self._add(arith.AddI(index, far))
        is_first = self._add(arith.CmpI("eq", stage, self._number(0)))
        previous = self._add(arith.SubI(stage, self._number(1)))
        target = self._add(arith.Select(is_first, self._number(self._stages - 1), previous))
        values = self._copies(rooms, at, ahead, target, when)
        following = self._add(arith.AddI(stage, self._number(1)))
        is_last = self._add(arith.CmpI("eq", following, self._number(self._stages)))
        following = self._add(arith.Select(is_last, self._number(0), following))
        other = self._add(arith.SubI(self._number(1), phase))
        following_phase = self._add(arith.Select(is_last, other, phase))
        copying = self._ops

        # Nobody reads any more what is written over: all have come here, and are done with the turn before.
        split = met
        if landed.flying:
            assert landed.done is not None
            split = 1 + landed.ops.index(landed.done)
        if landed.flying or not self._by_lanes:
            copying = [ttg.Publish(products=False), *copying]
        end = scf.Yield((*last.operands, *values, following, following_phase))
        end.location = last.location  # type: ignore[misc]  # shadows the class default on this instance
        op.body = Block(
            [*body.args, *ahead, stage, phase], [*landed.ops[:split], *copying, *landed.ops[split:], end]
        )
        extra = op.initial[first:]
        op.__dict__["results"] = (*op.results, *(Value(v.type, op) for v in extra))
        for result, value in zip(op.results[first:], extra, strict=True):
            result.layout = value.layout
        after: list[Op] = []
        self._ops = after
        if self._by_lanes:
            # What was asked for beyond the last turn is nothing, but is written to the buffers all the same.
            self._add_op(WaitCopies(0))
        for room in rooms:
            self._add_op(ttg.Free(room.buffer))
        if self._signals is not None:
            self._add_op(ttg.CloseSignals(self._signals))
        return before, after, landed.flying

    # Pieces -----------------------------------------------------------------------------------------------------

    def _add_op(self, op: Op, like: Op | None = None) -> Op:
        op.location = (like or self._op).location  # type: ignore[misc]  # shadows the class default on this instance
        self._ops.append(op)
        return op

    def _add(self, op: Op) -> Value:
        return self._add_op(op).results[0]

    def _number(self, value: int, kind: DType = i32) -> Value:
        return self._add(Constant(value, kind))

    def _scaled(self, step: Value, turns: int, kind: DType) -> Value:
        return self._add(arith.MulI(step, self._number(turns, kind)))

    def _argument(self, old: Value) -> Value:
        new = Value(old.type)
        new.layout = old.layout
        self._axes.copy_to(new, old)
        return new

    def _room(self, copied: _Copied) -> _Room:
        tile = copied.load.result.type
        assert isinstance(tile, Tile)
        allocate = ttg.Allocate(Buffer(self._stages, tile))
        allocate.results[0].layout = copied.places
        return _Room(copied, self._add(allocate))

    def _copies(
        self, rooms: Sequence[_Room], index: Value, carried: Sequence[Value], stage: Value, when: Value
    ) -> list[Value]:
        """One turn's copies; the carried values that addresses are made of in the next."""
        body = self._op.body
        now: dict[Value, Value] = {body.args[0]: index}
        now |= dict(zip([body.args[1 + i] for i in self._ahead], carried, strict=True))

        def new(value: Value) -> Value:
            return now.get(value, value)

        for op in self._slice:
            copied = op.copy(new)
            if isinstance(copied, tt.Load):
                self._guard(copied, when)
            for result, was in zip(copied.results, op.results, strict=True):
                result.layout = was.layout
                self._axes.copy_to(result, was)
                now[was] = result
            self._add_op(copied, op)
        if self._signals is not None:
            bytes_ = sum(_bytes(room) for room in rooms if room.copied.boxes is not None)
            self._add_op(ttg.Expect(self._signals, stage, when, bytes_))
        for room in rooms:
            load = room.copied.load
            if room.copied.boxes is None:
                mask = new(load.mask) if load.mask is not None else None
                self._add_op(ttg.CopyAsync(room.buffer, stage, when, new(load.pointer), mask), load)
            else:
                assert self._signals is not None
                assert load.array is not None
                corner, fastest = tuple(new(v) for v in load.corner), room.copied.boxes.axes[0]
                signal = (self._signals, stage)
                self._add_op(
                    ttg.CopyBlock(room.buffer, stage, when, *signal, corner, load.array, fastest), load
                )
        if self._by_lanes:
            self._add_op(ttg.CommitCopies())
        yielded = body.terminator.operands
        return [new(yielded[i]) for i in self._ahead]

    def _guard(self, load: tt.Load, when: Value) -> None:
        """A load ahead of its time reads nothing where there is no such turn."""
        guard = when
        if isinstance(load.pointer.type, Tile):
            splat = tt.Splat(when, Tile(shape_of(load.pointer.type), i1))
            splat.results[0].layout = load.pointer.layout
            guard = self._add(splat)
        if load.mask is not None:
            both = arith.AndI(load.mask, guard)
            both.results[0].layout = load.pointer.layout
            self._axes.copy_to(both.results[0], load.mask)
            guard = self._add(both)
        load.mask = guard

    def _consume(self, rooms: Sequence[_Room], stage: Value) -> None:
        """The body, reading buffers where it loaded."""
        buffers: set[Value] = {room.buffer for room in rooms}
        now: dict[Value, Value] = {}

        def new(value: Value) -> Value:
            return now.get(value, value)

        loaded = {room.copied.load.result: room for room in rooms}
        for op in self._op.body.ops[:-1]:
            if isinstance(op, tt.Load) and op.result in loaded:
                if any(_reads_registers(o, op.result) for o in self._op.body.ops):
                    now[op.result] = self._got(loaded[op.result], stage, op, op.result)
                continue
            match op:
                case ttg.Staged() if op.source in loaded:
                    now[op.result] = loaded[op.source].buffer
                    continue
                case ttg.Viewed() if new(op.buffer) in buffers:
                    view = ttg.Viewed(new(op.buffer), op.shape)
                    view.results[0].layout = op.result.layout
                    now[op.result] = self._add_op(view, op).results[0]
                    buffers.add(now[op.result])
                    continue
                case ttg.ConvertLayout() if op.source in loaded:
                    now[op.result] = self._got(loaded[op.source], stage, op, op.result)
                    continue
                case _:
                    pass
            for each in walk(Block(ops=[op])):
                each.map_operands(new)
                if isinstance(each, ttg.GroupMma):
                    operands = [v for v in (each.a, each.b) if isinstance(v.type, Buffer)]
                    pairs = zip(operands, each.stages, strict=True)
                    each.stages = tuple(stage if v in buffers else s for v, s in pairs)
            self._ops.append(op)
        self._op.body.terminator.map_operands(new)

    def _got(self, room: _Room, stage: Value, like: Op, value: Value) -> Value:
        get = ttg.Get(room.buffer, stage)
        get.results[0].layout = value.layout
        self._axes.copy_to(get.results[0], value)
        return self._add_op(get, like).results[0]


def _bytes(room: _Room) -> int:
    tile = room.copied.load.result.type
    return numel(tile) * dtype_of(tile).size


def _reads_registers(op: Op, value: Value) -> bool:
    return not isinstance(op, ttg.Staged | ttg.ConvertLayout) and any(
        value in each.operands for each in walk(Block(ops=[op]))
    )
