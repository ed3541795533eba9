"""The functions of libdevice and their dtypes are those of the installed Triton."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from teenybuild.compiler.frontend.builtins.libdevice import TABLE
from teenybuild.dtypes import DType

pytestmark = pytest.mark.peer
triton = pytest.importorskip("triton")

FILE = Path(triton.__file__).parent / "language" / "extra" / "cuda" / "libdevice.py"
Rows = dict[tuple[str, ...], tuple[str, str]]


def _named(node: ast.AST) -> list[str]:
    """The strings in an expression, in order."""
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def tritons() -> dict[str, tuple[int, Rows]]:
    """(how many operands, rows) of each function that the file defines, read from its source."""
    found: dict[str, tuple[int, Rows]] = {}
    for function in ast.parse(FILE.read_text(encoding="utf-8")).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        rows: Rows = {}
        truth = "core.int1" in ast.unparse(function)
        for table in (n for n in ast.walk(function) if isinstance(n, ast.Dict)):
            for key, value in zip(table.keys, table.values, strict=True):
                assert isinstance(key, ast.Tuple)
                dtypes = tuple(_named(item)[0] for item in key.elts)
                symbol, result = _named(value)
                rows[dtypes] = (symbol, "int1" if truth else result)
        found[function.name] = (len(function.args.args) - 1, rows)
    return found


def _spelled(dtype: DType) -> str:
    """``fp32``, and ``int32`` where Triton's types are called ``i32``."""
    return dtype.triton if dtype.is_float else dtype.language


def test_the_table_is_tritons() -> None:
    ours = {
        name: {
            tuple(_spelled(d) for d in dtypes): (f"__nv_{symbol}", _spelled(result))
            for dtypes, (symbol, result) in rows.items()
        }
        for name, rows in TABLE.items()
    }
    theirs = tritons()
    assert set(ours) == set(theirs)
    for name, rows in ours.items():
        assert rows == theirs[name][1], name
        assert {len(dtypes) for dtypes in rows} == {theirs[name][0]}
