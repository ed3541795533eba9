"""The loader stands below what builds: it knows manifests and specialisations, and neither compiles nor caches."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import teenybuild.loader

MODULES = sorted(Path(teenybuild.loader.__file__).parent.glob("*.py"))
MAY = (
    "diagnostics",
    "dtypes",
    "expand",
    "loader",
    "manifest",
    "runtime.index",
    "specialisation",
    "targets",
    "types",
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_what_it_imports(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("teenybuild"):
            name = (node.module or "").removeprefix("teenybuild.")
            assert name.startswith(MAY), f"{path.name}:{node.lineno}: {name}"


def test_it_loads_no_compiler() -> None:
    program = """
import sys
import teenybuild.loader
loaded = {name.partition(".")[0] for name in sys.modules}
assert not loaded & {"llvmlite", "numpy", "cuda"}, loaded
assert not [name for name in sys.modules if name.startswith(("teenybuild.compiler", "teenybuild.cache"))]
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, cwd=Path(__file__).parents[2])
