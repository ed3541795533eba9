"""What lowering asks of a target. Rules are written against this; no rule knows which machine it is for.

A program's *uniform* values (scalars, loop bounds) are the same in every lane.  A *tile* lives in the registers of many lanes.  Rules that
stay within a lane run inside a :class:`Lane`; where lanes meet, a rule works on :class:`Held` tiles, between lanes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from teenybuild.compiler.ir.core import Op, Value
from teenybuild.compiler.ir.tt import Cache, Dot, Eviction, InlineAsm, Ordering, Rmw, Scope
from teenybuild.compiler.ir.ttg import CopyAsync, CopyBlocks, GroupMma, Mma, StoreBlock, WaitProducts
from teenybuild.compiler.ir.types import Element
from teenybuild.compiler.layout.buffers import Matrix
from teenybuild.compiler.layout.fragments import GroupPart, Step
from teenybuild.compiler.layout.linear import Layout, View
from teenybuild.compiler.layout.policy import Policy
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.text import Text
from teenybuild.dtypes import DType

if TYPE_CHECKING:
    from teenybuild.compiler.lower.blocks import TensorMap
    from teenybuild.compiler.lower.reports import Report

#: Registers of one lane, one sequence a tile.
LaneRegisters = Sequence[Sequence[str]]
#: Combines two sets of scalars, one of each source of a reduction.
Combine = Callable[[Lane, Sequence[str], Sequence[str]], list[str]]
Extremum = Literal["maxnum", "minnum", "maximum", "minimum"]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A tile held by all lanes between two steps: what it is made of is the machine's business."""

    element: Element
    count: int
    state: object


@dataclass(frozen=True, slots=True)
class Access:
    """How a group of neighbouring elements is read or written at once.

    ``count`` elements of ``element`` from one address, which is a multiple of ``alignment`` bytes.  ``run`` is the number of neighbouring
    lanes whose addresses follow each other; ``uniform`` of those have one mask.  ``cache`` and ``eviction`` are hints.
    """

    element: DType
    count: int
    alignment: int
    run: int
    uniform: int
    cache: Cache = ""
    eviction: Eviction = ""
    volatile: bool = False
    #: Whose access it is.
    op: Op | None = None


@dataclass(frozen=True, slots=True)
class Room:
    """Where a buffer lies: bytes from the start of shared memory, and of all of it."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class SharedOperand:
    """An operand of a product, in shared memory.

    It starts at ``room`` + ``stage`` (an i32 in bytes; empty for none); each group of warps at the XOR of ``groups`` for the bits of its
    number, and each step at its byte of ``starts``, beyond that.
    """

    matrix: Matrix
    room: Room
    stage: str
    groups: tuple[int, ...]
    starts: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class GroupProduct:
    """How groups of four warps multiply: ``a`` is None where it is in registers."""

    a: SharedOperand | None
    b: SharedOperand
    parts: Sequence[GroupPart]


@dataclass(frozen=True, slots=True)
class Atomic:
    """An atomic step: ``kind`` as in :class:`~teenybuild.compiler.ir.tt.AtomicRmw`, or ``cas``."""

    kind: Rmw | Literal["cas"]
    element: DType
    ordering: Ordering
    scope: Scope
    #: Whose step it is.
    op: Op | None = None


class Carry(Protocol):
    """What a loop carries, while its text is written from top to bottom."""

    def enter(self, before: str) -> None:
        """At the loop's head; ``before`` is the block that leads there."""

    def name(self, values: Sequence[Value]) -> None:
        """Other names, in the loop, for what it carries."""

    def again(self, values: Sequence[Value]) -> None:
        """At the end of the body: the values of the next turn."""

    def close(self, latch: str) -> None:
        """``latch`` is the block that leads back to the head."""

    def leave(self, results: Sequence[Value]) -> None:
        """After the loop: what it carries is its results."""


class Join(Protocol):
    """What the two ways through a branch give."""

    def give(self, values: Sequence[Value]) -> None:
        """At the end of one way."""

    def take(self) -> None:
        """Where the ways meet again."""


class Machine(ABC):
    """A target, while one function is lowered for it."""

    text: Text
    policy: Policy
    #: Where buffers lie.
    buffers: dict[Value, Room]
    #: For scalars.
    uniform: Lane
    #: Whether warps read matrices from shared memory at once, and write them.
    reads_matrices: bool = False
    writes_matrices: bool = False

    # Representation -------------------------------------------------------------------------------------------

    @abstractmethod
    def carrier(self, element: Element) -> str:
        """The LLVM type that holds one element."""

    @abstractmethod
    def registers(self, lane: Lane, value: Value) -> Sequence[str]:
        """The registers of a value in a lane."""

    @abstractmethod
    def scalar(self, value: Value) -> str:
        """The SSA name of a uniform value."""

    @abstractmethod
    def set_scalar(self, value: Value, name: str) -> None:
        """Names a uniform value."""

    # Order of work --------------------------------------------------------------------------------------------

    @abstractmethod
    def local(self, op: Op, rule: Callable[[Lane], LaneRegisters]) -> None:
        """``op`` stays within each lane: ``rule`` gives the registers of each of its results."""

    def together(self, op: Op) -> bool:
        """Does an elementwise ``op`` on several registers of a lane at once; False, and nothing, where there are no instructions for that."""
        return False

    @abstractmethod
    def lazy(self, op: Op, rule: Callable[[Lane, int], str]) -> None:
        """``op`` is cheap and pure: ``rule`` gives one register of its result, and runs where and when it is needed."""

    @abstractmethod
    def meet(self) -> None:
        """What follows is not within a lane: everything before it is done first."""

    @abstractmethod
    def each_lane(
        self,
        elements: Sequence[Element],
        rule: Callable[[Lane], LaneRegisters],
        threads: int,
        reads: Sequence[Value] = (),
    ) -> list[Held]:
        """Runs ``rule`` in every one of ``threads`` lanes, after everything before it; what it gives is held until someone asks.

        ``reads`` are the program's values that it asks for.
        """

    @abstractmethod
    def read(self, lane: Lane, held: Held) -> list[str]:
        """The registers of a held tile in a lane."""

    @abstractmethod
    def bind(self, value: Value, held: Held) -> None:
        """A held tile becomes a value of the program; a scalar is taken from any lane."""

    @abstractmethod
    def view(self, op: Op, view: View, rule: Callable[[Lane, int], str]) -> None:
        """``op`` reads its source through ``view``. ``rule`` gives a register where that stays within the lane."""

    @abstractmethod
    def carry(self, args: Sequence[Value], initial: Sequence[Value]) -> Carry:
        """The values a loop carries."""

    @abstractmethod
    def join(self, results: Sequence[Value]) -> Join:
        """The results of a branch."""

    @abstractmethod
    def count_loop(
        self,
        lane: Lane,
        count: int,
        type_: str,
        start: Sequence[str],
        turn: Callable[[str, Sequence[str]], list[str]],
    ) -> list[str]:
        """``for i in range(count)`` within a lane: ``turn(i, values)`` gives the next values, all of LLVM type ``type_``."""

    @abstractmethod
    def exchange(self, op: Op, register: int, lane: int) -> None:
        """Each register of ``op``'s result is its source's whose number differs in the bits ``register``, of the lane whose number differs in ``lane``."""

    @abstractmethod
    def whole(self, value: Value) -> Callable[[Lane, str], str] | None:
        """Reads an element of a tile by its index (row-major, i32), where the machine holds it in one place that all lanes see; else None."""

    @abstractmethod
    def whole_dot(self, op: Dot) -> bool:
        """Lowers a product of whole tiles in the machine's own way; False where it has none."""

    @abstractmethod
    def multiply_group(self, op: GroupMma, product: GroupProduct) -> None:
        """Begins a product of groups of four warps."""

    @abstractmethod
    def wait_products(self, op: WaitProducts) -> None:
        """Waits until no more than ``op.pending`` of them are under way."""

    @abstractmethod
    def multiply(self, op: Mma, steps: Sequence[Step]) -> None:
        """A product on tensor cores: ``steps`` one after the other in every lane."""

    # Where a lane stands --------------------------------------------------------------------------------------

    @abstractmethod
    def thread(self, lane: Lane) -> str:
        """The lane's number within the program, i32."""

    @abstractmethod
    def coordinate(self, lane: Lane, layout: Layout, axis: int) -> str:
        """Where register 0 of the lane lies along ``axis``, i32; other registers differ by a constant XOR."""

    def sealed(self, value: str) -> str:
        """The same i64, whose origin the code generator does not know."""
        return value

    @abstractmethod
    def program_id(self, axis: str) -> str:
        """The program's coordinate, i32."""

    @abstractmethod
    def num_programs(self, axis: str) -> str:
        """The grid's extent, i32."""

    # Memory ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def load(
        self,
        lane: Lane,
        access: Access,
        pointer: str,
        offset: int,
        mask: str | None,
        other: Sequence[str] | None,
    ) -> Sequence[str]:
        """Reads ``access.count`` neighbours at ``pointer`` + ``offset`` bytes; masked-off lanes touch nothing and get ``other``, or 0."""

    @abstractmethod
    def store(
        self, lane: Lane, access: Access, pointer: str, offset: int, mask: str | None, values: Sequence[str]
    ) -> None:
        """Writes ``access.count`` neighbours; masked-off lanes touch nothing."""

    @abstractmethod
    def store_once(self, access: Access, pointer: str, mask: str | None, value: str) -> None:
        """Writes a uniform value, by one lane."""

    @abstractmethod
    def lacks(self, how: Atomic) -> str | None:
        """Why the target has no such atomic step; None where it has."""

    @abstractmethod
    def atomic(self, lane: Lane, how: Atomic, pointer: str, mask: str | None, operands: Sequence[str]) -> str:
        """One atomic step a lane: what was there; masked-off lanes touch nothing and get 0."""

    @abstractmethod
    def atomic_once(
        self, how: Atomic, pointer: str, mask: str | None, operands: Sequence[str], used: bool
    ) -> str:
        """One atomic step of the whole program, by one lane; what was there, for all lanes if it is ``used``."""

    @abstractmethod
    def shared(self, size: int, alignment: int) -> int:
        """Sets aside ``size`` bytes that all lanes share, for one operation; the offset of the first."""

    @abstractmethod
    def shared_store(
        self, lane: Lane, element: Element, address: str, values: Sequence[str], mask: str | None
    ) -> None:
        """Writes neighbours at a byte offset (i32) of shared memory."""

    @abstractmethod
    def shared_load(self, lane: Lane, element: Element, address: str, count: int) -> list[str]:
        """Reads neighbours at a byte offset (i32) of shared memory."""

    def load_matrices(self, element: DType, address: str, count: int, turned: bool) -> list[Sequence[str]]:
        """Reads a word of each of ``count`` matrices (:mod:`~teenybuild.compiler.layout.matrices`), a row of which is at ``address`` (i32)."""
        raise NotImplementedError("where reads_matrices is True")

    def store_matrices(
        self, element: DType, address: str, words: Sequence[Sequence[str]], turned: bool
    ) -> None:
        """Writes a word of each matrix."""
        raise NotImplementedError("where writes_matrices is True")

    @abstractmethod
    def shared_count(self, lane: Lane, address: str, mask: str) -> None:
        """Adds one to the i32 at a byte offset (i32) of shared memory where the mask holds; lanes may meet at one."""

    @abstractmethod
    def hold_shared(self, size: int, alignment: int) -> int:
        """Sets aside ``size`` bytes of shared memory until they are released; the offset of the first."""

    @abstractmethod
    def release(self, offset: int) -> None:
        """What was held from ``offset`` on may be used otherwise, after a barrier."""

    def begin_copy(self, op: CopyAsync) -> None:
        """The copies of a tile are going to be asked for."""
        return

    @abstractmethod
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
        """Asks for a copy of ``access.count`` neighbours at ``pointer`` + ``offset`` to ``address`` (i32) of shared memory, or of zeros if masked off.

        Of nothing unless ``when``, which is uniform.
        """

    @abstractmethod
    def commit_copies(self) -> None:
        """What was asked for since the last commit is a group."""

    @abstractmethod
    def wait_copies(self, pending: int) -> None:
        """Waits until no more than ``pending`` groups are under way."""

    @abstractmethod
    def open_signals(self, offset: int, count: int) -> None:
        """``count`` signals at a byte of shared memory begin, and all lanes may use them."""

    @abstractmethod
    def close_signals(self, offset: int, count: int) -> None:
        """They end; no lane waits for one."""

    @abstractmethod
    def once(self, when: str, rule: Callable[[], None]) -> None:
        """Does what hardware is asked for once for all lanes, if ``when`` (i1)."""

    @abstractmethod
    def expect(self, signal: str, bytes_: int) -> None:
        """In its next phase so many bytes arrive; a signal is where it lies in shared memory, i32."""

    @abstractmethod
    def copy_block(
        self, op: CopyBlocks, buffer: Value, map_: TensorMap, corner: Sequence[str], address: str, signal: str
    ) -> None:
        """Asks for a copy of a block, whose offsets ``corner`` are in the order of the map's axes, to ``address`` (i32) of shared memory."""

    @abstractmethod
    def store_block(self, op: StoreBlock, map_: TensorMap, corner: Sequence[str], address: str) -> None:
        """Writes a block from ``address`` (i32) of shared memory; see the operation."""

    @abstractmethod
    def wait_stores(self) -> None:
        """Until blocks that this warp has asked to be written have been read; then all its lanes may write there."""

    @abstractmethod
    def await_signal(self, signal: str, phase: str) -> None:
        """Waits until a phase (i32) of a signal is over."""

    @abstractmethod
    def publish(self, products: bool) -> None:
        """A barrier, after which ``products`` of groups of warps see what lanes wrote to shared memory."""

    @abstractmethod
    def barrier(self, writing: tuple[int, int] | None = None) -> None:
        """All lanes' accesses to shared memory before this come before all after it.

        ``writing``: (offset, bytes) set aside before the last barrier and written since.
        """

    # Reports --------------------------------------------------------------------------------------------------

    @abstractmethod
    def tell(self, report: Report) -> None:
        """Shows the values of a report to whoever launched the program."""

    @abstractmethod
    def stop_unless(self, report: Report) -> None:
        """Ends the program, and reports, where the report's one value does not hold everywhere."""

    # Between lanes --------------------------------------------------------------------------------------------

    @abstractmethod
    def fold_lanes(
        self, helds: list[Held], bits: Sequence[int], layout: Layout, combine: Combine
    ) -> list[Held]:
        """Combines lanes that differ in ``bits`` of the lane number, one bit after the other; all of them get the result.

        Where the policy compacts reduced tiles, the lanes that are left move together.
        """

    @abstractmethod
    def read_lane(self, lane: Lane, held: Held, register: int, cleared: int, put: int) -> str:
        """A register of the lane whose number is the lane's own without the bits ``cleared``, and with the bits ``put``."""

    # What instructions there are ------------------------------------------------------------------------------

    @abstractmethod
    def narrow(self, lane: Lane, value: str, source: DType, to: DType) -> str:
        """A float rounded to a narrower one, to nearest even."""

    @abstractmethod
    def widen(self, lane: Lane, value: str, source: DType, to: DType) -> str:
        """A float as a wider one."""

    @abstractmethod
    def truncate(self, lane: Lane, value: str, source: DType, bits: int, signed: bool) -> str:
        """A float toward zero, as an integer of 32 or 64 bits: the nearest there is if it is out of range, 0 for NaN."""

    @abstractmethod
    def extremum(self, lane: Lane, which: Extremum, dtype: DType, a: str, b: str) -> str:
        """The larger or smaller of two floats; -0.0 is below 0.0; ``*num`` ignore a NaN, the others give it."""

    @abstractmethod
    def divide(self, lane: Lane, opcode: str, dtype: DType, a: str, b: str) -> str:
        """Integer division or remainder (``sdiv``, ``udiv``, ``srem``, ``urem``); never traps."""

    @abstractmethod
    def assemble(self, lane: Lane, op: InlineAsm, operands: Sequence[Sequence[str]]) -> list[list[str]]:
        """One piece of assembly on ``op.pack`` registers of each operand: so many of each result.

        Raises a user's error where the machine has no such assembly.
        """

    @abstractmethod
    def approximate(self, lane: Lane, function: str, operands: Sequence[str]) -> str | None:
        """The machine's own f32 instruction for ``exp2`` (``exp2.ftz``: subnormal operands and results may be taken for 0, as Triton has it), ``log2``, ``sin``, ``cos``, ``sqrt``, ``rsqrt`` or ``div``; None where it has none."""
