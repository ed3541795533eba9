"""Kernels with a part exchanged, taken out or put elsewhere: each compiles or is refused with a message, whatever it has become.

Never an exception of ours, never tile IR that the verifier refuses, never LLVM IR that LLVM does not read.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from teenybuild.compiler import emit
from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import reach
from teenybuild.compiler.pipeline import Job, code_target, front, lower
from teenybuild.compiler.targets.base import Settings
from teenybuild.diagnostics import UserError
from teenybuild.targets import TARGETS
from teenybuild.types import parse_type
from tests.support.catalogue import CATALOGUE, Entry
from tests.support.run import PREAMBLE

HEAD = f"{PREAMBLE}import torch\nHOST = torch.zeros(3)\nTUPLE = (1, 2.5, 'a', None, tl.float16)\n\n\n"
#: Expressions that may come anywhere.
STRANGE = [
    ast.parse(text, mode="eval").body
    for text in (
        "None", "0", "-1", "2.5", "'a'", "True", "(1, 2)", "()", "10**30", "1e400", "float('nan')", "tl", "tl.load", "tl.float16", "tl.float8e5",
        "HOST", "TUPLE", "range(3)", "lambda: 0", "[x for x in y]", "x[None]", "x[:, None]", "x.dtype", "tl.arange(0, 8)",
        "tl.zeros((4, 4), tl.float32)", "tl.program_id(0)", "tl.cdiv(n, 0)", "1 if n else 2", "x and n", "not x", "f'{n}'", "~0", "(-8) ** 0.5",
    )
]  # fmt: skip
WRAPPERS = [
    "for _k in range(n):\n    pass",
    "if n > 1:\n    pass",
    "if n > 1:\n    pass\nelse:\n    return",
    "for _k in tl.static_range(2):\n    pass",
]
OPERATORS = [
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.BitAnd,
    ast.LShift,
    ast.RShift,
    ast.Pow,
    ast.MatMult,
]
TYPES = ["*f32", "*f16", "*bf16", "*i8", "*i1", "*i64", "i32", "i64", "u32", "i1", "f16", "f64", "none"]


class _Exchange(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


def _expressions(tree: ast.Module) -> list[ast.expr]:
    bodies = [s for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for s in f.body]
    return [
        e
        for s in bodies
        for e in ast.walk(s)
        if isinstance(e, ast.expr) and not isinstance(getattr(e, "ctx", None), ast.Store)
    ]


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    return [n.body for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.For | ast.If)]


def exchange(tree: ast.Module, r: random.Random) -> None:
    found = _expressions(tree)
    _Exchange(r.choice(found), copy.deepcopy(r.choice([*found, *STRANGE, *STRANGE]))).visit(tree)


def operator(tree: ast.Module, r: random.Random) -> None:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp)]
    if found:
        r.choice(found).op = r.choice(OPERATORS)()


def drop(tree: ast.Module, r: random.Random) -> None:
    body = r.choice(_bodies(tree))
    if len(body) > 1:
        del body[r.randrange(len(body))]


def wrap(tree: ast.Module, r: random.Random) -> None:
    body = r.choice(_bodies(tree))
    at = r.randrange(len(body))
    [around] = ast.parse(r.choice(WRAPPERS)).body
    assert isinstance(around, ast.For | ast.If)
    around.body = [copy.deepcopy(body[at])]
    body[at : at + r.randrange(2)] = [around]


def argument(tree: ast.Module, r: random.Random) -> None:
    call = r.choice([n for n in ast.walk(tree) if isinstance(n, ast.Call)])
    if call.args and r.random() < 0.4:
        del call.args[r.randrange(len(call.args))]
    elif call.keywords and r.random() < 0.5:
        r.choice(call.keywords).value = copy.deepcopy(r.choice([*_expressions(tree), *STRANGE]))
    else:
        call.args.append(copy.deepcopy(r.choice(STRANGE)))


def name(tree: ast.Module, r: random.Random) -> None:
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    r.choice(found).id = r.choice(found).id


def repeat(tree: ast.Module, r: random.Random) -> None:
    statements = [s for s in ast.walk(tree) if isinstance(s, ast.stmt) and not isinstance(s, ast.FunctionDef)]
    body = r.choice(_bodies(tree))
    body.insert(r.randrange(len(body) + 1), copy.deepcopy(r.choice(statements)))


MUTATIONS: list[Callable[[ast.Module, random.Random], None]] = [
    exchange,
    exchange,
    operator,
    drop,
    wrap,
    argument,
    name,
    repeat,
]


def mutated(entry: Entry, r: random.Random) -> tuple[str, dict[str, str]]:
    """A kernel's text with one to three changes, and types of which one may be another."""
    tree = ast.parse(entry.source)
    for _ in range(r.choice([1, 1, 2, 3])):
        r.choice(MUTATIONS)(tree, r)
    types = dict(entry.types)
    if types and r.random() < 0.3:
        types[r.choice(list(types))] = r.choice(TYPES)
    return HEAD + ast.unparse(ast.fix_missing_locations(tree)), types


def outcome(directory: Path, text: str, types: dict[str, str], entry: Entry, target: str) -> str:
    """What is said of the kernel; nothing where it compiles."""
    path = directory / "kernel.py"
    path.write_text(text, encoding="utf-8")
    try:
        function = find_function(Library(directory, (directory,), static).module(path), "kernel")
        names = [p.arg for p in function.parameters]
        parsed = {n: parse_type(t) for n, t in types.items() if n in names}
        instance = Instance(parsed, {n: v for n, v in entry.const.items() if n in names})
        job = Job(reach(function), instance, Settings(), TARGETS[target], verify=True)
        emit._parsed(lower(job, front(job), code_target(job.target, job.settings, job.ptx)).llvm)
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("seed", range(10))
def test_no_mutation_escapes(seed: int, tmp_path: Path) -> None:
    r = random.Random(seed)
    said: list[str] = []
    for _ in range(50):
        entry = CATALOGUE[r.choice(sorted(CATALOGUE))]
        text, types = mutated(entry, r)
        target = r.choice(["cpu", "cpu:sm_90a", "sm_75", "sm_90a"])
        try:
            said.append(outcome(tmp_path, text, types, entry, target))
        except Exception as wrong:
            raise AssertionError(f"{types}\n{target}\n{text}") from wrong
    refused = [text for text in said if text]
    assert 0 < len(refused) < len(said)
    assert [text for text in refused if not text.startswith("kernel.py:")] == []
