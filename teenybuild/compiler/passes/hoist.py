"""Loads before lanes meet: what a reduction does not decide is asked for before it, and arrives while lanes wait for each other.

A layer norm reads its weights after two reductions, though their addresses are known from the start.  Moved up, their latency hides behind
the reductions'.  A value that waits costs registers, so only small ones are moved.
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import Block, Function, Op, Value, is_pure
from teenybuild.compiler.ir.types import dtype_of, numel

#: Bytes a lane may hold of loads moved up past one meeting point, and of one load of narrow elements: those widen when they are used, and a
#: kernel that streams them needs its lanes in greater number. Measured on an H200 (``benchmarks/notes.md``).
MOST_WAITING = 128
MOST_NARROW = 16


@dataclass(frozen=True, slots=True)
class HoistLoads:
    """Moves loads up past reductions and products; ``threads`` share a tile's elements."""

    threads: int
    name: str = "hoist-loads"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        self._block(function.body)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if not isinstance(op, tt.Combining):
                for inner in op.blocks:
                    self._block(inner)
        first = next((i for i, op in enumerate(block.ops) if isinstance(op, tt.Combining | tt.Dot)), None)
        if first is None:
            return
        late = block.ops[first:]
        movable: set[Value] = set()
        fixed: set[Value] = {v for op in late for v in op.results}
        moved: dict[Op, None] = {}
        waiting = 0
        for op in late:
            if op.has_effect:
                break
            if any(v in fixed and v not in movable for v in op.operands):
                continue
            if is_pure(op) and not op.blocks:
                movable.update(op.results)
            elif isinstance(op, tt.Load):
                size = dtype_of(op.result.type).size
                bytes_ = -(-numel(op.result.type) // self.threads) * size
                if waiting + bytes_ <= (
                    MOST_WAITING if size >= 4 else min(MOST_WAITING, waiting + MOST_NARROW)
                ):
                    waiting += bytes_
                    self._take(op, moved, movable)
        if moved:
            rest = [op for op in late if op not in moved]
            block.ops = [*block.ops[:first], *moved, *rest]

    def _take(self, op: Op, moved: dict[Op, None], movable: set[Value]) -> None:
        """Marks an operation and what it is computed from, operands first."""
        for value in op.operands:
            if value in movable and value.op is not None and value.op not in moved:
                self._take(value.op, moved, movable)
        moved[op] = None
        movable.discard(op.results[0])
