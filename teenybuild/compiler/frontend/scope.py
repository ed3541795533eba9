"""The names of a module's top level in program order: which statement gives a name its meaning at a place.

A file is not run, so order has to be read off it: at the end of the file, where kernels see it, a name means what bound it
last; inside a module-level expression, or a parameter's default, what bound it last before that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


class Computed:
    """The value of a name that only the running program knows."""


COMPUTED = Computed()

#: Where a binding's value is: in an import, an expression, or an item of the tuple that an expression gives; None where the statement
#: itself says.
Item = ast.alias | ast.expr | tuple[ast.expr, tuple[int, ...]] | Computed | None


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Statements in order, and who binds what among them."""

    statements: Sequence[ast.stmt]
    bindings: dict[str, list[tuple[int, Item]]]
    #: Places of ``from … import *``.
    stars: list[int]

    @staticmethod
    def of(statements: Sequence[ast.stmt]) -> Block:
        """The block that these statements are."""
        found: dict[str, list[tuple[int, Item]]] = {}
        stars: list[int] = []
        for i, node in enumerate(statements):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                stars.append(i)
            for name, item in bound(node):
                found.setdefault(name, []).append((i, item))
        return Block(statements, found, stars)


@dataclass(frozen=True, slots=True)
class Place:
    """Before statement ``index`` of a block that stands at ``outer``; at the end of the block where that is how long it is."""

    block: Block
    index: int
    outer: Place | None = None

    @property
    def statement(self) -> ast.stmt:
        """The statement that this is before."""
        return self.block.statements[self.index]

    def before(self, index: int) -> Place:
        """Another place of the same block."""
        return Place(self.block, index, self.outer)


def bound(node: ast.stmt) -> Iterator[tuple[str, Item]]:
    """The names a statement binds (or unbinds), each with where its value is."""
    match node:
        case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
            yield node.name, None
        case ast.Expr():
            return
        case ast.Import():
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], alias
        case ast.ImportFrom():
            for alias in node.names:
                if alias.name != "*":
                    yield alias.asname or alias.name, alias
        case ast.Assign():
            for target in node.targets:
                yield from _targets(target, node.value, ())
        case ast.AnnAssign() if isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value
        case ast.AugAssign() if isinstance(node.target, ast.Name):
            yield node.target.id, COMPUTED
        case ast.If() | ast.Try():
            # Which part is run is settled where somebody asks.
            yield from ((name, None) for name in _inside(node))
        case (
            ast.For()
            | ast.AsyncFor()
            | ast.While()
            | ast.With()
            | ast.AsyncWith()
            | ast.Match()
            | ast.TryStar()
            | ast.Delete()
        ):
            yield from ((name, COMPUTED) for name in _inside(node))
        case _:
            return


def _targets(target: ast.expr, value: ast.expr, path: tuple[int, ...]) -> Iterator[tuple[str, Item]]:
    match target:
        case ast.Name():
            yield target.id, (value, path) if path else value
        case ast.Tuple() | ast.List() if not any(isinstance(t, ast.Starred) for t in target.elts):
            for i, inner in enumerate(target.elts):
                yield from _targets(inner, value, (*path, i))
        case ast.Subscript(ast.Call(ast.Name("globals")), ast.Constant(str() as name)):
            yield name, COMPUTED
        case _:
            for node in ast.walk(target):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id, COMPUTED


def _inside(node: ast.stmt) -> dict[str, None]:
    """Every name that is bound or unbound anywhere in a statement, but for what functions and classes in it keep to themselves."""
    found: dict[str, None] = {}
    for inner in _own(node):
        match inner:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                found[inner.id] = None
            case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
                found[inner.name] = None
            case ast.alias():
                found[(inner.asname or inner.name).split(".")[0]] = None
            case ast.MatchAs() | ast.MatchStar() | ast.ExceptHandler() if inner.name is not None:
                found[inner.name] = None
            case ast.MatchMapping() if inner.rest is not None:
                found[inner.rest] = None
            case _:
                pass
    return found


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of the module's own scope: not the bodies of functions, classes and lambdas, nor what comprehensions count with."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        scoped = isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
        hidden = ("body", "args") if scoped else ("target",) if isinstance(here, ast.comprehension) else ()
        parts = [n for name in here._fields if name not in hidden for n in _parts(getattr(here, name, None))]
        waiting.extend(reversed(parts))


def _parts(value: Any) -> list[ast.AST]:
    """The nodes of one field."""
    return [n for n in (value if isinstance(value, list) else [value]) if isinstance(n, ast.AST)]  # pyright: ignore[reportUnknownVariableType]


def bound_in_passing(tree: ast.Module) -> frozenset[str]:
    """Names that ``:=`` binds in the module's own expressions, comprehensions included."""
    inner = (n for statement in tree.body for n in _own(statement))
    return frozenset(n.target.id for n in inner if isinstance(n, ast.NamedExpr))


def changed_by_functions(tree: ast.Module) -> frozenset[str]:
    """Names that some function declares ``global`` and binds: what they mean depends on what has been called."""
    found: set[str] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            declared = {n for s in ast.walk(function) if isinstance(s, ast.Global) for n in s.names}
            found |= declared & {name for s in function.body for name in _inside(s)}
    return frozenset(found)
