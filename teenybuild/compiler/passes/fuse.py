"""Multiply and add, rounded once: decided here, in tile IR, so that the host and every GPU round alike.

Back ends get explicit ``fma``, ``mul`` and ``add``, and contract nothing themselves: not a product of ours, that is.  The one
inside a GPU's approximate division ptxas may contract with a sum that follows.
Only f32 and f64 are fused: f16 and bf16 arithmetic rounds after every operation.
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir.arith import AddF, MulF, SubF
from teenybuild.compiler.ir.constant import constant
from teenybuild.compiler.ir.core import Block, Function, Op, Value, walk
from teenybuild.compiler.ir.math import Fma
from teenybuild.compiler.ir.types import dtype_of


@dataclass(frozen=True, slots=True)
class FuseMultiplyAdd:
    """``a * b + c`` becomes one ``math.fma`` where the product has no other use."""

    name: str = "fuse-multiply-add"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        uses: dict[Value, int] = {}
        for op in walk(function.body):
            for value in op.operands:
                uses[value] = uses.get(value, 0) + 1
        _block(function.body, uses, {})


def _product(value: Value, uses: dict[Value, int], here: set[Op]) -> MulF | None:
    op = value.op
    if isinstance(op, MulF) and uses[value] == 1 and op in here and dtype_of(value.type).bits >= 32:
        return op
    return None


def _block(block: Block, uses: dict[Value, int], replaced: dict[Value, Value]) -> None:
    here: set[Op] = set()
    kept: list[Op] = []

    def now(value: Value) -> Value:
        return replaced.get(value, value)

    for op in block.ops:
        op.map_operands(now)
        fused = _fuse(op, uses, here)
        if fused:
            for new in fused:
                new.at(op.location)
            kept.extend(fused)
            replaced[op.results[0]] = fused[-1].results[0]
            uses[fused[-1].results[0]] = uses.get(op.results[0], 0)
        else:
            here.add(op)
            kept.append(op)
        for inner in op.blocks:
            _block(inner, uses, replaced)
    dead = {op.results[0] for op in here if isinstance(op, MulF)} - {
        v for op in kept for v in _all_operands(op)
    }
    block.ops = [op for op in kept if not (isinstance(op, MulF) and op.results[0] in dead)]


def _all_operands(op: Op) -> list[Value]:
    found = op.operands
    for inner in op.blocks:
        for nested in walk(inner):
            found.extend(nested.operands)
    return found


def _fuse(op: Op, uses: dict[Value, int], here: set[Op]) -> list[Op]:
    if isinstance(op, AddF):
        for product, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            found = _product(product, uses, here)
            if found is not None:
                return [Fma(found.lhs, found.rhs, other)]
    if isinstance(op, SubF):
        found = _product(op.lhs, uses, here)
        if found is not None:
            minus, negated = _negated(op.rhs)
            return [*minus, Fma(found.lhs, found.rhs, negated)]
        found = _product(op.rhs, uses, here)
        if found is not None:
            minus, negated = _negated(found.lhs)
            return [*minus, Fma(negated, found.rhs, op.lhs)]
    return []


def _negated(value: Value) -> tuple[list[Op], Value]:
    """``-value``, exactly: ``-0.0 - value`` flips the sign of everything, zeros too."""
    zero = constant(-0.0, value.type)
    minus = SubF(zero.results[0], value)
    return [zero, minus], minus.results[0]
