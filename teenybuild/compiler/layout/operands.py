"""Operands of products as the target multiplies them.

*8 bits*: where tensor cores do not take them, they are widened to f16, which holds every one of them.
*tf32*: tensor cores leave out the low 13 bits of f32 operands.  Where a product is too small for them, those bits are cleared, so that it is
the same product everywhere.  GPUs without such tensor cores multiply f32 as it is, as Triton has it.
*tf32x3*: an operand is the sum of a tf32 and what is left, and three products of the four parts are summed, the small ones first; what is
not a number in those (of an infinite operand nothing is left) is not counted.  (Triton's split and order; the idea: CUTLASS, "3xTF32".)
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir import arith, tt
from teenybuild.compiler.ir.constant import constant
from teenybuild.compiler.ir.core import Block, Function, Op, Value
from teenybuild.compiler.ir.types import dtype_of, with_element
from teenybuild.compiler.layout.assign import product_fragments
from teenybuild.compiler.layout.policy import Policy
from teenybuild.dtypes import DType, f16, f32, i32

#: The bits of an f32 that a tf32 lacks, and the highest of them alone.
_LOST, _HALF = 0x1FFF, 0x1000


@dataclass(frozen=True, slots=True)
class FitOperands:
    """The pass; see the module's text. ``tf32``: whether f32 is multiplied as tf32 where a program allows it."""

    policy: Policy
    tf32: bool
    name: str = "fit-operands"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        self._block(function.body, {})

    def _block(self, block: Block, replaced: dict[Value, Value]) -> None:
        kept: list[Op] = []
        for op in block.ops:
            op.map_operands(lambda v: replaced.get(v, v))
            for inner in op.blocks:
                self._block(inner, replaced)
            if isinstance(op, tt.Dot):
                fitted = _Fitted(op, self.policy, tf32=self.tf32)
                kept += fitted.ops
                replaced[op.result] = fitted.result
            else:
                kept.append(op)
        block.ops = kept


class _Fitted:
    """One product, written anew: its operations and its result."""

    def __init__(self, op: tt.Dot, policy: Policy, *, tf32: bool) -> None:
        self.ops: list[Op] = []
        self._like = op
        self._policy = policy
        source = dtype_of(op.a.type)
        if source.is_fp8:
            self.result = self._of_8_bits(op)
        elif source != f32 or op.precision == "ieee" or not tf32:
            self.result = self._add(tt.Dot(op.a, op.b, op.c))
        elif op.precision == "tf32":
            self.result = self._tf32(op.a, op.b, op.c)
        else:
            self.result = self._three(op)

    def _add(self, op: Op) -> Value:
        op.at(self._like.location)
        self.ops.append(op)
        return op.results[0]

    def _number(self, value: float, like: Value, kind: DType) -> Value:
        return self._add(constant(value, with_element(like.type, kind)))

    def _of_8_bits(self, op: tt.Dot) -> Value:
        a, b = op.a, op.b
        if product_fragments(op, self._policy) is None:
            a, b = (self._add(arith.ExtF(v, f16)) for v in (a, b))
        return self._add(tt.Dot(a, b, op.c))

    def _tf32(self, a: Value, b: Value, c: Value) -> Value:
        dot = tt.Dot(a, b, c, "tf32")
        if product_fragments(dot, self._policy) is None:
            dot = tt.Dot(self._cut(a), self._cut(b), c)
        return self._add(dot)

    def _bits(self, value: Value) -> Value:
        return self._add(tt.Bitcast(value, i32))

    def _cleared(self, bits: Value) -> Value:
        return self._add(tt.Bitcast(self._add(arith.AndI(bits, self._number(~_LOST, bits, i32))), f32))

    def _cut(self, value: Value) -> Value:
        return self._cleared(self._bits(value))

    def _nearest(self, value: Value) -> Value:
        """The nearest tf32, of two the one farther from zero; NaN stays what it is (PTX ISA, ``cvt.rna.tf32.f32``)."""
        bits = self._bits(value)
        rounded = self._cleared(self._add(arith.AddI(bits, self._number(_HALF, bits, i32))))
        number = self._add(arith.CmpF("oeq", value, value))
        return self._add(arith.Select(number, rounded, value))

    def _three(self, op: tt.Dot) -> Value:
        a, b = self._nearest(op.a), self._nearest(op.b)
        a_left, b_left = (self._add(arith.SubF(v, near)) for v, near in ((op.a, a), (op.b, b)))
        zero = self._number(0, op.c, f32)
        small = self._tf32(a, b_left, self._tf32(a_left, b, zero))
        number = self._add(arith.CmpF("oeq", small, small))
        total = self._tf32(a, b, self._add(arith.Select(number, small, zero)))
        return self._add(arith.AddF(total, op.c))
