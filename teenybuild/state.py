"""What the last build left, so that the next one can tell at a glance that there is nothing to do.

Every input and output is recorded with its size, time, inode and digest.  Any difference in the first three, in either direction, has
the file hashed; only a different digest counts as a change.  So restored, touched and reinstalled files are all judged by content
(:mod:`~teenybuild.unchanged`, which reads what is written here).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from teenybuild.project import STAMPS
from teenybuild.unchanged import DIGESTS, STATE, STATE_VERSION, digest_of, stat_of

#: How far a file's time of change may lag behind the clock: the kernel stamps files by its tick.
_TICK_NS = 20_000_000


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

    changed_since = started_ns - _TICK_NS
    files: dict[str, dict[str, list[int]]] = {}
    digests: dict[str, str] = {}
    for path in map(str, dict.fromkeys((*inputs, *outputs))):
        head, name = os.path.split(path)
        row, digests[path] = stat_of(path), digest_of(path)
        files.setdefault(f"{head.rstrip('/')}/", {})[name] = row or []
    for path in map(str, inputs):
        if os.stat(path).st_ctime_ns > changed_since:  # noqa: PTH116
            head, name = os.path.split(path)
            files[f"{head.rstrip('/')}/"][name], digests[path] = [0, 0, 0], ""
    state = {"state_version": STATE_VERSION, "settings": settings, "summary": summary, "files": files}
    write_atomically(build / DIGESTS, json.dumps(digests, separators=(",", ":")).encode())
    write_atomically(build / STATE, json.dumps(state, separators=(",", ":")).encode())


def forget(build: Path) -> None:
    """The next build looks at everything."""
    (build / STATE).unlink(missing_ok=True)


def newest(build: Path) -> int:
    """The latest time of a file that the last build, which went well, has read or written: nanoseconds since the epoch."""
    files: dict[str, dict[str, list[int]]] = json.loads((build / STATE).read_bytes())["files"]
    return max(row[1] for names in files.values() for row in names.values() if row)


def damaged_outputs(build: Path, outputs: Iterable[Path]) -> list[Path]:
    """Outputs of the last build that are no longer what it wrote. ninja goes by times and would not see it."""
    try:
        files: dict[str, dict[str, list[int]]] = json.loads((build / STATE).read_bytes())["files"]
        digests: dict[str, str] = json.loads((build / DIGESTS).read_bytes())
    except (OSError, ValueError, KeyError, TypeError):
        return []
    found: list[Path] = []
    for path in outputs:
        row, was = files.get(f"{path.parent}/", {}).get(path.name), digests.get(str(path))
        if row is None or was is None:
            continue
        if stat_of(str(path)) not in (None, row) and digest_of(str(path)) != was:
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
