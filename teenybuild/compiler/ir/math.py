"""Mathematical functions of floats: MLIR's ``math`` dialect, as far as kernels use it."""

from __future__ import annotations

from teenybuild.compiler.ir.core import ELEMENTWISE, PURE, Names, Op, Operand, VerifyError
from teenybuild.compiler.ir.types import Pointer, Type, element, spell

_EACH = PURE | ELEMENTWISE


class Unary(Op):
    """A function of each element; the result has its type."""

    source: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.source.type,)


class FloatUnary(Unary):
    """A function of floats."""

    def verify(self) -> None:
        found = element(self.source.type)
        if isinstance(found, Pointer) or not found.is_float:
            raise VerifyError(self, f"is not for {spell(self.source.type)}")


class Exp(FloatUnary, name="math.exp", traits=_EACH):
    """e^x. On a GPU f32 goes through ``ex2.approx``, as in Triton."""


class Exp2(FloatUnary, name="math.exp2", traits=_EACH): ...


class Log(FloatUnary, name="math.log", traits=_EACH):
    """Natural logarithm. On a GPU f32 goes through ``lg2.approx``, as in Triton."""


class Log2(FloatUnary, name="math.log2", traits=_EACH): ...


class Sin(FloatUnary, name="math.sin", traits=_EACH): ...


class Cos(FloatUnary, name="math.cos", traits=_EACH): ...


class Erf(FloatUnary, name="math.erf", traits=_EACH): ...


class Sqrt(FloatUnary, name="math.sqrt", traits=_EACH): ...


class Rsqrt(FloatUnary, name="math.rsqrt", traits=_EACH): ...


class Floor(FloatUnary, name="math.floor", traits=_EACH): ...


class Ceil(FloatUnary, name="math.ceil", traits=_EACH): ...


class AbsF(FloatUnary, name="math.absf", traits=_EACH): ...


class AbsI(Unary, name="math.absi", traits=_EACH):
    """Absolute value of a signed integer; that of the smallest is itself."""


class Fma(Op, name="math.fma", traits=_EACH):
    """``a * b + c``, rounded once."""

    a: Operand
    b: Operand
    c: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.a.type,)

    def verify(self) -> None:
        if not self.a.type == self.b.type == self.c.type:
            raise VerifyError(self, "operands differ in type")

    def assembly(self, names: Names) -> str:
        return f"{self.name} {names[self.a]}, {names[self.b]}, {names[self.c]} : {spell(self.a.type)}"
