"""One function, from tile IR with layouts to LLVM IR: which rule lowers which operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from teenybuild.compiler.ir import scf, tt, ttg
from teenybuild.compiler.ir.constant import Constant
from teenybuild.compiler.ir.core import ELEMENTWISE, TERMINATOR, Block, Function, Op, walk
from teenybuild.compiler.ir.moves import Exchange
from teenybuild.compiler.ir.types import Tile, dtype_of, element
from teenybuild.compiler.layout.assign import cheap_values
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.linear import Layout, View, axis_offsets
from teenybuild.compiler.layout.views import view_of
from teenybuild.compiler.lower.assembly import lower_assembly
from teenybuild.compiler.lower.atomic import lower_atomic
from teenybuild.compiler.lower.blocks import (
    lower_await,
    lower_close_signals,
    lower_copy_blocks,
    lower_open_signals,
    lower_store_block,
    lower_wait_stores,
)
from teenybuild.compiler.lower.buffers import (
    lower_allocate,
    lower_copy,
    lower_free,
    lower_get,
    lower_put,
    lower_viewed,
)
from teenybuild.compiler.lower.control import lower_for, lower_if, lower_while
from teenybuild.compiler.lower.convert import lower_convert
from teenybuild.compiler.lower.debug import DebugInfo, Lines
from teenybuild.compiler.lower.dot import lower_dot, lower_group_mma, lower_mma
from teenybuild.compiler.lower.elementwise import RULES
from teenybuild.compiler.lower.gather import lower_exchange, lower_gather, lower_histogram
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import LaneRegisters, Machine
from teenybuild.compiler.lower.memory import lower_load, lower_store
from teenybuild.compiler.lower.reduce import lower_reduce
from teenybuild.compiler.lower.reports import lower_report
from teenybuild.compiler.lower.scan import lower_scan
from teenybuild.dtypes import i32


class FunctionLowering:
    """Walks a function's blocks and applies the rules on one machine."""

    def __init__(
        self,
        function: Function,
        axes: AxisAnalysis,
        machine: Machine,
        lines: Lines,
        debug: DebugInfo | None = None,
    ) -> None:
        self._debug = debug
        self._function = function
        self._axes = axes
        self._machine = machine
        self._lazy = cheap_values(function.body)
        self._used = {value for op in walk(function.body) for value in op.operands}
        self._handlers: dict[type[Op], Callable[[Op], None]] = {
            tt.Load: lambda op: lower_load(machine, cast(tt.Load, op), axes),
            tt.Store: lambda op: lower_store(machine, cast(tt.Store, op), axes),
            tt.Reduce: lambda op: lower_reduce(machine, cast(tt.Reduce, op)),
            tt.Scan: lambda op: lower_scan(machine, cast(tt.Scan, op)),
            tt.Gather: lambda op: lower_gather(machine, cast(tt.Gather, op)),
            tt.Histogram: lambda op: lower_histogram(machine, cast(tt.Histogram, op)),
            Exchange: lambda op: lower_exchange(machine, cast(Exchange, op)),
            tt.Dot: lambda op: lower_dot(machine, cast(tt.Dot, op)),
            ttg.Mma: lambda op: lower_mma(machine, cast(ttg.Mma, op)),
            tt.AtomicRmw: lambda op: lower_atomic(machine, cast(tt.AtomicRmw, op), op.result in self._used),
            tt.AtomicCas: lambda op: lower_atomic(machine, cast(tt.AtomicCas, op), op.result in self._used),
            tt.InlineAsm: lambda op: lower_assembly(machine, cast(tt.InlineAsm, op)),
            tt.Barrier: lambda op: _barrier(machine),
            tt.Print: lambda op: lower_report(machine, op, lines),
            tt.Assert: lambda op: lower_report(machine, op, lines),
            ttg.GroupMma: lambda op: lower_group_mma(machine, cast(ttg.GroupMma, op)),
            ttg.WaitProducts: lambda op: machine.wait_products(cast(ttg.WaitProducts, op)),
            ttg.Allocate: lambda op: lower_allocate(machine, cast(ttg.Allocate, op)),
            ttg.Free: lambda op: lower_free(machine, cast(ttg.Free, op)),
            ttg.Viewed: lambda op: lower_viewed(machine, cast(ttg.Viewed, op)),
            ttg.Put: lambda op: lower_put(machine, cast(ttg.Put, op)),
            ttg.Get: lambda op: lower_get(machine, cast(ttg.Get, op)),
            ttg.CopyAsync: lambda op: lower_copy(machine, cast(ttg.CopyAsync, op), axes),
            ttg.CommitCopies: lambda op: machine.commit_copies(),
            ttg.WaitCopies: lambda op: machine.wait_copies(cast(ttg.WaitCopies, op).pending),
            ttg.OpenSignals: lambda op: lower_open_signals(machine, cast(ttg.OpenSignals, op)),
            ttg.CloseSignals: lambda op: lower_close_signals(machine, cast(ttg.CloseSignals, op)),
            ttg.CopyBlocks: lambda op: lower_copy_blocks(machine, cast(ttg.CopyBlocks, op)),
            ttg.WaitStores: lambda _: lower_wait_stores(machine),
            ttg.StoreBlock: lambda op: lower_store_block(machine, cast(ttg.StoreBlock, op)),
            ttg.Await: lambda op: lower_await(machine, cast(ttg.Await, op)),
            ttg.Publish: lambda op: machine.publish(cast(ttg.Publish, op).products),
            ttg.Sealed: lambda op: machine.set_scalar(
                op.results[0], machine.sealed(machine.scalar(op.operands[0]))
            ),
            ttg.ConvertLayout: lambda op: lower_convert(machine, cast(ttg.ConvertLayout, op)),
            scf.For: lambda op: lower_for(machine, cast(scf.For, op), self.block),
            scf.While: lambda op: lower_while(machine, cast(scf.While, op), self.block),
            scf.If: lambda op: lower_if(machine, cast(scf.If, op), self.block),
        }

    def run(self) -> None:
        """Lowers the whole body."""
        self.block(self._function.body)
        self._machine.meet()

    def block(self, block: Block) -> None:
        """Lowers the operations of a block, without its terminator."""
        for op in block.ops:
            if op.traits & TERMINATOR:
                return
            if self._debug is not None:
                self._machine.text.debug = self._debug.suffix(op)
            handler = self._handlers.get(type(op))
            if handler is not None:
                handler(op)
            elif isinstance(op.results[0].type, Tile):
                self._tile(op)
            else:
                self._uniform(op)

    def _uniform(self, op: Op) -> None:
        """A scalar operation, once for all lanes."""
        machine, result = self._machine, op.results[0]
        match op:
            case Constant():
                machine.set_scalar(result, machine.uniform.number(op.value, dtype_of(op.type)))
            case tt.GetProgramId():
                machine.set_scalar(result, machine.program_id(op.axis))
            case tt.GetNumPrograms():
                machine.set_scalar(result, machine.num_programs(op.axis))
            case _:
                operands = [machine.scalar(v) for v in op.operands]
                machine.set_scalar(result, RULES[type(op)](machine.uniform, op, operands))

    def _tile(self, op: Op) -> None:
        """An operation on tiles that stays within a lane: register by register."""
        result, register_rule = op.results[0], self._register_rule(op)
        layout = cast(Layout, result.layout)
        twins = equal_registers(layout, self._axes[result].constancy)
        if result in self._lazy:
            if twins is not None:
                compute, first = register_rule, twins

                def shared(lane: Lane, r: int) -> str:
                    return compute(lane, r) if first[r] == r else lane.registers(result)[first[r]]

                register_rule = shared
            self._machine.lazy(op, register_rule)
            return

        def rule(lane: Lane) -> LaneRegisters:
            found: list[str] = []
            for r in range(layout.count):
                found.append(register_rule(lane, r) if twins is None or twins[r] == r else found[twins[r]])
            return [found]

        if isinstance(op, tt.Viewing):
            self._machine.view(op, view_of(op), register_rule)
        elif twins is not None or not self._machine.together(op):
            self._machine.local(op, rule)

    def _register_rule(self, op: Op) -> Callable[[Lane, int], str]:
        """How one register of an operation's result comes about."""
        layout = cast(Layout, op.results[0].layout)
        match op:
            case Constant():
                dtype = dtype_of(op.type)
                value = op.value
                return lambda lane, r: lane.number(value, dtype)
            case tt.Splat():
                kind, source = element(op.source.type), op.source
                return lambda lane, r: lane.broadcast(kind, lane.machine.scalar(source))
            case tt.MakeRange():
                return _make_range(op, layout)
            case tt.Viewing():
                return _view_register(op, view_of(op), layout)
            case _:
                assert op.traits & ELEMENTWISE, f"no rule lowers {op.name}"
                elementwise, operands = RULES[type(op)], op.operands
                return lambda lane, r: elementwise(lane, op, [lane.registers(v)[r] for v in operands])


def equal_registers(layout: Layout, constancy: tuple[int, ...]) -> list[int] | None:
    """For each register, the first one that is known to hold the same value in every lane; None where all may differ.

    ``constancy`` is the axis analysis': elements of one aligned run along an axis are equal.
    """
    same = 0
    for run, shift in zip(constancy, axis_offsets(layout.shape), strict=True):
        same |= (run - 1) << shift
    if not same or layout.count == 1:
        return None
    seen: dict[int, int] = {}
    found = [seen.setdefault(index & ~same, r) for r, index in enumerate(layout.indices)]
    return found if len(seen) < layout.count else None


def _barrier(machine: Machine) -> None:
    machine.meet()
    machine.barrier()


def _make_range(op: tt.MakeRange, layout: Layout) -> Callable[[Lane, int], str]:
    shift = axis_offsets(layout.shape)[0]
    start = op.start

    def rule(lane: Lane, r: int) -> str:
        at = lane.machine.coordinate(lane, layout, 0)
        flip = layout.indices[r] >> shift
        if flip:
            at = lane.two("or disjoint", "i32", at, lane.number(flip, i32))
        return lane.two("add", "i32", at, lane.number(start, i32)) if start else at

    return rule


def _view_register(op: tt.Viewing, view: View, layout: Layout) -> Callable[[Lane, int], str]:
    """The source's register that a register of the view is: the same lane's, by the choice of layouts."""
    source = cast(Layout, op.source.layout)
    place = {index: register for register, index in enumerate(source.indices)}

    def rule(lane: Lane, r: int) -> str:
        return lane.registers(op.source)[place[view(layout.indices[r])]]

    return rule
