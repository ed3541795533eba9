"""One loop whose loads run ahead, written anew: see :mod:`~teenybuild.compiler.schedule.overlap`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from teenybuild.compiler.ir import arith, scf, tt, ttg
from teenybuild.compiler.ir.arrays import Array
from teenybuild.compiler.ir.constant import Constant
from teenybuild.compiler.ir.core import Block, Op, Value, is_pure, walk
from teenybuild.compiler.ir.ttg import WaitCopies
from teenybuild.compiler.ir.types import Buffer, Tile, dtype_of, shape_of
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.boxes import Boxes
from teenybuild.compiler.layout.linear import View
from teenybuild.compiler.schedule.flight import land
from teenybuild.dtypes import DType, i1, i32

_PRODUCTS = (ttg.GroupMma, ttg.Mma, tt.Dot)


@dataclass(frozen=True, slots=True)
class Copied:
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
class Written:
    """What comes of a loop: operations before it, right before and after it, and when all is over; ``flying`` results may be under way at its end.

    ``before`` and ``over`` stand around the loop itself, or around the one it is in. The last
    turn's products may be under way before ``after``.
    """

    before: list[Op]
    here: list[Op]
    over: list[Op]
    flying: list[int]
    after: list[Op] = field(default_factory=list[Op])


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

    copied: Copied
    buffer: Value


class Pipelined:
    """One loop, while it is written anew."""

    def __init__(self, op: scf.For, loads: Sequence[Copied], stages: int, axes: AxisAnalysis) -> None:
        self._op = op
        self._loads = loads
        self._stages = stages
        self._axes = axes
        self._addressing = [v for each in loads for v in each.addressing]
        ahead = slice_of(op.body, self._addressing)
        assert ahead is not None
        self._slice = [o for o in op.body.ops if o in ahead]
        read = {v for o in self._slice for v in o.operands} | set(self._addressing)
        #: Carried values that addresses are made of, by number.
        self._ahead = self._carried_by(read)
        self._by_lanes = any(each.boxes is None for each in loads)
        #: Where copies of blocks are waited for, if there are any.
        self._signals: Value | None = None
        self._rooms: list[_Room] = []
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

    def written(self) -> Written:
        """The loop by itself."""
        before = self._ops = []
        self._open()
        values = self._first_copies({}, self._number(0), None)
        self._op.initial = (*self._op.initial, *values, self._number(0), self._number(0))
        flying = self._turns()
        return Written(before, [], self._closed(), flying)

    def written_in(self, outer: scf.For, ahead: Sequence[Op]) -> Written:
        """The loop in another, whose next turn's first copies are asked for when this one's loop has ended: they come while the rest of the turn is done.

        What comes before and after is that of ``outer``; ``ahead`` is what :meth:`next_turn` says of it. Rooms are used in turn, from one turn of ``outer`` to the next.
        """
        turn, step = outer.body.args[0], outer.step
        before = self._ops = []
        self._open()
        some = self._add(arith.CmpI("slt", outer.lower, outer.upper))
        self._first_copies(self._copied(ahead, {turn: outer.lower}), self._number(0), some)
        outer.initial = (*outer.initial, self._number(0), self._number(0))
        stage, phase = Value(i32), Value(i32)
        outer.body.args += [stage, phase]

        here = self._ops = []
        values = self._first_copies({}, None, None)
        self._op.initial = (*self._op.initial, *values, stage, phase)
        flying = self._turns()
        stage, phase = self._op.results[-2:]

        # To all but the room of the last turn, which alone may still be read: what was read before that, was before the last turn's barrier.
        after = self._ops = []
        left = self._add(arith.SubI(outer.upper, turn))
        more = self._add(arith.CmpI("ugt", left, step))
        known = self._copied(ahead, {turn: self._add(arith.AddI(turn, step))})
        self._first_copies(known, stage, more)
        last = outer.body.terminator
        outer.body.ops[-1] = scf.Yield((*last.operands, stage, phase)).at(last.location)
        results = tuple(Value(i32, outer) for _ in range(2))
        outer.set_results((*outer.results, *results))
        return Written(before, here, self._closed(), flying, after)

    def next_turn(self, outer: scf.For) -> list[Op] | None:
        """What of a turn of ``outer`` the first copies are made of, in order; None unless that hangs on nothing but which turn it is."""
        op = self._op
        if self._by_lanes or any(isinstance(each, tt.Load) for each in self._slice):
            return None
        read = {op.lower, op.upper, op.step, *(op.initial[i] for i in self._ahead)}
        read |= {v for each in self._slice for v in each.operands} | set(self._addressing)
        found = slice_of(outer.body, read)
        if found is None or any(isinstance(each, tt.Load) for each in found):
            return None
        read |= {v for each in found for v in each.operands}
        if read & {*outer.body.args[1:], *op.results}:
            return None
        return [each for each in outer.body.ops if each in found]

    def _copied(
        self, ops: Sequence[Op], known: dict[Value, Value], when: Value | None = None
    ) -> dict[Value, Value]:
        """Operations once more, with other values for some, loads only ``when``; what all of them give."""
        for op in ops:
            copied = op.copy(lambda v: known.get(v, v))
            if when is not None and isinstance(copied, tt.Load):
                self._guard(copied, when)
            for result, was in zip(copied.results, op.results, strict=True):
                result.layout = was.layout
                self._axes.copy_to(result, was)
                known[was] = result
            self._add_op(copied, op)
        return known

    def _open(self) -> None:
        self._rooms = [self._room(each) for each in self._loads]
        if any(each.boxes is not None for each in self._loads):
            self._signals = self._add(ttg.OpenSignals(self._stages))

    def _closed(self) -> list[Op]:
        """What comes when all turns are over."""
        found = self._ops = []
        if self._by_lanes:
            # What was asked for beyond the last turn is nothing, but is written to the buffers all the same.
            self._add_op(WaitCopies(0))
        for room in self._rooms:
            self._add_op(ttg.Free(room.buffer))
        if self._signals is not None:
            self._add_op(ttg.CloseSignals(self._signals))
        return found

    def _first_copies(
        self, known: dict[Value, Value], stage: Value | None, guard: Value | None
    ) -> list[Value]:
        """Copies for the first turns, if ``guard``; the carried values that addresses are made of after those.

        ``known``: what stands for the loop's bounds and what else it reads. The first turn's room is ``stage``; without one, nothing is copied.
        """
        op = self._op
        lower, upper, step = (known.get(v, v) for v in (op.lower, op.upper, op.step))
        kind = dtype_of(lower.type)
        span = self._add(arith.SubI(upper, lower))
        some = self._add(arith.CmpI("slt", lower, upper))
        if guard is not None:
            some = self._add(arith.AndI(some, guard))
        values = [known.get(op.initial[i], op.initial[i]) for i in self._ahead]
        for turn in range(self._stages - 1):
            far = self._scaled(step, turn, kind)
            more = self._add(arith.CmpI("ugt", span, far))
            when = self._add(arith.AndI(some, more))
            at = self._add(arith.AddI(lower, far))
            values = self._copies(at, values, stage, when, known)
            if stage is not None:
                stage, _ = self._following(stage)
        return values

    def _following(self, stage: Value) -> tuple[Value, Value]:
        """The stage after one, and whether that is the first again."""
        following = self._add(arith.AddI(stage, self._number(1)))
        is_last = self._add(arith.CmpI("eq", following, self._number(self._stages)))
        return self._add(arith.Select(is_last, self._number(0), following)), is_last

    def _turns(self) -> list[int]:
        """The loop itself, whose last carried values are stage and phase; which results may be under way at its end."""
        op, body = self._op, self._op.body
        index = body.args[0]
        kind = dtype_of(op.lower.type)
        first = len(body.args) - 1
        ahead = [self._argument(op.body.args[1 + i]) for i in self._ahead]
        stage, phase = Value(i32), Value(i32)

        # The turn that is worked on.
        self._ops = []
        if self._by_lanes:
            self._add_op(WaitCopies(self._stages - 2))
            # Products see what was copied so behind a plain barrier (Triton's compiler relies on it too); a fence every turn costs up to 8 %.
            self._add_op(ttg.Publish(products=False))
        met = len(self._ops)
        if self._signals is not None:
            self._add_op(ttg.Await(self._signals, stage, phase))
        self._consume(stage)
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
        values = self._copies(at, ahead, target, when, {})
        following, is_last = self._following(stage)
        other = self._add(arith.SubI(self._number(1), phase))
        following_phase = self._add(arith.Select(is_last, other, phase))
        copying = self._ops

        # Nobody reads any more what is written over: all have come here, and are done with the turn before.
        split = met
        if landed.flying:
            assert landed.done is not None
            split = 1 + landed.ops.index(landed.done)
            if self._stages > 2 and self._by_lanes:
                # There is time: behind the last product, copies hold up nothing that the products wait for.
                split = max(
                    split, *(1 + i for i, op in enumerate(landed.ops) if isinstance(op, ttg.GroupMma))
                )
        if landed.flying or not self._by_lanes:
            copying = [ttg.Publish(products=False), *copying]
        end = scf.Yield((*last.operands, *values, following, following_phase)).at(last.location)
        op.body = Block(
            [*body.args, *ahead, stage, phase], [*landed.ops[:split], *copying, *landed.ops[split:], end]
        )
        extra = op.initial[first:]
        op.set_results((*op.results, *(Value(v.type, op) for v in extra)))
        for result, value in zip(op.results[first:], extra, strict=True):
            result.layout = value.layout
        return landed.flying

    # Pieces -----------------------------------------------------------------------------------------------------

    def _add_op(self, op: Op, like: Op | None = None) -> Op:
        self._ops.append(op.at((like or self._op).location))
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

    def _room(self, copied: Copied) -> _Room:
        tile = copied.load.result.type
        assert isinstance(tile, Tile)
        allocate = ttg.Allocate(Buffer(self._stages, tile))
        allocate.results[0].layout = copied.places
        return _Room(copied, self._add(allocate))

    def _copies(
        self,
        index: Value,
        carried: Sequence[Value],
        stage: Value | None,
        when: Value,
        known: dict[Value, Value],
    ) -> list[Value]:
        """One turn's copies, to rooms of a stage, if any; the carried values that addresses are made of in the next."""
        body = self._op.body
        now = {**known, body.args[0]: index}
        now |= dict(zip([body.args[1 + i] for i in self._ahead], carried, strict=True))
        self._copied(self._slice, now, when)

        def new(value: Value) -> Value:
            return now.get(value, value)

        if stage is not None:
            self._ask(new, stage, when)
        return [new(body.terminator.operands[i]) for i in self._ahead]

    def _ask(self, new: Callable[[Value], Value], stage: Value, when: Value) -> None:
        """Asks for one turn's copies, ``new`` being what stands for the body's values in it."""
        blocks: list[tuple[Value, tuple[Value, ...], Array, int]] = []
        for room in self._rooms:
            load, boxes = room.copied.load, room.copied.boxes
            if boxes is None:
                mask = new(load.mask) if load.mask is not None else None
                self._add_op(ttg.CopyAsync(room.buffer, stage, when, new(load.pointer), mask), load)
            else:
                assert load.array is not None
                blocks.append((room.buffer, tuple(new(v) for v in load.corner), load.array, boxes.axes[0]))
        if self._signals is not None:
            buffers, corners, arrays, fastest = zip(*blocks, strict=True)
            together = tuple(v for corner in corners for v in corner)
            self._add_op(ttg.CopyBlocks(buffers, stage, when, self._signals, together, arrays, fastest))
        if self._by_lanes:
            self._add_op(ttg.CommitCopies())

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

    def _is_direct(self, op: Op) -> bool:
        """Whether products read the copies themselves: where they want tiles laid out otherwise, those are written once more."""
        return isinstance(op, ttg.Staged) and any(
            op.source is each.load.result and op.result.layout == each.places for each in self._loads
        )

    def _consume(self, stage: Value) -> None:
        """The body, reading buffers where it loaded."""
        buffers: set[Value] = {room.buffer for room in self._rooms}
        now: dict[Value, Value] = {}

        def new(value: Value) -> Value:
            return now.get(value, value)

        loaded = {room.copied.load.result: room for room in self._rooms}
        for op in self._op.body.ops[:-1]:
            if isinstance(op, tt.Load) and op.result in loaded:
                if any(not self._is_direct(o) and _reads_registers(o, op.result) for o in self._op.body.ops):
                    now[op.result] = self._got(loaded[op.result], stage, op, op.result)
                continue
            match op:
                case ttg.Staged() if self._is_direct(op):
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


def _reads_registers(op: Op, value: Value) -> bool:
    return not isinstance(op, ttg.ConvertLayout) and any(
        value in each.operands for each in walk(Block(ops=[op]))
    )
