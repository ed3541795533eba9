"""Control flow with regions: MLIR's ``scf`` dialect, as far as kernels use it.

Conditions and bounds are scalars: every lane of a program takes the same way.
"""

from __future__ import annotations

from teenybuild.compiler.ir.core import TERMINATOR, Block, Names, Op, Operand, Operands, VerifyError
from teenybuild.compiler.ir.types import Type, spell


def _types(values: Operands) -> str:
    return ", ".join(spell(v.type) for v in values)


class For(Op, name="scf.for"):
    """``for i in range(lower, upper, step)``, carrying values from one turn to the next.

    The body's first argument is ``i``, the others the carried values; its ``Yield`` gives the next ones.
    """

    lower: Operand
    upper: Operand
    step: Operand
    initial: Operands
    body: Block

    def infer(self) -> tuple[Type, ...]:
        return tuple(v.type for v in self.initial)

    def verify(self) -> None:
        if len(self.body.args) != 1 + len(self.initial):
            raise VerifyError(self, "the body's arguments do not match the carried values")
        last = self.body.terminator
        if not isinstance(last, Yield) or [v.type for v in last.values] != [v.type for v in self.initial]:
            raise VerifyError(self, "the body yields other types than it is given")

    def assembly(self, names: Names) -> str:
        index = names[self.body.args[0]]
        head = f"{self.name} {index} = {names[self.lower]} to {names[self.upper]} step {names[self.step]} "
        if self.initial:
            pairs = zip(self.body.args[1:], self.initial, strict=True)
            head += f"iter_args({', '.join(f'{names[a]} = {names[i]}' for a, i in pairs)}) -> ({_types(self.initial)}) "
        return f"{head} : {spell(self.lower.type)} {names.region(self.body)}"


class If(Op, name="scf.if"):
    """Runs one of two blocks; results are what the block that ran yields."""

    condition: Operand
    then: Block
    otherwise: Block
    types: tuple[Type, ...] = ()

    def infer(self) -> tuple[Type, ...]:
        return self.types

    def verify(self) -> None:
        for block in (self.then, self.otherwise):
            last = block.terminator
            if not isinstance(last, Yield) or tuple(v.type for v in last.values) != self.types:
                raise VerifyError(self, "a branch yields other types than the results")

    def assembly(self, names: Names) -> str:
        types = f" -> ({', '.join(spell(t) for t in self.types)})" if self.types else ""
        text = f"{self.name} {names[self.condition]}{types} {names.region(self.then)}"
        if self.types or len(self.otherwise.ops) > 1:
            text += f" else {names.region(self.otherwise)}"
        return text


class Yield(Op, name="scf.yield", traits=TERMINATOR):
    """Ends a block of ``For`` or ``If``."""

    values: Operands

    def assembly(self, names: Names) -> str:
        if not self.values:
            return self.name
        return f"{self.name} {', '.join(names[v] for v in self.values)} : {_types(self.values)}"
