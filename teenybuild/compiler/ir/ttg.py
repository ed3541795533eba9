"""What comes in with layouts, and is never printed as ``.mlir``: moves between lanes, shared memory, and what runs beside the program.

A *buffer* is room in shared memory for one tile or several (*stages*), each laid out as ``value.layout`` says: a
:class:`~teenybuild.compiler.layout.linear.View` from elements to their places.  Which stage an operation means is an i32, its ``stage``.

Three things run beside the program.  Copies into buffers that lanes ask for (:class:`CopyAsync`) are gathered in groups (:class:`CommitCopies`), and
:class:`WaitCopies` waits for all but the latest of those, for what the lane itself has asked for; a barrier must follow before others may read it.
Blocks of arrays that hardware copies (:class:`CopyBlocks`) arrive at a *signal*, on which all lanes wait (:class:`Await`).
A signal counts in *phases*, 0 and 1 in turn: each is over when all that was asked for has arrived, and the next begins.
Blocks go back to memory (:class:`StoreBlock`) beside the program too.  Products of four warps (:class:`GroupMma`) read buffers and write registers; :class:`WaitProducts` waits for all but the latest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from teenybuild.compiler.ir.arrays import Array
from teenybuild.compiler.ir.core import (
    EFFECT,
    PURE,
    Op,
    Operand,
    Operands,
    OptionalOperand,
    Value,
    VerifyError,
)
from teenybuild.compiler.ir.types import Buffer, Signals, Tile, Type, mask_of, shape_of, spell
from teenybuild.dtypes import i1, i32


class ConvertLayout(Op, name="ttg.convert_layout", traits=PURE):
    """The same tile, held by other lanes."""

    source: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.source.type,)


class Sealed(Op, name="ttg.sealed", traits=PURE):
    """The same i64, of which a code generator is told nothing: it would count up everything that hangs on it, each by itself."""

    source: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.source.type,)


class Mma(Op, name="ttg.mma", traits=PURE):
    """A product on tensor cores, whose operands and result lie as :mod:`~teenybuild.compiler.layout.fragments` says."""

    a: Operand
    b: Operand
    c: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.c.type,)


class Allocate(Op, name="ttg.local_alloc", traits=EFFECT):
    """A buffer, until it is freed."""

    type: Buffer

    def infer(self) -> tuple[Type, ...]:
        return (self.type,)


class Free(Op, name="ttg.local_dealloc", traits=EFFECT):
    """The end of a buffer: slower warps may still read it."""

    buffer: Operand


class Staged(Op, name="ttg.staged", traits=PURE):
    """A tile in a buffer of its own, for products that read it there. Becomes an allocation, a write, and their end (:mod:`~teenybuild.compiler.schedule`)."""

    source: Operand

    def infer(self) -> tuple[Type, ...]:
        assert isinstance(self.source.type, Tile)
        return (Buffer(1, self.source.type),)


class Viewed(Op, name="ttg.memdesc_view", traits=PURE):
    """The same buffer, its tiles in another shape."""

    buffer: Operand
    shape: tuple[int, ...]

    def infer(self) -> tuple[Type, ...]:
        type_ = self.buffer.type
        assert isinstance(type_, Buffer)
        return (Buffer(type_.stages, Tile(self.shape, type_.tile.element)),)


class Put(Op, name="ttg.local_store", traits=EFFECT):
    """Writes a tile to a buffer."""

    buffer: Operand
    stage: Operand
    value: Operand

    def verify(self) -> None:
        _check_buffer(self, self.buffer, self.stage, self.value.type)


class Get(Op, name="ttg.local_load"):
    """Reads a tile from a buffer."""

    buffer: Operand
    stage: Operand

    def infer(self) -> tuple[Type, ...]:
        assert isinstance(self.buffer.type, Buffer)
        return (self.buffer.type.tile,)


class CopyAsync(Op, name="ttg.async_copy_global_to_local", traits=EFFECT):
    """Asks for a copy of what the pointers point to, 0 where the mask is off; of nothing unless ``when``."""

    buffer: Operand
    stage: Operand
    when: Operand
    pointer: Operand
    mask: OptionalOperand = None

    def verify(self) -> None:
        _check_buffer(self, self.buffer, self.stage)
        if shape_of(self.pointer.type) != shape_of(self.buffer.type) or self.when.type != i1:
            raise VerifyError(self, f"copies {spell(self.pointer.type)} to {spell(self.buffer.type)}")
        if self.mask is not None and self.mask.type != mask_of(self.pointer.type):
            raise VerifyError(self, f"the mask is {spell(self.mask.type)}")


class CommitCopies(Op, name="ttg.async_commit_group", traits=EFFECT):
    """All copies asked for since the last commit are one group."""


class WaitCopies(Op, name="ttg.async_wait", traits=EFFECT):
    """Waits until no more than ``pending`` groups of copies are under way."""

    pending: int


class OpenSignals(Op, name="ttng.init_barrier", traits=EFFECT):
    """Signals, each in its phase 0, until they are closed."""

    count: int

    def infer(self) -> tuple[Type, ...]:
        return (Signals(self.count),)


class CloseSignals(Op, name="ttng.inval_barrier", traits=EFFECT):
    """The end of signals, which slower warps may still wait on; all that was asked for has arrived."""

    signals: Operand


class CopyBlocks(Op, name="ttng.async_tma_copy_global_to_local", traits=EFFECT):
    """Asks for copies of blocks of arrays, each to a buffer, padding where one reaches beyond its array; of nothing unless ``when``.

    Each begins at its ``corners``, which follow each other, and its elements lie next to each other along its axis of ``fastest``. All of
    them together are the next phase of the signal of their ``stage``.
    """

    buffers: Operands
    stage: Operand
    when: Operand
    signals: Operand
    corners: Operands
    arrays: tuple[Array, ...]
    fastest: tuple[int, ...]

    def verify(self) -> None:
        for buffer in self.buffers:
            _check_buffer(self, buffer, self.stage)
        if len(self.corners) != sum(len(shape_of(v.type)) for v in self.buffers) or self.when.type != i1:
            raise VerifyError(self, f"copies blocks at {len(self.corners)} offsets")

    def copies(self) -> Iterator[tuple[Value, tuple[Value, ...], Array, int]]:
        """Of each block: its buffer, its corner, its array, and the axis along which it is next to each other."""
        at = 0
        for buffer, array, fastest in zip(self.buffers, self.arrays, self.fastest, strict=True):
            rank = len(shape_of(buffer.type))
            yield buffer, self.corners[at : at + rank], array, fastest
            at += rank


class StoreBlock(Op, name="ttng.async_tma_copy_local_to_global", traits=EFFECT):
    """Writes a buffer's one tile to the block of ``array`` from ``corner`` on, as far as that reaches.

    Memory is written later, unless it has been ``written`` when this is done; the buffer is ``read``, or that is asked for too
    (:class:`WaitStores`).  With ``warps`` (for each bit of a warp's number, the element that it leads to from the first) each warp writes
    what it has put there itself; else one does it for all of them, and the buffer must have been published.
    """

    buffer: Operand
    corner: Operands
    array: Array
    fastest: int
    done: Literal["asked", "read", "written"]
    warps: tuple[int, ...] | None = None

    def verify(self) -> None:
        if len(self.corner) != len(shape_of(self.buffer.type)):
            raise VerifyError(self, f"stores {spell(self.buffer.type)} at {len(self.corner)} offsets")


class WaitStores(Op, name="ttng.async_tma_store_wait", traits=EFFECT):
    """Waits until what this warp has asked to be written has been read from its buffers."""


class Await(Op, name="ttng.wait_barrier", traits=EFFECT):
    """Waits until a phase of a signal is over (i32)."""

    signals: Operand
    which: Operand
    phase: Operand


class Publish(Op, name="ttg.publish", traits=EFFECT):
    """A barrier: what lanes wrote to shared memory before it is seen after it, by ``products`` of groups of warps too."""

    products: bool


class GroupMma(Op, name="ttg.warp_group_dot", traits=EFFECT):
    """``a @ b + c`` by groups of four warps, beside the program: ``b`` and perhaps ``a`` are buffers; the result is not there until it is waited for.

    ``stages`` are those of the operands that are buffers, in order.
    """

    a: Operand
    b: Operand
    c: Operand
    stages: Operands

    def infer(self) -> tuple[Type, ...]:
        return (self.c.type,)

    def verify(self) -> None:
        buffers = sum(isinstance(v.type, Buffer) for v in (self.a, self.b))
        if not isinstance(self.b.type, Buffer) or len(self.stages) != buffers:
            raise VerifyError(self, "a stage for each buffer")


class WaitProducts(Op, name="ttg.warp_group_dot_wait", traits=EFFECT):
    """Waits until no more than ``pending`` products are under way; ``values`` are then there, as its results."""

    values: Operands
    pending: int

    def infer(self) -> tuple[Type, ...]:
        return tuple(v.type for v in self.values)


def _check_buffer(op: Op, buffer: Operand, stage: Operand, tile: Type | None = None) -> None:
    type_ = buffer.type
    if not isinstance(type_, Buffer) or stage.type != i32 or tile not in (None, type_.tile):
        raise VerifyError(op, f"{spell(type_)} at {spell(stage.type)}")
