"""Looking without building: check, list, show, clean."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teenybuild.api import job_key
from teenybuild.cache import Cache, Entry
from teenybuild.compiler.pipeline import Job, front
from teenybuild.diagnostics import Diagnostic, UserError, did_you_mean, error
from teenybuild.expand import Plan
from teenybuild.generate import assembler_of, ptx_of, read_plan, targets_of
from teenybuild.loader import remove_package
from teenybuild.packaging import recorded_directory
from teenybuild.project import (
    CACHE,
    CONFIG,
    DEPFILE,
    IMPORTED,
    KEYS,
    LINES,
    NINJA,
    PACKAGE_STAMP,
    PLANS,
    RESULTS,
    STAMPS,
    TOOLCHAIN,
    Project,
)
from teenybuild.sources import Sources, job
from teenybuild.specialisation import Specialisation
from teenybuild.unchanged import DIGESTS, STATE
from teenybuild.worker import check_outputs

if TYPE_CHECKING:
    from teenybuild.assembler import Assembler, Resources


@dataclass(frozen=True, slots=True)
class Checked:
    """What ``check`` found."""

    kernels: int
    specialisations: int
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One specialisation for one target."""

    id: str
    target: str
    key: str
    state: str
    #: What its machine code takes, where it is built.
    resources: Resources | None = None

    def cells(self) -> tuple[str, ...]:
        """As a line of a table."""
        more = () if self.resources is None else self.resources.cells()
        return self.id, self.target, self.key[:12], self.state, *more

    def json(self) -> dict[str, Any]:
        """As plain data."""
        resources = None if self.resources is None else self.resources.json()
        return {
            "id": self.id,
            "target": self.target,
            "key": self.key,
            "state": self.state,
            "resources": resources,
        }


def jobs(project: Project, found: Plan, sources: Sources) -> Iterator[tuple[Specialisation, Job]]:
    """Every compile of a build, in order."""
    manifest = found.manifest.manifest
    bound = {b.kernel.name: b for b in found.manifest.kernels}
    for spec in found.specialisations:
        kernel = bound[spec.kernel].kernel
        reached = sources.reached(kernel.source, kernel.function, kernel.globals, kernel.imports)
        for target in targets_of(project, bound[spec.kernel]):
            ptx, build = ptx_of(project, manifest, target), manifest.build
            yield spec, job(reached, spec, target, ptx, build.lineinfo, build.debug)


def check(project: Project) -> Checked:
    """Reads the manifest and every kernel in every specialisation; nothing is compiled. All errors at once."""
    found, sources = read_plan(project)
    diagnostics: list[Diagnostic] = []
    seen: set[str] = set()
    for spec, job_ in jobs(project, found, sources):
        if spec.id in seen:
            continue  # tile IR does not depend on the target
        seen.add(spec.id)
        try:
            function = front(job_)
            kernel = next(b.kernel for b in found.manifest.kernels if b.kernel.name == spec.kernel)
            from teenybuild.compiler.abi import describe

            plan = {"kernel": spec.kernel, "outputs": kernel.outputs, "mutates": kernel.mutates}
            arguments = describe(job_.instance, function).json()["arguments"]
            problems: list[Diagnostic] = check_outputs(plan, job_, arguments)  # type: ignore[arg-type]  # typed dicts
        except UserError as wrong:
            problems = list(wrong.diagnostics)
        diagnostics += [d for d in problems if d not in diagnostics]
    return Checked(len(found.manifest.kernels), len(found.specialisations), tuple(diagnostics))


def listing(project: Project) -> list[Row]:
    """Every specialisation with its key, and whether the cache has it: ``cached`` or ``missing``."""
    found, sources = read_plan(project)
    manifest = found.manifest.manifest
    cache = Cache(project.cache_directory(manifest.build.cache))
    assembler = assembler_of(project, found)
    rows: list[Row] = []
    for spec, job_ in jobs(project, found, sources):
        key = job_key(job_)
        entry = cache.find(job_.reached.function.name, key, ())
        whole, resources = entry is not None, None
        if entry is not None and assembler is not None and job_.target.machine == "gpu":
            resources = _taken(cache, entry, job_, assembler.identity)
            whole = resources is not None
        rows.append(Row(spec.id, job_.target.name, key, "cached" if whole else "missing", resources))
    return rows


def _taken(cache: Cache, ptx: Entry, job_: Job, identity: str) -> Resources | None:
    """What the machine code of an entry takes; None where the cache has none."""
    from teenybuild.cubins import cubin_key, resources_of

    cubin = cache.find(ptx.name, cubin_key(ptx.digests["ptx"], job_, identity), ())
    return None if cubin is None else resources_of(cubin)


def selected(project: Project, found: Plan, sources: Sources, id_: str) -> list[Job]:
    """The compiles of one specialisation, a target each. Raises :class:`UserError` where there are none."""
    matching = [j for s, j in jobs(project, found, sources) if s.id == id_]
    if not matching:
        hint = (
            did_you_mean(id_, [s.id for s in found.specialisations]) or "teenybuild list shows what there is"
        )
        raise error(f"there is no specialisation {id_}", hint=hint)
    return matching


_FILES = {"source": "py", "mlir": "mlir", "llvm": "ll", "ptx": "ptx"}


#: Stages that only GPUs have.
_OF_GPUS = ("ptx", "sass", "side")


def stage(project: Project, id_: str, target: str | None, wanted: str, *, sass: bool = False) -> str:
    """One stage of one specialisation, as text; ``side`` with machine code if ``sass``. Raises :class:`UserError` where there is none."""
    found, sources = read_plan(project)
    matching = selected(project, found, sources, id_)
    if target is None and wanted in _OF_GPUS:
        matching = [m for m in matching if m.target.machine == "gpu"] or matching
    job_ = matching[0]
    if wanted in _OF_GPUS and job_.target.machine == "cpu":
        raise error(
            f"{id_} for {job_.target.name} has no {'SASS' if wanted == 'sass' else 'PTX'}",
            hint="choose a GPU target with --target, or --stage llvm",
        )
    if wanted == "side":
        from teenybuild.side import side

        return side(job_, _assembler(found) if sass else None)
    cache = Cache(project.cache_directory(found.manifest.manifest.build.cache))
    entry = cache.find(job_.reached.function.name, job_key(job_))
    if entry is None:
        raise error(f"{id_} for {job_.target.name} is not built", hint="run teenybuild build first")
    if wanted == "sass":
        from teenybuild.cubins import build_cubin
        from teenybuild.disassembler import disassembled

        return disassembled(build_cubin(job_, entry, _assembler(found), cache).files["cubin"])
    return _text(entry, wanted)


def _text(entry: Entry, wanted: str) -> str:
    if wanted == "abi":
        return json.dumps(dict(entry.description), indent=1)
    return entry.files[_FILES[wanted]].decode()


def _assembler(found: Plan) -> Assembler:
    from teenybuild.assembler import find_assembler

    return find_assembler(found.manifest.manifest.build.assembler)


def cache_of(project: Project) -> Path:
    """The cache directory of a project, as its manifest says."""
    return project.cache_directory(read_plan(project)[0].manifest.manifest.build.cache)


def clean(project: Project, *, cache: bool) -> int:
    """Removes what builds wrote, the package among it, and the cache's entries where asked; how many files. Never anyone else's."""
    removed = 0
    if cache:
        removed += Cache(cache_of(project)).clear()
    package = recorded_directory(project.build / PACKAGE_STAMP)
    if package is not None:
        removed += remove_package(package)
    for name in (PLANS, STAMPS, RESULTS, LINES, IMPORTED, KEYS):
        removed += sum(1 for p in (project.build / name).rglob("*") if p.is_file())
        shutil.rmtree(project.build / name, ignore_errors=True)
    for name in (CONFIG, NINJA, DEPFILE, TOOLCHAIN, CACHE, STATE, DIGESTS, ".ninja_log", ".ninja_deps"):
        path = project.build / name
        removed += path.is_file()
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        project.build.rmdir()
    return removed
