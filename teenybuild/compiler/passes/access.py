"""Which arguments a kernel reads through and which it writes through.

A pointer made of an integer may point to where no argument does, and through every argument whose address the kernel takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from teenybuild.compiler.ir import scf, tt, ttg
from teenybuild.compiler.ir.arrays import Argument
from teenybuild.compiler.ir.core import Function, Op, Value, walk
from teenybuild.compiler.ir.types import Pointer, element
from teenybuild.dtypes import i8


def pointer_access(function: Function) -> tuple[tuple[bool, bool], ...]:
    """(read, written) for each argument; for scalars, (False, False).

    A pointer that goes through a loop, a branch or ``where`` counts as every argument it may come from.
    """
    how = {(name, kind) for name, _, kind in accesses(function)}
    return tuple(((name, "read") in how, (name, "write") in how) for name in function.arg_names)


def accesses(function: Function) -> Iterator[tuple[str | None, Op, Literal["read", "write"]]]:
    """Every access, with each argument it may go through, in order; and with None where it may touch what no argument names."""
    roots = _Roots(function)
    names = dict(zip(function.body.args, function.arg_names, strict=True))
    for op in walk(function.body):
        if isinstance(op, tt.Load | ttg.CopyAsync | tt.Store | tt.AtomicRmw | tt.AtomicCas):
            for arg in function.body.args:
                if arg in roots.of(op.pointer):
                    for kind in _KINDS[type(op)]:
                        yield names[arg], op, kind
            if ANYWHERE in roots.of(op.pointer):
                for kind in _KINDS[type(op)]:
                    yield None, op, kind


def shared_arguments(function: Function) -> frozenset[Argument]:
    """Arguments that more than one access may go through."""
    counted = Counter(name for name, _, _ in accesses(function))
    anywhere = counted.pop(None, 0)
    numbers = {name: number for number, name in enumerate(function.arg_names)}
    return frozenset(
        Argument(numbers[name]) for name, times in counted.items() if name and times + anywhere > 1
    )


def written_arguments(function: Function) -> frozenset[Argument]:
    """Arguments through which the program may write what it may read through them."""
    written = {name for name, _, kind in accesses(function) if kind == "write"}
    pairs = enumerate(zip(function.arg_names, function.body.args, strict=True))
    return frozenset(
        Argument(number)
        for number, (name, arg) in pairs
        if isinstance(arg.type, Pointer) and (name in written or None in written)
    )


def strays(function: Function) -> frozenset[Op]:
    """Accesses that may touch memory that no argument names."""
    if not any(isinstance(op, tt.IntToPtr) for op in walk(function.body)):
        return frozenset()
    return frozenset(op for name, op, _ in accesses(function) if name is None)


_KINDS: dict[type[Op], tuple[Literal["read", "write"], ...]] = {
    tt.Load: ("read",),
    ttg.CopyAsync: ("read",),
    tt.Store: ("write",),
    tt.AtomicRmw: ("read", "write"),
    tt.AtomicCas: ("read", "write"),
}


#: Stands for all memory among the arguments that a pointer may come from.
ANYWHERE = Value(Pointer(i8))


class _Roots:
    """The arguments a pointer may come from."""

    def __init__(self, function: Function) -> None:
        pointers = (arg for arg in function.body.args if isinstance(arg.type, Pointer))
        self._found: dict[Value, set[Value]] = {v: {v} for v in (*pointers, ANYWHERE)}
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
        case scf.Loop():
            return [
                (v, [each.initial, each.yielded]) for each in op.carried for v in (*each.args, each.result)
            ]
        case scf.If():
            ways = zip(op.results, op.then.terminator.operands, op.otherwise.terminator.operands, strict=True)
            return [(r, [a, b]) for r, a, b in ways]
        case tt.PtrToInt():
            return [(ANYWHERE, [op.source])]
        case tt.IntToPtr():
            return [(op.result, [ANYWHERE])]
        case _:
            return [(r, op.operands) for r in op.results]
