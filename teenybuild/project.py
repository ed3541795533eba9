"""Where one build lives: its manifest, its build directory, and what the command line said about it.

The settings are written to ``build/config.json`` so that bare ``ninja``, which knows only the build directory, builds the same thing.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from teenybuild.diagnostics import error

#: Directories below the build directory: what each edge is to do, what came of it, what it said, where lines of it come from; what
#: importing kernel files told; what keys were made of.
PLANS, STAMPS, RESULTS, LINES, IMPORTED, KEYS = "plan", "stamps", "results", "lines", "imported", "keys"
#: Files in it.
CONFIG, CACHE, TOOLCHAIN = "config.json", "cache.json", "toolchain.json"
NINJA, DEPFILE = "build.ninja", "build.ninja.d"
PACKAGE_PLAN = f"{PLANS}/package.json"
PACKAGE_STAMP = f"{STAMPS}/package.json"
#: Left by the package edge when entries have gone from the cache: whoever runs ninja may run it once more.
PACKAGE_MISSING = f"{STAMPS}/package.missing"
#: What went wrong with the package, below ``results/`` as for chunks.
PACKAGE_RESULT = "package.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line and the environment said. Paths are absolute; empty means not said.

    ``display`` is how the manifest was named, from the directory ``cwd``: messages of later steps name it alike.
    """

    manifest: str
    display: str
    cwd: str
    targets: tuple[str, ...] = ()
    cache_dir: str = ""
    loader_dir: str = ""
    ptx_version: str = ""
    allow_import: bool = False

    def json(self) -> dict[str, Any]:
        """As plain data, equal to what comes back from JSON."""
        return {**asdict(self), "targets": list(self.targets)}


@dataclass(frozen=True, slots=True)
class Project:
    """A manifest and its build directory."""

    settings: Settings
    build: Path

    @property
    def manifest(self) -> Path:
        """The manifest, by its absolute path."""
        return Path(self.settings.manifest)

    @property
    def directory(self) -> Path:
        """The directory of the manifest."""
        return self.manifest.parent

    @property
    def prefix(self) -> str:
        """What messages put before paths that are relative to the manifest."""
        parent = Path(self.settings.display).parent.as_posix()
        return "" if parent == "." else f"{parent.rstrip('/')}/"

    def cache_directory(self, said_in_manifest: str | None) -> Path:
        """``--cache-dir``, else ``TEENYBUILD_CACHE_DIR`` (both in the settings), else ``[build] cache``, else the user's."""
        if self.settings.cache_dir:
            return Path(self.settings.cache_dir)
        if said_in_manifest:
            return self.directory / said_in_manifest
        from teenybuild.cache import default_directory

        return default_directory()

    def ptx_version(self, said_in_manifest: str | None) -> str | None:
        """The PTX ISA version that is asked for: the manifest's, else ``TEENYBUILD_PTX_VERSION``; None for the lowest that will do."""
        return said_in_manifest or self.settings.ptx_version or None

    def save(self) -> None:
        """Writes the settings into the build directory."""
        from teenybuild.cache import write_if_changed

        self.build.mkdir(parents=True, exist_ok=True)
        write_if_changed(self.build / CONFIG, (json.dumps(self.settings.json(), indent=1) + "\n").encode())


def open_project(
    manifest: str,
    *,
    build_dir: str | None = None,
    targets: tuple[str, ...] = (),
    cache_dir: str | None = None,
    loader_dir: str | None = None,
    ptx_version: str | None = None,
    allow_import: bool = False,
) -> Project:
    """The project of a manifest, as the command line names it. Raises :class:`UserError` where there is no such file."""
    path = Path(manifest)
    if path.is_dir():
        path = path / "kernels.toml"
        manifest = path.as_posix()
    if not path.is_file():
        if path.exists() or path.is_symlink():
            raise error(f"the manifest {manifest} is not a regular file")
        raise error(
            f"there is no manifest {manifest}", hint="teenybuild init makes one; -m FILE names another"
        )

    def absolute(text: str | None) -> str:
        return str(Path(text).absolute()) if text else ""

    settings = Settings(
        str(path.absolute()),
        manifest,
        str(Path.cwd()),
        targets,
        absolute(cache_dir),
        absolute(loader_dir),
        ptx_version or "",
        allow_import,
    )
    build = Path(build_dir).absolute() if build_dir else path.absolute().parent / "build"
    if build.resolve() == path.absolute().parent.resolve():
        raise error(
            f"the build directory is the manifest's own directory, {build}",
            hint="give a directory of its own: --build-dir DIR (default: build/ beside the manifest)",
        )
    _check_directory(build, "build directory", "--build-dir DIR")
    if settings.loader_dir:
        _check_directory(Path(settings.loader_dir), "directory of the package", "--loader-dir DIR")
    return Project(settings, build)


def _check_directory(path: Path, what: str, option: str) -> None:
    """Whether a directory can be, or be made, where ``path`` says."""
    if "\n" in str(path):
        raise error(
            f"the {what}, {str(path)!r}, has a line break in its name, which ninja has no way to say",
            hint=f"name another: {option}",
        )
    standing = path
    while not (standing.exists() or standing.is_symlink()):
        standing = standing.parent
    if not standing.is_dir():
        raise error(
            f"the {what}, {path}, cannot be made: {standing} is not a directory",
            hint=f"name another: {option}",
        )


def reopen(build: Path) -> Project:
    """The project that a build directory belongs to."""
    try:
        raw: dict[str, Any] = json.loads((build / CONFIG).read_text(encoding="utf-8"))
        raw["targets"] = tuple(raw["targets"])
        settings = Settings(**raw)
    except (OSError, ValueError, TypeError, KeyError):
        raise error(
            f"{build} is not a build directory of teenybuild", hint="run teenybuild build first"
        ) from None
    return Project(settings, build)
