"""NVIDIA GPUs: a lane is a thread, registers are SSA values, lanes meet through shuffles and shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from teenybuild.compiler.ir.core import Function, Op, Value
from teenybuild.compiler.ir.tt import Dot, InlineAsm
from teenybuild.compiler.ir.ttg import CopyBlocks, GroupMma, Mma, StoreBlock, WaitProducts
from teenybuild.compiler.ir.types import Element, Pointer, Tile, element
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.fragments import Step
from teenybuild.compiler.layout.linear import Layout, View, axis_offsets, log2
from teenybuild.compiler.layout.policy import LANES, Policy, gpu_policy
from teenybuild.compiler.layout.swizzle import WIDEST
from teenybuild.compiler.lower.blocks import TensorMap
from teenybuild.compiler.lower.debug import DebugInfo, Lines
from teenybuild.compiler.lower.function import FunctionLowering
from teenybuild.compiler.lower.lane import Lane, thread_position
from teenybuild.compiler.lower.loops import counted
from teenybuild.compiler.lower.machine import (
    Access,
    Atomic,
    Carry,
    Combine,
    GroupProduct,
    Held,
    Join,
    LaneRegisters,
)
from teenybuild.compiler.lower.memory import Pieces
from teenybuild.compiler.lower.reports import Report
from teenybuild.compiler.lower.shared import SharedMemory
from teenybuild.compiler.lower.text import Text
from teenybuild.compiler.passes.streams import Streams
from teenybuild.compiler.targets import (
    nvptx_assembly,
    nvptx_blocks,
    nvptx_copies,
    nvptx_groups,
    nvptx_matrices,
    nvptx_mma,
    nvptx_reports,
)
from teenybuild.compiler.targets.base import Lowered, Residency, Settings
from teenybuild.compiler.targets.nvptx_arithmetic import GpuArithmetic
from teenybuild.compiler.targets.nvptx_flow import Branch, Phis
from teenybuild.compiler.targets.nvptx_words import Packed, Word, gathered, size_of
from teenybuild.compiler.targets.residency import blocks_wanted, residency
from teenybuild.dtypes import INTEGERS, DType, bf16, f16, i1, i32
from teenybuild.targets import Arch, ptx_number

#: The first architecture with programmatic dependent launches (PTX ISA, griddepcontrol).
_PROGRAMMATIC = 90
#: The first with instructions that move matrices (PTX ISA, ldmatrix and stmatrix).
_READS_MATRICES, _WRITES_MATRICES = 75, 90

#: PTX's words for what an atomic step does, and for how it takes its operands (PTX ISA, ``atom``).
_ATOMICS = {
    "add": ("add", "u"),
    "fadd": ("add", ""),
    "and": ("and", "b"),
    "or": ("or", "b"),
    "xor": ("xor", "b"),
    "max": ("max", "s"),
    "min": ("min", "s"),
    "umax": ("max", "u"),
    "umin": ("min", "u"),
    "exch": ("exch", "b"),
    "cas": ("cas", "b"),
}


#: Two f16 in a word.
_PAIR = Word.of(f16, f16.llvm, 2)


@dataclass(frozen=True, slots=True)
class NvptxTarget:
    """One architecture with one choice of settings."""

    arch: Arch
    settings: Settings
    #: Version of the PTX ISA.
    ptx: str

    @property
    def policy(self) -> Policy:
        return gpu_policy(self.arch, self.settings.num_warps, self.ptx)

    def lower(
        self, function: Function, axes: AxisAnalysis, lines: Lines, *, lineinfo: bool, checked: bool
    ) -> Lowered:
        """LLVM IR with one kernel, ``{function}_entry_point``."""
        symbol = f"{function.name}_entry_point"
        machine = GpuMachine(self.arch, self.policy, self.settings.num_warps, symbol)
        parameters = machine.begin(function, axes)
        debug = DebugInfo(lines, symbol) if lineinfo else None
        programmatic = self.arch.sm >= _PROGRAMMATIC
        if programmatic:
            # What is stored by the launch before is whole only from here on. (In assembly: LLVM's intrinsic does not say that it touches memory.)
            machine.text.do('call void asm sideeffect "griddepcontrol.wait;", "~{memory}"()')
        FunctionLowering(function, axes, machine, lines, debug).run()
        machine.text.do("ret void")
        machine.end()
        parameters += [nvptx_blocks.parameter(number) for number in machine.maps.values()]
        threads = self.settings.threads
        attributes = f'"nvvm.reqntid"="{threads}"'
        if self.settings.maxnreg is not None:
            attributes += f' "nvvm.maxnreg"="{self.settings.maxnreg}"'
        elif (blocks := blocks_wanted(function, threads)) is not None:
            attributes += f' "nvvm.minctasm"="{blocks}"'
        llvm = (
            'target triple = "nvptx64-nvidia-cuda"\n'
            f"{machine.text.preamble()}\n"
            f"define ptx_kernel void @{symbol}({', '.join(parameters)}) #0{debug.subprogram if debug else ''} {{\nentry:\n"
            f"{machine.text.body()}\n}}\n"
            f"attributes #0 = {{ nounwind {attributes} }}\n"
            "attributes #1 = { nounwind noinline }\n"
            "attributes #2 = { nounwind memory(none) }\n"
            "attributes #3 = { nounwind noreturn }\n"
            "attributes #4 = { convergent nounwind memory(none) }\n"
            "attributes #5 = { convergent nounwind }\n"
            f"{debug.metadata() if debug else ''}"
        )
        return Lowered(
            llvm,
            symbol,
            machine.shared_memory.size,
            0,
            on_gpu=True,
            programmatic=programmatic,
            maps=tuple(machine.maps),
        )

    def residency(self, streams: Streams, shared: int) -> Residency | None:
        """How many programs of a streaming kernel run at once."""
        return residency(self.arch, streams, shared)


class _Lazy(Sequence[str]):
    """Registers that are written into their operation's place in the text when first asked for."""

    def __init__(self, machine: GpuMachine, count: int, rule: Callable[[Lane, int], str]) -> None:
        self._machine = machine
        self._slot = machine.text.slot()
        self._rule = rule
        self._made: list[str | None] = [None] * count

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, r: int) -> str:  # type: ignore[override]  # no slices
        made = self._made[r]
        if made is None:
            with self._machine.text.into(self._slot):
                made = self._made[r] = self._rule(self._machine.uniform, r)
        return made


class GpuMachine(GpuArithmetic):
    """The machine of rules, as one thread of an NVIDIA GPU."""

    def __init__(self, arch: Arch, policy: Policy, warps: int, symbol: str) -> None:
        super().__init__(arch)
        self.text = Text()
        self.policy = policy
        self.uniform = Lane(self, 1)
        self.shared_memory = SharedMemory()
        self.buffers = {}
        self.reads_matrices = arch.sm >= _READS_MATRICES
        self.writes_matrices = arch.sm >= _WRITES_MATRICES
        #: What the start of shared memory is a multiple of, once it is used.
        self._shared_alignment = 0
        self._threads = LANES * warps
        self._values: dict[Value, Sequence[str]] = {}
        self._scalars: dict[Value, str] = {}
        self._entry: dict[object, str] = {}
        #: What is passed of arrays, by number.
        self.maps: dict[TensorMap, int] = {}
        self.arguments: Sequence[Value] = ()
        #: What the program is called, and the texts that it prints: their names by what they are.
        self.symbol = symbol
        self.texts: dict[bytes, str] = {}

    def begin(self, function: Function, axes: AxisAnalysis) -> list[str]:
        """Names the arguments; the parameters of the kernel."""
        parameters: list[str] = []
        self.arguments = function.body.args
        for i, arg in enumerate(self.arguments):
            kind, name = element(arg.type), f"%a{i}"
            if isinstance(kind, Pointer):
                align = axes[arg].divisor
                parameters.append(
                    f"ptr addrspace(1) align {align} {name}" if align > 1 else f"ptr addrspace(1) {name}"
                )
                self._scalars[arg] = name
            elif kind == i1:
                parameters.append(f"i8 {name}")
                with self.text.into(self.text.entry):
                    self._scalars[arg] = self.text.op(f"icmp ne i8 {name}, 0")
            else:
                parameters.append(f"{kind.llvm} {name}")
                self._scalars[arg] = name
        return [*parameters, "i32 %grid_x", "i32 %grid_y", "i32 %grid_z", "i64 %scratch"]

    def end(self) -> None:
        """Declares what was used."""
        if align := self._shared_alignment:
            self.text.define("@shared", f"@shared = external addrspace(3) global [0 x i8], align {align}")

    def _once(self, key: object, make: Callable[[], str]) -> str:
        """Something computed at the function's start, once."""
        found = self._entry.get(key)
        if found is None:
            with self.text.into(self.text.entry):
                found = self._entry[key] = make()
        return found

    def _special(self, name: str, most: int) -> str:
        """A special register, with its range."""

        def read() -> str:
            self.text.declare(f"i32 @llvm.nvvm.read.ptx.sreg.{name}()")
            return self.text.op(f"call range(i32 0, {most}) i32 @llvm.nvvm.read.ptx.sreg.{name}()")

        return self._once(name, read)

    # Representation -------------------------------------------------------------------------------------------

    def carrier(self, element: Element) -> str:
        return "ptr addrspace(1)" if isinstance(element, Pointer) else element.llvm

    def registers(self, lane: Lane, value: Value) -> Sequence[str]:
        return self._values[value]

    def scalar(self, value: Value) -> str:
        return self._scalars[value]

    def set_scalar(self, value: Value, name: str) -> None:
        self._scalars[value] = name

    # Order of work: a thread does everything where it stands ---------------------------------------------------

    def local(self, op: Op, rule: Callable[[Lane], LaneRegisters]) -> None:
        for result, registers in zip(op.results, rule(self.uniform), strict=True):
            self._values[result] = registers

    def lazy(self, op: Op, rule: Callable[[Lane, int], str]) -> None:
        self._values[op.results[0]] = _Lazy(self, cast(Layout, op.results[0].layout).count, rule)

    def view(self, op: Op, view: View, rule: Callable[[Lane, int], str]) -> None:
        self.lazy(op, rule)

    def meet(self) -> None:
        pass

    def each_lane(
        self,
        elements: Sequence[Element],
        rule: Callable[[Lane], LaneRegisters],
        threads: int,
        reads: Sequence[Value] = (),
    ) -> list[Held]:
        found = rule(self.uniform)
        return [Held(e, len(r), r) for e, r in zip(elements, found, strict=True)]

    def read(self, lane: Lane, held: Held) -> list[str]:
        return cast("list[str]", held.state)

    def bind(self, value: Value, held: Held) -> None:
        registers = cast("list[str]", held.state)
        if isinstance(value.type, Tile):
            self._values[value] = registers
        else:
            self._scalars[value] = registers[0]

    def carry(self, args: Sequence[Value], initial: Sequence[Value]) -> Carry:
        return Phis(self, args, initial)

    def join(self, results: Sequence[Value]) -> Join:
        return Branch(self, results)

    def all_registers(self, value: Value) -> list[tuple[str, str]]:
        """(type, name) of every register of a tile, or of a scalar. Those of f16 are pairs, one in each half of a word: as tensor cores sum them."""
        if not isinstance(value.type, Tile):
            return [(self.carrier(element(value.type)), self._scalars[value])]
        kind, held = element(value.type), self._values[value]
        if kind == f16 and len(held) > 1:
            if isinstance(held, Packed) and held.word == _PAIR:
                return [("i32", word) for word in held.words]
            return [("i32", self.word(f16, (held[i], held[i + 1]))) for i in range(0, len(held), 2)]
        return [(self.carrier(kind), name) for name in held]

    def give_all(self, value: Value, names: Sequence[str]) -> None:
        """Names what :meth:`all_registers` is going to give."""
        layout = value.layout
        if isinstance(value.type, Tile) and element(value.type) == f16 and cast(Layout, layout).count > 1:
            self._values[value] = Packed(self.text, _PAIR, names)
        else:
            self.give(value, names)

    def give(self, value: Value, names: Sequence[str]) -> None:
        """Names a tile's registers, or a scalar."""
        if isinstance(value.type, Tile):
            self._values[value] = names
        else:
            self._scalars[value] = names[0]

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
        if not lane:
            self.lazy(op, lambda side, r: side.registers(source)[r ^ register])
            return
        mine, kind = self._values[source], element(result.type)
        self._values[result] = [
            self._shuffle(kind, mine[r ^ register], "bfly", str(lane)) for r in range(len(mine))
        ]

    def whole(self, value: Value) -> Callable[[Lane, str], str] | None:
        return None

    def whole_dot(self, op: Dot) -> bool:
        return False

    def word(self, dtype: DType, values: Sequence[str]) -> str:
        """Elements of 4 bytes together, as one i32; of 8, as an i64."""
        return Word.of(dtype, self.carrier(dtype), len(values)).pack(self.text, values)[0]

    def assemble(self, lane: Lane, op: InlineAsm, operands: Sequence[Sequence[str]]) -> list[list[str]]:
        return nvptx_assembly.assemble(self, op, operands)

    def multiply(self, op: Mma, steps: Sequence[Step]) -> None:
        nvptx_mma.multiply(self, op, steps)

    def multiply_group(self, op: GroupMma, product: GroupProduct) -> None:
        nvptx_groups.multiply_group(self, op, product)

    def wait_products(self, op: WaitProducts) -> None:
        nvptx_groups.wait_products(self, op)

    def group_thread(self) -> str:
        """The number of the first thread of this warp: the assembler knows of a shuffle's result that it is the same in all of it."""

        def read() -> str:
            return self._exchange(self.thread(self.uniform), "idx", "0", LANES)

        return self._once("group", read)

    # Where a lane stands --------------------------------------------------------------------------------------

    def thread(self, lane: Lane) -> str:
        return self._special("tid.x", self._threads)

    def coordinate(self, lane: Lane, layout: Layout, axis: int) -> str:
        offset, side = axis_offsets(layout.shape)[axis], layout.shape[axis]
        bases = tuple((b >> offset) & (side - 1) for b in layout.threads)
        return self._once(
            ("coordinate", bases), lambda: thread_position(self.uniform, self.thread(self.uniform), bases)
        )

    def sealed(self, value: str) -> str:
        return self.text.op(f'call i64 asm "mov.b64 $0, $1;", "=l,l"(i64 {value})')

    def program_id(self, axis: str) -> str:
        return self._special(f"ctaid.{axis}", (1 << 31) - 1)

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
    ) -> Sequence[str]:
        text = self.text
        piece = max(1, min(access.count, 16 // access.element.size))
        found = Pieces(access.count)
        how = self._how(access)
        if how != ".global" and mask is None:
            mask = "true"  # what LLVM has no word for is said in PTX
        for first in range(0, access.count, piece):
            at = offset + first * access.element.size
            numbers = range(first, first + piece)
            if mask is None:
                found.put(numbers, self._plain_load(access, pointer, at, piece))
                continue
            word = Word.of(access.element, self.carrier(access.element), piece)
            fill = [word.zero] * word.words
            if other is not None:
                fill = word.pack(text, other[first : first + piece])
            vector = f".v{word.words}" if word.words > 1 else ""
            names = ", ".join(f"${i}" for i in range(word.words))
            braced = f"{{{names}}}" if word.words > 1 else names
            address, guard = f"${2 * word.words}", f"${2 * word.words + 1}"
            asm = f"@{guard} ld{how}{vector}.{word.suffix} {braced}, [{address} + {at}];"
            outputs = ",".join([f"={word.constraint}"] * word.words)
            ties = ",".join(str(i) for i in range(word.words))
            result = word.type if word.words == 1 else f"{{ {', '.join([word.type] * word.words)} }}"
            arguments = ", ".join(f"{word.type} {f}" for f in fill)
            loaded = text.op(
                f'call {result} asm sideeffect "{asm}", "{outputs},{ties},l,b"'
                f"({arguments}, ptr addrspace(1) {pointer}, i1 {mask})"
            )
            words = [loaded]
            if word.words > 1:
                words = [text.op(f"extractvalue {result} {loaded}, {i}") for i in range(word.words)]
            found.put(numbers, words if word.is_whole else Packed(text, word, words))
        return found

    def _plain_load(self, access: Access, pointer: str, offset: int, count: int) -> list[str]:
        text, carrier = self.text, self.carrier(access.element)
        at = self._moved(pointer, offset)
        align = min(access.alignment, count * access.element.size)
        if count == 1:
            return [text.op(f"load {carrier}, ptr addrspace(1) {at}, align {align}")]
        vector = text.op(f"load <{count} x {carrier}>, ptr addrspace(1) {at}, align {align}")
        return [text.op(f"extractelement <{count} x {carrier}> {vector}, i64 {i}") for i in range(count)]

    def _moved(self, pointer: str, offset: int) -> str:
        if not offset:
            return pointer
        return self.text.op(f"getelementptr i8, ptr addrspace(1) {pointer}, i64 {offset}")

    def store(
        self, lane: Lane, access: Access, pointer: str, offset: int, mask: str | None, values: Sequence[str]
    ) -> None:
        text, carrier = self.text, self.carrier(access.element)
        piece = max(1, min(access.count, 16 // access.element.size))
        how = self._how(access)
        if how != ".global" and mask is None:
            mask = "true"
        for first in range(0, access.count, piece):
            at = offset + first * access.element.size
            part = values[first : first + piece]
            if mask is None:
                vector, type_ = gathered(text, carrier, part)
                align = min(access.alignment, piece * access.element.size)
                text.do(f"store {type_} {vector}, ptr addrspace(1) {self._moved(pointer, at)}, align {align}")
                continue
            word = Word.of(access.element, carrier, piece)
            words = word.pack(text, part)
            suffix = f".v{word.words}" if word.words > 1 else ""
            names = ", ".join(f"${i}" for i in range(word.words))
            braced = f"{{{names}}}" if word.words > 1 else names
            asm = f"@${word.words + 1} st{how}{suffix}.{word.suffix} [${word.words} + {at}], {braced};"
            constraints = ",".join([word.constraint] * word.words)
            arguments = ", ".join(f"{word.type} {w}" for w in words)
            text.do(
                f'call void asm sideeffect "{asm}", "{constraints},l,b"'
                f"({arguments}, ptr addrspace(1) {pointer}, i1 {mask})"
            )

    def _how(self, access: Access) -> str:
        """The qualifiers of a load or store, ``.global`` for a plain one. Eviction priorities came with PTX 7.4."""
        if access.volatile:
            return ".volatile.global"
        if access.cache:
            return f".global.{access.cache}"
        known = ptx_number(self.arch.ptx) >= (7, 4)
        return f".global.L1::{access.eviction}" if access.eviction and known else ".global"

    def store_once(self, access: Access, pointer: str, mask: str | None, value: str) -> None:
        lane = self.uniform
        first = lane.compare("icmp eq", "i32", self.thread(lane), "0")
        guard = first if mask is None else lane.two("and", "i1", first, mask)
        self.store(lane, access, pointer, 0, guard, [value])

    def lacks(self, how: Atomic) -> str | None:
        if how.kind == "fadd" and how.element == bf16 and self.arch.sm < 90:
            return f"bf16 is added atomically from sm_90 on, not on {self.arch.name}"
        return None

    def atomic(self, lane: Lane, how: Atomic, pointer: str, mask: str | None, operands: Sequence[str]) -> str:
        text, dtype, carrier = self.text, how.element, self.carrier(how.element)
        bits = f"i{8 * dtype.size}"
        constraint = {"i16": "h", "i32": "r", "i64": "l"}[bits]
        kind, type_ = _ATOMICS[how.kind]
        suffix = f".{type_}{dtype.bits}"
        if how.kind == "fadd":
            suffix = f".noftz.{dtype}" if dtype.bits == 16 else f".{dtype}"
        values = [v if carrier == bits else text.op(f"bitcast {carrier} {v} to {bits}") for v in operands]
        listed = ", ".join(f"${2 + i}" for i in range(len(values)))
        guard = f"@${2 + len(values)} " if mask is not None else ""
        asm = f"{guard}atom.{how.ordering}.{how.scope}.global.{kind}{suffix} $0, [$1], {listed};"
        constraints = ",".join([f"={constraint}", "l", *[constraint] * len(values)])
        arguments = ", ".join([f"ptr addrspace(1) {pointer}", *(f"{bits} {v}" for v in values)])
        if mask is not None:
            constraints, arguments = f"{constraints},b,0", f"{arguments}, i1 {mask}, {bits} 0"
        old = text.op(f'call {bits} asm sideeffect "{asm}", "{constraints},~{{memory}}"({arguments})')
        return old if carrier == bits else text.op(f"bitcast {bits} {old} to {carrier}")

    def atomic_once(
        self, how: Atomic, pointer: str, mask: str | None, operands: Sequence[str], used: bool
    ) -> str:
        lane = self.uniform
        first = lane.compare("icmp eq", "i32", self.thread(lane), "0")
        guard = first if mask is None else lane.two("and", "i1", first, mask)
        old = self.atomic(lane, how, pointer, guard, operands)
        if not used:
            return old
        place = str(self.shared(how.element.size, how.element.size))
        self.shared_store(lane, how.element, place, [old], first)
        self.barrier()
        return self.shared_load(lane, how.element, place, 1)[0]

    def shared(self, size: int, alignment: int) -> int:
        offset, wait = self.shared_memory.place(size, alignment)
        if wait:
            self._synchronise()
        return offset

    def hold_shared(self, size: int, alignment: int) -> int:
        self._shared_alignment = max(self._shared_alignment, alignment)
        offset, wait = self.shared_memory.hold(size, alignment)
        if wait:
            self._synchronise()
        return offset

    def release(self, offset: int) -> None:
        self.shared_memory.release(offset)

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
        nvptx_copies.copy_async(self, access, pointer, offset, mask, address, when)

    def load_matrices(self, element: DType, address: str, count: int, turned: bool) -> list[Sequence[str]]:
        word = Word.of(element, self.carrier(element), 4 // element.size)
        words = nvptx_matrices.load(self, address, count, turned)
        return [Packed(self.text, word, [each]) for each in words]

    def store_matrices(
        self, element: DType, address: str, words: Sequence[Sequence[str]], turned: bool
    ) -> None:
        word = Word.of(element, self.carrier(element), 4 // element.size)
        packed = [word.pack(self.text, each)[0] for each in words]
        nvptx_matrices.store(self, address, packed, turned)

    def commit_copies(self) -> None:
        nvptx_copies.commit(self)

    def wait_copies(self, pending: int) -> None:
        nvptx_copies.wait(self, pending)

    def open_signals(self, offset: int, count: int) -> None:
        nvptx_blocks.open_signals(self, offset, count)

    def close_signals(self, offset: int, count: int) -> None:
        nvptx_blocks.close_signals(self, offset, count)

    def once(self, when: str, rule: Callable[[], None]) -> None:
        nvptx_blocks.only(self, self.uniform.two("and", "i1", self.speaker(), when), rule)

    def expect(self, signal: str, bytes_: int) -> None:
        nvptx_blocks.expect(self, signal, bytes_)

    def copy_block(
        self, op: CopyBlocks, buffer: Value, map_: TensorMap, corner: Sequence[str], address: str, signal: str
    ) -> None:
        nvptx_blocks.copy_block(self, map_, corner, address, signal)

    def store_block(self, op: StoreBlock, map_: TensorMap, corner: Sequence[str], address: str) -> None:
        nvptx_blocks.store_block(self, op, map_, corner, address)

    def wait_stores(self) -> None:
        nvptx_blocks.wait_stores(self)
        self.meet_warp()

    def await_signal(self, signal: str, phase: str) -> None:
        nvptx_blocks.await_signal(self, signal, phase)

    def speaker(self) -> str:
        """Whether this is the one lane of the program that speaks for all of them; in code that all lanes run."""

        def read() -> str:
            first = self.uniform.compare("icmp eq", "i32", self.group_thread(), "0")
            return self.uniform.two("and", "i1", first, self.elected())

        return self._once("speaker", read)

    def elected(self) -> str:
        """Whether this is the lane that speaks for its warp; in code that all lanes run."""

        def read() -> str:
            self.text.declare("{ i32, i1 } @llvm.nvvm.elect.sync(i32)")
            elected = self.text.op("call { i32, i1 } @llvm.nvvm.elect.sync(i32 -1)")
            return self.text.op(f"extractvalue {{ i32, i1 }} {elected}, 1")

        return self._once("elected", read)

    def moved_by_warp(self, bases: Sequence[int]) -> str:
        """The XOR of ``bases`` for the bits of the warp's number that are set, i32."""
        of_threads = (*[0] * log2(LANES), *bases)
        return self._once(
            ("moved by warp", of_threads),
            lambda: thread_position(self.uniform, self.group_thread(), of_threads),
        )

    def tensor_map(self, map_: TensorMap) -> str:
        """The parameter that holds it."""
        return f"%map{self.maps.setdefault(map_, len(self.maps))}"

    def publish(self, products: bool) -> None:
        if products:
            self.show_hardware()
        self.barrier()

    def show_hardware(self) -> None:
        """What this lane wrote to shared memory is seen by what runs beside the program, of which those lanes know that meet this one after it."""
        self.text.do('call void asm sideeffect "fence.proxy.async.shared::cta;", "~{memory}"()')

    def meet_warp(self) -> None:
        """A barrier of the lanes of each warp."""
        self.text.declare("void @llvm.nvvm.bar.warp.sync(i32)")
        self.text.do("call void @llvm.nvvm.bar.warp.sync(i32 -1)")

    def shared_address(self, offset: int) -> str:
        """Where a byte of shared memory lies, i32."""
        return self.text.op(f"ptrtoint ptr addrspace(3) {self.shared_pointer(str(offset))} to i32")

    def shared_count(self, lane: Lane, address: str, mask: str) -> None:
        # red: PTX ISA, parallel synchronization; the order of the additions is open, their sum is not.
        self.text.do(
            'call void asm sideeffect "@$1 red.shared.add.u32 [$0], 1;", "l,b,~{memory}"'
            f"(ptr addrspace(3) {self.shared_pointer(address)}, i1 {mask})"
        )

    def barrier(self, writing: tuple[int, int] | None = None) -> None:
        self.shared_memory.barrier(writing and (writing[0], sum(writing)))
        self._synchronise()

    def _synchronise(self) -> None:
        self.text.declare("void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)")
        self.text.do("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")

    def shared_pointer(self, address: str) -> str:
        self._shared_alignment = max(self._shared_alignment, WIDEST)
        return self.text.op(f"getelementptr i8, ptr addrspace(3) @shared, i32 {address}")

    def shared_store(
        self, lane: Lane, element: Element, address: str, values: Sequence[str], mask: str | None
    ) -> None:
        text, carrier = self.text, self._stored(element)
        names = [self._to_stored(element, v) for v in values]
        size = size_of(carrier)
        pointer = self.shared_pointer(address)
        if mask is None:
            vector, type_ = gathered(text, carrier, names)
            text.do(f"store {type_} {vector}, ptr addrspace(3) {pointer}, align {size * len(values)}")
            return
        # Predicated, not branched around: a branch would end the block that LLVM schedules in.
        word = Word.of(INTEGERS[8 * size, True], carrier, len(values))
        words = word.pack(text, names)
        suffix = f".v{word.words}" if word.words > 1 else ""
        listed = ", ".join(f"${i}" for i in range(word.words))
        braced = f"{{{listed}}}" if word.words > 1 else listed
        asm = f"@${word.words + 1} st.shared{suffix}.{word.suffix} [${word.words}], {braced};"
        constraints = ",".join([word.constraint] * word.words)
        arguments = ", ".join(f"{word.type} {w}" for w in words)
        text.do(
            f'call void asm sideeffect "{asm}", "{constraints},l,b,~{{memory}}"'
            f"({arguments}, ptr addrspace(3) {pointer}, i1 {mask})"
        )

    def shared_load(self, lane: Lane, element: Element, address: str, count: int) -> list[str]:
        text, carrier = self.text, self._stored(element)
        size = size_of(carrier)
        pointer = self.shared_pointer(address)
        found: list[str] = []
        piece = min(count, max(1, 16 // size))
        for first in range(0, count, piece):
            at = pointer
            if first:
                at = text.op(f"getelementptr i8, ptr addrspace(3) {pointer}, i32 {first * size}")
            if piece == 1:
                found.append(text.op(f"load {carrier}, ptr addrspace(3) {at}, align {size}"))
                continue
            vector = text.op(f"load <{piece} x {carrier}>, ptr addrspace(3) {at}, align {size * piece}")
            found += [
                text.op(f"extractelement <{piece} x {carrier}> {vector}, i64 {i}") for i in range(piece)
            ]
        return [self._from_stored(element, v) for v in found]

    def _stored(self, element: Element) -> str:
        """The type an element has in shared memory: a bool takes a byte."""
        return "i8" if element == i1 else self.carrier(element)

    def _to_stored(self, element: Element, value: str) -> str:
        return self.text.op(f"zext i1 {value} to i8") if element == i1 else value

    def _from_stored(self, element: Element, value: str) -> str:
        return self.text.op(f"trunc i8 {value} to i1") if element == i1 else value

    # Reports --------------------------------------------------------------------------------------------------

    def tell(self, report: Report) -> None:
        nvptx_reports.tell(self, report)

    def stop_unless(self, report: Report) -> None:
        nvptx_reports.stop_unless(self, report)

    # Between lanes --------------------------------------------------------------------------------------------

    def fold_lanes(
        self, helds: list[Held], bits: Sequence[int], layout: Layout, combine: Combine
    ) -> list[Held]:
        lane = self.uniform
        values = [list(cast("list[str]", h.state)) for h in helds]
        for bit in bits:
            for r in range(helds[0].count):
                mine = [v[r] for v in values]
                theirs = [
                    self._shuffle(h.element, v, "bfly", str(1 << bit))
                    for h, v in zip(helds, mine, strict=True)
                ]
                for v, new in zip(values, combine(lane, mine, theirs), strict=True):
                    v[r] = new
        return [Held(h.element, h.count, v) for h, v in zip(helds, values, strict=True)]

    def read_lane(self, lane: Lane, held: Held, register: int, cleared: int, put: int) -> str:
        value = cast("list[str]", held.state)[register]
        low = cleared | put
        if not low:
            return value
        if not low & (low + 1):
            # One lane of each segment: the shuffle finds it by itself.
            return self._shuffle(held.element, value, "idx", str(put), segment=low + 1)
        number = self.thread(lane)
        if cleared & ~put:
            number = lane.two("and", "i32", number, lane.number(~cleared, i32))
        if put:
            number = lane.two("or", "i32", number, lane.number(put, i32))
        return self._shuffle(held.element, value, "idx", number)

    def _shuffle(self, element: Element, value: str, mode: str, lane: str, *, segment: int = LANES) -> str:
        """The value of another lane: number ``lane`` of its segment (low five bits) for ``idx``, the one that differs in it for ``bfly``."""
        text, carrier = self.text, self.carrier(element)
        size = size_of(carrier)
        if size == 8:
            integer = value
            if carrier == "double":
                integer = text.op(f"bitcast double {value} to i64")
            elif carrier != "i64":
                integer = text.op(f"ptrtoint {carrier} {value} to i64")
            low = text.op(f"trunc i64 {integer} to i32")
            high = text.op(f"trunc i64 {text.op(f'lshr i64 {integer}, 32')} to i32")
            low, high = (
                text.op(f"zext i32 {self._exchange(x, mode, lane, segment)} to i64") for x in (low, high)
            )
            joined = text.op(f"or i64 {low}, {text.op(f'shl i64 {high}, 32')}")
            if carrier == "double":
                return text.op(f"bitcast i64 {joined} to double")
            return joined if carrier == "i64" else text.op(f"inttoptr i64 {joined} to {carrier}")
        narrow = {"float": "i32", "half": "i16"}.get(carrier, carrier)
        bits = value if narrow == carrier else text.op(f"bitcast {carrier} {value} to {narrow}")
        word = bits if narrow == "i32" else text.op(f"zext {narrow} {bits} to i32")
        moved = self._exchange(word, mode, lane, segment)
        back = moved if narrow == "i32" else text.op(f"trunc i32 {moved} to {narrow}")
        return back if narrow == carrier else text.op(f"bitcast {narrow} {back} to {carrier}")

    def _exchange(self, word: str, mode: str, lane: str, segment: int) -> str:
        name = f"@llvm.nvvm.shfl.sync.{mode}.i32"
        self.text.declare(f"i32 {name}(i32, i32, i32, i32)")
        return self.text.op(
            f"call i32 {name}(i32 -1, i32 {word}, i32 {lane}, i32 {(LANES - segment) << 8 | 31})"
        )
