"""How the compiler is put together: every operation is lowered, imports point one way, targets stay apart."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import teenybuild
from teenybuild.compiler.frontend import builtins
from teenybuild.compiler.frontend.builtins import libdevice
from teenybuild.compiler.ir import arith, constant, core, math, moves, scf, tt, ttg
from teenybuild.compiler.ir.core import ELEMENTWISE, TERMINATOR, Op
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.lower import functions
from teenybuild.compiler.lower.debug import Lines
from teenybuild.compiler.lower.elementwise import RULES
from teenybuild.compiler.lower.function import FunctionLowering
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import Machine
from teenybuild.compiler.targets.host import HostMachine
from teenybuild.compiler.targets.nvptx import GpuMachine
from tests.support.catalogue import CATALOGUE

ROOT = Path(teenybuild.__file__).parent
COMPILER = ROOT / "compiler"


def classes(base: type[Op] = Op) -> Iterator[type[Op]]:
    """Every operation that has a name."""
    for kind in base.__subclasses__():
        if kind.name:
            yield kind
        yield from classes(kind)


OPERATIONS = sorted(set(classes()), key=lambda kind: kind.name)

#: Operations that are no rule of one lane: lowered where lanes meet, or where control flows.
HANDLED = {
    tt.Load, tt.Store, tt.Reduce, tt.Scan, tt.Dot, ttg.Mma, ttg.ConvertLayout,
    ttg.Allocate, ttg.Free, ttg.Viewed, ttg.Put, ttg.Get, ttg.CopyAsync, ttg.CommitCopies, ttg.WaitCopies, ttg.Publish,
    ttg.OpenSignals, ttg.CloseSignals, ttg.CopyBlocks, ttg.Await, ttg.StoreBlock, ttg.WaitStores,
    ttg.GroupMma, ttg.WaitProducts, scf.For, scf.While, scf.If,
    constant.Constant, tt.GetProgramId, tt.GetNumPrograms, tt.Splat, tt.MakeRange, tt.Broadcast, tt.Reshape, tt.ExpandDims, tt.Trans,
    tt.Barrier, tt.Print, tt.Assert, tt.InlineAsm, ttg.Sealed,
    tt.AtomicRmw,
    tt.AtomicCas, tt.Gather, tt.Histogram, moves.Exchange, moves.Half, moves.Twice,
}  # fmt: skip

#: Operations that become others before anything is lowered.
REWRITTEN = {tt.Join, tt.Split, ttg.Staged}
#: Operations that come in with layouts, or shortly before: never printed.
INTERNAL = {
    *(kind for kind in OPERATIONS if kind.__module__ == ttg.__name__),
    moves.Exchange,
    moves.Half,
    moves.Twice,
}


def test_operations_are_found() -> None:
    modules = {kind.__module__.rpartition(".")[2] for kind in OPERATIONS}
    assert {"arith", "math", "scf", "tt", "constant"} <= modules
    assert len(OPERATIONS) >= 60
    assert {arith.AddF, math.Exp} <= set(OPERATIONS)


@pytest.mark.parametrize("kind", OPERATIONS, ids=lambda kind: kind.name)
def test_every_operation_is_lowered(kind: type[Op]) -> None:
    """By a rule of one lane, or by a handler; terminators with the operation they end; or what it is rewritten to is."""
    ways = [kind in RULES, kind in HANDLED, kind in REWRITTEN, bool(kind.traits & TERMINATOR)]
    assert ways.count(True) == 1
    if kind in RULES:
        assert kind.traits & ELEMENTWISE


@pytest.mark.parametrize("kind", OPERATIONS, ids=lambda kind: kind.name)
def test_every_operation_appears_in_a_kernel(kind: type[Op]) -> None:
    """So that the tests that go through the catalogue go through every operation."""
    if kind in INTERNAL or kind is tt.InlineAsm:
        return  # never printed; for GPUs only, and tested by itself
    pattern = re.compile(rf'(^|[ "]){re.escape(kind.name)}([ "(]|$)', re.MULTILINE)
    assert any(pattern.search(entry.compile("cpu").mlir) for entry in CATALOGUE.values())


def test_handlers_are_what_the_lowering_has() -> None:
    """The table above against the class' own."""
    machine = HostMachine.__new__(HostMachine)
    body = core.Block(ops=[tt.Return()])
    function = core.Function("f", (), body)
    own = FunctionLowering(function, AxisAnalysis(function), machine, Lines("k.py", "", {}))._handlers
    assert set(own) <= HANDLED
    assert {tt.Load, tt.Store, tt.Reduce, tt.Dot, ttg.ConvertLayout, scf.For, scf.While, scf.If} <= set(own)


def test_every_function_of_libdevice_has_a_formula() -> None:
    """And no formula is for a function that cannot be called."""
    wanted = {f"__nv_{symbol}" for rows in libdevice.TABLE.values() for symbol, _ in rows.values()}
    assert set(functions.FUNCTIONS) == wanted


def test_kernels_that_need_no_formulas_load_none() -> None:
    """Compiling them takes no longer for the functions there are."""
    program = (
        "import sys; from tests.support.catalogue import CATALOGUE; CATALOGUE['copy_f32'].compile('cpu', force=True);"
        "assert not [m for m in sys.modules if m.startswith('teenybuild.compiler.lower.functions')];"
        "CATALOGUE['normal'].compile('cpu', force=True);"
        "assert 'teenybuild.compiler.lower.functions.trigonometric' in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("machine", [HostMachine, GpuMachine])
def test_machines_do_all_that_rules_ask_for(machine: type[Machine]) -> None:
    assert not inspect.isabstract(machine)
    for name in Machine.__abstractmethods__:
        wanted = list(inspect.signature(getattr(Machine, name)).parameters)
        assert list(inspect.signature(getattr(machine, name)).parameters) == wanted, name


# Imports --------------------------------------------------------------------------------------------------------


def imported(path: Path) -> set[str]:
    """Modules that a file imports, also inside functions; not those for type checking only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            skipped.update(n for s in node.body for n in ast.walk(s))
    found: set[str] = set()
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
    return found


def imports_of(package: str) -> dict[str, set[str]]:
    return {
        str(path.relative_to(ROOT)): imported(path) for path in sorted((COMPILER / package).rglob("*.py"))
    }


#: Below, and what it may not import: imports point down the list in the design.
FORBIDDEN = {
    "ir": ("frontend", "passes", "layout", "lower", "targets", "emit", "pipeline"),
    "passes": ("frontend", "lower", "targets", "emit", "pipeline"),
    "layout": ("frontend", "passes", "lower", "targets", "emit", "pipeline"),
    "lower": ("targets", "emit", "pipeline", "passes"),
    "frontend": ("passes", "layout", "lower", "targets", "emit", "pipeline"),
    "targets": ("frontend", "emit", "pipeline"),
}


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_point_one_way(package: str) -> None:
    for file, modules in imports_of(package).items():
        for other in FORBIDDEN[package]:
            prefix = f"teenybuild.compiler.{other}"
            wrong = sorted(m for m in modules if m == prefix or m.startswith(f"{prefix}."))
            assert wrong == [], file


def test_the_compiler_knows_nothing_of_what_uses_it() -> None:
    below = ("compiler", "diagnostics", "dtypes", "targets", "types")
    for path in COMPILER.rglob("*.py"):
        ours = {m.split(".")[1] for m in imported(path) if m.startswith("teenybuild.")}
        assert ours <= set(below), path


def test_only_emit_uses_llvmlite() -> None:
    users = {
        path.relative_to(COMPILER).as_posix()
        for path in COMPILER.rglob("*.py")
        if any(m.startswith("llvmlite") for m in imported(path))
    }
    assert users == {"emit.py"}


def test_lowering_never_asks_which_target_it_is() -> None:
    """No name of a target in ``lower/``, ``layout/``, ``passes/`` and ``schedule/``, and no test of a machine's class."""
    for package in ("lower", "layout", "passes", "schedule"):
        for path in (COMPILER / package).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {
                n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)
            }
            assert names.isdisjoint(
                {"HostMachine", "GpuMachine", "HostTarget", "NvptxTarget", "arch", "emulated"}
            ), path


def test_nothing_is_read_from_the_environment() -> None:
    """Settings are arguments: a compile is a function of its job."""
    for path in COMPILER.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        assert names.isdisjoint({"environ", "environb", "getenv", "argv"}), path


# Names ----------------------------------------------------------------------------------------------------------


def test_names_of_the_language_have_one_meaning() -> None:
    """What a later version brings is not there yet; aliases lead to what is."""
    known = {*builtins.BUILTINS, *builtins.VALUES}
    assert sorted(builtins.LATER & known) == []
    assert sorted(set(builtins.ALIASES.values()) - known) == []
    assert sorted(f"tl.{name}" for name in builtins.METHODS if f"tl.{name}" not in builtins.BUILTINS) == []


def test_every_lane_method_is_documented() -> None:
    for kind in (Lane, Machine):
        for name, method in vars(kind).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                assert method.__doc__, f"{kind.__name__}.{name}"
