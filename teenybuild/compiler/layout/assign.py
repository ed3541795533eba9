"""Layout assignment: every tile gets a home, and moves only where two homes meet.

Operations that touch memory, and products, have layouts they want (:mod:`policy`); everything else takes the layout of what it is
computed from, or of what it is computed for.  Values that are cheap to make (offsets, masks, pointers, constants) have no home: they
are made again in each layout that asks for them.  What is left is an explicit ``convert_layout``.

Two phases: *infer* settles homes by walking forward and backward to a fixed point; *rewrite* builds the function anew, with
``value.layout`` set on every tile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from teenybuild.compiler.ir import arith, math, scf, tt, ttg
from teenybuild.compiler.ir.arrays import Given
from teenybuild.compiler.ir.constant import Constant
from teenybuild.compiler.ir.core import ELEMENTWISE, Block, Function, Op, Value
from teenybuild.compiler.ir.moves import Exchange
from teenybuild.compiler.ir.types import Buffer, Pointer, Tile, dtype_of, element, numel, shape_of
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.block_copies import BlockCopies
from teenybuild.compiler.layout.boxes import boxes as boxes_of
from teenybuild.compiler.layout.boxes import parts_warps
from teenybuild.compiler.layout.buffers import matrix, placed
from teenybuild.compiler.layout.fragments import Fragments
from teenybuild.compiler.layout.linear import (
    Layout,
    axis_offsets,
    drop_axis,
    reduction_order,
    scan_layout,
)
from teenybuild.compiler.layout.policy import Policy, Use
from teenybuild.compiler.layout.swizzle import WIDEST
from teenybuild.compiler.layout.views import result_layout, source_layout, view_of
from teenybuild.dtypes import DType, f32, i32

#: Bytes of the smallest block that is worth its way through shared memory.
_SMALLEST_BLOCK = 4096
#: Elementwise operations worth keeping the result of, however they come about.
_COSTLY = (
    tt.InlineAsm,
    math.FloatUnary,
    arith.DivF,
    arith.RemF,
    arith.DivSI,
    arith.DivUI,
    arith.RemSI,
    arith.RemUI,
)


def is_cheap(value: Value, cheap: set[Value]) -> bool:
    """Whether a tile is better made again than kept: index arithmetic, masks and constants."""
    op = value.op
    if op is None:
        return False
    if isinstance(op, Constant | tt.Splat | tt.MakeRange):
        return True
    if isinstance(op, tt.Viewing):
        return op.source in cheap
    if not op.traits & ELEMENTWISE or isinstance(op, _COSTLY) or len(op.results) != 1:
        return False
    return all(not isinstance(v.type, Tile) or v in cheap for v in op.operands)


def cheap_values(block: Block) -> set[Value]:
    """All cheap tiles of a block and the blocks inside it."""
    found: set[Value] = set()
    _gather_cheap(block, found)
    return found


def _gather_cheap(block: Block, found: set[Value]) -> None:
    for op in block.ops:
        if len(op.results) == 1 and isinstance(op.results[0].type, Tile) and is_cheap(op.results[0], found):
            found.add(op.results[0])
        if not isinstance(op, tt.Combining):
            for inner in op.blocks:
                _gather_cheap(inner, found)


def fastest_axes(pointer: Value, axes: AxisAnalysis) -> tuple[int, ...]:
    """Axes by how far the pointers run along them, the most contiguous first, ties to the last axis."""
    contiguity = axes[pointer].contiguity
    return tuple(sorted(range(len(contiguity)), key=lambda a: (-contiguity[a], -a)))


def widest_access(op: tt.Load | tt.Store | ttg.CopyAsync, axis: int, axes: AxisAnalysis) -> int:
    """How many neighbours along ``axis`` one access may take: bounded by contiguity, alignment, the mask, and 16 bytes."""
    info = axes[op.pointer]
    pointer = element(op.pointer.type)
    assert isinstance(pointer, Pointer)
    size = pointer.pointee.size
    run = info.contiguity[axis]
    aligned = max(1, info.divisibility[axis] // size)
    width = min(run, aligned, WIDEST // size, shape_of(op.pointer.type)[axis])
    if op.mask is not None:
        width = min(width, axes[op.mask].constancy[axis])
    return 1 << (width.bit_length() - 1)


def neighbours(op: tt.Load | tt.Store | ttg.CopyAsync, layout: Layout, axes: AxisAnalysis) -> int:
    """How many elements one access of a lane takes: registers 0, 1, … that follow each other along the fastest axis, as the layout's lowest bases say."""
    axis = fastest_axes(op.pointer, axes)[0]
    unit = 1 << axis_offsets(layout.shape)[axis]
    count, most = 1, widest_access(op, axis, axes)
    for basis in layout.registers:
        if count * 2 > most or basis != unit * count:
            break
        count *= 2
    return count


def reach(mask: Value | None, axes: AxisAnalysis) -> int | None:
    """How many of the first elements a mask of one axis may let through; None where nothing is known."""
    match mask and mask.op:
        case arith.CmpI(predicate="slt" | "ult", lhs=Value(op=tt.MakeRange() as counted), rhs=limit):
            end = axes[limit].value
            return None if end is None else max(0, end - counted.start)
        case arith.AndI(lhs=lhs, rhs=rhs):
            known = [end for end in (reach(lhs, axes), reach(rhs, axes)) if end is not None]
            return min(known, default=None)
        case _:
            return None


def product_fragments(op: tt.Dot | ttg.Mma | ttg.GroupMma, policy: Policy) -> Fragments | None:
    """Where tensor cores want a product's tiles; None where it is not for them."""
    a, b = (v.type.tile if isinstance(v.type, Buffer) else cast(Tile, v.type) for v in (op.a, op.b))
    if isinstance(op, tt.Dot) and dtype_of(a) == f32 and op.precision == "ieee":
        return None
    return policy.fragments(a, b, dtype_of(op.c.type))


def loaded_along(value: Value, axes: AxisAnalysis, cheap: set[Value]) -> int:
    """The axis along which a matrix's neighbours lie in memory, or most likely would."""
    match value.op:
        case tt.Load(pointer=pointer):
            return fastest_axes(pointer, axes)[0]
        case tt.Trans(source=source):
            return 1 - loaded_along(source, axes, cheap)
        case op if op is not None and op.traits & ELEMENTWISE:
            for operand in op.operands:
                if isinstance(operand.type, Tile) and operand not in cheap:
                    return loaded_along(operand, axes, cheap)
        case _:
            pass
    return 1


def staged_along(value: Value, k: int, axes: AxisAnalysis, cheap: set[Value]) -> int:
    """The axis that runs along rows where products read an operand, summed over along ``k``, from shared memory: as loaded, if they can."""
    shape, size = shape_of(value.type), dtype_of(value.type).size
    fastest = loaded_along(value, axes, cheap)
    return k if matrix(placed(shape, fastest, size), shape, k, size) is None else fastest


def _tile_ops(block: Block) -> Iterator[Op]:
    """Operations in order, inner blocks after their owner; combine blocks are scalar and left out."""
    for op in block.ops:
        yield op
        if not isinstance(op, tt.Combining):
            for inner in op.blocks:
                yield from _tile_ops(inner)


class _Infer:
    """Settles the home of every tile that is not cheap."""

    def __init__(self, function: Function, axes: AxisAnalysis, policy: Policy, cheap: set[Value]) -> None:
        self.homes: dict[Value, Layout] = {}
        #: Where cheap tiles are made for reductions and products, which take them as they come.
        self.given: dict[Value, Layout] = {}
        #: The layout of each store.
        self.stores: dict[tt.Store, Layout] = {}
        self._axes = axes
        self._policy = policy
        self._cheap = cheap
        self._ops = list(_tile_ops(function.body))
        #: A loop's result and its blocks' arguments are one value: they have one home.
        self._twins: dict[Value, tuple[Value, ...]] = {}
        for op in self._ops:
            if isinstance(op, scf.Loop):
                for each in op.carried:
                    one = (*each.args, each.result)
                    self._twins.update(dict.fromkeys(one, one))
        self._widths: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        self._uses: dict[tuple[tuple[int, ...], tuple[int, ...]], Use] = {}
        #: What products by groups of warps read.
        self._multiplied: set[Value] = set()
        #: Where tensor cores want what is loaded for them.
        self._readers: dict[Value, Layout] = {}
        for op in self._ops:
            held = product_fragments(op, policy) if isinstance(op, tt.Dot) else None
            if not isinstance(op, tt.Dot) or held is None:
                continue
            if held.b is None:
                for value, k in ((op.a, 1), (op.b, 0)):
                    self._multiply(value)
                    self._turn(value, k)
            else:
                self._read_by(op.a, held.a)
                self._read_by(op.b, held.b)
        for op in self._ops:
            if isinstance(op, tt.Load | tt.Store) and isinstance(op.pointer.type, Tile):
                order = fastest_axes(op.pointer, axes)
                key = (op.pointer.type.shape, order)
                self._widths[key] = max(self._widths.get(key, 1), widest_access(op, order[0], axes))
                self._uses[key] = self._use(op, self._uses.get(key, Use(reach=0)))
        self._run()

    def _multiply(self, value: Value) -> None:
        """Notes an operand of a product, and what it is computed from lane by lane."""
        op = value.op
        if value in self._cheap or value in self._multiplied or op is None:
            return
        self._multiplied.add(value)
        if isinstance(op, tt.Trans) or op.traits & ELEMENTWISE:
            for operand in op.operands:
                if isinstance(operand.type, Tile):
                    self._multiply(operand)

    def _turn(self, value: Value, k: int) -> None:
        """What is computed from loads along the other axis than products read it is computed where it is turned."""
        op = value.op
        if value in self._cheap or value in self.homes or op is None or not op.traits & ELEMENTWISE:
            return
        if staged_along(value, k, self._axes, self._cheap) != loaded_along(value, self._axes, self._cheap):
            size = dtype_of(value.type).size
            self.homes[value] = self._policy.turned(shape_of(value.type), k, size)
            for operand in op.operands:
                if isinstance(operand.type, Tile):
                    self._turn(operand, k)

    def _read_by(self, value: Value, reader: Layout) -> None:
        """Notes where a tile goes: for it, and for what it is computed from lane by lane."""
        op = value.op
        if value in self._cheap or value in self._readers or op is None:
            return
        self._readers[value] = reader
        if isinstance(op, tt.Trans):
            self._read_by(op.source, reader.viewed(view_of(op)))
        elif op.traits & ELEMENTWISE:
            for operand in op.operands:
                if isinstance(operand.type, Tile):
                    self._read_by(operand, reader)

    def _access(self, op: tt.Load | tt.Store) -> Layout:
        """All accesses of one shape and order share one layout, wide enough for the widest and far enough for the farthest."""
        assert isinstance(op.pointer.type, Tile)
        shape, order = op.pointer.type.shape, fastest_axes(op.pointer, self._axes)
        return self._wanted(shape, order)

    def _use(self, op: tt.Load | tt.Store, before: Use) -> Use:
        end = reach(op.mask, self._axes)
        known = None if end is None or before.reach is None else max(end, before.reach)
        multiplied = before.multiplied or (isinstance(op, tt.Load) and op.result in self._multiplied)
        return Use(before.stores + isinstance(op, tt.Store), known, multiplied)

    def _wanted(self, shape: tuple[int, ...], order: tuple[int, ...]) -> Layout:
        key = (shape, order)
        return self._policy.access(shape, order, self._widths.get(key, 1), self._uses.get(key, Use()))

    def _run(self) -> None:
        waiting: list[Op] = []
        for op in self._ops:
            if isinstance(op, tt.Load) and isinstance(op.result.type, Tile):
                # A vector is loaded however its reader wants it (as a row of a tile, say); a larger tile says itself.
                if len(op.result.type.shape) > 1:
                    access, reader = self._access(op), self._readers.get(op.result)
                    fastest = fastest_axes(op.pointer, self._axes)[0]
                    self.homes[op.result] = (
                        access if reader is None else self._policy.read_as(access, fastest, reader)
                    )
                else:
                    waiting.append(op)
            elif isinstance(op, tt.Dot):
                held = product_fragments(op, self._policy)
                self.homes[op.result] = held.c if held else self._policy.dot(shape_of(op.result.type))
            if isinstance(op, tt.AtomicRmw | tt.AtomicCas) and isinstance(op.pointer.type, Tile):
                # Neighbouring lanes on neighbouring elements: an atomic access is of one element.
                order = fastest_axes(op.pointer, self._axes)
                self._give(op.result, self._policy.access(op.pointer.type.shape, order, 1))
            if isinstance(op, tt.Dot | tt.Combining | tt.Gather | tt.Histogram | tt.Print | tt.Assert):
                self.given.update({v: self._default(v) for v in op.operands if v in self._cheap})
        while self._forward():
            pass
        for op in self._ops:
            # Scans are choosier than stores.
            if isinstance(op, tt.Scan):
                self._give(op.sources[0], scan_layout(self._default(op.sources[0]), op.axis))
        while True:
            # What a value is computed from decides before what it is computed for.
            while self._forward() or self._backward():
                pass
            unsettled = self._next_unsettled(waiting)
            if unsettled is None:
                break
            self._give(*unsettled)
        for op in self._ops:
            if isinstance(op, tt.Store) and isinstance(op.pointer.type, Tile):
                home = self.homes.get(op.value)
                access = self._access(op)
                self.stores[op] = access if home is None else self._policy.stored(home, access)

    def settled(self, value: Value) -> Layout | None:
        """Where an operation that takes the value as it comes finds it, as far as that is known."""
        return self.homes.get(value) or self.given.get(value)

    def _next_unsettled(self, waiting: list[Op]) -> tuple[Value, Layout] | None:
        for op in waiting:
            assert isinstance(op, tt.Load)
            if op.result not in self.homes:
                return op.result, self._access(op)
        for op in self._ops:
            for value in (
                *op.results,
                *(a for b in op.blocks for a in b.args if not isinstance(op, tt.Combining)),
            ):
                if self._wants_home(value):
                    return value, self._default(value)
        return None

    def _default(self, value: Value) -> Layout:
        """As if it were loaded row-major."""
        shape = shape_of(value.type)
        order = tuple(reversed(range(len(shape))))
        return self._wanted(shape, order)

    def _wants_home(self, value: Value) -> bool:
        return isinstance(value.type, Tile) and value not in self._cheap and value not in self.homes

    def _give(self, value: Value, layout: Layout | None) -> bool:
        if layout is None or not self._wants_home(value):
            return False
        for one in self._twins.get(value, (value,)):
            self.homes[one] = layout
        return True

    def _forward(self) -> bool:
        changed = False
        for op in self._ops:
            match op:
                case tt.Viewing():
                    home = self.homes.get(op.source)
                    changed |= self._give(op.result, result_layout(op, home, self._policy) if home else None)
                case tt.Reduce():
                    home = self.settled(op.sources[0])
                    if home is not None:
                        reduced = self._policy.viewed(home, drop_axis(home.shape, op.axis))
                        for result in op.results:
                            changed |= self._give(result, reduced)
                case tt.Scan():
                    home = self.settled(op.sources[0])
                    for result in op.results:
                        changed |= self._give(result, home and scan_layout(home, op.axis))
                case tt.Gather():
                    changed |= self._give(op.result, self.homes.get(op.index))
                case Exchange():
                    changed |= self._give(op.result, self.homes.get(op.source))
                case scf.Loop():
                    changed |= self._tie_loop(op)
                case scf.If():
                    changed |= self._tie_branches(op)
                case _ if op.traits & ELEMENTWISE and op.results:
                    home = self._first_home([*op.operands, *op.results])
                    for result in op.results:
                        changed |= self._give(result, home)
                case _:
                    pass
        return changed

    def _first_home(self, values: list[Value]) -> Layout | None:
        for value in values:
            home = self.homes.get(value)
            if home is not None:
                return home
        return None

    def _tie_loop(self, op: scf.Loop) -> bool:
        changed = False
        for each in op.carried:
            # The carried value and the loop's result are one and the same; what comes in or round may have to move to it.
            home = self._first_home([each.result, each.yielded, each.initial])
            for value in (each.result, each.yielded, each.initial):
                changed |= self._give(value, home)
        return changed

    def _tie_branches(self, op: scf.If) -> bool:
        changed = False
        groups = zip(op.results, op.then.terminator.operands, op.otherwise.terminator.operands, strict=True)
        for result, a, b in groups:
            home = self._first_home([result, a, b])
            for value in (result, a, b):
                changed |= self._give(value, home)
        return changed

    def _backward(self) -> bool:
        changed = False
        for op in reversed(self._ops):
            match op:
                case tt.Load() | tt.Store() if isinstance(op.pointer.type, Tile):
                    known = self.homes.get(op.result) if isinstance(op, tt.Load) else self._access(op)
                    for value in op.operands:
                        changed |= self._give(value, known)
                case tt.AtomicRmw() | tt.AtomicCas():
                    for value in op.operands:
                        changed |= self._give(value, self.homes.get(op.result))
                case tt.Gather():
                    changed |= self._give(op.index, self.homes.get(op.result))
                case Exchange():
                    changed |= self._give(op.source, self.homes.get(op.result))
                case tt.Viewing():
                    home = self.homes.get(op.result)
                    changed |= self._give(op.source, source_layout(op, home, self._policy) if home else None)
                case _ if op.traits & ELEMENTWISE and op.results:
                    home = self._first_home(list(op.results))
                    for value in op.operands:
                        changed |= self._give(value, home)
                case _:
                    pass
        return changed


class _Scope:
    """One block being built: its operations so far, and the values made in it, by (value, layout)."""

    def __init__(self, args: list[Value]) -> None:
        self.ops: list[Op] = []
        self.made: dict[tuple[Value, Layout], Value] = {}
        #: Tiles in shared memory, by what they are and how they lie there.
        self.staged: dict[tuple[Value, int], Value] = {}
        self.owned: set[Value] = set(args)


class _Rewrite:
    """Builds the function anew with layouts; see :func:`assign_layouts`."""

    def __init__(
        self, infer: _Infer, axes: AxisAnalysis, policy: Policy, cheap: set[Value], blocks: BlockCopies | None
    ) -> None:
        self._blocks = blocks
        self._homes = infer.homes
        self._given = infer.given
        self._policy = policy
        self._stores = infer.stores
        self._axes = axes
        self._cheap = cheap
        self._scopes: list[_Scope] = []
        #: Old values that are kept → new.
        self._new: dict[Value, Value] = {}

    def block(self, block: Block) -> Block:
        args = [self._argument(a) for a in block.args]
        scope = _Scope(block.args)
        self._scopes.append(scope)
        for op in block.ops:
            scope.owned.update(op.results)
            self._op(op)
        self._scopes.pop()
        return Block(args, scope.ops)

    def _argument(self, old: Value) -> Value:
        new = self._new[old] = Value(old.type)
        if isinstance(old.type, Tile):
            new.layout = self._homes[old]
        self._axes.copy_to(new, old)
        return new

    def _add(self, op: Op, scope: _Scope | None = None) -> Op:
        (scope or self._scopes[-1]).ops.append(op)
        return op

    def _keep(self, op: Op, old: Op) -> None:
        """Appends a rewritten operation; its results take the old ones' homes."""
        op.at(old.location)
        for new, was in zip(op.results, old.results, strict=True):
            if isinstance(was.type, Tile):
                new.layout = self._homes[was]
            self._new[was] = new
            self._axes.copy_to(new, was)
        self._add(op)

    def _op(self, op: Op) -> None:
        if len(op.results) == 1 and op.results[0] in self._cheap:
            return  # made where it is asked for
        match op:
            case scf.For():
                lower, upper, step = (self._scalar(v) for v in (op.lower, op.upper, op.step))
                body = self._body(op.body, op.results)
                self._keep(scf.For(self._first(op), lower, upper, step, body, op.stages), op)
            case scf.While():
                test, body = (self._body(block, op.results) for block in op.blocks)
                self._keep(scf.While(self._first(op), test, body), op)
            case scf.If():
                condition = self._scalar(op.condition)
                then, otherwise = self._body(op.then, op.results), self._body(op.otherwise, op.results)
                self._keep(scf.If(condition, then, otherwise, op.types), op)
            case scf.Yield() | scf.Condition():
                raise AssertionError("handled with its owner")
            case tt.Reduce():
                first = self._home(op.sources[0])
                layout = cast(Layout, first.layout)
                sources = (first, *(self.want(v, layout) for v in op.sources[1:]))
                reduce = tt.Reduce(sources, op.axis, op.combine, op.order)
                self._keep(reduce, op)
                # The results come out where the sources were; who wants them at home, or elsewhere, moves them.
                for result in reduce.results:
                    if isinstance(result.type, Tile):
                        result.layout = self._policy.viewed(layout, drop_axis(layout.shape, op.axis))
            case tt.Scan():
                layout = scan_layout(self._settled(op.sources[0]), op.axis)
                scan = tt.Scan(
                    tuple(self.want(v, layout) for v in op.sources), op.axis, op.combine, op.reverse
                )
                self._keep(scan, op)
                for result in scan.results:
                    result.layout = layout
            case tt.Print() | tt.Assert():
                self._keep(
                    op.copy(lambda v: self._home(v) if isinstance(v.type, Tile) else self._scalar(v)), op
                )
            case tt.Dot():
                self._dot(op)
            case tt.Gather():
                index = self.want(op.index, self._homes[op.result])
                self._keep(tt.Gather(self._home(op.source), index, op.axis), op)
            case tt.Histogram():
                counted = self._home(op.source)
                mask = op.mask and self.want(op.mask, cast(Layout, counted.layout))
                self._keep(tt.Histogram(op.bins, counted, mask), op)
            case tt.Store() if isinstance(op.pointer.type, Tile):
                self._store(op)
            case tt.Viewing():
                self._view(op)
            case _ if op.results and isinstance(op.results[0].type, Tile):
                layout = self._homes[op.results[0]]
                self._keep(
                    op.copy(lambda v: self.want(v, layout) if isinstance(v.type, Tile) else self._scalar(v)),
                    op,
                )
            case _:
                self._keep(op.copy(self._scalar), op)

    def _store(self, op: tt.Store) -> None:
        """By lanes; or as a block, where a tile would have to cross shared memory anyway, or lanes could only write small pieces."""
        boxes = self._blocks.boxes(op) if self._blocks is not None and op.value not in self._cheap else None
        if boxes is None or not self._worth_a_block(op):
            self._store_by_lanes(op)
            return
        assert self._blocks is not None
        assert op.array is not None
        value, fastest = self._home(op.value), boxes.axes[0]
        tile = cast(Tile, value.type)
        size, held = dtype_of(tile).size, cast(Layout, value.layout)
        room = ttg.Allocate(Buffer(1, tile)).at(op.location)
        room.result.layout = placed(tile.shape, fastest, size)
        self._add(room)
        self._add(ttg.Put(room.result, self._number(0, i32), value).at(op.location))
        # What another access may touch must be written before that; and one place must not be written twice at once.
        settled = op.array.base in self._blocks.shared or not any(self._is_new(v) for v in op.corner)
        corner = tuple(self._scalar(v) for v in op.corner)
        parted = parts_warps(held) and boxes_of(tile.shape, fastest, size, held.warps) is not None
        block = ttg.StoreBlock(
            room.result,
            corner,
            op.array,
            fastest,
            "written" if settled else "read",
            held.warps if parted else None,
        )

        def by_hardware() -> None:
            if not parted:
                self._add(ttg.Publish(products=True).at(op.location))
            self._keep(block, op)

        writable = self._writable(op, fastest)
        if writable is None:
            by_hardware()
        else:
            ways = self._way(by_hardware), self._way(lambda: self._store_from(room.result, op))
            self._keep(scf.If(writable, *ways), op)
        self._add(ttg.Free(room.result).at(op.location))

    def _way(self, write: Callable[[], None]) -> Block:
        """A block of a branch that gives nothing."""
        self._scopes.append(_Scope([]))
        write()
        self._add(scf.Yield(()))
        return Block([], self._scopes.pop().ops)

    def _store_by_lanes(self, op: tt.Store) -> None:
        layout = self._stores[op]
        self._keep(
            op.copy(lambda v: self.want(v, layout) if isinstance(v.type, Tile) else self._scalar(v)), op
        )

    def _store_from(self, staged: Value, op: tt.Store) -> None:
        """By lanes, what lies in shared memory: nothing is held in registers where ways part, or products would have to wait (as assemblers see it)."""
        layout = self._stores[op]
        self._add(ttg.Publish(products=False).at(op.location))
        got = self._add(ttg.Get(staged, self._add(Constant(0, i32)).results[0]))
        got.results[0].layout = layout
        pointer, mask = self.want(op.pointer, layout), op.mask and self.want(op.mask, layout)
        self._keep(tt.Store(pointer, got.results[0], mask, op.cache, op.eviction), op)

    def _writable(self, op: tt.Store, fastest: int) -> Value | None:
        """Whether hardware can write a block; None where it is known to.

        It writes pieces of 16 bytes along rows, each of them whole: beyond the end of a row too. A block must begin where one does, and not before the
        array on any axis, or the instruction is illegal (both measured on an H200; of the second, CUDA programming guide).
        """
        assert op.array is not None
        corner, extent = op.corner[fastest], op.array.shape[fastest]
        many = WIDEST // dtype_of(op.value.type).size
        # One comparison: neither is the block's first element below zero, nor does the number of its last one wrap.
        asked = [
            self._compared("ult", self._scalar(start), (1 << 31) - length)
            for start, length in zip(op.corner, shape_of(op.value.type), strict=True)
            if not self._axes[start].nonnegative
        ]
        if self._axes[corner].divisor % many:
            asked.append(self._begins_piece(self._scalar(corner), many))
        if self._divisor(extent) % many:
            asked.append(self._ends_well(op, fastest, many))
        result = None
        for each in asked:
            result = each if result is None else self._add(arith.AndI(result, each)).results[0]
        return result

    def _ends_well(self, op: tt.Store, fastest: int, many: int) -> Value:
        """Whether a block ends within the array, or the array where a piece does."""
        assert op.array is not None
        end, start = self._extent(op.array.shape[fastest]), self._scalar(op.corner[fastest])
        kind = dtype_of(end.type)
        if kind != i32:
            start = self._add(arith.ExtSI(start, kind)).results[0]
        length = self._number(shape_of(op.value.type)[fastest], kind)
        last = self._add(arith.SubI(end, length)).results[0]
        within = self._add(arith.CmpI("sle", start, last)).results[0]
        return self._add(arith.OrI(within, self._begins_piece(end, many))).results[0]

    def _begins_piece(self, at: Value, many: int) -> Value:
        within = self._add(arith.AndI(at, self._number(many - 1, dtype_of(at.type)))).results[0]
        return self._compared("eq", within, 0)

    def _compared(self, how: str, value: Value, number: int) -> Value:
        return self._add(arith.CmpI(how, value, self._number(number, dtype_of(value.type)))).results[0]

    def _number(self, value: int, dtype: DType) -> Value:
        return self._add(Constant(value, dtype)).results[0]

    def _divisor(self, given: Given) -> int:
        assert self._blocks is not None
        return given if isinstance(given, int) else self._axes[self._blocks.arguments[given.number]].divisor

    def _extent(self, given: Given) -> Value:
        if isinstance(given, int):
            return self._add(Constant(given, i32)).results[0]
        assert self._blocks is not None
        return self._scalar(self._blocks.arguments[given.number])

    def _worth_a_block(self, op: tt.Store) -> bool:
        size, layout = dtype_of(op.value.type).size, self._stores[op]
        piece = widest_access(op, fastest_axes(op.pointer, self._axes)[0], self._axes) * size
        moves = piece < WIDEST or self._settled(op.value) != layout
        return moves and numel(op.value.type) * size >= _SMALLEST_BLOCK

    def _is_new(self, value: Value) -> bool:
        """Whether a value may differ from turn to turn of the innermost loop; outside of loops, where nothing happens twice, any does."""
        return len(self._scopes) == 1 or self._depth(value) == len(self._scopes) - 1

    def _dot(self, op: tt.Dot) -> None:
        held = product_fragments(op, self._policy)
        if held is None:
            layout = self._homes[op.result]
            operands = (self._home(op.a), self._home(op.b), self.want(op.c, layout))
            self._keep(tt.Dot(*operands, op.precision), op)
        elif held.b is None:
            a = self._left(op.a, held.a)
            self._keep(self._group_product(a, self._staged(op.b, 0), self.want(op.c, held.c)), op)
        else:
            a, b, c = self.want(op.a, held.a), self.want(op.b, held.b), self.want(op.c, held.c)
            self._keep(ttg.Mma(a, b, c), op)

    def _left(self, value: Value, registers: Layout) -> Value:
        """The left operand of a product by groups: in registers where it is there, else in shared memory."""
        if value in self._cheap or self._homes[value].threads == registers.threads:
            return self.want(value, registers)
        return self._staged(value, 1)

    def _group_product(self, a: Value, b: Value, c: Value) -> Op:
        first = self._add(Constant(0, i32)).results[0]
        return ttg.GroupMma(a, b, c, (first,) * sum(isinstance(v.type, Buffer) for v in (a, b)))

    def _staged(self, value: Value, k: int) -> Value:
        """An operand, summed over along axis ``k``, in shared memory: along the axis that it is loaded along, if products can read that.

        It is written where it is made: outside of the loops that only read it.
        """
        shape, size = shape_of(value.type), dtype_of(value.type).size
        fastest = staged_along(value, k, self._axes, self._cheap)
        root, turned = value, False
        while isinstance(root.op, tt.Trans) and root not in self._cheap:
            root, turned = root.op.source, not turned
        scope = self._scopes[self._depth(root)]
        along = fastest ^ turned

        def stage() -> Op:
            if loaded_along(root, self._axes, self._cheap) == along:
                return ttg.Staged(self._home(root))
            return ttg.Staged(self.want(root, self._policy.turned(shape_of(root.type), along, size), scope))

        staged = self._once(scope, root, along, stage)
        return self._once(scope, value, fastest, lambda: ttg.Viewed(staged, shape)) if turned else staged

    def _once(self, scope: _Scope, value: Value, fastest: int, make: Callable[[], Op]) -> Value:
        """A buffer that holds ``value``, the axis ``fastest`` along rows."""
        made = scope.staged.get((value, fastest))
        if made is None:
            op = make().at(value.op.location if value.op else None)
            made = scope.staged[value, fastest] = self._add(op, scope).results[0]
            made.layout = placed(shape_of(value.type), fastest, dtype_of(value.type).size)
        return made

    def _view(self, op: tt.Viewing) -> None:
        layout = self._homes[op.result]
        source = self.want(op.source, source_layout(op, layout, self._policy))
        self._keep(op.copy(lambda _: source), op)

    def _first(self, op: scf.Loop) -> tuple[Value, ...]:
        return self._at_home(op.initial, op.results)

    def _body(self, block: Block, like: Sequence[Value]) -> Block:
        """A block that ends in what it passes on; that takes the homes of ``like``."""
        args = [self._argument(a) for a in block.args]
        scope = _Scope(block.args)
        self._scopes.append(scope)
        for op in block.ops[:-1]:
            scope.owned.update(op.results)
            self._op(op)
        match block.terminator:
            case scf.Condition() as last:
                end = scf.Condition(self._scalar(last.condition), self._at_home(last.values, like))
            case last:
                end = scf.Yield(self._at_home(last.operands, like))
        self._add(end.at(last.location))
        self._scopes.pop()
        return Block(args, scope.ops)

    def _at_home(self, values: Sequence[Value], like: Sequence[Value]) -> tuple[Value, ...]:
        pairs = zip(values, like, strict=True)
        return tuple(
            self.want(v, self._homes[k]) if isinstance(v.type, Tile) else self._scalar(v) for v, k in pairs
        )

    def _scalar(self, value: Value) -> Value:
        return self._new[value]

    def _home(self, value: Value) -> Value:
        """The value where it is at home, for operations that take it as it comes."""
        return self.want(value, self._settled(value))

    def _settled(self, value: Value) -> Layout:
        return self._given[value] if value in self._cheap else self._homes[value]

    def want(self, value: Value, layout: Layout, scope: _Scope | None = None) -> Value:
        """The (old) value, held in ``layout``: itself, made again, or moved in the innermost scope or another."""
        if value not in self._cheap:
            new = self._new[value]
            if new.layout == layout:
                return new
        depth = self._depth(value)
        for each in self._scopes[depth:] if scope is None else [scope]:
            found = each.made.get((value, layout))
            if found is not None:
                return found
        if value in self._cheap:
            scope = self._scopes[depth]
            made = self._make(value, layout, scope)
        else:
            scope = scope or self._scopes[-1]
            move = ttg.ConvertLayout(self._new[value]).at(value.op.location if value.op else None)
            made = self._add(move, scope).results[0]
        made.layout = layout
        scope.made[value, layout] = made
        self._axes.copy_to(made, value)
        return made

    def _depth(self, value: Value) -> int:
        """The scope a value was defined in: a cheap one is made again there, before whatever is being built now."""
        for depth in range(len(self._scopes) - 1, -1, -1):
            if value in self._scopes[depth].owned:
                return depth
        return 0

    def _make(self, value: Value, layout: Layout, scope: _Scope) -> Value:
        op = value.op
        assert op is not None
        if isinstance(op, tt.Viewing):
            # Made in the very lanes that read it, whatever the policy: nothing has to move.
            source = self.want(op.source, layout.viewed(view_of(op)))
            new = op.copy(lambda _: source)
        else:
            new = op.copy(lambda v: self.want(v, layout) if isinstance(v.type, Tile) else self._scalar(v))
        return self._add(new, scope).results[0]


def settle_orders(function: Function, axes: AxisAnalysis, policy: Policy) -> None:
    """Fixes the order in which each reduction combines its elements: that of ``policy``'s layouts.

    The order is part of what a program computes (rounding depends on it), so every target takes it from one policy.
    """
    if any(isinstance(op, tt.Reduce) for op in _tile_ops(function.body)):
        infer = _Infer(function, axes, policy, cheap_values(function.body))
        for op in _tile_ops(function.body):
            if isinstance(op, tt.Reduce):
                source = op.sources[0]
                op.order = reduction_order(cast(Layout, infer.settled(source)), op.axis)


def assign_layouts(
    function: Function, axes: AxisAnalysis, policy: Policy, blocks: BlockCopies | None = None
) -> Function:
    """The same function with ``value.layout`` set on every tile, and a ``convert_layout`` where one must move.

    ``blocks``: what the machine copies as blocks, if it does. ``axes`` is extended with the new function's values.
    """
    cheap = cheap_values(function.body)
    rewrite = _Rewrite(_Infer(function, axes, policy, cheap), axes, policy, cheap, blocks)
    return Function(
        function.name,
        function.arg_names,
        rewrite.block(function.body),
        function.divisibility,
        function.constant,
    )
