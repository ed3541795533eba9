"""Whether a build comes out the same: it is done twice, apart, and all that came out is compared byte for byte.

Nothing that may not matter is alike: directories (and how long their names are), the seeds of hashes, time zone, locale, how many processes
share the work.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teenybuild.cache import is_ours
from teenybuild.diagnostics import Diagnostic, error, first_of
from teenybuild.project import Project

#: What each of the builds has of its own: a directory, the number of processes, an environment.
_BUILDS: tuple[tuple[str, str | None, Mapping[str, str]], ...] = (
    ("one", "1", {"PYTHONHASHSEED": "1", "TZ": "UTC-11", "LC_ALL": "C"}),
    ("another in a longer place", None, {"PYTHONHASHSEED": "2", "TZ": "UTC+7", "LC_ALL": "C.UTF-8"}),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of it: how many files were compared, and what of them differs."""

    files: int
    differences: tuple[Diagnostic, ...]


def compare(project: Project) -> Compared:
    """Builds twice. Raises :class:`UserError` where a build fails."""
    with tempfile.TemporaryDirectory(prefix="teenybuild-") as directory:
        first, second = (_built(project, Path(directory) / name, jobs, own) for name, jobs, own in _BUILDS)
    found = [
        _difference(name, first.get(name), second.get(name))
        for name in sorted({*first, *second})
        if first.get(name) != second.get(name)
    ]
    said = first_of(found, "files differ")
    return Compared(len({*first, *second}), tuple(Diagnostic(each) for each in said))


def _built(project: Project, directory: Path, jobs: str | None, own: Mapping[str, str]) -> dict[str, bytes]:
    """Every file of a build's cache and package, by where it is in there."""
    settings = project.settings
    places = {"cache": directory / "cache", "package": directory / "package"}
    # -P: what lies where the build was started, a json.py say, is not for Python to find.
    command = [sys.executable, "-P", "-m", "teenybuild", "build", f"--manifest={settings.display}", "-q"]
    command += ["--build-dir", str(directory / "build")]
    command += ["--cache-dir", str(places["cache"]), "--loader-dir", str(places["package"])]
    command += [word for target in settings.targets for word in ("--target", target)]
    if settings.allow_import:
        command.append("--allow-import")
    if jobs is not None:
        command += ["-j", jobs]
    environment = {**os.environ, **own}
    if settings.ptx_version:
        environment["TEENYBUILD_PTX_VERSION"] = settings.ptx_version
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=settings.cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, said = process.communicate()
    except KeyboardInterrupt:
        process.communicate()  # it has the signal too; what it still writes would be left behind
        raise
    if process.returncode != 0:
        raise error(
            f"one of two builds to compare failed (exit status {process.returncode})\n{said.rstrip()}"
        )
    return {
        f"{name}/{path.relative_to(place).as_posix()}": path.read_bytes()
        for name, place in places.items()
        for path in sorted(place.rglob("*"))
        if path.is_file() and (name != "cache" or is_ours(path.name))
    }


def _difference(name: str, first: bytes | None, second: bytes | None) -> str:
    if first is None or second is None:
        return f"{name} came out of one of two builds only"
    try:
        lines = first.decode().splitlines(), second.decode().splitlines()
    except UnicodeDecodeError:
        return f"{name} came out of two builds in two ways, from byte {_parting(first, second)} on"
    at = _parting(*lines)
    old, new = (each[at].strip() if at < len(each) else "" for each in lines)
    return f"{name} came out of two builds in two ways, from line {at + 1} on: {old!r} and {new!r}"


def _parting(first: Sequence[object], second: Sequence[object]) -> int:
    """Where two sequences begin to differ."""
    shorter = min(len(first), len(second))
    return next((i for i in range(shorter) if first[i] != second[i]), shorter)
