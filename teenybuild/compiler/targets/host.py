"""CPUs: a program's lanes run in loops, ``WIDTH`` of them side by side in vector registers.

Operations that stay within a lane share one loop (a *run*); a value that outlives its run, or that other lanes read, stands in an array
``[register][lane]`` of the program's frame.  Cheap values are made again in every run that needs them.  Where lanes meet, the loop ends.

The same class serves ``cpu`` (one element a lane, row-major, reductions and products on whole arrays) and ``cpu:sm_…`` (a GPU's layouts, its
registers, shuffles and shared memory, step by step).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from teenybuild.compiler.ir.arrays import Argument
from teenybuild.compiler.ir.core import Function, Op, Value, walk
from teenybuild.compiler.ir.tt import Dot, InlineAsm
from teenybuild.compiler.ir.ttg import CopyAsync, CopyBlocks, GroupMma, Mma, StoreBlock, WaitProducts
from teenybuild.compiler.ir.types import Element, Pointer, Tile, element
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.fragments import Step
from teenybuild.compiler.layout.linear import Layout, View, axis_offsets
from teenybuild.compiler.layout.policy import Policy, RowMajorPolicy, gpu_policy
from teenybuild.compiler.lower import scalars
from teenybuild.compiler.lower.blocks import TensorMap
from teenybuild.compiler.lower.buffers import stage_address, stage_bytes
from teenybuild.compiler.lower.debug import Lines
from teenybuild.compiler.lower.function import FunctionLowering
from teenybuild.compiler.lower.lane import Lane, thread_position
from teenybuild.compiler.lower.loops import counted
from teenybuild.compiler.lower.machine import (
    Access,
    Atomic,
    Carry,
    Combine,
    Extremum,
    GroupProduct,
    Held,
    Join,
    LaneRegisters,
    Machine,
)
from teenybuild.compiler.lower.reports import Report
from teenybuild.compiler.lower.shared import SharedMemory
from teenybuild.compiler.lower.text import Text
from teenybuild.compiler.passes.access import strays
from teenybuild.compiler.passes.streams import Streams
from teenybuild.compiler.targets import (
    host_arrays,
    host_atomics,
    host_blocks,
    host_copies,
    host_groups,
    host_memory,
    host_mma,
    host_reports,
)
from teenybuild.compiler.targets.base import Lowered, Settings
from teenybuild.compiler.targets.host_abi import entry_parameters, range_function
from teenybuild.compiler.targets.host_dot import lower_whole_dot
from teenybuild.dtypes import DType, bf16, i1, i32
from teenybuild.targets import Arch

#: A frame larger than this comes from the caller's scratch memory instead of the stack.
LARGEST_STACK_FRAME = 64 << 10


@dataclass(frozen=True, slots=True)
class HostTarget:
    """A CPU. ``emulated`` is the GPU whose layouts tiles lie in; None lays them out for the CPU."""

    settings: Settings
    emulated: Arch | None

    @property
    def policy(self) -> Policy:
        return gpu_policy(self.emulated, self.settings.num_warps) if self.emulated else RowMajorPolicy()

    def lower(
        self, function: Function, axes: AxisAnalysis, lines: Lines, *, lineinfo: bool, checked: bool
    ) -> Lowered:
        """LLVM IR with ``{function}_entry_point`` (one program) and ``…_range`` (many)."""
        checks = lines if checked else None
        machine = HostMachine(self.policy, function, self.settings.threads if self.emulated else None, checks)
        symbol = f"{function.name}_entry_point"
        machine.begin(function)
        FunctionLowering(function, axes, machine, lines).run()
        machine.text.do("ret void")
        scratch, frame = machine.frame()
        kinds = [element(a.type) for a in function.body.args]
        reports = tuple(machine.reports)
        llvm = (
            f"{machine.text.preamble()}\n"
            f"define dso_local void @{symbol}({entry_parameters(kinds, bool(reports))}) #0 {{\nentry:\n{frame}"
            f"{machine.text.body()}\n}}\n"
            f"{range_function(symbol, kinds, bool(reports))}"
            'attributes #0 = { nounwind "no-builtins" }\n'
            'attributes #1 = { nounwind noinline "no-builtins" }\n'
        )
        return Lowered(llvm, symbol, 0, scratch, on_gpu=False, reports=reports)

    def residency(self, streams: Streams, shared: int) -> None:
        """The runtime spreads programs over cores, one at a time on each."""


@dataclass(slots=True, eq=False)
class _Scope:
    """One loop over lanes being written: where it is, and what is known in it."""

    lane: Lane
    threads: int
    #: The first lane of this turn, i64.
    index: str
    known: dict[Value, Sequence[str]] = field(default_factory=dict[Value, Sequence[str]])
    memo: dict[object, str] = field(default_factory=dict[object, str])


class _OnDemand(Sequence[str]):
    """Registers that are written where they are first asked for, within one scope."""

    def __init__(self, count: int, make: Callable[[int], str]) -> None:
        self._make = make
        self._made: list[str | None] = [None] * count

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, r: int) -> str:  # type: ignore[override]  # no slices
        made = self._made[r]
        if made is None:
            made = self._made[r] = self._make(r)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class _Pending:
    """An operation of the run that is being gathered."""

    results: tuple[Value, ...]
    reads: Sequence[Value]
    rule: Callable[[Lane], LaneRegisters]


class HostMachine(Machine):
    """The machine of rules, as loops over lanes on a CPU."""

    def __init__(
        self, policy: Policy, function: Function, threads: int | None, checks: Lines | None = None
    ) -> None:
        self.text = Text()
        self.policy = policy
        self.uniform = Lane(self, 1)
        self.shared_memory = SharedMemory()
        self.buffers = {}
        self._copies: host_copies.Queue | None = None
        self._blocks: host_copies.Queue | None = None
        #: Lanes of every tile, where a GPU is emulated; None where each tile has its own.
        self.emulated = threads
        self._arrays: dict[Value, host_arrays.Array] = {}
        self._lazy: dict[Value, Callable[[Lane, int], str]] = {}
        self._scalars: dict[Value, str] = {}
        self._scope: _Scope | None = None
        self._run: list[_Pending] = []
        self._run_threads = 0
        self._frame_size = 0
        self._uses = _count_uses(function)
        self.arguments: Sequence[Value] = function.body.args
        #: What the program tells, in the order of the numbers that it is told by.
        self.reports: list[Report] = []
        self._checks = None
        if checks is not None:
            self._checks = host_reports.Checks(self, checks, strays(function))

    def begin(self, function: Function) -> None:
        """Names the arguments."""
        for i, arg in enumerate(function.body.args):
            kind, name = element(arg.type), f"%a{i}"
            if kind == i1:
                name = self.text.op(f"icmp ne i8 {name}, 0")
            elif not isinstance(kind, Pointer) and kind.llvm == "half":
                name = self.text.op(f"bitcast i16 {name} to half")
            self._scalars[arg] = name

    def argument(self, argument: Argument) -> str:
        """The SSA name of an argument."""
        return self._scalars[self.arguments[argument.number]]

    def frame(self) -> tuple[int, str]:
        """(bytes of scratch a program needs, the lines that set the frame up)."""
        size = -(-self._frame_size // 64) * 64
        shared = -(-self.shared_memory.size // 64) * 64
        # What copies bring waits in a shadow of shared memory.
        copying = self._copies is not None or self._blocks is not None
        total = size + shared * (2 if copying else 1)
        if not total:
            return 0, ""
        lines = f"  %frame = alloca [{total} x i8], align 64\n"
        scratch = 0
        if total > LARGEST_STACK_FRAME:
            lines, scratch = "  %frame = getelementptr i8, ptr %scratch, i64 0\n", total
        lines += f"  %shared = getelementptr i8, ptr %frame, i64 {size}\n"
        if copying:
            lines += f"  %shadow = getelementptr i8, ptr %frame, i64 {size + shared}\n"
        return scratch, lines

    # Representation -------------------------------------------------------------------------------------------

    def carrier(self, element: Element) -> str:
        return "ptr" if isinstance(element, Pointer) else element.llvm

    def registers(self, lane: Lane, value: Value) -> Sequence[str]:
        scope = self._scope
        assert scope is not None, "registers are read within a lane"
        found = scope.known.get(value)
        if found is None:
            rule = self._lazy.get(value)
            if rule is not None:
                count = cast(Layout, value.layout).count
                found = _OnDemand(count, lambda r: rule(lane, r))
            else:
                array = self._arrays[value]
                found = _OnDemand(array.registers, lambda r: host_arrays.load(lane, array, r, scope.index))
            scope.known[value] = found
        return found

    def scalar(self, value: Value) -> str:
        return self._scalars[value]

    def set_scalar(self, value: Value, name: str) -> None:
        self._scalars[value] = name

    def array(self, kind: Element, registers: int, threads: int) -> host_arrays.Array:
        """A new array of the program's frame."""
        stored = "i8" if kind == i1 else self.carrier(kind)
        size = host_arrays.size_of(stored)
        pointer = self.reserve(registers * threads * size)
        return host_arrays.Array(pointer, self.carrier(kind), stored, size, registers, threads)

    def reserve(self, size: int) -> str:
        """A pointer to so many bytes of the program's frame."""
        offset = -(-self._frame_size // 64) * 64
        self._frame_size = offset + size
        with self.text.into(self.text.entry):
            return self.text.op(f"getelementptr i8, ptr %frame, i64 {offset}")

    # Order of work --------------------------------------------------------------------------------------------

    def local(self, op: Op, rule: Callable[[Lane], LaneRegisters]) -> None:
        tile = op.results[0] if op.results else op.operands[0]
        self._gather(_Pending(op.results, op.operands, rule), _threads(tile))

    def lazy(self, op: Op, rule: Callable[[Lane, int], str]) -> None:
        self._lazy[op.results[0]] = rule

    def view(self, op: Op, view: View, rule: Callable[[Lane, int], str]) -> None:
        result, source = op.results[0], op.operands[0]
        layout = cast(Layout, result.layout)
        if self.emulated is not None or not view.moves or source in self._lazy:
            self.local(op, lambda lane: [[rule(lane, r) for r in range(layout.count)]])
            return
        # Other lanes' elements: they must stand in an array before this run begins.
        if any(source in p.results for p in self._run):
            self.meet()
        self.local(op, lambda lane: [[self._read_through(lane, source, view)]])

    def _read_through(self, lane: Lane, source: Value, view: View) -> str:
        assert self._scope is not None
        return host_arrays.load_through(
            lane, self._arrays[source], view, self._scope.index, self.thread(lane)
        )

    def _gather(self, pending: _Pending, threads: int) -> None:
        if self._run and threads != self._run_threads:
            self.meet()
        self._run_threads = threads
        self._run.append(pending)

    def meet(self) -> None:
        if self._run:
            run, self._run = self._run, []
            self._emit(run, self._run_threads)

    def _emit(self, run: list[_Pending], threads: int) -> None:
        """One loop over lanes for a run; what is used after it is stored."""
        here = Counter(v for p in run for v in p.reads)
        # In order: where an array lies must not depend on where objects lie.
        outlives = dict.fromkeys(r for p in run for r in p.results if self._uses[r] > here[r])
        for value in outlives:
            layout = cast(Layout, value.layout)
            self._arrays[value] = self.array(element(value.type), layout.count, threads)

        def body(lane: Lane, scope: _Scope) -> None:
            for pending in run:
                for result, registers in zip(pending.results, pending.rule(lane), strict=False):
                    scope.known[result] = registers
                    if result in outlives:
                        for r, name in enumerate(registers):
                            host_arrays.store(lane, self._arrays[result], r, scope.index, name)

        self._lanes(threads, body)

    def _lanes(self, threads: int, body: Callable[[Lane, _Scope], None]) -> None:
        """``body`` for all lanes, ``WIDTH`` at a time."""
        width = min(host_arrays.WIDTH, threads)
        lane = Lane(self, width)

        def turn(index: str, _: Sequence[str]) -> Sequence[str]:
            self._scope = _Scope(lane, threads, index)
            body(lane, self._scope)
            self._scope = None
            return ()

        if width == threads:
            turn("0", ())
        else:
            counted(self.text, str(threads), width, (), turn)

    def each_lane(
        self,
        elements: Sequence[Element],
        rule: Callable[[Lane], LaneRegisters],
        threads: int,
        reads: Sequence[Value] = (),
    ) -> list[Held]:
        found: list[list[host_arrays.Array]] = []

        def body(lane: Lane) -> LaneRegisters:
            assert self._scope is not None
            for kind, registers in zip(elements, rule(lane), strict=True):
                array = self.array(kind, len(registers), threads)
                for r, name in enumerate(registers):
                    host_arrays.store(lane, array, r, self._scope.index, name)
                found.append([array])
            return []

        self._gather(_Pending((), reads, body), threads)
        self.meet()
        return [Held(e, a.registers, a) for e, [a] in zip(elements, found, strict=True)]

    def read(self, lane: Lane, held: Held) -> list[str]:
        assert self._scope is not None
        array = cast(host_arrays.Array, held.state)
        return [host_arrays.load(lane, array, r, self._scope.index) for r in range(held.count)]

    def bind(self, value: Value, held: Held) -> None:
        array = cast(host_arrays.Array, held.state)
        if isinstance(value.type, Tile):
            self._arrays[value] = array
        else:
            self._scalars[value] = host_arrays.load(self.uniform, array, 0, "0")

    def carry(self, args: Sequence[Value], initial: Sequence[Value]) -> Carry:
        return _Carry(self, args, initial)

    def join(self, results: Sequence[Value]) -> Join:
        return _Join(self, results)

    def assign(self, pairs: Sequence[tuple[host_arrays.Array, Value]]) -> None:
        """Copies tiles into arrays, all at once: every value is read before any array of its size is written."""
        for threads in dict.fromkeys(a.threads for a, _ in pairs):
            group = [(a, v) for a, v in pairs if a.threads == threads and self._arrays.get(v) is not a]
            if group:
                self._gather(_Pending((), [v for _, v in group], self._copier(group)), threads)
        self.meet()

    def _copier(self, group: Sequence[tuple[host_arrays.Array, Value]]) -> Callable[[Lane], LaneRegisters]:
        def rule(lane: Lane) -> LaneRegisters:
            assert self._scope is not None
            values = [list(self.registers(lane, v)) for _, v in group]
            for (array, _), registers in zip(group, values, strict=True):
                for r, name in enumerate(registers):
                    host_arrays.store(lane, array, r, self._scope.index, name)
            return []

        return rule

    def hold(self, value: Value) -> host_arrays.Array:
        """An array of its own for a tile that control flow gives."""
        layout = cast(Layout, value.layout)
        array = self._arrays[value] = self.array(element(value.type), layout.count, _threads(value))
        return array

    def share(self, value: Value, other: Value) -> None:
        """Two names for one array."""
        self._arrays[value] = self._arrays[other]

    def count_loop(
        self,
        lane: Lane,
        count: int,
        type_: str,
        start: Sequence[str],
        turn: Callable[[str, Sequence[str]], list[str]],
    ) -> list[str]:
        return counted(self.text, str(count), 1, [(type_, s) for s in start], turn, "i32")

    def exchange(self, op: Op, register: int, lane: int) -> None:
        source, result = op.operands[0], op.results[0]
        count, carrier = cast(Layout, result.layout).count, self.carrier(element(result.type))
        if lane < min(host_arrays.WIDTH, _threads(result)):

            def within(side: Lane) -> LaneRegisters:
                mine = side.registers(source)
                return [[host_arrays.across(side, carrier, mine[r ^ register], lane) for r in range(count)]]

            self.local(op, within)
            return
        array = self._standing(source)

        def beyond(side: Lane) -> LaneRegisters:
            assert self._scope is not None
            at = self._scope.index
            return [[host_arrays.load_across(side, array, r ^ register, at, lane) for r in range(count)]]

        self.local(op, beyond)

    def _standing(self, value: Value) -> host_arrays.Array:
        """The array a tile stands in, for the run that is being gathered: it must not be written in that."""
        found = self._arrays.get(value)
        if found is None or any(value in p.results for p in self._run):
            return self.array_of(value)
        return found

    def whole(self, value: Value) -> Callable[[Lane, str], str] | None:
        if self.emulated is not None:
            return None
        array = self.array_of(value)

        def read(lane: Lane, index: str) -> str:
            base, wide = (
                lane.broadcast(Pointer(i32), array.pointer),
                lane.convert("zext", "i32", index, "i64"),
            )
            unit, numbers = f"i{8 * array.size}", f"{lane.of('i64')} {wide}"
            pointer = lane.op(f"getelementptr {unit}, {lane.of('ptr')} {base}, {numbers}")
            raw = host_memory.gather(lane, array.stored, pointer, None, None)
            return lane.convert("trunc", "i8", raw, "i1") if array.carrier == "i1" else raw

        return read

    def whole_dot(self, op: Dot) -> bool:
        if self.emulated is not None:
            return False
        self.meet()
        lower_whole_dot(self, op)
        return True

    def multiply(self, op: Mma, steps: Sequence[Step]) -> None:
        self.meet()
        host_mma.multiply(self, op, steps)

    def multiply_group(self, op: GroupMma, product: GroupProduct) -> None:
        self.meet()
        host_groups.multiply_group(self, op, product)

    def wait_products(self, op: WaitProducts) -> None:
        for value, result in zip(op.values, op.results, strict=True):
            self._arrays[result] = self.array_of(value)

    def array_of(self, value: Value) -> host_arrays.Array:
        """The array a tile stands in; a cheap or pending one is written out first."""
        self.meet()
        found = self._arrays.get(value)
        if found is None:
            layout = cast(Layout, value.layout)
            found = self.array(element(value.type), layout.count, _threads(value))
            self.assign([(found, value)])
        return found

    # Where a lane stands --------------------------------------------------------------------------------------

    def thread(self, lane: Lane) -> str:
        scope = self._scope
        if scope is None:
            return "0"
        return self._memo(scope, "thread", lambda: self._numbers(lane, scope.index))

    def _memo(self, scope: _Scope, key: object, make: Callable[[], str]) -> str:
        found = scope.memo.get(key)
        if found is None:
            found = scope.memo[key] = make()
        return found

    def _numbers(self, lane: Lane, index: str) -> str:
        """``index``, ``index + 1``, … as i32."""
        if lane.width == 1:
            return lane.op(f"trunc i64 {index} to i32")
        first = lane.broadcast(i32, lane.op(f"trunc i64 {index} to i32"))
        steps = ", ".join(f"i32 {i}" for i in range(lane.width))
        return lane.op(f"or disjoint {lane.of('i32')} {first}, <{steps}>")

    def coordinate(self, lane: Lane, layout: Layout, axis: int) -> str:
        offset, side = axis_offsets(layout.shape)[axis], layout.shape[axis]
        bases = tuple((b >> offset) & (side - 1) for b in layout.threads)
        scope = self._scope
        assert scope is not None
        return self._memo(scope, bases, lambda: thread_position(lane, self.thread(lane), bases))

    def program_id(self, axis: str) -> str:
        return f"%program_{axis}"

    def num_programs(self, axis: str) -> str:
        return f"%grid_{axis}"

    # Memory ---------------------------------------------------------------------------------------------------

    def load(
        self,
        lane: Lane,
        access: Access,
        pointer: str,
        offset: int,
        mask: str | None,
        other: Sequence[str] | None,
    ) -> list[str]:
        carrier, size = self.carrier(access.element), access.element.size
        if self._checks is not None:
            mask = self._checks.mask(lane, access.op, pointer, offset, access.count * size, mask)
            access = replace(access, uniform=1)
        return [
            host_memory.load(
                lane, access, carrier, pointer, offset + i * size, mask, other[i] if other else None
            )
            for i in range(access.count)
        ]

    def store(
        self, lane: Lane, access: Access, pointer: str, offset: int, mask: str | None, values: Sequence[str]
    ) -> None:
        carrier, size = self.carrier(access.element), access.element.size
        if self._checks is not None:
            mask = self._checks.mask(lane, access.op, pointer, offset, access.count * size, mask)
            access = replace(access, uniform=1)
        for i, value in enumerate(values):
            host_memory.store(lane, access, carrier, pointer, offset + i * size, mask, value)

    def store_once(self, access: Access, pointer: str, mask: str | None, value: str) -> None:
        self.store(self.uniform, access, pointer, 0, mask, [value])

    def shared(self, size: int, alignment: int) -> int:
        return self.shared_memory.place(size, alignment)[0]

    def hold_shared(self, size: int, alignment: int) -> int:
        return self.shared_memory.hold(size, alignment)[0]

    def release(self, offset: int) -> None:
        self.shared_memory.release(offset)

    @property
    def copies(self) -> host_copies.Queue:
        """The copies that are under way."""
        if self._copies is None:
            self._copies = host_copies.queue(self)
        return self._copies

    @property
    def blocks(self) -> host_copies.Queue:
        """The blocks that are being copied."""
        if self._blocks is None:
            self._blocks = host_copies.queue(self)
        return self._blocks

    def begin_copy(self, op: CopyAsync) -> None:
        address = stage_address(self, self.uniform, op.buffer, op.stage)
        host_copies.begin(self, address, stage_bytes(op.buffer))

    def copy_async(
        self,
        lane: Lane,
        access: Access,
        pointer: str,
        offset: int,
        mask: str | None,
        address: str,
        when: str,
    ) -> None:
        reads = lane.broadcast(i1, when)
        if mask is not None:
            reads = lane.two("and", "i1", mask, reads)
        host_copies.copy(self, lane, access, self.load(lane, access, pointer, offset, reads, None), address)

    def commit_copies(self) -> None:
        self.meet()
        host_copies.commit(self)

    def wait_copies(self, pending: int) -> None:
        self.meet()
        host_copies.wait(self, pending)

    def open_signals(self, offset: int, count: int) -> None:
        host_blocks.open_signals(self, offset, count)

    def close_signals(self, offset: int, count: int) -> None:
        return

    def once(self, when: str, rule: Callable[[], None]) -> None:
        with self.text.when(when):
            rule()

    def expect(self, signal: str, bytes_: int) -> None:
        host_blocks.expect(self, signal)

    def copy_block(
        self, op: CopyBlocks, buffer: Value, map_: TensorMap, corner: Sequence[str], address: str, signal: str
    ) -> None:
        host_blocks.copy_block(self, op, buffer, map_, corner, address, signal)

    def store_block(self, op: StoreBlock, map_: TensorMap, corner: Sequence[str], address: str) -> None:
        host_blocks.store_block(self, op, map_, corner)

    def wait_stores(self) -> None:
        return  # They are written when they are asked for.

    def await_signal(self, signal: str, phase: str) -> None:
        host_blocks.await_signal(self, signal, phase)

    def publish(self, products: bool) -> None:
        self.barrier()

    def shared_count(self, lane: Lane, address: str, mask: str) -> None:
        host_memory.count(lane, self._shared_pointer(lane, address, 0), mask)

    def barrier(self, writing: tuple[int, int] | None = None) -> None:
        self.shared_memory.barrier(writing and (writing[0], sum(writing)))
        self.meet()

    def _shared_pointer(self, lane: Lane, address: str, offset: int) -> str:
        base = lane.broadcast(Pointer(i32), "%shared")
        wide = lane.convert("zext", "i32", address, "i64")
        at = lane.two("add", "i64", wide, lane.splat("i64", str(offset))) if offset else wide
        return lane.op(f"getelementptr i8, {lane.of('ptr')} {base}, {lane.of('i64')} {at}")

    def shared_store(
        self, lane: Lane, element: Element, address: str, values: Sequence[str], mask: str | None
    ) -> None:
        stored = "i8" if element == i1 else self.carrier(element)
        size = host_arrays.size_of(stored)
        for i, value in enumerate(values):
            raw = lane.convert("zext", "i1", value, "i8") if element == i1 else value
            host_memory.scatter(lane, stored, self._shared_pointer(lane, address, i * size), mask, raw)

    def shared_load(self, lane: Lane, element: Element, address: str, count: int) -> list[str]:
        stored = "i8" if element == i1 else self.carrier(element)
        size = host_arrays.size_of(stored)
        found: list[str] = []
        for i in range(count):
            value = host_memory.gather(
                lane, stored, self._shared_pointer(lane, address, i * size), None, None
            )
            found.append(lane.convert("trunc", "i8", value, "i1") if element == i1 else value)
        return found

    def lacks(self, how: Atomic) -> str | None:
        return None

    def atomic(self, lane: Lane, how: Atomic, pointer: str, mask: str | None, operands: Sequence[str]) -> str:
        if self._checks is not None:
            mask = self._checks.mask(lane, how.op, pointer, 0, how.element.size, mask)
        return host_atomics.step(lane, how, self.carrier(how.element), pointer, mask, operands)

    def atomic_once(
        self, how: Atomic, pointer: str, mask: str | None, operands: Sequence[str], used: bool
    ) -> str:
        return self.atomic(self.uniform, how, pointer, mask, operands)

    # Reports --------------------------------------------------------------------------------------------------

    def tell(self, report: Report) -> None:
        host_reports.tell(self, report)

    def stop_unless(self, report: Report) -> None:
        host_reports.stop_unless(self, report)

    # Between lanes --------------------------------------------------------------------------------------------

    def fold_lanes(
        self, helds: list[Held], bits: Sequence[int], layout: Layout, combine: Combine
    ) -> list[Held]:
        arrays = [cast(host_arrays.Array, h.state) for h in helds]
        if self.emulated is None:
            folded = host_arrays.fold(self, arrays, bits, combine)
            return [Held(h.element, 1, a) for h, a in zip(helds, folded, strict=True)]
        for bit in bits:
            helds = self._exchange(helds, bit, combine)
        return helds

    def _exchange(self, helds: list[Held], bit: int, combine: Combine) -> list[Held]:
        """One butterfly step: every lane combines what it has with what the lane across has."""

        def rule(lane: Lane) -> LaneRegisters:
            assert self._scope is not None
            index = self._scope.index
            found: LaneRegisters = [[] for _ in helds]
            for r in range(helds[0].count):
                arrays = [cast(host_arrays.Array, h.state) for h in helds]
                mine = [host_arrays.load(lane, a, r, index) for a in arrays]
                theirs = [host_arrays.load_across(lane, a, r, index, 1 << bit) for a in arrays]
                for i, value in enumerate(combine(lane, mine, theirs)):
                    found[i].append(value)
            return found

        threads = cast(host_arrays.Array, helds[0].state).threads
        return self.each_lane([h.element for h in helds], rule, threads)

    def read_lane(self, lane: Lane, held: Held, register: int, cleared: int, put: int) -> str:
        assert self._scope is not None
        array = cast(host_arrays.Array, held.state)
        return host_arrays.load_lanes(lane, array, register, self._scope.index, cleared, put)

    # What instructions there are ------------------------------------------------------------------------------

    def narrow(self, lane: Lane, value: str, source: DType, to: DType) -> str:
        if to.bits == 32:
            return lane.convert("fptrunc", "double", value, "float")
        value = scalars.to_be_narrowed(lane, value, source)
        if to == bf16:
            return scalars.f32_to_bf16(lane, value)
        if to.is_fp8:
            return scalars.f32_to_fp8(lane, value, to)
        return lane.convert("fptrunc", "float", value, "half")

    def widen(self, lane: Lane, value: str, source: DType, to: DType) -> str:
        return scalars.widen(lane, value, source, to)

    def extremum(self, lane: Lane, which: Extremum, dtype: DType, a: str, b: str) -> str:
        # maximumnum orders the zeros as the GPU's max does; maxnum would leave that open.
        name = {"maxnum": "maximumnum", "minnum": "minimumnum"}.get(which, which)
        return lane.intrinsic(name, dtype.llvm, a, b)

    def truncate(self, lane: Lane, value: str, source: DType, bits: int, signed: bool) -> str:
        result, ty = lane.of(f"i{bits}"), lane.of(source.llvm)
        name = f"@llvm.fpto{'s' if signed else 'u'}i.sat.{lane.suffix(f'i{bits}')}.{lane.suffix(source.llvm)}"
        lane.text.declare(f"{result} {name}({ty})")
        return lane.op(f"call {result} {name}({ty} {value})")

    def divide(self, lane: Lane, opcode: str, dtype: DType, a: str, b: str) -> str:
        return lane.two(opcode, dtype.llvm, a, scalars.safe_divisor(lane, opcode, dtype, a, b))

    def assemble(self, lane: Lane, op: InlineAsm, operands: Sequence[Sequence[str]]) -> list[list[str]]:
        assert op.location is not None
        raise op.location.error(
            "inline assembly is PTX, which only GPUs run", "leave it out of targets = [...] that are hosts"
        )

    def approximate(self, lane: Lane, function: str, operands: Sequence[str]) -> str | None:
        return None


def _threads(value: Value) -> int:
    return 1 << len(cast(Layout, value.layout).threads)


def _count_uses(function: Function) -> Counter[Value]:
    """How often each value is read."""
    found: Counter[Value] = Counter()
    for op in walk(function.body):
        found.update(op.operands)
    return found


class _Carry:
    """Carried tiles in arrays that the body overwrites at its end, carried scalars as phi nodes."""

    def __init__(self, machine: HostMachine, args: Sequence[Value], initial: Sequence[Value]) -> None:
        self._machine = machine
        self._args = args
        tiles = [(a, v) for a, v in zip(args, initial, strict=True) if isinstance(a.type, Tile)]
        machine.assign([(machine.hold(a), v) for a, v in tiles])
        self._scalars = [(a, v) for a, v in zip(args, initial, strict=True) if not isinstance(a.type, Tile)]
        self._first = [machine.scalar(v) for _, v in self._scalars]
        self._names: list[str] = []
        self._last: list[str] = []
        self._before = ""

    def enter(self, before: str) -> None:
        machine = self._machine
        self._before = before
        self._slot = machine.text.slot()
        for arg, _ in self._scalars:
            name = machine.text.name()
            self._names.append(name)
            machine.set_scalar(arg, name)

    def name(self, values: Sequence[Value]) -> None:
        for value, arg in zip(values, self._args, strict=True):
            if isinstance(arg.type, Tile):
                self._machine.share(value, arg)
            else:
                self._machine.set_scalar(value, self._machine.scalar(arg))

    def again(self, values: Sequence[Value]) -> None:
        machine = self._machine
        pairs = list(zip(self._args, values, strict=True))
        machine.assign([(machine.array_of(a), v) for a, v in pairs if isinstance(a.type, Tile)])
        self._last = [machine.scalar(v) for a, v in pairs if not isinstance(a.type, Tile)]

    def close(self, latch: str) -> None:
        machine = self._machine
        with machine.text.into(self._slot):
            for (arg, _), name, first, last in zip(
                self._scalars, self._names, self._first, self._last, strict=True
            ):
                llvm = machine.carrier(element(arg.type))
                machine.text.do(f"{name} = phi {llvm} [ {first}, %{self._before} ], [ {last}, %{latch} ]")

    def leave(self, results: Sequence[Value]) -> None:
        self.name(results)


class _Join:
    """Results of a branch: tiles in arrays that both ways write, scalars as phi nodes."""

    def __init__(self, machine: HostMachine, results: Sequence[Value]) -> None:
        self._machine = machine
        self._results = results
        self._arrays = {r: machine.hold(r) for r in results if isinstance(r.type, Tile)}
        self._ways: list[tuple[str, list[str]]] = []

    def give(self, values: Sequence[Value]) -> None:
        machine = self._machine
        pairs = list(zip(self._results, values, strict=True))
        machine.assign([(self._arrays[r], v) for r, v in pairs if isinstance(r.type, Tile)])
        names = [machine.scalar(v) for r, v in pairs if not isinstance(r.type, Tile)]
        self._ways.append((machine.text.block, names))

    def take(self) -> None:
        machine = self._machine
        (from_a, first), (from_b, second) = self._ways
        scalars_ = [r for r in self._results if not isinstance(r.type, Tile)]
        for result, a, b in zip(scalars_, first, second, strict=True):
            llvm = machine.carrier(element(result.type))
            machine.set_scalar(result, machine.text.op(f"phi {llvm} [ {a}, %{from_a} ], [ {b}, %{from_b} ]"))
