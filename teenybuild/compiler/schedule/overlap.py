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
nothing but they and those who wait for them must know.  A loop whose stages the kernel gives (``tl.range(…, num_stages=4)``) has all its loads
run ahead, products or not.  Where such a loop is all that another one repeats, its first copies are asked for a turn of
that ahead, and come while the turn before stores what it has summed up.  A loop that writes memory is left as it is:
what it reads ahead might be what it has not yet written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from teenybuild.compiler.ir import scf, tt, ttg
from teenybuild.compiler.ir.constant import constant_of, is_positive_zero
from teenybuild.compiler.ir.core import ELEMENTWISE, Block, Function, Op, Value, walk
from teenybuild.compiler.ir.types import Tile, dtype_of
from teenybuild.compiler.layout.assign import fastest_axes, neighbours
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.block_copies import BlockCopies
from teenybuild.compiler.layout.buffers import placed
from teenybuild.compiler.layout.linear import Layout, View, log2
from teenybuild.compiler.layout.swizzle import WIDEST, swizzle
from teenybuild.compiler.schedule.dead import drop_dead
from teenybuild.compiler.schedule.flight import land
from teenybuild.compiler.schedule.pipelined import Copied, Pipelined, slice_of

#: Bytes of the narrowest copy (PTX ISA, ``cp.async``).
_NARROWEST = 4
#: Those that are faster than their loads. Sums of products by fused multiply-add are not, and stage their operands in a way of their own.
_FAST = (ttg.GroupMma, ttg.Mma)


@dataclass(frozen=True, slots=True)
class _Around:
    """What comes before and after a loop, and which of its results may be under way at its end."""

    before: Sequence[Op] = ()
    after: Sequence[Op] = ()
    flying: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Overlap:
    """The pass, on a function with layouts; see the module's text.

    ``stages`` is for loops that say nothing of their own, and 1 has nothing run ahead; it is None where the machine has no copies.
    """

    stages: int | None
    axes: AxisAnalysis
    #: What the machine copies as blocks of arrays, if it does.
    blocks: BlockCopies | None = None
    #: Whether a loop's first copies are asked for in the turn before of the loop that it is in. That takes more shared memory.
    across: bool = True
    name: str = "overlap"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        self._block(function.body, None)
        drop_dead(function)

    def _block(self, block: Block, loop: scf.For | None) -> _Around:
        """Rewrites a block and all inside it. ``loop`` is whose body it is."""
        ops: list[Op] = []
        under_way: list[Value] = []
        found, around = _Around(), None
        for op in block.ops:
            if isinstance(op, tt.Combining):
                ops.append(op)
            elif isinstance(op, scf.For):
                stages = self._stages(op)
                loads = self._loads(op) if stages > 1 else []
                if not loads:
                    inner = self._block(op.body, op)
                    ops += [*inner.before, op, *inner.after]
                    under_way += [op.results[i] for i in inner.flying]
                    continue
                pipelined = Pipelined(op, loads, stages, self.axes)
                apart = not self.across or not _only_loop(block) or _asks_others(block)
                ahead = None if loop is None or apart else pipelined.next_turn(loop)
                if loop is not None and ahead is not None:
                    written = pipelined.written_in(loop, ahead)
                    found = _Around(written.before, written.over)
                    # What comes after needs no product of the last turn to be done: it is for other rooms than that reads.
                    ops += [*written.here, op, *written.after]
                    around = op
                else:
                    written = pipelined.written()
                    ops += [*written.before, op, *written.over]
                under_way += [op.results[i] for i in written.flying]
            else:
                for inner in op.blocks:
                    self._block(inner, None)
                ops.append(op)
        block.ops = ops
        if around is not None:
            rooms = _lasting(block, around)
            found = _Around([*rooms.before, *found.before], [*found.after, *rooms.after])
        landed = land(block, loop, under_way)
        block.ops = landed.ops
        return replace(found, flying=landed.flying)

    def _stages(self, op: scf.For) -> int:
        if self.stages is None:
            return 1
        return self.stages if op.stages is None else op.stages

    def _loads(self, op: scf.For) -> list[Copied]:
        """Loads of a loop that may run ahead: those that products wait for; all of them, where the kernel has said how far."""
        body = op.body
        if any(inner.has_effect and not isinstance(inner, ttg.GroupMma) for inner in body.ops):
            return []
        wanted = set(body.ops) if op.stages is not None else _fed(body)
        found = [self._copied(o, body) for o in body.ops if isinstance(o, tt.Load) and o in wanted]
        loads = [each for each in found if each is not None and slice_of(body, each.addressing) is not None]
        # What others' addresses are read from is loaded where those are computed.
        while True:
            read = slice_of(body, [v for each in loads for v in each.addressing]) or set()
            kept = [each for each in loads if each.load not in read]
            if len(kept) == len(loads):
                return loads
            loads = kept

    def _copied(self, op: tt.Load, body: Block) -> Copied | None:
        """How the machine copies what a load reads; None where it does not."""
        if not isinstance(op.result.type, Tile) or op.volatile or op.cache:
            return None
        staged = next((o for o in body.ops if isinstance(o, ttg.Staged) and o.source is op.result), None)
        wanted = staged.result.layout if staged is not None else None
        size = dtype_of(op.result.type).size
        count = neighbours(op, _layout(op.result), self.axes)
        found = self.blocks.boxes(op) if self.blocks is not None else None
        if found is not None:
            places = placed(op.result.type.shape, found.axes[0], size)
            if wanted in (None, places) or count * size < WIDEST:
                return Copied(op, places, found)
        if not self._copied_by_lanes(op):
            return None
        if isinstance(wanted, View) and _together(wanted, _layout(op.result), count):
            return Copied(op, wanted)
        return Copied(op, self._places(op, body))

    def _places(self, op: tt.Load, body: Block) -> View:
        """Where lanes put what no product reads from there: as suits those who read it, if they all do so to turn it."""
        size, layout = dtype_of(op.result.type).size, _layout(op.result)
        readers = [o for o in body.ops if op.result in o.operands]
        moves = [o.result for o in readers if isinstance(o, ttg.ConvertLayout)]
        turned = {
            _layout(v) for v in moves if any(isinstance(o, ttg.Staged) and o.source is v for o in body.ops)
        }
        if len(turned) != 1 or len(moves) != len(readers) or {_layout(v) for v in moves} != turned:
            return placed(layout.shape, fastest_axes(op.pointer, self.axes)[0], size)
        return swizzle(layout, turned.pop(), size, neighbours(op, layout, self.axes))

    def _copied_by_lanes(self, op: tt.Load) -> bool:
        if op.other is not None and not is_positive_zero(constant_of(op.other)):
            return False
        count = neighbours(op, _layout(op.result), self.axes)
        return count * dtype_of(op.result.type).size >= _NARROWEST


def _together(places: View, layout: Layout, count: int) -> bool:
    """Whether ``count`` neighbours that a lane copies at once are neighbours there too."""
    return all(places.moved(basis) == 1 << bit for bit, basis in enumerate(layout.registers[: log2(count)]))


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


def _only_loop(block: Block) -> bool:
    """Whether there is no more than one loop in it."""
    return sum(isinstance(op, scf.Loop) for op in walk(block)) == 1


def _asks_others(block: Block) -> bool:
    """Whether it looks at what an atomic operation found: what is read behind that may be what another program has written by then."""
    found = {op.results[0] for op in walk(block) if isinstance(op, tt.AtomicRmw | tt.AtomicCas)}
    return any(found.intersection(op.operands) for op in walk(block))


def _lasting(block: Block, loop: scf.For) -> _Around:
    """Takes the rooms of what a turn stores as blocks out of the loop that the block is a turn of: they are read while the next turn runs.

    They may be written again once ``loop`` is done, the one in it: that was read is then known while the last products are under way.
    """
    rooms = [op for op in block.ops if isinstance(op, ttg.Allocate)]
    if not rooms:
        return _Around()
    own = {room.result for room in rooms}
    ends = [op for op in block.ops if isinstance(op, ttg.Free) and op.buffer in own]
    parted = True
    for op in walk(block):
        # A room within a branch stays there: whoever ends it has waited.
        if isinstance(op, ttg.StoreBlock) and op.buffer in own:
            parted = parted and op.warps is not None
            op.done = "written" if op.done == "written" else "asked"
    ready: list[Op] = [ttg.WaitStores()]
    if parted:
        _publish_behind_gets(block, own)
    else:
        # One warp knows that it was read.
        ready.append(ttg.Publish(products=False))
    at = 1 + min(block.ops.index(op) for op in (loop, rooms[0]))
    ops = [*block.ops[:at], *(op.at(rooms[0].location) for op in ready), *block.ops[at:]]
    block.ops = [op for op in ops if op not in (*rooms, *ends)]
    return _Around(rooms, [ttg.WaitStores().at(ends[0].location), *ends])


def _publish_behind_gets(block: Block, rooms: set[Value]) -> None:
    """What warps read of each other's parts of a room is read before the next turn writes there."""
    ops: list[Op] = []
    for op in block.ops:
        ops.append(op)
        if isinstance(op, ttg.Get) and op.buffer in rooms:
            ops.append(ttg.Publish(products=False).at(op.location))
        for inner in op.blocks:
            _publish_behind_gets(inner, rooms)
    block.ops = ops
