"""What the tree promises about itself: imports point one way, one module prints, one knows LLVM, and nothing names where it was made."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import teenybuild

PACKAGE = Path(teenybuild.__file__).parent
ROOT = PACKAGE.parent
MODULES = sorted(p for p in PACKAGE.rglob("*.py") if "__pycache__" not in p.parts)

#: Each may import what stands in a line above it. ``runtime`` stands apart: generated packages carry a copy of it.
LAYERS = (
    "diagnostics units",
    "dtypes targets",
    "types",
    "specialisation",
    "compiler.ir",
    "compiler.frontend compiler.layout compiler.passes",
    "compiler.lower compiler.schedule",
    "compiler.targets",
    "compiler.abi compiler.elf compiler.emit",
    "compiler.pipeline",
    "keys manifest assembler disassembler",
    "cache expand",
    "importing unchanged",
    "sources decorated cubins",
    "api project runtime scaffold chunks ninja upkeep limits",
    "loader state testing side",
    "generate worker",
    "packaging",
    "build inspection language",
    "explain locked outer reproducible snapshots",
    "__init__",
    "doctor arguments pytest_plugin",
    "cli",
    "__main__",
)
RANK = {name: rank for rank, line in enumerate(LAYERS) for name in line.split()}


def part(module: str) -> str:
    """The layer's name for ``teenybuild.a.b.c``."""
    names = module.split(".")[1:]
    return ".".join(names[:2]) if names[:1] == ["compiler"] else (names[0] if names else "__init__")


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """(module of ours, line) of every import in a file, wherever it stands, but those for types alone."""
    for node in _running(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((a.name, node.lineno) for a in node.names if a.name.startswith("teenybuild"))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "teenybuild":
            for alias in node.names:
                below = PACKAGE.parent.joinpath(*node.module.split("."), alias.name)
                is_module = below.is_dir() or below.with_suffix(".py").is_file()
                yield (f"{node.module}.{alias.name}" if is_module else node.module), node.lineno


def _running(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _running(child)


def name_of(path: Path) -> str:
    return "teenybuild." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    mine = part(name_of(path))
    wrong = [
        f"line {line}: {module}"
        for module, line in imports(path)
        if part(module) != mine and RANK[part(module)] >= RANK[mine]
    ]
    assert wrong == []


def test_every_module_has_its_place() -> None:
    assert {part(name_of(p)) for p in MODULES} - {"compiler.__init__"} == set(RANK)


def sources(*but: str) -> Iterator[tuple[str, str]]:
    for path in MODULES:
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(but):
            yield name, path.read_text(encoding="utf-8")


def test_only_the_command_line_prints_and_exits() -> None:
    """And kernels: what they print at compile time and, on the host, while they run."""
    kernels = ("compiler/frontend/builtins/debugging.py", "runtime/reports.py")
    said = re.compile(r"^\s*print\(|sys\.exit|sys\.std(out|err)\.write|SystemExit", re.M)
    assert [
        name
        for name, text in sources("cli.py", "__main__.py", "manifest/docs.py", "language/docs.py", *kernels)
        if said.search(text)
    ] == []


def test_only_emit_knows_llvms_binding() -> None:
    assert [name for name, text in sources("compiler/emit.py") if "llvmlite.binding" in text] == []


def test_the_compiler_reads_no_environment() -> None:
    assert [n for n, text in sources() if n.startswith("compiler/") and "environ" in text] == []


def test_lowering_never_asks_which_target_it_is() -> None:
    asked = re.compile(r"machine\.name|nvptx|isinstance\(self\.machine|compiler\.targets")
    assert [n for n, text in sources() if n.startswith("compiler/lower/") and asked.search(text)] == []


def test_a_launch_and_a_build_with_nothing_to_do_load_nothing_heavy(tmp_path: Path) -> None:
    heavy = {"llvmlite", "tomlkit", "numpy", "cuda", "rich", "ninja", "jsonschema", "ml_dtypes"}
    program = (  # what both load before they look at anything
        "import sys\n"
        "import teenybuild.runtime, teenybuild.language, teenybuild.state, teenybuild.build, teenybuild.cli\n"
        f"print(sorted(n for n in sys.modules if n in {heavy!r} or n.startswith(('teenybuild.compiler', 'teenybuild.manifest'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


# The whole repository -----------------------------------------------------------------------------------------


def tracked() -> list[Path]:
    """Every text file that is part of the project."""
    asked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = asked.stdout.splitlines() if asked.returncode == 0 else []
    return [ROOT / n for n in names if (ROOT / n).is_file()] or [
        p for p in ROOT.rglob("*.py") if ".venv" not in p.parts
    ]


def test_nothing_names_where_it_was_made() -> None:
    # Spelled so that this file does not find itself.
    telling = re.compile("|".join(["/ho" + "me/", "/ro" + "ot/", "/wo" + "rk/", "/tm" + "p/"]))
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if telling.search(line)
    ]
    assert found == []
