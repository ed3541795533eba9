"""What the last build left, so that the next one can tell at a glance that there is nothing to do.

Every input and output is recorded with its size, time, inode and digest.  Any difference in the first three, in either direction, has
the file hashed; only a different digest counts as a change.  So restored, touched and reinstalled files are all judged by content.
Nothing heavy is imported here: this is the path of a build that does nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from teenybuild.project import STAMPS

STATE_VERSION = 2
STATE = "state.json"
#: How far a file's time of change may lag behind the clock: the kernel stamps files by its tick.
_TICK_NS = 20_000_000


def _stat(path: str) -> list[int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # thousands of these are the whole of a build that does nothing
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def _digest(path: str) -> str:
    if Path(path).is_dir():
        names = sorted(entry.name for entry in Path(path).iterdir())
        return hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _row(path: str) -> list[Any]:
    return [*(_stat(path) or ()), _digest(path)]


def record(
    build: Path,
    settings: dict[str, Any],
    summary: dict[str, Any],
    inputs: Sequence[Path],
    outputs: Sequence[Path],
    *,
    started_ns: int,
) -> None:
    """Writes the state of a finished build that was started at ``started_ns`` (nanoseconds since the epoch).

    An input that was changed while the build ran may have been read before or after: it counts as changed next time.
    """
    from teenybuild.cache import write_atomically

    rows = {str(p): _row(str(p)) for p in (*inputs, *outputs)}
    for path in map(str, inputs):
        if os.stat(path).st_ctime_ns > started_ns - _TICK_NS:  # noqa: PTH116
            rows[path] = [0, 0, 0, ""]
    state = {"state_version": STATE_VERSION, "settings": settings, "summary": summary, "files": rows}
    write_atomically(build / STATE, json.dumps(state, separators=(",", ":")).encode())


def forget(build: Path) -> None:
    """The next build looks at everything."""
    (build / STATE).unlink(missing_ok=True)


def unchanged(build: Path, settings: dict[str, Any]) -> dict[str, Any] | None:
    """The summary of the last build if nothing has changed since; None where something has, or may have."""
    path = build / STATE
    try:
        state = json.loads(path.read_bytes())
        if state["state_version"] != STATE_VERSION or state["settings"] != settings:
            return None
        files: dict[str, list[Any]] = state["files"]
        moved = False
        for name, row in files.items():
            now = _stat(name)
            if now is None:
                return None
            if now != row[:3]:
                if _digest(name) != row[3]:
                    return None
                files[name] = [*now, row[3]]
                moved = True
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if moved:
        from teenybuild.cache import write_atomically

        write_atomically(path, json.dumps(state, separators=(",", ":")).encode())
    return state["summary"]


def damaged_outputs(build: Path, outputs: Iterable[Path]) -> list[Path]:
    """Outputs of the last build that are no longer what it wrote. ninja goes by times and would not see it."""
    try:
        files: dict[str, list[Any]] = json.loads((build / STATE).read_bytes())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    found: list[Path] = []
    for path in outputs:
        row = files.get(str(path))
        if row is not None and _stat(str(path)) not in (None, row[:3]) and _digest(str(path)) != row[3]:
            found.append(path)
    return found


def stamp_paths(build: Path) -> list[Path]:
    """Those of all chunks, in order."""
    return sorted((build / STAMPS).glob("*/*.json"))


def read_stamp(path: Path) -> dict[str, Any] | None:
    """The stamp of a chunk; None where it is not one, or not any more."""
    try:
        stamp = json.loads(path.read_bytes())
        whole = isinstance(stamp["target"], str) and all(
            isinstance(text, str) for member in stamp["members"].values() for text in _texts(member)
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return stamp if whole else None


def _texts(member: dict[str, Any]) -> list[Any]:
    """All that must be text in a member of a stamp: keys, a name, digests."""
    found = [member["key"], member["name"], *cast("dict[str, Any]", member["files"]).values()]
    if "cubin" in member:
        cubin = member["cubin"]
        found += [cubin["key"], cubin["files"]["cubin"]]
    return found
