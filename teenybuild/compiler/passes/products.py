"""Both halves of a product from one multiplication, where a program wants both: random numbers are made of such pairs.

A GPU has one instruction for that, and assemblers do not find it in two.  (Philox: 432 instructions for 8 numbers instead of 536.)
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir.arith import ExtUI, MulI, ShRUI, TruncI
from teenybuild.compiler.ir.constant import constant
from teenybuild.compiler.ir.core import Block, Function, Op, Value
from teenybuild.compiler.ir.tt import MulhiUI
from teenybuild.compiler.ir.types import dtype_of, with_element
from teenybuild.dtypes import i32, i64


@dataclass(frozen=True, slots=True)
class JoinProducts:
    """The pass; see the module's text."""

    name: str = "join-products"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        _block(function.body, {})


def _block(block: Block, replaced: dict[Value, Value]) -> None:
    halves: dict[frozenset[Value], dict[type[Op], Op]] = {}
    for op in block.ops:
        if isinstance(op, MulI | MulhiUI) and dtype_of(op.results[0].type) == i32:
            halves.setdefault(frozenset(op.operands), {})[type(op)] = op
    pairs = {op: both for both in halves.values() if len(both) == 2 for op in both.values()}
    kept: list[Op] = []
    for op in block.ops:
        op.map_operands(lambda v: replaced.get(v, v))
        for inner in op.blocks:
            _block(inner, replaced)
        both = pairs.get(op)
        if both is None:
            kept.append(op)
        elif op.results[0] not in replaced:
            kept += _joined(op, both, replaced)
    block.ops = kept


def _joined(first: Op, both: dict[type[Op], Op], replaced: dict[Value, Value]) -> list[Op]:
    """One wide product in the place of the ``first`` of two."""
    low, high = both[MulI], both[MulhiUI]
    a, b = (ExtUI(value, i64) for value in first.operands)
    product = MulI(a.results[0], b.results[0])
    half = constant(32, with_element(low.results[0].type, i64))
    upper = ShRUI(product.results[0], half.results[0])
    ends = TruncI(product.results[0], i32), TruncI(upper.results[0], i32)
    made: list[Op] = [a, b, product, half, upper, *ends]
    for op in made:
        op.at(first.location)
    replaced[low.results[0]], replaced[high.results[0]] = (end.results[0] for end in ends)
    return made
