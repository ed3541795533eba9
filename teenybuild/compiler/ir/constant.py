"""The constant: one number, or a tile of it."""

from __future__ import annotations

from math import copysign

from teenybuild.compiler.ir import numbers
from teenybuild.compiler.ir.core import PURE, Names, Op, Value
from teenybuild.compiler.ir.types import Tile, Type, dtype_of, spell
from teenybuild.dtypes import i1


class Constant(Op, name="arith.constant", traits=PURE):
    """One number, or a tile of it. Floats are held as the double that equals the rounded value."""

    value: int | float
    type: Type

    def infer(self) -> tuple[Type, ...]:
        return (self.type,)

    def assembly(self, names: Names) -> str:
        text = numbers.literal(self.value, dtype_of(self.type))
        if isinstance(self.type, Tile):
            return f"{self.name} dense<{text}> : {spell(self.type)}"
        if self.type == i1:
            return f"{self.name} {text}"
        return f"{self.name} {text} : {spell(self.type)}"


def constant(value: int | float, type_: Type) -> Constant:
    """A constant of ``type_``, wrapped or rounded to it."""
    dtype = dtype_of(type_)
    if dtype.is_float:
        return Constant(numbers.round_to(float(value), dtype), type_)
    return Constant(numbers.wrap(int(value), dtype), type_)


def constant_of(value: Value) -> int | float | None:
    """The number a value is known to be (in every element), or None."""
    return value.op.value if isinstance(value.op, Constant) else None


def is_positive_zero(known: int | float | None) -> bool:
    """Whether a number is known, and all its bits are zero: -0.0 is another."""
    return known is not None and known == 0 and copysign(1, known) > 0
