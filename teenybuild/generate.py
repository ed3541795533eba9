"""From the manifest to the files ninja works from: plans, ``build.ninja``, its depfile.

Everything is computed in memory, then written only where it differs, so that a file's time says when its content changed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from teenybuild import chunks, ninja
from teenybuild.api import ptx_version
from teenybuild.cache import write_if_changed
from teenybuild.compiler.frontend.reach import Reached
from teenybuild.diagnostics import error
from teenybuild.expand import Plan, plan
from teenybuild.keys import digest, fingerprint, llvm_release
from teenybuild.manifest.bind import BoundKernel, Lookup
from teenybuild.manifest.grid import to_python
from teenybuild.manifest.model import Manifest
from teenybuild.project import (
    CACHE,
    DEPFILE,
    IMPORTED,
    KEYS,
    LINES,
    NINJA,
    PACKAGE_PLAN,
    PACKAGE_STAMP,
    PLANS,
    RESULTS,
    STAMPS,
    TOOLCHAIN,
    Project,
)
from teenybuild.sources import Sources
from teenybuild.specialisation import Specialisation
from teenybuild.targets import Target, TargetError, parse_target

if TYPE_CHECKING:
    from teenybuild.assembler import Assembler

PLAN_VERSION = 3


@dataclass(frozen=True, slots=True)
class Chunk:
    """One edge: some specialisations of one kernel for one target."""

    kernel: str
    target: Target
    number: int
    members: tuple[Specialisation, ...]

    @property
    def path(self) -> str:
        """Its place below ``plan/``, ``stamps/`` and ``results/``."""
        return f"{path_of(self.target)}/{self.kernel}.{self.number}.json"


@dataclass(frozen=True, slots=True)
class Generated:
    """What there is to build, and the files that say so."""

    plan: Plan
    targets: tuple[Target, ...]
    chunks: tuple[Chunk, ...]
    inputs: tuple[Path, ...]
    cache_dir: Path


def path_of(target: Target) -> str:
    """A target in a path: no colon."""
    return target.name.replace(":", "-")


def targets_of(project: Project, bound: BoundKernel) -> tuple[Target, ...]:
    """The targets of one kernel, as the command line narrows them."""
    wanted = [_parse(t) for t in project.settings.targets]
    declared = bound.kernel.targets
    return tuple(wanted) if wanted else declared


def ptx_of(project: Project, manifest: Manifest, target: Target) -> str:
    """The PTX ISA version of a target's artifacts; empty for the host."""
    said = manifest.build.ptx_version(target) if target.machine == "gpu" else None
    return ptx_version(target, project.ptx_version(said))


def _parse(text: str) -> Target:
    try:
        return parse_target(text)
    except TargetError as wrong:
        raise error(f"--target {text}: {wrong.message}", hint=wrong.hint) from None


def read_plan(project: Project) -> tuple[Plan, Sources]:
    """Reads, binds and expands the manifest. Raises :class:`UserError` with everything that is wrong."""
    found: list[Sources] = []

    def lookup_in(manifest: Manifest) -> Lookup:
        found.append(
            Sources.of(
                manifest,
                project.directory,
                project.prefix,
                allow_import=project.settings.allow_import,
                kept=project.build / IMPORTED,
            )
        )
        return found[0].signature

    return plan(Path(project.settings.display), lookup_in), found[0]


def generate(project: Project) -> Generated:
    """Writes plans, ``build.ninja`` and what goes with them. Raises :class:`UserError`."""
    found, sources = read_plan(project)
    manifest = found.manifest.manifest
    build = project.build
    build.mkdir(parents=True, exist_ok=True)
    assembler = assembler_of(project, found)
    sources.keep_imports()
    all_chunks: list[Chunk] = []
    files: dict[str, bytes] = {}
    by_kernel: dict[str, list[Specialisation]] = {}
    before: dict[Target, dict[str, list[list[str]]]] = {}
    for spec in found.specialisations:
        by_kernel.setdefault(spec.kernel, []).append(spec)
    for bound in found.manifest.kernels:
        name = bound.kernel.name
        reached = sources.reached(
            bound.kernel.source, bound.kernel.function, bound.kernel.globals, bound.kernel.imports
        )
        imported = sources.imported(bound.kernel.source) if bound.kernel.imports else None
        meaning = digest(reached.text.encode())
        files[f"{LINES}/{name}.json"] = _json(line_map(reached))
        for target in targets_of(project, bound):
            if target not in before:
                before[target] = _members_before(build / PLANS / path_of(target))
            for chunk in _chunked(before[target].get(name, []), name, target, by_kernel.get(name, [])):
                all_chunks.append(chunk)
                files[f"{PLANS}/{chunk.path}"] = _json(
                    _plan_json(project, manifest, bound, chunk, meaning, imported, assembler)
                )
    files[TOOLCHAIN] = _json(
        {"compiler": fingerprint(), "llvmlite": llvm_release(), "generator": generator_fingerprint()}
    )
    files[PACKAGE_PLAN] = _json(_package_json(project, manifest, found))
    inputs = (
        *(Path(f).absolute() for f in manifest.files),
        *sources.files,
        *own_sources(),
        *_include_directories(project, manifest),
        *([assembler.path.absolute()] if assembler is not None else []),
    )
    _check_ours(build)
    # Names of files need not be text: ninja takes the bytes that they are.
    files[NINJA] = _ninja(project, manifest, all_chunks).encode("utf-8", "surrogateescape")
    files[DEPFILE] = ninja.depfile(NINJA, _from(build, inputs)).encode("utf-8", "surrogateescape")
    cache_dir = project.cache_directory(manifest.build.cache)
    files[CACHE] = _json({"directory": str(cache_dir)})
    for path, data in files.items():
        write_if_changed(build / path, data)
    project.save()
    _remove_stale(build, {c.path for c in all_chunks})
    targets = tuple(dict.fromkeys(c.target for c in all_chunks))
    return Generated(found, targets, tuple(all_chunks), inputs, cache_dir)


def _check_ours(build: Path) -> None:
    """Raises :class:`UserError` where another program builds in this directory: CMake and Meson call theirs build.ninja too."""
    path = build / NINJA
    if path.is_file() and b"teenybuild _generate" not in path.read_bytes():
        raise error(
            f"{path} is not teenybuild's: something else builds in {build}",
            hint="give a directory of its own: --build-dir DIR",
        )


def _from(build: Path, paths: Sequence[Path]) -> list[str]:
    """Paths as depfiles name them: from the build directory, in which ninja runs, where it cannot be told what the directories above are called."""
    spelled = [str(path.absolute()) for path in paths]
    return [path if ninja.in_depfile(path) else os.path.relpath(path, build.resolve()) for path in spelled]


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()


def _chunked(
    before: Sequence[Sequence[str]], kernel: str, target: Target, specs: list[Specialisation]
) -> list[Chunk]:
    by_id = {s.id: s for s in specs}
    return [
        Chunk(kernel, target, n, tuple(by_id[i] for i in ids))
        for n, ids in enumerate(chunks.assign(list(by_id), before))
        if ids
    ]


def _members_before(directory: Path) -> dict[str, list[list[str]]]:
    """The chunks of each kernel in the last build, from their plans; a hole is an empty chunk."""
    found: dict[str, dict[int, list[str]]] = {}
    for path in sorted(directory.glob("*.json")):
        kernel, _, number = path.stem.rpartition(".")
        try:
            members = json.loads(path.read_bytes())["members"]
            found.setdefault(kernel, {})[int(number)] = [m["id"] for m in members]
        except (ValueError, KeyError, TypeError, OSError):
            continue
    return {
        kernel: [numbered.get(n, []) for n in range(max(numbered) + 1)] for kernel, numbered in found.items()
    }


def _plan_json(
    project: Project,
    manifest: Manifest,
    bound: BoundKernel,
    chunk: Chunk,
    meaning: str,
    imported: Mapping[str, Any] | None,
    assembler: Assembler | None,
) -> dict[str, Any]:
    kernel = bound.kernel
    cubins = None
    if assembler is not None and chunk.target.machine == "gpu":
        cubins = {"assembler": manifest.build.assembler, "identity": assembler.identity}
    return {
        "plan_version": PLAN_VERSION,
        "kernel": kernel.name,
        "function": kernel.function,
        "source": kernel.source,
        "kernels": manifest.build.kernels,
        "roots": list(manifest.build.roots),
        "globals": dict(kernel.globals),
        "imported": imported,
        "meaning": meaning,
        "target": chunk.target.name,
        "ptx": ptx_of(project, manifest, chunk.target),
        "lineinfo": manifest.build.lineinfo,
        "debug": manifest.build.debug,
        "cubins": cubins,
        "outputs": list(kernel.outputs),
        "mutates": list(kernel.mutates),
        "members": [spec_json(s) for s in chunk.members],
    }


def spec_json(spec: Specialisation) -> dict[str, Any]:
    """A specialisation as plain data, with nothing left out that its compile needs."""
    return {
        "id": spec.id,
        "types": [[name, str(t)] for name, t in spec.types],
        "dtypes": [list(pair) for pair in spec.dtypes],
        "consts": [list(pair) for pair in spec.consts],
        "options": [list(pair) for pair in spec.options],
        "assume": [[name, a.kind, a.value] for name, a in spec.assume],
        "auto": spec.auto,
        "heuristics": [list(pair) for pair in spec.heuristics],
    }


def _package_json(project: Project, manifest: Manifest, found: Plan) -> dict[str, Any]:
    """What of the manifest and the sources the package depends on, beyond the artifacts."""
    kernels: dict[str, Any] = {}
    for bound in found.manifest.kernels:
        kernel = bound.kernel
        kernels[kernel.name] = {
            "parameters": list(bound.parameters),
            "grid": [to_python(e) for e in kernel.grid],
            "outputs": list(kernel.outputs),
            "mutates": list(kernel.mutates),
            "autos": list(kernel.autos),
            "ids": [s.id for s in found.specialisations if s.kernel == kernel.name],
        }
    return {
        "directory": _package_directory(project, manifest),
        "emit": list(manifest.build.emit),
        "kernels": kernels,
    }


def assembler_of(project: Project, found: Plan) -> Assembler | None:
    """What makes cubins, where any are wanted. Raises :class:`UserError` where it is not there."""
    build = found.manifest.manifest.build
    targets = (target for bound in found.manifest.kernels for target in targets_of(project, bound))
    if "cubin" not in build.emit or all(target.machine == "cpu" for target in targets):
        return None
    # A library of 100 MB, where nothing else asks for it.
    from teenybuild.assembler import find_assembler

    return find_assembler(build.assembler)


def _package_directory(project: Project, manifest: Manifest) -> str:
    """Where the package goes (``--loader-dir``, else the build directory), from the build directory: the same wherever the project stands."""
    parent = Path(project.settings.loader_dir or project.build)
    return Path(os.path.relpath(parent / manifest.build.loader, project.build)).as_posix()


def line_map(reached: Reached) -> dict[str, Any]:
    """Where each line of the canonical source stands in today's files: ``[canonical line, file, line]``."""
    return {"lines": [[line, *place] for line, place in sorted(reached.places.items())]}


def _include_directories(project: Project, manifest: Manifest) -> list[Path]:
    """Directories whose listing decides what ``include`` finds: those that a pattern's wildcards range over."""
    found: set[Path] = set()
    for pattern in manifest.build.include:
        parts = PurePosixPath(pattern).parts
        for depth, part in enumerate(parts):
            if any(c in part for c in "*?["):
                above = "/".join(parts[:depth])
                candidates = project.directory.glob(above) if above else [project.directory]
                for directory in candidates:
                    found.add(directory)
                    if part == "**":
                        found.update(p for p in directory.rglob("*") if p.is_dir())
    return sorted(p for p in found if p.is_dir())


@cache
def own_sources() -> tuple[Path, ...]:
    """teenybuild's own files: a new version reads and compiles anew."""
    here = Path(__file__).parent
    return tuple(sorted(p for p in here.rglob("*.py") if "__pycache__" not in p.parts))


@cache
def generator_fingerprint() -> str:
    """Digest of everything in teenybuild outside the compiler: what the package and its runtime are made from."""
    here = Path(__file__).parent
    parts = [p for p in own_sources() if p.relative_to(here).parts[0] in ("loader", "runtime", "generate.py")]
    return digest(b"\0".join(p.relative_to(here).as_posix().encode() + b"\0" + p.read_bytes() for p in parts))


def _ninja(project: Project, manifest: Manifest, all_chunks: list[Chunk]) -> str:
    edges = [
        ninja.Edge(
            (f"{STAMPS}/{c.path}",),
            "compile",
            (f"{PLANS}/{c.path}",),
            (TOOLCHAIN, CACHE),
            {"what": f"{c.kernel}.{c.number} ({len(c.members)}) for {c.target.name}"},
        )
        for c in all_chunks
    ]
    stamps = tuple(f"{STAMPS}/{c.path}" for c in all_chunks)
    edges.append(
        ninja.Edge(
            (PACKAGE_STAMP,),
            "package",
            (),
            (PACKAGE_PLAN, TOOLCHAIN, CACHE, *stamps),
            {"what": manifest.build.loader},
        )
    )
    edges.append(ninja.Edge((NINJA,), "generate"))
    values = {
        "PYTHON": ninja.shell_word(sys.executable),
        "MANIFEST": ninja.escape_value(" ".join(project.settings.display.splitlines())),
    }
    return ninja.render(ninja.template(), values, edges) + f"\ndefault {ninja.escape_path(PACKAGE_STAMP)}\n"


def _remove_stale(build: Path, wanted: set[str]) -> None:
    """Plans, stamps, results and parts of keys of chunks that are no more."""
    for top in (PLANS, STAMPS, RESULTS, KEYS):
        for path in (build / top).glob("*/*.json"):
            if path.relative_to(build / top).as_posix() not in wanted:
                path.unlink(missing_ok=True)
