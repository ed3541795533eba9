"""Whether anything has changed since the last build: the path of a build that does nothing.

Nothing is imported here but what starting Python imports anyway, and ``json``: loading the rest takes several times as long as looking at five
thousand files.  :mod:`~teenybuild.state` writes what this reads.
"""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

STATE_VERSION = 3
#: What the last build was, and size, time and inode of each file: directory → name → those. Digests, which are seldom needed, lie apart.
STATE, DIGESTS = "state.json", "digests.json"
MANIFEST = "kernels.toml"


def stat_of(path: str) -> list[int] | None:
    """Size, time and inode; None where there is no such file."""
    try:
        found = os.stat(path)  # noqa: PTH116  # thousands of these are the whole of a build that does nothing
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def digest_of(path: str) -> str:
    """sha256 of a file's content, or of the names in a directory."""
    import hashlib

    if os.path.isdir(path):  # noqa: PTH112
        names = sorted(os.listdir(path))  # noqa: PTH208
        return hashlib.sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()
    with open(path, "rb") as file:  # noqa: PTH123
        return hashlib.file_digest(file, "sha256").hexdigest()


def unchanged(build: str, settings: dict[str, Any]) -> dict[str, Any] | None:
    """The summary of the last build if nothing has changed since; None where something has, or may have."""
    try:
        with open(f"{build}/{STATE}", "rb") as file:  # noqa: PTH123
            state = json.load(file)
        if state["state_version"] != STATE_VERSION or state["settings"] != settings:
            return None
        digests: dict[str, str] = {}
        for directory, files in state["files"].items():
            for name, row in files.items():
                path = directory + name
                now = stat_of(path)
                if now == row:
                    continue
                if now is None:
                    return None
                if not digests:
                    with open(f"{build}/{DIGESTS}", "rb") as file:  # noqa: PTH123
                        digests = json.load(file)
                if digest_of(path) != digests[path]:
                    return None
                files[name] = now
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if digests:
        _learn(build, state)
    return state["summary"]


def _learn(build: str, state: dict[str, Any]) -> None:
    """Other times alone: next time they are known; and where they cannot be written down, looked at again."""
    from contextlib import suppress
    from pathlib import Path

    from teenybuild.cache import write_atomically

    with suppress(OSError):
        write_atomically(Path(build, STATE), json.dumps(state, separators=(",", ":")).encode())


def said_of(summary: dict[str, Any]) -> str:
    """The line of a build that had nothing to do."""
    return f"nothing to do: {what_of(summary)} up to date"


def what_of(summary: dict[str, Any]) -> str:
    """What a build is about, in words."""
    artifacts, many = summary["artifacts"], summary["specialisations"]
    return (
        f"{artifacts} artifact{'' if artifacts == 1 else 's'} "
        f"({many} specialisation{'' if many == 1 else 's'} for {', '.join(summary['targets'])})"
    )


def nothing_to_do(arguments: Sequence[str]) -> str | None:
    """What a plain ``teenybuild build`` says, quiet or not, that has nothing to do; None where it has, or where more is asked."""
    if not arguments or arguments[0] != "build" or not {*arguments[1:]} <= {"-q", "--quiet"}:
        return None
    said = os.environ.get
    cwd = os.getcwd()  # noqa: PTH109
    summary = unchanged(
        f"{cwd}/build",
        # As the command line's own reading gives them (``project.py``); a test holds them against each other.
        {
            "manifest": f"{cwd}/{MANIFEST}",
            "display": MANIFEST,
            "cwd": cwd,
            "targets": [],
            "cache_dir": said("TEENYBUILD_CACHE_DIR") or "",
            "loader_dir": "",
            "ptx_version": said("TEENYBUILD_PTX_VERSION") or "",
            "allow_import": False,
        },
    )
    if summary is None:
        return None
    return said_of(summary) if len(arguments) == 1 else ""
