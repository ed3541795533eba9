"""What joins, splits and gathers are made of once ``.mlir`` is printed: see :mod:`teenybuild.compiler.passes.rearrange`."""

from __future__ import annotations

from teenybuild.compiler.ir.core import PURE, Op, Operand, VerifyError
from teenybuild.compiler.ir.tt import Viewing
from teenybuild.compiler.ir.types import Type, shape_of, spell


class Twice(Viewing, name="ttg.twice", traits=PURE):
    """Each element twice, side by side along a new last axis."""

    def verify(self) -> None:
        if shape_of(self.type) != (*shape_of(self.source.type), 2):
            raise VerifyError(self, f"{spell(self.source.type)} to {spell(self.type)}")


class Half(Viewing, name="ttg.half", traits=PURE):
    """What stands at ``side`` (0 or 1) of the last axis, which has two elements and vanishes."""

    side: int

    def fold(self) -> None:
        """Nothing: its type is never its source's."""

    def verify(self) -> None:
        if (*shape_of(self.type), 2) != shape_of(self.source.type):
            raise VerifyError(self, f"{spell(self.source.type)} to {spell(self.type)}")


class Exchange(Op, name="ttg.exchange", traits=PURE):
    """Each element is the source's whose position along ``axis`` differs in the bits of ``flip``."""

    source: Operand
    axis: int
    flip: int

    def infer(self) -> tuple[Type, ...]:
        return (self.source.type,)

    def verify(self) -> None:
        if not 0 < self.flip < shape_of(self.source.type)[self.axis]:
            raise VerifyError(self, f"flips {self.flip} along axis {self.axis} of {spell(self.source.type)}")
