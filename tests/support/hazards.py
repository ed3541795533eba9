"""What may go wrong beside a program: reads of what has not arrived, writes over what is still read.

:func:`hazards` runs a scheduled function (tile IR with layouts, as :func:`teenybuild.compiler.pipeline.scheduled` gives it) for one program.
Numbers are computed; of tiles nothing is known but where they are.  What is under way for each stage of each buffer is kept as operations come,
and every operation is held against it as :mod:`teenybuild.compiler.ir.ttg` says what it promises, and not as some target happens to lower it.

One program is followed, though it is many warps: any of them may be anywhere between the last barrier that all have reached and the next.  So
whatever was done since the last barrier may, for another warp, be still to be done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from teenybuild.compiler.ir import scf, tt, ttg
from teenybuild.compiler.ir.constant import Constant, constant, constant_of
from teenybuild.compiler.ir.core import PURE, TERMINATOR, Block, Function, Op, Value
from teenybuild.compiler.ir.numbers import Number, wrap
from teenybuild.compiler.ir.types import Buffer, Pointer, dtype_of
from teenybuild.compiler.layout.linear import Layout
from teenybuild.dtypes import DType


@dataclass(frozen=True)
class Hazard:
    """What is wrong with an operation."""

    op: Op
    message: str

    def __str__(self) -> str:
        text = f"{self.op.name}: {self.message}"
        # What the scheduler adds comes from no line.
        return text if self.op.location is None else str(self.op.location.error(text))


class UnknownNumberError(Exception):
    """The way of a program hangs on a number that nobody has given."""

    def __init__(self, op: Op) -> None:
        super().__init__(f"{op.name} at {op.location and op.location.error('here')}")


@dataclass(eq=False)
class _Stage:
    """Room for one tile of a buffer, and what is under way to and from it."""

    #: Whether anybody has asked for something to be there.
    filled: bool = False
    #: Groups of lanes' copies that were not waited for.
    copies: list[int] = field(default_factory=list[int])
    #: The signal at which a block is to arrive.
    block: _Signal | None = None
    #: Products that read it and were not waited for.
    products: list[int] = field(default_factory=list[int])
    #: Whether lanes have read it, or written it, since the last barrier; whether they have written it since the last that products see.
    read: bool = False
    written: bool = False
    unpublished: bool = False
    #: What parts warps (a layout's bases) in what was put there last, and in what has been read since.
    put: tuple[int, ...] | None = None
    own: tuple[int, ...] | None = None
    #: Whether it was asked to be written to memory, and that was not waited for.
    storing: bool = False


@dataclass(eq=False)
class _Signal:
    """One signal."""

    #: Phases that something was asked for, and whether the last of them was waited for; since the last barrier?
    phases: int = 0
    over: bool = True
    awaited: bool = False


@dataclass(eq=False)
class _Room:
    """A buffer, or signals, from allocation to end."""

    places: Sequence[Any]
    open: bool = True


@dataclass(frozen=True)
class _Flying:
    """A tile that is there when a product is waited for."""

    product: int


_Known = Number | _Room | _Flying


def hazards(
    function: Function,
    arguments: Mapping[str, Number],
    programs: Sequence[int] = (0, 0, 0),
    memory: Mapping[int, Number] | None = None,
) -> list[Hazard]:
    """All that is wrong with one run of a scheduled function, in order, each once.

    ``arguments`` are numbers by name, addresses too where something is read through them: from ``memory``, by address.
    """
    run = _Run(programs, memory or {})
    for name, value in zip(function.arg_names, function.body.args, strict=True):
        if name in arguments:
            run.known[value] = arguments[name]
    for value, given in zip(function.body.args, function.constant, strict=False):
        if given is not None:
            run.known[value] = given
    run.block(function.body)
    run.end(function.body.terminator)
    return list(dict.fromkeys(run.found))


class _Run:
    def __init__(self, programs: Sequence[int], memory: Mapping[int, Number]) -> None:
        self.known: dict[Value, _Known] = {}
        self.found: list[Hazard] = []
        self._programs, self._memory = programs, memory
        self._rooms: list[_Room] = []
        #: Groups of lanes' copies that were ended; products that were begun.
        self._groups = self._begun = 0
        self._rules: dict[type[Op], Callable[[Any], object]] = {
            scf.For: self._for,
            scf.While: self._while,
            scf.If: self._if,
            tt.GetProgramId: self._program,
            tt.Load: self._load,
            tt.AddPtr: self._add_pointer,
            tt.Barrier: lambda _: self._barrier(products=False),
            ttg.Allocate: self._allocate,
            ttg.Viewed: self._view,
            ttg.Free: self._free,
            ttg.Put: self._put,
            ttg.Get: lambda op: self._read(op, op.buffer, self._number(op, op.stage)),
            ttg.CopyAsync: self._copy,
            ttg.CommitCopies: self._commit,
            ttg.WaitCopies: self._wait_copies,
            ttg.OpenSignals: self._open,
            ttg.CloseSignals: self._close,
            ttg.CopyBlocks: self._copy_blocks,
            ttg.Await: self._await,
            ttg.StoreBlock: self._store_block,
            ttg.WaitStores: lambda _: self._stores_read(),
            ttg.Publish: lambda op: self._barrier(products=op.products),
            ttg.GroupMma: self._multiply,
            ttg.WaitProducts: self._wait_products,
        }

    def block(self, block: Block) -> None:
        """Runs all of it but what ends it."""
        for op in block.ops:
            if op.traits & TERMINATOR:
                return
            self._check_operands(op)
            rule = self._rules.get(type(op))
            if rule is not None:
                rule(op)
            elif op.traits & PURE and len(op.results) == 1 and isinstance(op.results[0].type, DType):
                self._bind(op.results[0], self._folded(op))

    def end(self, op: Op) -> None:
        """What is held until the program ends."""
        for room in list(self._rooms):
            self._end(op, room)

    def _report(self, op: Op, message: str) -> None:
        self.found.append(Hazard(op, message))

    # Numbers and control flow -------------------------------------------------------------------------------------

    def _bind(self, value: Value, known: _Known | None) -> None:
        if known is None:
            self.known.pop(value, None)
        else:
            self.known[value] = known

    def _number(self, op: Op, value: Value) -> int:
        found = self.known.get(value)
        if not isinstance(found, int):
            raise UnknownNumberError(op)
        return found

    def _folded(self, op: Op) -> Number | None:
        """What the compiler itself takes it for, where all that it reads is known."""
        if isinstance(op, Constant):
            return op.value
        given: dict[Value, Value] = {}
        for value in op.operands:
            found = self.known.get(value)
            if not isinstance(found, int | float) or isinstance(value.type, Pointer):
                return None
            given[value] = constant(found, value.type).result
        if isinstance(op, tt.Hint):
            return cast(Number, self.known[op.operands[0]])
        folded = op.copy(lambda v: given[v]).fold()
        return (
            constant_of(folded.result if isinstance(folded, Op) else folded) if folded is not None else None
        )

    def _program(self, op: tt.GetProgramId) -> None:
        self.known[op.result] = self._programs["xyz".index(op.axis)]

    def _add_pointer(self, op: tt.AddPtr) -> None:
        pointer, offset, type_ = self.known.get(op.pointer), self.known.get(op.offset), op.pointer.type
        moved: int | None = None
        if isinstance(type_, Pointer) and isinstance(pointer, int) and isinstance(offset, int):
            moved = pointer + offset * type_.pointee.size
        self._bind(op.result, moved)

    def _load(self, op: tt.Load) -> None:
        at = self.known.get(op.pointer)
        self._bind(op.result, self._memory.get(at) if isinstance(at, int) else None)

    def _pass(self, to: Sequence[Value], values: Sequence[Value]) -> None:
        found = [self.known.get(v) for v in values]
        for value, known in zip(to, found, strict=True):
            self._bind(value, known)

    def _for(self, op: scf.For) -> None:
        index, *carried = op.body.args
        at, upper, step = (self._number(op, v) for v in (op.lower, op.upper, op.step))
        kind = dtype_of(op.lower.type)
        self._pass(carried, op.initial)
        while step > 0 and at < upper:
            self.known[index] = wrap(at, kind)
            self.block(op.body)
            self._pass(carried, op.body.terminator.operands)
            at += step
        self._pass(op.results, carried)

    def _while(self, op: scf.While) -> None:
        self._pass(op.test.args, op.initial)
        while True:
            self.block(op.test)
            last = op.test.terminator
            assert isinstance(last, scf.Condition)
            if not self._number(op, last.condition):
                break
            self._pass(op.body.args, last.values)
            self.block(op.body)
            self._pass(op.test.args, op.body.terminator.operands)
        self._pass(op.results, op.test.args)

    def _if(self, op: scf.If) -> None:
        way = op.then if self._number(op, op.condition) else op.otherwise
        self.block(way)
        self._pass(op.results, way.terminator.operands)

    # Buffers ------------------------------------------------------------------------------------------------------

    def _room(self, op: Op, value: Value) -> _Room:
        room = self.known[value]
        assert isinstance(room, _Room)
        if not room.open:
            self._report(op, "uses what has ended")
        return room

    def _stages(self) -> Iterator[_Stage]:
        for room in self._rooms:
            yield from (each for each in room.places if isinstance(each, _Stage))

    def _allocate(self, op: ttg.Allocate) -> None:
        self.known[op.result] = room = _Room([_Stage() for _ in range(op.type.stages)])
        self._rooms.append(room)

    def _view(self, op: ttg.Viewed) -> None:
        self.known[op.result] = self._room(op, op.buffer)

    def _free(self, op: ttg.Free) -> None:
        self._end(op, self._room(op, op.buffer))

    def _end(self, op: Op, room: _Room) -> None:
        """Slower warps may still read or write what ends, but nothing may be under way beside the program."""
        for each in room.places:
            if isinstance(each, _Signal):
                if not each.over:
                    self._report(op, "ends while something is to arrive at a signal")
                continue
            if each.copies:
                self._report(op, "ends while lanes' copies to it are under way")
            if each.block is not None:
                self._report(op, "ends while a block is under way to it")
            if each.products:
                self._report(op, "ends while products that read it are under way")
            if each.storing:
                self._report(op, "ends while a block is under way from it")
        if room.open:
            self._rooms.remove(room)
        room.open = False

    def _read(
        self, op: Op, buffer: Value, stage: int, *, beside: bool = False, warps: tuple[int, ...] | None = None
    ) -> _Stage:
        """Lanes read a stage, or hardware ``beside`` the program does; with ``warps``, of each what is its own."""
        place = cast(_Stage, self._room(op, buffer).places[stage])
        if not place.filled:
            self._report(op, "reads what nobody has written")
        if place.copies:
            self._report(op, "reads what lanes copy, and that was not waited for")
        if place.block is not None:
            self._report(op, "reads a block whose signal was not waited for")
        if warps is not None and place.put == warps:
            pass  # It shows hardware what lanes of the warp wrote.
        elif place.written:
            self._report(op, "reads what other lanes wrote, without a barrier since")
        elif beside and place.unpublished:
            self._report(
                op, "reads beside the program what lanes wrote, and that was not published for products"
            )
        if not isinstance(op, ttg.GroupMma):
            place.own = warps if not place.read or place.own == warps else None
            place.read = True
        return place

    def _write(
        self,
        op: Op,
        buffer: Value,
        stage: Value,
        *,
        beside: bool = False,
        warps: tuple[int, ...] | None = None,
    ) -> _Stage:
        """Lanes are about to write a stage, or hardware ``beside`` the program is; with ``warps``, each what is its own."""
        place = cast(_Stage, self._room(op, buffer).places[self._number(op, stage)])
        if place.copies:
            self._report(op, "writes where lanes' copies are under way")
        if place.block is not None:
            self._report(op, "writes where a block is under way")
        if place.products:
            self._report(op, "writes what products under way read")
        if place.storing:
            self._report(op, "writes where a block is under way from")
        if place.read and (warps is None or place.own != warps):
            self._report(op, "writes what slower warps may still read")
        if place.written and (warps is None or place.put != warps):
            self._report(op, "writes what slower warps may still write")
        elif beside and place.unpublished:
            self._report(
                op, "writes beside the program where lanes wrote, and that was not published for products"
            )
        return place

    def _put(self, op: ttg.Put) -> None:
        layout = op.value.layout
        warps = layout.warps if isinstance(layout, Layout) else None
        place = self._write(op, op.buffer, op.stage, warps=warps)
        place.filled = place.written = place.unpublished = True
        place.put = warps

    def _barrier(self, *, products: bool) -> None:
        for place in self._stages():
            place.read = place.written = False
            place.unpublished &= not products
        for room in self._rooms:
            for each in room.places:
                if isinstance(each, _Signal):
                    each.awaited = False

    # Lanes' copies ------------------------------------------------------------------------------------------------

    def _copy(self, op: ttg.CopyAsync) -> None:
        # Without a turn to copy for it fills the room with zeros.
        place = self._write(op, op.buffer, op.stage)
        place.filled = bool(self._number(op, op.when))
        place.copies.append(self._groups)

    def _commit(self, op: ttg.CommitCopies) -> None:
        self._groups += 1

    def _wait_copies(self, op: ttg.WaitCopies) -> None:
        for place in self._stages():
            left = [group for group in place.copies if group >= self._groups - op.pending]
            if len(left) < len(place.copies):
                # Products see what was copied so behind any barrier.
                place.copies = left
                place.written = True

    # Blocks -------------------------------------------------------------------------------------------------------

    def _open(self, op: ttg.OpenSignals) -> None:
        self.known[op.result] = room = _Room([_Signal() for _ in range(op.count)])
        self._rooms.append(room)

    def _close(self, op: ttg.CloseSignals) -> None:
        self._end(op, self._room(op, op.signals))

    def _signal(self, op: Op, signals: Value, which: Value) -> _Signal:
        return cast(_Signal, self._room(op, signals).places[self._number(op, which)])

    def _copy_blocks(self, op: ttg.CopyBlocks) -> None:
        if not self._number(op, op.when):
            return
        signal = self._signal(op, op.signals, op.stage)
        if not signal.over:
            self._report(op, "begins a phase before the last was waited for")
        elif signal.awaited:
            self._report(op, "begins a phase while slower warps may still wait for the last")
        signal.phases, signal.over = signal.phases + 1, False
        for buffer in op.buffers:
            place = self._write(op, buffer, op.stage, beside=True)
            place.filled, place.block = True, signal

    def _store_block(self, op: ttg.StoreBlock) -> None:
        self._read(op, op.buffer, 0, beside=True, warps=op.warps).storing = True
        if op.done != "asked":
            self._stores_read()

    def _stores_read(self) -> None:
        """Of other warps' blocks nothing is known before a barrier, as of anything that has been read."""
        for place in self._stages():
            place.storing = False

    def _await(self, op: ttg.Await) -> None:
        signal, phase = self._signal(op, op.signals, op.which), self._number(op, op.phase)
        if not signal.phases or (signal.phases - 1) % 2 != phase:
            self._report(op, "waits for another phase than the present one: for ever, or not at all")
            return
        signal.over = signal.awaited = True
        for place in self._stages():
            if place.block is signal:
                place.block = None

    # Products -----------------------------------------------------------------------------------------------------

    def _check_operands(self, op: Op) -> None:
        passed_on: tuple[Value, ...] = ()
        match op:
            case ttg.GroupMma():
                passed_on = (op.c,)
            case ttg.WaitProducts():
                passed_on = op.values
            case scf.Loop():
                passed_on = op.initial
            case _:
                pass
        for value in op.operands:
            if isinstance(self.known.get(value), _Flying) and value not in passed_on:
                self._report(op, "reads the result of a product that was not waited for")

    def _multiply(self, op: ttg.GroupMma) -> None:
        buffers = [v for v in (op.a, op.b) if isinstance(v.type, Buffer)]
        for buffer, stage in zip(buffers, op.stages, strict=True):
            place = self._read(op, buffer, self._number(op, stage), beside=True)
            place.products.append(self._begun)
        self.known[op.result] = _Flying(self._begun)
        self._begun += 1

    def _wait_products(self, op: ttg.WaitProducts) -> None:
        first = self._begun - op.pending
        for place in self._stages():
            left = [product for product in place.products if product >= first]
            if len(left) < len(place.products):
                # Those of other warps may still be under way.
                place.products, place.read = left, True
        for result, value in zip(op.results, op.values, strict=True):
            found = self.known.get(value)
            self._bind(result, found if isinstance(found, _Flying) and found.product >= first else None)
