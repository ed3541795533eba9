"""Folding, common subexpressions, dead code: what every later step is glad not to see.

One walk forward folds constants and identities, merges equal pure operations, and takes apart loops and branches that carry values
for nothing; one walk backward drops what nothing uses.
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir.constant import constant_of
from teenybuild.compiler.ir.core import TERMINATOR, Block, Function, Op, Value, is_pure
from teenybuild.compiler.ir.scf import If, Loop, Yield
from teenybuild.compiler.ir.tt import Combining


@dataclass(frozen=True, slots=True)
class Simplify:
    """The pass; see the module's text."""

    name: str = "simplify"

    def apply(self, function: Function) -> None:
        """Rewrites the function in place."""
        _Forward().block(function.body, {})
        _drop_dead(function.body, set())


_Key = tuple[object, ...]


class _Forward:
    def __init__(self) -> None:
        self._replaced: dict[Value, Value] = {}

    def _now(self, value: Value) -> Value:
        while value in self._replaced:
            value = self._replaced[value]
        return value

    def block(self, block: Block, outer: dict[_Key, Op]) -> None:
        """``outer`` holds the pure operations that are in scope, by what makes them equal."""
        known = dict(outer)
        kept: list[Op] = []
        for op in block.ops:
            op.map_operands(self._now)
            if op.blocks and self._region(op, known, kept):
                continue
            original = op
            folded = op.fold() if op.results else None
            if isinstance(folded, Value):
                self._replaced[op.results[0]] = folded
                continue
            if isinstance(folded, Op):
                folded.at(op.location)
                self._replaced[op.results[0]] = folded.results[0]
                op = folded
            if is_pure(op) and not op.blocks:
                key = (type(op), *op.operands, *map(_exact, op.attributes()))
                same = known.get(key)
                if same is not None:
                    self._replaced.update(zip(original.results, same.results, strict=True))
                    continue
                known[key] = op
            kept.append(op)
        block.ops = kept

    def _region(self, op: Op, known: dict[_Key, Op], kept: list[Op]) -> bool:
        """Simplifies inside; True where the operation itself has been taken apart."""
        if isinstance(op, If):
            taken = constant_of(op.condition)
            if taken is not None:
                chosen = op.then if taken else op.otherwise
                self._inline(op, chosen, known, kept)
                return True
        if isinstance(op, Loop):
            self._drop_unchanged(op)
        for inner in op.blocks:
            # A combine block is lowered by itself, with its arguments for all there is.
            self.block(inner, {} if isinstance(op, Combining) else known)
        if isinstance(op, Loop):
            while self._drop_unchanged(op):
                # The blocks were written with what is dropped only now.
                for inner in op.blocks:
                    self.block(inner, known)
        elif isinstance(op, If):
            self._drop_equal(op)
        return False

    def _inline(self, op: If, chosen: Block, known: dict[_Key, Op], kept: list[Op]) -> None:
        self.block(chosen, known)
        last = chosen.terminator
        kept.extend(chosen.ops[:-1])
        for result, value in zip(op.results, last.operands, strict=True):
            self._replaced[result] = value

    def _drop_unchanged(self, op: Loop) -> bool:
        """A value that a loop carries but never changes is the value before the loop. Whether there was one."""
        carried = op.carried
        keep = [self._now(each.yielded) not in each.args for each in carried]
        if all(keep):
            return False
        for each, kept in zip(carried, keep, strict=True):
            if not kept:
                self._replaced.update(dict.fromkeys((*each.args, each.result), each.initial))
        op.keep_carried(keep)
        return True

    def _drop_equal(self, op: If) -> None:
        """A result that both branches give alike needs no branch."""
        first, second = op.then.terminator, op.otherwise.terminator
        assert isinstance(first, Yield)
        assert isinstance(second, Yield)
        keep = [a is not b for a, b in zip(first.values, second.values, strict=True)]
        if all(keep):
            return
        for i, kept in enumerate(keep):
            if not kept:
                self._replaced[op.results[i]] = first.values[i]
        for last in (first, second):
            last.values = tuple(v for v, k in zip(last.values, keep, strict=True) if k)
        op.types = tuple(t for t, k in zip(op.types, keep, strict=True) if k)
        op.set_results(r for r, k in zip(op.results, keep, strict=True) if k)


def _exact(attribute: object) -> object:
    """Keeps 0.0 and -0.0, and 1 and 1.0, apart as keys."""
    return (type(attribute), repr(attribute)) if isinstance(attribute, int | float) else attribute


def _drop_dead(block: Block, used: set[Value]) -> None:
    """Removes operations without effect whose results nobody uses; ``used`` gathers what is needed, last use first."""
    kept: list[Op] = []
    for op in reversed(block.ops):
        needed = bool(op.traits & TERMINATOR) or any(r in used for r in op.results)
        if not needed and not op.has_effect:
            continue
        if isinstance(op, If):
            _drop_results(op, used)
        for inner in op.blocks:
            _drop_dead(inner, used)
        used.update(op.operands)
        kept.append(op)
    kept.reverse()
    block.ops = kept


def _drop_results(op: If, used: set[Value]) -> None:
    """Results of an ``if`` that nobody uses are not yielded. (What a loop carries may feed itself: it stays.)"""
    keep = [r in used for r in op.results]
    if all(keep):
        return
    for inner in (op.then, op.otherwise):
        last = inner.terminator
        assert isinstance(last, Yield)
        last.values = tuple(v for v, k in zip(last.values, keep, strict=True) if k)
    op.types = tuple(t for t, k in zip(op.types, keep, strict=True) if k)
    op.set_results(r for r, k in zip(op.results, keep, strict=True) if k)
