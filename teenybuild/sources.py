"""The kernels of a manifest in their source files: signatures, what they reach, and the compile of each specialisation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from teenybuild.compiler.frontend.canonical import is_constexpr_hint
from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.imported import Imported
from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import Reached, reach
from teenybuild.compiler.frontend.statements import parameter_defaults
from teenybuild.compiler.pipeline import Job
from teenybuild.compiler.targets.base import Settings
from teenybuild.diagnostics import Diagnostic, UserError, did_you_mean, error
from teenybuild.importing import Importer
from teenybuild.specialisation import Specialisation
from teenybuild.targets import Target
from teenybuild.types import Value

if TYPE_CHECKING:
    from teenybuild.manifest.bind import Signature
    from teenybuild.manifest.model import Kernel, Manifest


class Sources:
    """Reads the kernel files of one manifest, each once."""

    def __init__(
        self,
        directory: Path,
        kernels: str,
        roots: tuple[str, ...],
        prefix: str = "",
        importer: Importer | None = None,
    ) -> None:
        #: None where no kernel file may be run.
        self._importer = importer
        self._directory = directory
        self._kernels = directory / kernels
        self._roots = (self._kernels, *(directory / r for r in roots))
        self._prefix = prefix
        self._libraries: dict[object, Library] = {}
        self._reached: dict[object, Reached] = {}
        self._imported: dict[str, Imported] = {}

    @staticmethod
    def of(
        manifest: Manifest,
        directory: Path,
        prefix: str = "",
        *,
        allow_import: bool = False,
        kept: Path | None = None,
    ) -> Sources:
        """The sources a manifest names. ``kept``: where what imports told is kept from build to build."""
        build = manifest.build
        roots = [directory / build.kernels, *(directory / root for root in build.roots)]
        importer = Importer(directory, roots, kept) if allow_import else None
        return Sources(directory, build.kernels, build.roots, prefix, importer)

    def library(self, overrides: Mapping[str, Value], imported: str = "") -> Library:
        """The kernel files as seen with some ``globals``, and with what importing the file ``imported`` told: those change what names mean."""
        key = (tuple(overrides.items()), imported)
        found = self._libraries.get(key)
        if found is None:
            found = self._libraries[key] = Library(
                self._directory,
                self._roots,
                static,
                dict(overrides),
                self._prefix,
                self._imported.get(imported),
            )
        return found

    def keep_imports(self) -> None:
        """Keeps what imports told in the build directory."""
        if self._importer is not None:
            self._importer.save()

    def told(self, source: str, data: Mapping[str, Any]) -> None:
        """Takes over what an import in another process told."""
        self._imported[source] = Imported(data, self._directory)

    def imported(self, source: str) -> Mapping[str, Any] | None:
        """What importing a source told, as plain data; None where nobody asked."""
        found = self._imported.get(source)
        return None if found is None else found.data

    def _import(self, kernel: Kernel) -> None:
        """Imports a kernel's source. Raises :class:`UserError` where nobody allowed that, or where it fails."""
        span = kernel.span("import", part="value")
        if self._importer is None:
            message = f"import = true runs {kernel.source}, and this build may not run sources"
            raise error(message, span, hint="allow it: --allow-import")
        path = self._kernels / kernel.source
        if kernel.source not in self._imported and path.is_file():
            self.told(kernel.source, self._importer.find(path, span).data)

    def signature(self, kernel: Kernel) -> Signature:
        """The parameters of a kernel's function. Raises :class:`UserError` that points at the manifest."""
        from teenybuild.compiler.frontend.tuning import autotune, heuristics
        from teenybuild.manifest.bind import (  # a worker has no manifest, and no time to load its reader
            Parameter,
            Signature,
        )

        if kernel.imports:
            self._import(kernel)
        try:
            reached = self.reached(kernel.source, kernel.function, kernel.globals, kernel.imports)
        except UserError as wrong:
            raise self._at(kernel, wrong) from None
        self._check_globals(kernel, reached)
        function = reached.function
        defaults = parameter_defaults(function.node)
        parameters = tuple(
            Parameter(p.arg, is_constexpr_hint(p.annotation), p.arg in defaults) for p in function.parameters
        )
        configs, untuned = _tried(lambda: autotune(function)) if kernel.tuned else (None, ())
        found, unreadable = _tried(lambda: heuristics(function))
        return Signature(
            function.name,
            parameters,
            function.module.source.name_span(function.node),
            configs,
            untuned,
            found or (),
            unreadable,
        )

    def _check_globals(self, kernel: Kernel, reached: Reached) -> None:
        """Values for names that nothing mentions are misspelled, unless they are meant for other kernels too."""
        wrong = [
            Diagnostic(
                f"globals names {name}, which {kernel.source} and what it imports do not mention",
                kernel.span("globals", name),
                hint=did_you_mean(name, reached.names),
            )
            for name in reached.unmentioned(kernel.globals)
            if not kernel.origin.is_inherited(("globals", name))
        ]
        if wrong:
            raise UserError(wrong)

    def _at(self, kernel: Kernel, wrong: UserError) -> UserError:
        """A source or function that is not there is said where the manifest names it."""
        where = "function" if "has no function" in wrong.diagnostics[0].message else "source"
        found: list[Diagnostic] = []
        for diagnostic in wrong.diagnostics:
            unreadable = diagnostic.span is not None and not diagnostic.span.text
            if diagnostic.span is None or unreadable:
                place = kernel.span(where, part="value")
                name = self._prefix + (Path(self._kernels.name) / kernel.source).as_posix()
                message = f"{name}: {diagnostic.message}" if unreadable else diagnostic.message
                diagnostic = Diagnostic(message, place, diagnostic.notes, diagnostic.hint)
            found.append(diagnostic)
        return UserError(found)

    def reached(
        self, source: str, function: str, overrides: Mapping[str, Value], imports: bool = False
    ) -> Reached:
        """A kernel's function with everything it reaches; ``imports``: with what importing its source told."""
        key = (source, function, tuple(overrides.items()), imports)
        found = self._reached.get(key)
        if found is None:
            module = self.library(overrides, source if imports else "").module(self._kernels / source)
            found = self._reached[key] = reach(find_function(module, function))
        return found

    @property
    def files(self) -> tuple[Path, ...]:
        """Every kernel file read so far, sorted, and every directory in which an import was looked for and not found."""
        libraries = self._libraries.values()
        found = {path for library in libraries for path in (*library.files, *library.searched)}
        return tuple(sorted(found | set(self._importer.files if self._importer is not None else ())))


_T = TypeVar("_T")


def _tried(read: Callable[[], _T]) -> tuple[_T | None, tuple[Diagnostic, ...]]:
    """What was read, or why it could not be: whether that matters is for the manifest to say."""
    try:
        return read(), ()
    except UserError as wrong:
        return None, wrong.diagnostics


def job(reached: Reached, spec: Specialisation, target: Target, ptx: str, lineinfo: bool, debug: bool) -> Job:
    """The compile of one specialisation for one target."""
    options = dict(spec.options)
    settings = Settings(
        num_warps=int(options["num_warps"] or 4),
        num_stages=int(options["num_stages"] or 3),
        maxnreg=None if options["maxnreg"] is None else int(options["maxnreg"]),
        enable_fp_fusion=bool(options["enable_fp_fusion"]),
        launch_cooperative_grid=bool(options["launch_cooperative_grid"]),
    )
    values = {**dict(spec.consts), **dict(spec.heuristics)}
    consts = {p.arg: values[p.arg] for p in reached.function.parameters if p.arg in values}
    instance = Instance(dict(spec.types), consts, dict(spec.assume))
    return Job(reached, instance, settings, target, ptx, lineinfo, debug)
