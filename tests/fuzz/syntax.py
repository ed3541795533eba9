"""Changes of Python as a tree: nodes taken out, doubled, exchanged, nested and given odd literals, names and annotations."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from tests.fuzz import odd

_EXPRESSIONS = (
    "None", "...", "0", "-1", "1j", "2.5", "1e400", "-0.0", "10**30", "1 << 5000", "'a'", "''", "b'a'", "'\\ud800'", "True", "()", "(1,)", "[]", "{}", "{1}", "{**x}", "(*x,)", "x[:]", "x[::0]",
    "x[None]", "x[:, None]", "x[..., 0]", "lambda: 0", "lambda *a, **k: a", "[x for x in y]", "{x: y for x in y if x}", "(x for x in x)", "(x := 1)", "x if y else z", "x and y or z", "not x", "~0",
    "f'{x}'", "f'{x!r:>{y}}'", "x < y < z", "x is None", "x in y", "x @ y", "(-8) ** 0.5", "1 // 0", "x.y", "x.__class__", "().__class__.__bases__[0].__subclasses__()", "print(x)", "open('x', 'w')",
    "eval('1')", "__import__('os').system('touch x')", "exec('x = 1')", "getattr(x, 'y')", "range(3)", "range(10**9)", "len(x)", "max()", "min(x)", "sum([1] * 10**6)", "int('9' * 5000)", "str(x)", "x()",
    "x(*y, **z)", "x(a=1, **{'a': 2})", "tl", "tl.load", "tl.load(x)", "tl.float16", "tl.float8e5", "tl.constexpr", "tl.constexpr(1)", "tl.arange(0, 8)", "tl.arange(0, 7)", "tl.arange(0, 1 << 40)",
    "tl.zeros((4, 4), tl.float32)", "tl.zeros((1 << 20, 1 << 20), tl.float32)", "tl.program_id(0)", "tl.program_id(-1)", "tl.cdiv(x, 0)", "tl.static_range(10**9)", "tl.range(0, 10, 0)", "tl.nothing",
    "tl.full((8,), x, tl.int8)", "tl.dot(x, x)", "tl.sum(x, axis=9)", "tl.reduce(x, 0, x)", "tl.static_print(x)", "tl.inline_asm_elementwise('', '', [], tl.int32, True, 1)", "x.to(tl.float32)", "x.T",
    "await x", "(yield)", "(yield from x)", "triton.cdiv(x, y)", "triton.Config({})", "math.inf", "float('nan')", "'a' * 10**7", "[0] * 10**9", "2 ** 2 ** 2 ** 2 ** 2 ** 2", "'%s' % x", "'{}'.format(x)",
)  # fmt: skip

_STATEMENTS = (
    "pass", "x = 1", "x: tl.constexpr = 1", "x: int", "x += 1", "x, y = y, x", "x, *y = z", "[x, y] = z", "x[0] = 1", "x.y = 1", "del x", "x[0]: int = 3", "global x", "nonlocal x", "import os", "import os.path as x",
    "from os import *", "from . import x", "from .... import x", "from x import y", "import kernel", "return", "return 1", "return x, 1", "break", "continue", "raise x", "raise", "assert x", "assert 0, 'a'", "x",
    "while x:\n    pass", "while True:\n    x = 1", "for x in range(10): pass", "for x in tl.static_range(10**9):\n    y = x", "for x, y in z:\n    pass\nelse:\n    x = 1", "if x:\n    return",
    "if x:\n    y = 1\nelse:\n    y = 2.0", "try:\n    x = 1\nexcept ImportError:\n    x = 2\nelse:\n    x = 3\nfinally:\n    x = 4", "with x as y:\n    pass", "async def f(): pass", "def f(x=f): return f(x)",
    "def kernel(): pass", "class x: pass", "class x(y, metaclass=z):\n    a = 1\n    def f(self): pass", "@x\ndef f(): pass", "match x:\n    case 1: pass\n    case _: x = 2", "lambda: 0", "x = x", "x = y = z = 1",
    "tl.store(x, y)", "tl.static_assert(x)", "tl.device_print('a', x)", "print(x)", "tl.debug_barrier()", "x = lambda: x()", "x = [x]", "x.append(x)", "'text'", "f'{x}'", "__all__ = ['x']", "tl = 1", "triton = tl",
)  # fmt: skip

_OPERATORS: Sequence[type[ast.operator]] = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitOr, ast.BitXor, ast.BitAnd, ast.MatMult,
)  # fmt: skip

_NAMES = (
    "x",
    "tl",
    "triton",
    "range",
    "len",
    "print",
    "self",
    "é",
    "ª",
    "__name__",
    "kernel",
    "_",
    "x" * 200,
)


@cache
def _expressions() -> list[ast.expr]:
    return [ast.parse(text, mode="eval").body for text in _EXPRESSIONS]


@cache
def _statements() -> list[ast.stmt]:
    return [statement for text in _STATEMENTS for statement in ast.parse(text).body]


def expression(r: random.Random, tree: ast.AST) -> ast.expr:
    """An odd expression, or one that stands in the tree; of names in it one may be the tree's own."""
    own = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    made = copy.deepcopy(r.choice(own) if own and r.random() < 0.4 else r.choice(_expressions()))
    names = [node.id for node in own if isinstance(node, ast.Name)]
    for node in ast.walk(made):
        if isinstance(node, ast.Name) and node.id in "xyz" and names:
            node.id = r.choice(names)
    return made


# Changes: each gets the tree, and changes one place of it -----------------------------------------------------------


def _lists(tree: ast.AST) -> Iterator[tuple[ast.AST, list[Any]]]:
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list):
                yield node, value


def _slots(tree: ast.AST) -> Iterator[tuple[Callable[[ast.expr], None], ast.expr]]:
    """Every expression, with what puts another in its place."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                yield (lambda new, node=node, name=name: setattr(node, name, new)), value
            elif isinstance(value, list):
                for at, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        yield (lambda new, value=value, at=at: value.__setitem__(at, new)), item


def _take_out(tree: ast.Module, r: random.Random) -> None:
    found = [items for _, items in _lists(tree) if items]
    if found:
        items = r.choice(found)
        del items[r.randrange(len(items))]


def _double(tree: ast.Module, r: random.Random) -> None:
    found = [items for _, items in _lists(tree) if items]
    if found:
        items = r.choice(found)
        times = r.choice([1, 1, 1, 3, 100])
        items[r.randrange(len(items) + 1) : 0] = [copy.deepcopy(r.choice(items)) for _ in range(times)]


def _exchange(tree: ast.Module, r: random.Random) -> None:
    found = list(_slots(tree))
    if found:
        (put, one), (put_other, other) = r.choice(found), r.choice(found)
        kept = copy.deepcopy(one)
        put(copy.deepcopy(other))
        put_other(kept)


def _put(tree: ast.Module, r: random.Random) -> None:
    found = list(_slots(tree))
    if found:
        r.choice(found)[0](expression(r, tree))


def _nest(tree: ast.Module, r: random.Random) -> None:
    found = list(_slots(tree))
    if not found:
        return
    put, inner = r.choice(found)
    made: ast.expr = inner
    ways: list[Callable[[ast.expr], ast.expr]] = [
        lambda e: ast.UnaryOp(ast.USub(), e),
        lambda e: ast.UnaryOp(ast.Not(), e),
        lambda e: ast.BinOp(e, r.choice(_OPERATORS)(), copy.deepcopy(inner)),
        lambda e: ast.BinOp(copy.deepcopy(inner), r.choice(_OPERATORS)(), e),
        lambda e: ast.Tuple([e], ast.Load()),
        lambda e: ast.List([e, copy.deepcopy(inner)], ast.Load()),
        lambda e: ast.Call(copy.deepcopy(inner), [e], []),
        lambda e: ast.Call(e, [], []),
        lambda e: ast.Attribute(e, "x", ast.Load()),
        lambda e: ast.Subscript(e, ast.Constant(0), ast.Load()),
        lambda e: ast.IfExp(copy.deepcopy(inner), e, copy.deepcopy(inner)),
        lambda e: ast.Lambda(ast.arguments([], [], None, [], [], None, []), e),
    ]
    way = r.choice(ways)
    for _ in range(r.choice([1, 1, 2, 20, 60, 150])):
        made = way(made)
    put(made)


def _literal(tree: ast.Module, r: random.Random) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    if found:
        r.choice(found).value = r.choice([odd.value(r), odd.value(r), None, ..., b"\xff", 1j])


def _name(tree: ast.Module, r: random.Random) -> None:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    if names:
        r.choice(names).id = r.choice([r.choice(names).id, r.choice(_NAMES)])


def _attribute(tree: ast.Module, r: random.Random) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    if found:
        r.choice(found).attr = r.choice([r.choice(found).attr, r.choice(found).attr, r.choice(_NAMES)])


def _annotation(tree: ast.Module, r: random.Random) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.arg | ast.FunctionDef)]
    if found:
        node = r.choice(found)
        put = "returns" if isinstance(node, ast.FunctionDef) else "annotation"
        setattr(
            node,
            put,
            r.choice([None, expression(r, tree), ast.Constant("tl.constexpr"), ast.Constant(odd.string(r))]),
        )


def _parameters(tree: ast.Module, r: random.Random) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.arguments)]
    if not found:
        return
    args = r.choice(found)
    match r.randrange(4):
        case 0:
            args.vararg = ast.arg(r.choice(_NAMES)) if args.vararg is None else None
        case 1:
            args.kwarg = ast.arg(r.choice(_NAMES)) if args.kwarg is None else None
        case 2:
            args.posonlyargs, args.args = args.args, args.posonlyargs
        case _:
            args.kwonlyargs.append(ast.arg(r.choice(_NAMES)))
            args.kw_defaults.append(r.choice([None, expression(r, tree)]))


def _decorate(tree: ast.Module, r: random.Random) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    if found:
        r.choice(found).decorator_list.insert(0, expression(r, tree))


def _statement(tree: ast.Module, r: random.Random) -> None:
    bodies = [items for _, items in _lists(tree) if items and isinstance(items[0], ast.stmt)]
    if bodies:
        body = r.choice(bodies)
        new = copy.deepcopy(r.choice(_statements()))
        names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        for node in ast.walk(new):
            if isinstance(node, ast.Name) and node.id in "xyz" and names:
                node.id = r.choice(names)
        body.insert(r.randrange(len(body) + 1), new)


def _around(tree: ast.Module, r: random.Random) -> None:
    """Statements within another: a branch, a loop, a function, a class."""
    bodies = [items for _, items in _lists(tree) if items and isinstance(items[0], ast.stmt)]
    if not bodies:
        return
    body = r.choice(bodies)
    at = r.randrange(len(body))
    inner = body[at : at + r.choice([1, 1, 3])]
    for _ in range(r.choice([1, 1, 2, 10, 60])):
        new = copy.deepcopy(r.choice([s for s in _statements() if getattr(s, "body", None)]))
        if isinstance(new, ast.Match):
            new.cases[0].body = inner
        else:
            vars(new)["body"] = inner
        inner = [new]
    body[at : at + len(inner)] = inner


def _operator(tree: ast.Module, r: random.Random) -> None:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.AugAssign)]
    if found:
        r.choice(found).op = r.choice(_OPERATORS)()


CHANGES: Sequence[Callable[[ast.Module, random.Random], None]] = (
    _take_out, _double, _exchange, _put, _put, _nest, _literal, _literal, _name, _attribute, _annotation, _parameters, _decorate, _statement, _statement, _around, _operator,
)  # fmt: skip


#: Nodes of a tree that is changed once more.
_LARGEST = 20_000


def changed(text: str, r: random.Random) -> str:
    """A file after one to four changes of its tree; trees that cannot be written are left."""
    for _ in range(10):
        tree = ast.parse(text)
        for _ in range(r.choice([1, 1, 2, 4])):
            if sum(1 for _ in ast.walk(tree)) < _LARGEST:
                r.choice(CHANGES)(tree, r)
        try:
            return ast.unparse(ast.fix_missing_locations(tree))
        except (ValueError, TypeError, RecursionError, AttributeError):
            continue
    return text
