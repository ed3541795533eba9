"""Joins, splits and gathers by a known pattern become views and exchanges, which layouts know how to read in place.

A join is a choice between two views, a split is two views.  A gather whose index is the position itself with some bits flipped
(``x[i ^ 4]``, ``x[n - 1 - i]``: the steps of a sort, a tile turned round) moves whole registers, lanes or warps: no index has to be read.
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir import arith, tt
from teenybuild.compiler.ir.constant import constant, constant_of
from teenybuild.compiler.ir.core import Block, Function, Op, Value
from teenybuild.compiler.ir.moves import Exchange, Half, Twice
from teenybuild.compiler.ir.types import mask_of, shape_of, with_shape
from teenybuild.dtypes import i1


@dataclass(frozen=True, slots=True)
class Rearrange:
    """The pass; see the module's text."""

    name: str = "rearrange"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        _block(function.body, {})


def _block(block: Block, replaced: dict[Value, Value]) -> None:
    kept: list[Op] = []
    for op in block.ops:
        op.map_operands(lambda v: replaced.get(v, v))
        for inner in op.blocks:
            _block(inner, replaced)
        new, values = _rearranged(op)
        if values:
            replaced.update(zip(op.results, values, strict=True))
        for made in new:
            made.at(op.location)
        kept += new
    block.ops = kept


def _rearranged(op: Op) -> tuple[list[Op], list[Value]]:
    """The operations in its place, and what its results are then; itself, and nothing, where it stays."""
    match op:
        case tt.Join():
            return _join(op)
        case tt.Split():
            halves = [Half(op.source, result.type, side) for side, result in enumerate(op.results)]
            return [*halves], [half.result for half in halves]
        case tt.Gather():
            return _gather(op)
        case _:
            return [op], []


def _join(op: tt.Join) -> tuple[list[Op], list[Value]]:
    result = op.results[0].type
    shape = shape_of(result)
    place = tt.MakeRange(0, 2)
    second = arith.CmpI("ne", place.result, (zero := constant(0, place.result.type)).result)
    line = tt.Reshape(second.result, with_shape(i1, (*[1] * (len(shape) - 1), 2)))
    chosen = tt.Broadcast(line.result, mask_of(result))
    a, b = Twice(op.lhs, result), Twice(op.rhs, result)
    joined = arith.Select(chosen.result, b.result, a.result)
    return [place, zero, second, line, chosen, a, b, joined], [joined.result]


def _gather(op: tt.Gather) -> tuple[list[Op], list[Value]]:
    same = shape_of(op.index.type) == shape_of(op.source.type)
    flip = flipped(op.index, op.axis) if same else None
    if flip is None:
        return [op], []
    if not flip:
        return [], [op.source]
    exchange = Exchange(op.source, op.axis, flip)
    return [exchange], [exchange.result]


def flipped(index: Value, axis: int) -> int | None:
    """The bits ``f`` for which every element of ``index`` is its own position along ``axis``, XOR ``f``; None where it may be another."""
    op, side = index.op, shape_of(index.type)[axis]
    match op:
        case tt.MakeRange(start=0):
            return 0
        case tt.ExpandDims() if op.axis != axis:
            return flipped(op.source, axis - (op.axis < axis))
        case tt.Broadcast() if shape_of(op.source.type)[axis] == side:
            return flipped(op.source, axis)
        case arith.ExtSI() | arith.ExtUI():
            return flipped(op.source, axis)
        case arith.XOrI():
            value, bits = flipped(op.lhs, axis), constant_of(op.rhs)
        case arith.SubI() if constant_of(op.lhs) == side - 1:
            # side - 1 - i has every bit of i flipped.
            value, bits = flipped(op.rhs, axis), side - 1
        case _:
            return None
    if value is None or not isinstance(bits, int) or not 0 <= bits < side:
        return None
    return value ^ bits
