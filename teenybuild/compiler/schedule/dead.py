"""Dead code, found by marking what is needed: also what a loop carries only for itself."""

from __future__ import annotations

from teenybuild.compiler.ir.core import EFFECT, TERMINATOR, Block, Function, Op, Value
from teenybuild.compiler.ir.scf import For, If, Loop, Yield


def drop_dead(function: Function) -> None:
    """Removes operations without effect whose results nothing needs, and carried values that only feed themselves."""
    marking = _Marking(function)
    _sweep(function.body, marking.needed)


class _Marking:
    """``needed``: every value that something with an effect depends on."""

    def __init__(self, function: Function) -> None:
        self.needed: set[Value] = set()
        #: For what a region gives or is given: what it is made of.
        self._sources: dict[Value, tuple[Value, ...]] = {}
        self._waiting: list[Value] = []
        self._block(function.body, keeps=True)
        while self._waiting:
            value = self._waiting.pop()
            found = self._sources.get(value)
            if found is None and value.op is not None:
                found = tuple(value.op.operands)
                for block in value.op.blocks:
                    # A region without carried values (of a reduction, say) is needed whole.
                    if not isinstance(value.op, Loop | If):
                        found += tuple(v for op in block.ops for v in op.operands)
            self._need(found or ())

    def _need(self, values: tuple[Value, ...] | list[Value]) -> None:
        for value in values:
            if value not in self.needed:
                self.needed.add(value)
                self._waiting.append(value)

    def _block(self, block: Block, *, keeps: bool) -> None:
        for op in block.ops:
            if op.traits & EFFECT or (keeps and op.traits & TERMINATOR):
                self._need(op.operands)
            match op:
                case Loop():
                    control = _control(op)
                    for each in op.carried:
                        sources = (each.initial, each.yielded, each.result, *each.args, *control)
                        self._sources.update(dict.fromkeys((each.result, *each.args), sources))
                case If():
                    ways = (op.then.terminator.operands, op.otherwise.terminator.operands)
                    for result, a, b in zip(op.results, *ways, strict=True):
                        self._sources[result] = (a, b, op.condition)
                case _:
                    pass
            if isinstance(op, Loop | If):
                for inner in op.blocks:
                    # A loop's condition decides how often it runs: whatever else in it is needed, that is.
                    self._block(inner, keeps=False)
                    if op.has_effect:
                        self._need(_control(op))
                self._conditions(op)

    def _conditions(self, op: Op) -> None:
        for inner in op.blocks:
            last = inner.terminator
            if not isinstance(last, Yield):
                self._need([last.operands[0]])


def _control(op: Op) -> tuple[Value, ...]:
    """What decides whether, and how often, the blocks of a loop or branch run; of a ``while``, that stands in its test."""
    match op:
        case For():
            return (op.lower, op.upper, op.step)
        case If():
            return (op.condition,)
        case _:
            return ()


def _sweep(block: Block, needed: set[Value]) -> None:
    kept: list[Op] = []
    for op in block.ops:
        wanted = op.has_effect or op.traits & TERMINATOR or any(r in needed for r in op.results)
        if isinstance(op, Loop) and not wanted:
            wanted = any(arg in needed for each in op.carried for arg in each.args)
        if not wanted:
            continue
        if isinstance(op, Loop):
            keep = [any(v in needed for v in (each.result, *each.args)) for each in op.carried]
            if not all(keep):
                op.keep_carried(keep)
        if isinstance(op, Loop | If):
            for inner in op.blocks:
                _sweep(inner, needed)
        kept.append(op)
    block.ops = kept
