"""Scalars that all lanes read, and one lane writes: everyone has read before it is written.

A scalar is read by every lane of a GPU, and written, or changed in one atomic step, by the first.  Warps that are late would read what that
lane has left, and go another way than the others: ``if tl.load(count) == 0: tl.store(count, 1)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import Block, Function, Op, walk
from teenybuild.compiler.ir.types import Tile
from teenybuild.compiler.passes.access import accesses

_Write = tt.Store | tt.AtomicRmw | tt.AtomicCas


@dataclass(frozen=True, slots=True)
class OrderScalars:
    """A barrier before each write of a scalar through an argument that scalars are read through, or where either may be anywhere."""

    name: str = "order-scalars"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        if not any(isinstance(op, tt.Load) and _is_scalar(op) for op in walk(function.body)):
            return  # as most kernels are: where pointers come from need not be known
        read: set[str | None] = set()
        written: dict[Op, set[str | None]] = {}
        for argument, op, _ in accesses(function):
            if isinstance(op, tt.Load) and _is_scalar(op):
                read.add(argument)
            elif isinstance(op, _Write) and _is_scalar(op):
                written.setdefault(op, set()).add(argument)
        late = {
            op
            for op, arguments in written.items()
            if read and (arguments & read or None in arguments or None in read)
        }
        if late:
            _place(function.body, late)


def _is_scalar(op: tt.Load | _Write) -> bool:
    return not isinstance(op.pointer.type, Tile)


def _place(block: Block, late: set[Op]) -> None:
    kept: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            _place(inner, late)
        if op in late:
            kept.append(tt.Barrier().at(op.location))
        kept.append(op)
    block.ops = kept
