"""Pointers that a loop moves along stay where they were, and what they have moved by is one number.

``for k in …: x = tl.load(a); a += BLOCK`` carries a pointer for each of a lane's rows from turn to turn.  Assemblers then let a turn's copies wait
for each other: a copy's registers are wanted for the next turn's pointers, and must have been read before.  Written anew, the loop carries an
offset, and each turn adds it to the pointers that came in, in registers that nothing else wants.
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir import arith, scf, tt, ttg
from teenybuild.compiler.ir.constant import Constant, constant_of
from teenybuild.compiler.ir.core import Block, Function, Op, Value
from teenybuild.compiler.ir.types import Pointer, Tile, dtype_of, element, shape_of
from teenybuild.dtypes import i64


@dataclass(frozen=True, slots=True)
class AnchorPointers:
    """Of tiles of pointers, all of which a loop moves by the same number of elements a turn."""

    name: str = "anchor-pointers"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        _block(function.body, {})


def _block(block: Block, replaced: dict[Value, Value]) -> None:
    ops: list[Op] = []
    for op in block.ops:
        op.map_operands(lambda v: replaced.get(v, v))
        around = _Anchored(op, replaced) if isinstance(op, scf.For) else None
        for inner in op.blocks:
            _block(inner, replaced)
        ops += [op] if around is None else [*around.before, op, *around.after]
    block.ops = ops


class _Anchored:
    """One loop, rewritten in place; ``replaced`` gets what stands for its pointers within and behind it."""

    def __init__(self, loop: scf.For, replaced: dict[Value, Value]) -> None:
        self._loop = loop
        self.before: list[Op] = []
        self.after: list[Op] = []
        start: list[Op] = []
        end: list[Op] = []
        last = loop.body.terminator
        initial, args, results = list(loop.initial), loop.body.args, list(loop.results)
        yielded = list(last.operands)
        for i, each in enumerate(loop.carried):
            by = _moved_by(each)
            if by is None:
                continue
            offset, passed = Value(i64), Value(i64, loop)
            sealed = self._add(start, ttg.Sealed(offset))
            replaced[args[1 + i]] = self._moved(start, each.initial, sealed)
            replaced[results[i]] = self._moved(self.after, each.initial, passed)
            initial[i] = self._add(self.before, Constant(0, i64))
            yielded[i] = self._add(end, arith.AddI(offset, self._step(end, by)))
            args[1 + i], results[i] = offset, passed
        if self.before:
            loop.initial = tuple(initial)
            loop.set_results(results)
            end.append(scf.Yield(tuple(yielded)).at(last.location))
            loop.body.ops = [*start, *loop.body.ops[:-1], *end]

    def _add(self, ops: list[Op], op: Op) -> Value:
        ops.append(op.at(self._loop.location))
        return op.results[0]

    def _moved(self, ops: list[Op], pointer: Value, offset: Value) -> Value:
        splat = tt.Splat(offset, Tile(shape_of(pointer.type), i64))
        return self._add(ops, tt.AddPtr(pointer, self._add(ops, splat)))

    def _step(self, ops: list[Op], by: Value | int) -> Value:
        if isinstance(by, int):
            return self._add(ops, Constant(by, i64))
        return by if dtype_of(by.type) == i64 else self._add(ops, arith.ExtSI(by, i64))


def _moved_by(carried: scf.Carried) -> Value | int | None:
    """How many elements a turn moves all of a tile's pointers by; None where it does something else."""
    move = carried.yielded.op
    if not isinstance(carried.initial.type, Tile) or not isinstance(element(carried.initial.type), Pointer):
        return None
    if not isinstance(move, tt.AddPtr) or move.pointer is not carried.args[0]:
        return None
    known = constant_of(move.offset)
    if known is not None:
        return int(known)
    return move.offset.op.source if isinstance(move.offset.op, tt.Splat) else None
