"""Control flow with regions: MLIR's ``scf`` dialect, as far as kernels use it.

Conditions and bounds are scalars: every lane of a program takes the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from teenybuild.compiler.ir.core import TERMINATOR, Block, Names, Op, Operand, Operands, Value, VerifyError
from teenybuild.compiler.ir.types import Type, spell
from teenybuild.dtypes import i1


def _types(values: Operands) -> str:
    return ", ".join(spell(v.type) for v in values)


@dataclass(frozen=True, slots=True)
class Carried:
    """One value that a loop carries: what it is before the first turn, in each block, after a turn, and after the last."""

    initial: Value
    args: tuple[Value, ...]
    yielded: Value
    result: Value


class Loop(Op):
    """Blocks that run again and again; the last yields the values of the next turn.

    What is carried from turn to turn has one type and, on a machine, one place.
    """

    initial: Operands

    def infer(self) -> tuple[Type, ...]:
        return tuple(v.type for v in self.initial)

    def carried_args(self) -> list[tuple[Value, ...]]:
        """For each carried value, the arguments of the blocks that it is."""
        raise NotImplementedError

    @property
    def carried(self) -> list[Carried]:
        """All that is carried, in order."""
        yielded = self.blocks[-1].terminator.operands
        groups = zip(self.initial, self.carried_args(), yielded, self.results, strict=True)
        return [Carried(*group) for group in groups]

    def keep_carried(self, keep: list[bool]) -> None:
        """Leaves out what it need not carry."""

        def kept(items: Operands) -> Operands:
            return tuple(v for v, k in zip(items, keep, strict=True) if k)

        dropped = {arg for args, k in zip(self.carried_args(), keep, strict=True) if not k for arg in args}
        last = cast(Yield, self.blocks[-1].terminator)
        self.initial, last.values = kept(self.initial), kept(last.values)
        for block in self.blocks:
            block.args = [arg for arg in block.args if arg not in dropped]
            if isinstance(block.terminator, Condition):
                block.terminator.values = tuple(block.args)
        self.set_results(kept(self.results))

    def _check_yield(self) -> None:
        last = self.blocks[-1].terminator
        if not isinstance(last, Yield) or [v.type for v in last.values] != [v.type for v in self.initial]:
            raise VerifyError(self, "the body yields other types than it is given")


class For(Loop, name="scf.for"):
    """``for i in range(lower, upper, step)``, carrying values from one turn to the next.

    The body's first argument is ``i``, the others the carried values; its ``Yield`` gives the next ones.
    """

    lower: Operand
    upper: Operand
    step: Operand
    body: Block
    #: How many turns' tiles its loads may have in shared memory at once; None leaves that to the specialisation.
    stages: int | None = None

    def carried_args(self) -> list[tuple[Value, ...]]:
        return [(arg,) for arg in self.body.args[1:]]

    def verify(self) -> None:
        if len(self.body.args) != 1 + len(self.initial):
            raise VerifyError(self, "the body's arguments do not match the carried values")
        self._check_yield()

    def assembly(self, names: Names) -> str:
        index = names[self.body.args[0]]
        head = f"{self.name} {index} = {names[self.lower]} to {names[self.upper]} step {names[self.step]} "
        if self.initial:
            pairs = zip(self.body.args[1:], self.initial, strict=True)
            head += f"iter_args({', '.join(f'{names[a]} = {names[i]}' for a, i in pairs)}) -> ({_types(self.initial)}) "
        said = f" {{tt.num_stages = {self.stages} : i32}}" if self.stages is not None else ""
        return f"{head} : {spell(self.lower.type)} {names.region(self.body)}{said}"


class While(Loop, name="scf.while"):
    """Runs ``test``, and while that says so ``body``, then ``test`` again.

    Both blocks are given the carried values; ``test`` ends in a :class:`Condition`, ``body`` in a ``Yield`` of the next ones.
    """

    test: Block
    body: Block

    def carried_args(self) -> list[tuple[Value, ...]]:
        return list(zip(self.test.args, self.body.args, strict=True))

    def verify(self) -> None:
        if not len(self.test.args) == len(self.body.args) == len(self.initial):
            raise VerifyError(self, "the blocks' arguments do not match the carried values")
        last = self.test.terminator
        if not isinstance(last, Condition) or list(last.values) != self.test.args:
            raise VerifyError(self, "the test does not end in a condition that passes on what it is given")
        self._check_yield()

    def assembly(self, names: Names) -> str:
        types = f"({_types(self.initial)})"
        pairs = zip(self.test.args, self.initial, strict=True)
        head = f" ({', '.join(f'{names[a]} = {names[i]}' for a, i in pairs)})" if self.initial else ""
        test = names.region(self.test)
        return f"{self.name}{head} : {types} -> {types} {test} do {names.region(self.body, header=bool(self.initial))}"


class Condition(Op, name="scf.condition", traits=TERMINATOR):
    """Ends the test of a ``While``: whether there is a turn, and what it is given."""

    condition: Operand
    values: Operands

    def verify(self) -> None:
        if self.condition.type != i1:
            raise VerifyError(self, f"the condition is {spell(self.condition.type)}")

    def assembly(self, names: Names) -> str:
        values = f" {', '.join(names[v] for v in self.values)} : {_types(self.values)}" if self.values else ""
        return f"{self.name}({names[self.condition]}){values}"


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
    """Ends a block of ``For`` or ``If``, and the body of ``While``."""

    values: Operands

    def assembly(self, names: Names) -> str:
        if not self.values:
            return self.name
        return f"{self.name} {', '.join(names[v] for v in self.values)} : {_types(self.values)}"
