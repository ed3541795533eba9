"""Which arguments a kernel reads through and which it writes through."""

from __future__ import annotations

from teenybuild.compiler.ir import scf, tt
from teenybuild.compiler.ir.core import Function, Op, Value, walk
from teenybuild.compiler.ir.types import Pointer, element


def pointer_access(function: Function) -> tuple[tuple[bool, bool], ...]:
    """(read, written) for each argument; for scalars, (False, False).

    A pointer that goes through a loop, a branch or ``where`` counts as every argument it may come from.
    """
    roots = _Roots(function)
    read: set[Value] = set()
    written: set[Value] = set()
    for op in walk(function.body):
        if isinstance(op, tt.Load):
            read |= roots.of(op.pointer)
        elif isinstance(op, tt.Store):
            written |= roots.of(op.pointer)
    return tuple((arg in read, arg in written) for arg in function.body.args)


class _Roots:
    """The arguments a pointer may come from."""

    def __init__(self, function: Function) -> None:
        self._found: dict[Value, set[Value]] = {arg: {arg} for arg in function.body.args}
        changed = True
        while changed:
            changed = False
            for op in walk(function.body):
                for result, sources in _flows(op):
                    if isinstance(element(result.type), Pointer):
                        before = self._found.setdefault(result, set())
                        after = before.union(*(self._found.get(s, set()) for s in sources))
                        if len(after) > len(before):
                            self._found[result] = after
                            changed = True

    def of(self, value: Value) -> set[Value]:
        return self._found.get(value, set())


def _flows(op: Op) -> list[tuple[Value, list[Value]]]:
    """(value, what it is made from) for an operation's results and its regions' arguments."""
    match op:
        case scf.For():
            groups = zip(op.results, op.body.args[1:], op.initial, op.body.terminator.operands, strict=True)
            return [(v, [i, y]) for r, a, i, y in groups for v in (a, r)]
        case scf.If():
            ways = zip(op.results, op.then.terminator.operands, op.otherwise.terminator.operands, strict=True)
            return [(r, [a, b]) for r, a, b in ways]
        case _:
            return [(r, op.operands) for r in op.results]
