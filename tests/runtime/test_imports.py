"""The runtime is carried by packages as a copy: what it imports, and when."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import teenybuild.runtime

RUNTIME = Path(teenybuild.runtime.__file__).parent
MODULES = sorted(RUNTIME.glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_imports_its_own_modules_and_the_standard_library(path: Path) -> None:
    own = {module.stem for module in MODULES}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
            assert names <= sys.stdlib_module_names, f"{path.name}:{node.lineno}"
        elif isinstance(node, ast.ImportFrom) and node.level:
            assert node.level == 1, f"{path.name}:{node.lineno}"
            assert (node.module or "") in own, f"{path.name}:{node.lineno}"
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").partition(".")[0] in sys.stdlib_module_names, (
                f"{path.name}:{node.lineno}"
            )


def test_works_as_a_copy_that_cannot_see_teenybuild(tmp_path: Path) -> None:
    shutil.copytree(RUNTIME, tmp_path / "carried", ignore=shutil.ignore_patterns("__pycache__"))
    modules = ", ".join(path.stem for path in MODULES if path.stem != "__init__")
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from carried import {modules}
loaded = {{name.partition(".")[0] for name in sys.modules}}
assert not loaded & {{"teenybuild", "numpy", "cuda", "ml_dtypes"}}, loaded
"""
    subprocess.run([sys.executable, "-I", "-W", "error", "-c", program], check=True, timeout=60)
