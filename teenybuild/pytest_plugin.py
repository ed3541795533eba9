"""``kernel_snapshot`` for pytest: what a kernel becomes, held against files that are kept beside the tests.

pytest loads this by itself where teenybuild is installed, so nothing of the compiler is imported before a test asks for a snapshot.

A snapshot of ``tests/test_x.py::test_a`` is ``tests/__kernel_snapshots__/test_x/test_a.<kernel>.<stage>``.  Whether one is stale, only a whole run can
say: with pytest-xdist each worker tells what its tests asked for, and the process that started them judges.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from teenybuild.api import Artifact
    from teenybuild.snapshots import Specialisations

DIRECTORY = "__kernel_snapshots__"
UPDATE = "--kernel-snapshot-update"
#: What a worker of pytest-xdist tells, by this name.
_TOLD = "teenybuild_kernel_snapshots"
#: Lines of a difference that are shown.
_MOST_LINES = 120
#: Characters of a test's name in a file's.
_LONGEST = 120


@dataclass(slots=True, eq=False)
class Run:
    """What one run of pytest has asked for, and what it can judge; pytest calls it for each report and at the end."""

    config: pytest.Config
    update: bool
    #: Snapshots that tests have asked for, and those of them that were written: paths.
    asked: set[str] = field(default_factory=set[str])
    written: set[str] = field(default_factory=set[str])
    #: Test file → names of all tests in it, where it has snapshots. Empty where only some were looked for.
    collected: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    #: Test file → those that went well, and so have asked for all they want.
    passed: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    #: A worker that ended early has not told what it asked for.
    lost: bool = False
    stale: list[Path] = field(default_factory=list[Path])
    manifests: dict[tuple[Path, bool], Specialisations] = field(
        default_factory=dict[tuple[Path, bool], "Specialisations"]
    )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Notes which tests there are, before any are left out; nothing where only some were looked for."""
        if self.config.getoption("lf", False) or any("::" in argument for argument in self.config.args):
            return
        has: dict[Path, bool] = {}
        for item in items:
            directory = item.path.parent / DIRECTORY
            if directory not in has:
                has[directory] = directory.is_dir()
            if has[directory]:
                file, _, test = item.nodeid.partition("::")
                self.collected.setdefault(file, set()).add(test)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes which tests went well: with pytest-xdist, those of all workers."""
        if report.when == "call" and report.passed:
            file, _, test = report.nodeid.partition("::")
            self.passed.setdefault(file, set()).add(test)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Hears what a worker of pytest-xdist has to tell."""
        told: dict[str, Any] | None = getattr(node, "workeroutput", {}).get(_TOLD)
        if told is None:
            self.lost = True
            return
        self.asked.update(told["asked"])
        self.written.update(told["written"])
        for file, names in told["collected"].items():
            self.collected.setdefault(file, set()).update(names)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Tells, in a worker; else judges, and where snapshots are written removes those that are stale."""
        output: dict[str, Any] | None = getattr(self.config, "workeroutput", None)
        if output is not None:
            collected = {file: sorted(names) for file, names in self.collected.items()}
            output[_TOLD] = {
                "asked": sorted(self.asked),
                "written": sorted(self.written),
                "collected": collected,
            }
            return
        self.stale = [] if self.lost else list(_stale(self))
        for path in self.stale if self.update else ():
            path.unlink()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says what was written and what is stale, if anything."""
        if not self.written and not self.stale:
            return
        terminalreporter.section("kernel snapshots")
        lists = [("written", sorted(map(Path, self.written)))]
        if self.update:
            lists.append(("removed: no test asks for them", self.stale))
        else:
            lists.append((f"stale: no test asks for them ({UPDATE} removes them)", self.stale))
        for what, paths in lists:
            if paths:
                terminalreporter.write_line(f"{what}:")
            for path in paths:
                terminalreporter.write_line(f"  {_shown(path, self.config.rootpath)}")


_RUN = pytest.StashKey[Run]()


# The fixture --------------------------------------------------------------------------------------------------


@pytest.fixture
def kernel_snapshot(request: pytest.FixtureRequest) -> KernelSnapshot:
    """Compares stages of kernels with files beside the test: ``kernel_snapshot("scale__1024", stage="mlir")``."""
    return KernelSnapshot(request.config, request.node)


class KernelSnapshot:
    """What the fixture gives: called, it compares one stage of one kernel with its file."""

    def __init__(self, config: pytest.Config, node: pytest.Item) -> None:
        self._root = config.rootpath
        self._run = config.stash[_RUN]
        self._test = node.path
        self._owner = slug(node.nodeid.partition("::")[2])
        self._mine: set[Path] = set()

    def __call__(
        self,
        kernel: str | Callable[..., Any] | Artifact,
        types: Mapping[str, str] | None = None,
        const: Mapping[str, Any] | None = None,
        *,
        stage: str = "mlir",
        target: str | None = None,
        name: str | None = None,
        manifest: str | Path | None = None,
        allow_import: bool = False,
        **options: Any,
    ) -> None:
        """Fails with the difference where the kernel is not what it was, and where there is no snapshot yet.

        ``kernel`` is an id of the nearest ``kernels.toml`` above the test (or of ``manifest``, with ``allow_import`` where that needs it), an artifact that
        :func:`teenybuild.compile` gave, or a function (itself, or ``"file.py:function"``) with ``types``, ``const`` and other options of that.
        ``stage`` is ``source``, ``mlir``, ``llvm``, ``ptx`` or ``abi``; ``name`` tells two snapshots of one kernel in one test apart.

        Raises AssertionError, or :class:`teenybuild.UserError` for a kernel that is wrong.
        """
        __tracebackhide__ = True
        from teenybuild.diagnostics import UserError

        try:
            text, chosen, label = self._text(
                kernel, types, const, stage, target, manifest, allow_import, options
            )
        except UserError as wrong:
            raise wrong.with_traceback(None) from None  # not the way through the compiler
        self._compare(self._path(stage, chosen, name or label), text.rstrip("\n") + "\n")

    def _text(
        self,
        kernel: str | Callable[..., Any] | Artifact,
        types: Mapping[str, str] | None,
        const: Mapping[str, Any] | None,
        stage: str,
        target: str | None,
        manifest: str | Path | None,
        allow_import: bool,
        options: dict[str, Any],
    ) -> tuple[str, str, str]:
        """(text, target, what to call it)."""
        from teenybuild.api import Artifact
        from teenybuild.diagnostics import error
        from teenybuild.snapshots import artifact_text, function_text

        if isinstance(kernel, str) and ":" not in kernel:
            given = {"types": types, "const": const, **options}
            said = [what for what, value in given.items() if value is not None]
            if said:
                raise error(
                    f"{kernel} is an id, of which the manifest says everything, and not {', '.join(said)}"
                )
            text, chosen = self._specialisations(manifest, allow_import).text(kernel, stage, target)
            return text, chosen, kernel
        if isinstance(kernel, Artifact):
            return artifact_text(kernel, stage), kernel.target, str(kernel.abi["function"])
        return function_text(kernel, types or {}, stage, target, {"const": const, **options})

    def _specialisations(self, manifest: str | Path | None, allow_import: bool) -> Specialisations:
        from teenybuild.diagnostics import error
        from teenybuild.snapshots import Specialisations

        if manifest is None:
            above = [d for d in self._test.parents if d.is_relative_to(self._root)]
            found = next((d / "kernels.toml" for d in above if (d / "kernels.toml").is_file()), None)
            if found is None:
                raise error(
                    f"no directory from {self._test.parent} up to {self._root} has a kernels.toml",
                    hint="manifest=… names one",
                )
        else:
            found = Path(manifest).absolute()
        opened = self._run.manifests
        if (found, allow_import) not in opened:
            opened[found, allow_import] = Specialisations(found, allow_import=allow_import)
        return opened[found, allow_import]

    def _path(self, stage: str, target: str, label: str) -> Path:
        """Where a snapshot lies. The stages that a target makes have its name in theirs."""
        from teenybuild.snapshots import STAGES

        parts = [self._owner, slug(label), *([target.replace(":", "-")] if STAGES[stage] else []), stage]
        return self._test.parent / DIRECTORY / self._test.stem / ".".join(parts)

    def _compare(self, path: Path, text: str) -> None:
        __tracebackhide__ = True
        shown = _shown(path, self._root)
        if path in self._mine:
            raise AssertionError(f"this test has asked for {shown} before: give one of them a name=")
        self._mine.add(path)
        self._run.asked.add(str(path))
        kept = path.read_text(encoding="utf-8") if path.is_file() else None
        if kept == text:
            return
        if self._run.update:
            from teenybuild.cache import write_if_changed

            write_if_changed(path, text.encode())
            self._run.written.add(str(path))
        elif kept is None:
            raise AssertionError(f"there is no snapshot {shown}\npytest {UPDATE} writes it")
        else:
            raise AssertionError(_difference(kept, text, shown))


def _difference(kept: str, text: str, shown: str) -> str:
    import difflib

    lines = list(
        difflib.unified_diff(kept.splitlines(), text.splitlines(), shown, "what it is now", lineterm="")
    )
    more = len(lines) - _MOST_LINES
    if more > 0:
        lines[_MOST_LINES:] = [f"… and {more} more lines"]
    return "\n".join([f"the kernel is not what {shown} says", *lines, f"pytest {UPDATE} takes it over"])


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def slug(name: str) -> str:
    """A test's name in the name of a file: ``TestX::test_a[1-2]`` is ``TestX-test_a-1-2``. What that leaves open is told apart by a digest."""
    plain = re.sub(r"::|\[", "-", name).removesuffix("]")
    found = re.sub(r"[^\w-]", "_", plain)
    if found != plain or len(found) > _LONGEST:
        return f"{found[:_LONGEST]}-{sha256(name.encode()).hexdigest()[:8]}"
    return found


# What is stale ------------------------------------------------------------------------------------------------


def _stale(run: Run) -> Iterator[Path]:
    """Snapshots that nobody asks for any more: their test went well without, or is not there, or its file is not."""
    root, files = run.config.rootpath, sorted({*run.passed, *run.collected})
    for file in files:
        passed, there = (
            {slug(test) for test in tests.get(file, ())} for tests in (run.passed, run.collected)
        )
        for path in _files((root / file).parent / DIRECTORY / Path(file).stem):
            owner = path.name.partition(".")[0]
            gone = bool(there) and owner not in there
            if str(path) not in run.asked and (gone or owner in passed):
                yield path
    for directory in sorted({(root / file).parent / DIRECTORY for file in files}):
        for kept in sorted(directory.iterdir()) if directory.is_dir() else ():
            if kept.is_dir() and not (directory.parent / f"{kept.name}.py").is_file():
                yield from _files(kept)


def _files(directory: Path) -> Iterable[Path]:
    return sorted(p for p in directory.iterdir() if p.is_file()) if directory.is_dir() else ()


# What pytest calls --------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option."""
    parser.getgroup("teenybuild").addoption(
        UPDATE,
        action="store_true",
        default=False,
        help="write the snapshots of kernels that differ or are missing, and remove those that no test asks for",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begins a run. What is written is to be looked at, so CI writes nothing."""
    update = bool(config.getoption(UPDATE))
    if update and os.environ.get("CI"):
        raise pytest.UsageError(f"{UPDATE}: snapshots are written by hand and reviewed, not in CI")
    run = config.stash[_RUN] = Run(config, update)
    config.pluginmanager.register(run, "teenybuild-kernel-snapshots")
