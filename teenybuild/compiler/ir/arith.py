"""Arithmetic, comparisons and casts: MLIR's ``arith`` dialect, as far as kernels use it."""

from __future__ import annotations

from typing import Literal

from teenybuild.compiler.ir import fold
from teenybuild.compiler.ir.constant import constant_of
from teenybuild.compiler.ir.core import (
    COMMUTES,
    ELEMENTWISE,
    PURE,
    Names,
    Op,
    Operand,
    Value,
    VerifyError,
)
from teenybuild.compiler.ir.types import (
    Pointer,
    Tile,
    Type,
    element,
    mask_of,
    shape_of,
    spell,
    with_element,
)
from teenybuild.dtypes import DType

_EACH = PURE | ELEMENTWISE


class Binary(Op):
    """``lhs op rhs`` on equal types."""

    lhs: Operand
    rhs: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.lhs.type,)

    def verify(self) -> None:
        if self.lhs.type != self.rhs.type:
            raise VerifyError(self, f"operands differ: {spell(self.lhs.type)} and {spell(self.rhs.type)}")
        found = element(self.lhs.type)
        if isinstance(found, Pointer) or found.is_float != isinstance(self, FloatBinary):
            raise VerifyError(self, f"is not for {spell(self.lhs.type)}")

    def fold(self) -> fold.Folded:
        return fold.binary(self.name, self.lhs, self.rhs)


class FloatBinary(Binary):
    """Binary operations on floats."""


class IntBinary(Binary):
    """Binary operations on integers and i1; overflow wraps."""


class AddF(FloatBinary, name="arith.addf", traits=_EACH | COMMUTES): ...


class SubF(FloatBinary, name="arith.subf", traits=_EACH): ...


class MulF(FloatBinary, name="arith.mulf", traits=_EACH | COMMUTES): ...


class DivF(FloatBinary, name="arith.divf", traits=_EACH):
    """Triton's ``/``: on a GPU, f32 may be off by 2 ULP (``div.full``), as in Triton."""


class RemF(FloatBinary, name="arith.remf", traits=_EACH):
    """C's fmod: the result has the dividend's sign."""


class MaxNumF(FloatBinary, name="arith.maxnumf", traits=_EACH | COMMUTES):
    """The larger; a NaN loses to a number."""


class MinNumF(FloatBinary, name="arith.minnumf", traits=_EACH | COMMUTES):
    """The smaller; a NaN loses to a number."""


class MaximumF(FloatBinary, name="arith.maximumf", traits=_EACH | COMMUTES):
    """The larger; a NaN wins."""


class MinimumF(FloatBinary, name="arith.minimumf", traits=_EACH | COMMUTES):
    """The smaller; a NaN wins."""


class AddI(IntBinary, name="arith.addi", traits=_EACH | COMMUTES): ...


class SubI(IntBinary, name="arith.subi", traits=_EACH): ...


class MulI(IntBinary, name="arith.muli", traits=_EACH | COMMUTES): ...


class DivSI(IntBinary, name="arith.divsi", traits=_EACH):
    """Signed division, toward zero as in C and Triton. Division by zero has no defined result."""


class DivUI(IntBinary, name="arith.divui", traits=_EACH): ...


class RemSI(IntBinary, name="arith.remsi", traits=_EACH):
    """Signed remainder with the dividend's sign, as in C and Triton."""


class RemUI(IntBinary, name="arith.remui", traits=_EACH): ...


class AndI(IntBinary, name="arith.andi", traits=_EACH | COMMUTES): ...


class OrI(IntBinary, name="arith.ori", traits=_EACH | COMMUTES): ...


class XOrI(IntBinary, name="arith.xori", traits=_EACH | COMMUTES): ...


class ShLI(IntBinary, name="arith.shli", traits=_EACH):
    """Shift left. A shift by the width or more has no defined result."""


class ShRSI(IntBinary, name="arith.shrsi", traits=_EACH): ...


class ShRUI(IntBinary, name="arith.shrui", traits=_EACH): ...


class MaxSI(IntBinary, name="arith.maxsi", traits=_EACH | COMMUTES): ...


class MaxUI(IntBinary, name="arith.maxui", traits=_EACH | COMMUTES): ...


class MinSI(IntBinary, name="arith.minsi", traits=_EACH | COMMUTES): ...


class MinUI(IntBinary, name="arith.minui", traits=_EACH | COMMUTES): ...


IntPredicate = Literal["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]
FloatPredicate = Literal["oeq", "une", "olt", "ole", "ogt", "oge"]


class _Compare(Op):
    predicate: str
    lhs: Operand
    rhs: Operand

    def infer(self) -> tuple[Type, ...]:
        return (mask_of(self.lhs.type),)

    def verify(self) -> None:
        if self.lhs.type != self.rhs.type:
            raise VerifyError(self, f"operands differ: {spell(self.lhs.type)} and {spell(self.rhs.type)}")

    def fold(self) -> fold.Folded:
        return fold.compare(self.predicate, self.lhs, self.rhs, self.results[0].type)

    def assembly(self, names: Names) -> str:
        return f"{self.name} {self.predicate}, {names[self.lhs]}, {names[self.rhs]} : {spell(self.lhs.type)}"


class CmpI(_Compare, name="arith.cmpi", traits=_EACH): ...


class CmpF(_Compare, name="arith.cmpf", traits=_EACH):
    """Ordered comparisons, false where either side is NaN; ``une`` alone is true there."""


class Select(Op, name="arith.select", traits=_EACH):
    """``if_true`` where ``condition`` holds, else ``if_false``."""

    condition: Operand
    if_true: Operand
    if_false: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.if_true.type,)

    def verify(self) -> None:
        if self.if_true.type != self.if_false.type:
            raise VerifyError(self, "sides differ in type")
        if self.condition.type != mask_of(self.if_true.type):
            raise VerifyError(self, f"the condition is {spell(self.condition.type)}")

    def fold(self) -> fold.Folded:
        if self.if_true is self.if_false:
            return self.if_true
        known = constant_of(self.condition)
        if known is not None:
            return self.if_true if known else self.if_false
        return None

    def assembly(self, names: Names) -> str:
        operands = ", ".join(names[v] for v in self.operands)
        if isinstance(self.condition.type, Tile):
            return f"{self.name} {operands} : {spell(self.condition.type)}, {spell(self.if_true.type)}"
        return f"{self.name} {operands} : {spell(self.if_true.type)}"


class Cast(Op):
    """A conversion of each element to ``to``."""

    source: Operand
    to: DType

    def infer(self) -> tuple[Type, ...]:
        return (with_element(self.source.type, self.to),)

    def fold(self) -> fold.Folded:
        return fold.cast(self.name, self.source, self.to, self.results[0].type)

    def assembly(self, names: Names) -> str:
        return (
            f"{self.name} {names[self.source]} : {spell(self.source.type)} to {spell(self.results[0].type)}"
        )


class ExtF(Cast, name="arith.extf", traits=_EACH): ...


class TruncF(Cast, name="arith.truncf", traits=_EACH):
    """To a narrower float, to the nearest, ties to even."""


class ExtSI(Cast, name="arith.extsi", traits=_EACH): ...


class ExtUI(Cast, name="arith.extui", traits=_EACH): ...


class TruncI(Cast, name="arith.trunci", traits=_EACH): ...


class SIToFP(Cast, name="arith.sitofp", traits=_EACH): ...


class UIToFP(Cast, name="arith.uitofp", traits=_EACH): ...


class FPToSI(Cast, name="arith.fptosi", traits=_EACH):
    """Toward zero; out of range saturates, NaN gives 0, as the GPU's ``cvt.rzi`` does."""


class FPToUI(Cast, name="arith.fptoui", traits=_EACH): ...


def same_shape(op: Op, *values: Value) -> None:
    """Verifier's helper: all of one shape."""
    shapes = {shape_of(v.type) for v in values}
    if len(shapes) > 1:
        raise VerifyError(op, f"shapes differ: {sorted(shapes)}")
