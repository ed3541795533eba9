"""The names of a module's top level in program order: which statement gives a name its meaning at a place.

A file is not run, so order has to be read off it: at the end of the file, where kernels see it, a name means what bound it
last; inside a module-level expression, or a parameter's default, what bound it last before that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
            # X += 1 is X = X + 1, as before the statement; of a list, which changes in place, see changed_in_place.
            before = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            yield node.target.id, ast.copy_location(ast.BinOp(before, node.op, node.value), node)
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


#: Methods that change a list or a dict.
_CHANGING = frozenset(
    [
        "append",
        "clear",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
        "__delitem__",
        "__setitem__",
    ]
)


class Changes:
    """Lists, dicts and classes that change after they were made: by a method, an element, an attribute, or a call that is a statement.

    ``changed`` are names that this is done to, ``grown`` those that ``+=`` makes longer, ``also`` the names that change with one.
    Names of functions are told apart by their function; ``#f:0`` and ``#f:x`` are what calls of ``f`` pass: it changes with the parameter.
    """

    def __init__(self, node: ast.AST) -> None:
        self.changed: set[str] = set()
        self.grown: set[str] = set()
        self.also: dict[str, set[str]] = {}
        self._walk(node, {})

    @cached_property
    def all(self) -> frozenset[str]:
        """Every name whose object changes, under whichever name."""
        # X += 1 binds X anew, and every other name of the list sees the change.
        others = (other for name in self.grown for other in self.also.get(name, ()))
        return self._closure([*self.changed, *others])

    def elsewhere(self, name: str) -> bool:
        """Whether what ``name`` stands for may change under another name."""
        others = self._closure([name], through_calls=False) - {name}
        return bool(others & (self.changed | self.grown))

    def by(self, statement: ast.stmt, name: str) -> bool:
        """Whether a statement of the top level may change what ``name`` stands for."""
        here = Changes(ast.Module([statement], []))
        given = (key for key, names in here.also.items() if key.startswith("#") and name in names)
        return name in here.all or any(key in self.all for key in given)

    def _closure(self, names: Iterable[str], *, through_calls: bool = True) -> frozenset[str]:
        found = set(names)
        waiting = list(found)
        while waiting:
            for other in self.also.get(waiting.pop(), ()):
                if other not in found and (through_calls or not other.startswith("#")):
                    found.add(other)
                    waiting.append(other)
        return frozenset(found)

    def _link(self, one: str, other: str) -> None:
        self.also.setdefault(one, set()).add(other)
        self.also.setdefault(other, set()).add(one)

    def _walk(self, node: ast.AST, own: Mapping[str, str]) -> None:
        """Adds what is below ``node``; ``own`` says how a function's names are told apart."""
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.FunctionDef) and _is_kernel(inner):
                continue  # kernels change no list
            self._see(inner, own)
            if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                self._walk(inner, own)
                continue
            mine = {name: f"{name}@{inner.lineno}" for name in _own_names(inner)}
            args = inner.args
            for index, parameter in enumerate((*args.posonlyargs, *args.args, *args.kwonlyargs)):
                known = self.also.setdefault(mine[parameter.arg], set())
                known |= {f"#{inner.name}:{index}", f"#{inner.name}:{parameter.arg}"}
            self._walk(inner, {**own, **mine})

    def _see(self, node: ast.AST, own: Mapping[str, str]) -> None:
        def names(part: ast.AST) -> Iterator[str]:
            """Names of an expression whose objects it may give, or reach into."""
            return (own.get(n.id, n.id) for n in ast.walk(part) if isinstance(n, ast.Name))

        match node:
            case ast.Call(ast.Attribute(value, attr)) if attr in _CHANGING:
                self.changed.update(names(_root(value)))
            case ast.Call(ast.Name(function)):
                for key, value in (*enumerate(node.args), *((k.arg, k.value) for k in node.keywords)):
                    self.also.setdefault(f"#{function}:{key}", set()).update(names(_root(value)))
            case ast.Subscript(value, _, ast.Store() | ast.Del()) | ast.Attribute(
                value, _, ast.Store() | ast.Del()
            ):
                self.changed.update(names(_root(value)))
            case ast.Expr(ast.Call(ast.Subscript() | ast.Name("print"))):
                pass  # a launch, or what is shown
            case ast.Expr(ast.Call(_, args, keywords)):
                for part in (*args, *(keyword.value for keyword in keywords)):
                    if not isinstance(_root(part), ast.BinOp | ast.Call | ast.JoinedStr):
                        self.changed.update(names(_root(part)))
            case ast.Assign(targets, value) if isinstance(_root(value), ast.Name):
                for target in targets:
                    for one in names(target):
                        self._link(one, next(names(_root(value))))
            case ast.For(target, iterable):
                for one in names(target):
                    for other in names(iterable):
                        self._link(one, other)
            case ast.AugAssign(ast.Name(target)):
                self.grown.add(own.get(target, target))
            case _:
                pass


def _is_kernel(function: ast.FunctionDef) -> bool:
    """Whether a function looks like one that has ``@triton.jit``."""
    targets = (d.func if isinstance(d, ast.Call) else d for d in function.decorator_list)
    return any("jit" in (getattr(target, "attr", ""), getattr(target, "id", "")) for target in targets)


def _root(node: ast.expr) -> ast.expr:
    """What an element, or an attribute, is one of."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node


def _own_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """Names that are a function's own: its parameters and what it binds, but for what it declares ``global``."""
    args = function.args
    listed = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    shared = {n for s in ast.walk(function) if isinstance(s, ast.Global) for n in s.names}
    bound_here = {name for statement in function.body for name in _inside(statement)}
    return frozenset((bound_here - shared) | {a.arg for a in listed if a is not None})


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
