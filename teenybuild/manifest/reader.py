"""``kernels.toml`` → :class:`Manifest`: files, ``[build]``, and the kernels together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from teenybuild.diagnostics import Diagnostic, Note, Span, UserError
from teenybuild.manifest.build import read_build
from teenybuild.manifest.checks import kernel_name_problem
from teenybuild.manifest.draft import Draft, read_draft
from teenybuild.manifest.kernel import build_kernel
from teenybuild.manifest.model import Build, Kernel, Manifest, Origin
from teenybuild.manifest.report import Report
from teenybuild.manifest.schema import DEFAULTS, EDITION, INCLUDED, KERNEL, TOP
from teenybuild.manifest.shapes import Record, quoted, spelled
from teenybuild.manifest.table import as_table
from teenybuild.manifest.toml import LARGEST, Table, Toml, TomlFile, parse_toml, read_text


@dataclass(frozen=True, slots=True)
class Reading:
    """A manifest and everything wrong with it by itself.

    With diagnostics, ``manifest`` is what could be understood: kernels say in ``broken`` what is missing, and nothing may
    be built from it. It is there so that later checks can add what they find.
    """

    manifest: Manifest
    diagnostics: tuple[Diagnostic, ...]


def read_manifest(path: Path) -> Manifest:
    """The manifest at ``path``, checked by itself: its kernels have not been compared with their sources.

    Raises UserError with everything that is wrong, in source order.
    """
    reading = read(path)
    if reading.diagnostics:
        raise UserError(reading.diagnostics)
    return reading.manifest


def read(path: Path) -> Reading:
    """The manifest at ``path`` with what is wrong in it.

    Raises UserError only where there is nothing to go on with: a file that cannot be read, or is not TOML.
    """
    return _Reader(path).read()


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.report = Report()
        text = read_text(path, what="manifest")
        self.budget = LARGEST - len(text.encode())
        self.main = TomlFile(str(path), text)
        self.files: list[tuple[Path, TomlFile]] = [(path, self.main)]
        self.document = parse_toml(self.main)

    def read(self) -> Reading:
        document = self.document
        self.edition(document)
        self.top(document, TOP, self.main)
        origin = Origin(self.main, ("build",), self.main)
        build = read_build(as_table(document.get("build")), origin, self.report)
        origin = Origin(self.main, ("defaults",), self.main)
        defaults = read_draft(as_table(document.get("defaults")), DEFAULTS, "[defaults]", origin, self.report)
        tables = [(self.main, document), *self.included(build)]
        kernels = self.kernels(tables, defaults, build)
        if not kernels and not self.report:
            message = "there is nothing to build: the manifest has no kernel"
            hint = '[kernel.NAME] with source = "FILE.py" describes one'
            self.report.add(message, self.main.span(()), hint=hint)
        paths = tuple(path for path, _ in self.files)
        manifest = Manifest(self.path, self.path.parent, EDITION, build, kernels, paths, self.main)
        return Reading(manifest, self.report.sorted(file.name for _, file in self.files))

    def edition(self, document: Table) -> None:
        """Another edition may mean other keys: nothing else is worth saying about such a file."""
        edition = document.get("edition", EDITION)
        if isinstance(edition, int) and not isinstance(edition, bool) and edition != EDITION:
            message = f"edition must be {EDITION}, the one this version reads, not {spelled(edition)}"
            hint = "use a teenybuild that reads it" if edition > EDITION else None
            span = self.main.span(("edition",), "value")
            raise UserError(Diagnostic(message, span, hint=hint))

    def top(self, document: Table, record: Record, file: TomlFile) -> None:
        """The top level of a file: its tables are of the right kind, and read later."""
        title = "the manifest" if file is self.main else "an included file"
        for key, value in document.items():
            row = record.row(key)
            if row is None or not row.shape.takes(value) or key == "edition":
                for fault in record.key_faults(key, value, (key,), title):
                    self.report.fault(fault, Origin(file, (), self.main))
        if record is TOP and "edition" not in document:
            message = "the manifest must say which edition of the format it is in"
            self.report.add(message, file.span(()), hint=f"start it with: edition = {EDITION}")

    def included(self, build: Build) -> list[tuple[TomlFile, Table]]:
        """The files that ``[build] include`` names, each once, in sorted order of each pattern."""
        documents: list[tuple[TomlFile, Table]] = []
        seen = {_real(self.path)}
        for pattern in build.include:
            found = sorted(self.matches(pattern), key=Path.as_posix)
            if not found:
                hint = "patterns are relative to the manifest: more/*.toml"
                self.report.add(f"{quoted(pattern)} matches no file", self.included_at(pattern), hint=hint)
            for path in found:
                if _real(path) in seen:
                    continue
                seen.add(_real(path))
                try:
                    documents.append(self.include(path))
                except UserError as error:
                    note = Note("included here", self.included_at(pattern))
                    self.report.take(replace(d, notes=(*d.notes, note)) for d in error.diagnostics)
        return documents

    def included_at(self, pattern: str) -> Span:
        """Where the manifest names a pattern."""
        patterns = as_table(self.document.get("build")).get("include")
        index = patterns.index(pattern) if isinstance(patterns, list) else 0
        return self.main.span(("build", "include", index), "value")

    def matches(self, pattern: str) -> list[Path]:
        """The files that a pattern matches. A directory that cannot be listed has none."""
        try:
            return [path for path in self.path.parent.glob(pattern) if not path.is_dir()]
        except (OSError, ValueError):
            return []

    def include(self, path: Path) -> tuple[TomlFile, Table]:
        text = read_text(path, what="included file", at_most=self.budget)
        self.budget -= len(text.encode())
        file = TomlFile(str(path), text)
        self.files.append((path, file))
        document = parse_toml(file)
        self.top(document, INCLUDED, file)
        return file, document

    def kernels(
        self, documents: list[tuple[TomlFile, Table]], defaults: Draft, build: Build
    ) -> tuple[Kernel, ...]:
        kernels: list[Kernel] = []
        first: dict[str, Kernel] = {}
        for file, document in documents:
            for name, table in as_table(document.get("kernel")).items():
                kernel = self.kernel(name, table, file, defaults, build)
                if kernel is None:
                    continue
                before = first.setdefault(name.lower(), kernel)
                if before is not kernel:
                    self.same_name(before, kernel)
                    kernel = replace(kernel, broken=kernel.broken | {()})
                kernels.append(kernel)
        return tuple(kernels)

    def same_name(self, before: Kernel, kernel: Kernel) -> None:
        message = f"there are two kernels {kernel.name}"
        if before.name != kernel.name:
            message = f"the kernels {before.name} and {kernel.name} differ only in case, which file systems may fold"
        hint = "rename one; function = … names the function"
        self.report.add(message, kernel.span(), hint=hint, notes=[Note("the first is here", before.span())])

    def kernel(self, name: str, table: Toml, file: TomlFile, defaults: Draft, build: Build) -> Kernel | None:
        origin = Origin(file, ("kernel", name), self.main)
        if not isinstance(table, dict):
            message = f"kernel.{name} must be a table, not {spelled(table)}"
            self.report.add(message, origin.span((), "value"), hint=f"a kernel is a table: [kernel.{name}]")
            return None
        own = read_draft(table, KERNEL, f"[kernel.{name}]", origin, self.report)
        problem = kernel_name_problem(name)
        if problem is not None:
            self.report.add(problem.message, origin.span(()), hint=problem.hint)
            own.broken.add(() if own.function else ("function",))
        return build_kernel(name, own, defaults, build, origin, self.report)


def _real(path: Path) -> Path:
    """The file that a path leads to; the path itself where it leads in a circle, as reading it will say."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
