"""What a cache holds, how it was used, and what of it may go.

Removing is safe beside running builds, and waits for none of them.  An entry that was used within :data:`SPARED` stays, whatever it was asked
for; one that goes loses its description first, and so does not exist from then on.  Whoever has its key in a stamp finds it missing, and builds it
again.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from teenybuild.cache import COUNTS, is_ours, write_atomically

#: Seconds for which whatever was written or used is left alone: builds under way may be about to read it.
SPARED = 3600.0
DAY = 86400.0
#: Digits of what is no count any more.
_LONGEST = 19


@dataclass(frozen=True, slots=True)
class Held:
    """An entry: its files, their bytes in all, and when it was last used (seconds since the epoch)."""

    description: Path
    files: tuple[Path, ...]
    bytes: int
    used: float


@dataclass(slots=True)
class Contents:
    """A cache directory at one time. ``leftovers`` are files of entries that were never finished, with their bytes and times."""

    directory: Path
    entries: list[Held] = field(default_factory=list[Held])
    leftovers: list[tuple[Path, int, float]] = field(default_factory=list[tuple[Path, int, float]])

    @property
    def bytes(self) -> int:
        """Of all of it."""
        return sum(e.bytes for e in self.entries) + sum(size for _, size, _ in self.leftovers)


@dataclass(frozen=True, slots=True)
class Counts:
    """What builds have asked the cache for: what it had, and what it had not."""

    hits: int
    misses: int


@dataclass(slots=True)
class Collected:
    """What was removed, and what is left."""

    entries: int = 0
    leftovers: int = 0
    bytes: int = 0
    entries_left: int = 0
    bytes_left: int = 0


def contents(directory: Path) -> Contents:
    """Looks at every file; one that goes meanwhile is not there."""
    found = Contents(directory)
    stems: dict[str, list[tuple[Path, os.stat_result]]] = {}
    try:
        listed = list(os.scandir(directory))
    except FileNotFoundError:
        return found
    for item in listed:
        if not is_ours(item.name) or not item.is_file():
            continue
        try:
            status = item.stat()
        except OSError:
            continue
        path = Path(item.path)
        if item.name.startswith("."):
            found.leftovers.append((path, status.st_size, status.st_mtime))
        else:
            stems.setdefault(path.stem, []).append((path, status))
    for files in stems.values():
        described = next(((path, status) for path, status in files if path.suffix == ".json"), None)
        if described is None:
            found.leftovers += [(path, status.st_size, status.st_mtime) for path, status in files]
            continue
        description, noted = described
        sizes = sum(status.st_size for _, status in files)
        found.entries.append(Held(description, tuple(path for path, _ in files), sizes, noted.st_mtime))
    # In an order of its own, so that two runs over one cache do the same.
    found.entries.sort(key=lambda e: (e.used, e.description.name))
    return found


def counts(directory: Path) -> Counts:
    """What chunks have added up; a line that was half written counts nothing."""
    hits = misses = 0
    try:
        lines = (directory / COUNTS).read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return Counts(0, 0)
    for line in lines:
        words = line.split()
        if len(words) == 2 and all(word.isdigit() and len(word) < _LONGEST for word in words):
            hits, misses = hits + int(words[0]), misses + int(words[1])
    return Counts(hits, misses)


def collect(
    directory: Path, *, max_age: float | None = None, max_bytes: int | None = None, dry_run: bool = False
) -> Collected:
    """Removes entries not used for ``max_age`` seconds, then those not used for longest until no more than ``max_bytes`` are left; and leftovers.

    Raises :class:`OSError` where something cannot be removed.
    """
    found, now = contents(directory), time.time()
    result = Collected()
    left = found.bytes
    for path, size, written in found.leftovers:
        if now - written < SPARED:
            continue
        result.leftovers += 1
        left -= size
        if not dry_run:
            path.unlink(missing_ok=True)
    for entry in found.entries:
        age = now - entry.used
        too_old = max_age is not None and age > max_age
        too_much = max_bytes is not None and left > max_bytes
        if age < SPARED or not (too_old or too_much) or not _still(entry):
            continue
        result.entries += 1
        left -= entry.bytes
        if not dry_run:
            entry.description.unlink(missing_ok=True)
            for path in entry.files:
                path.unlink(missing_ok=True)
    result.bytes = found.bytes - left
    result.entries_left, result.bytes_left = len(found.entries) - result.entries, left
    if not dry_run:
        _add_up(directory)
    return result


def _still(entry: Held) -> bool:
    """Whether nobody has used it, or removed it, since it was looked at."""
    try:
        return entry.description.stat().st_mtime == entry.used
    except OSError:
        return False


def _add_up(directory: Path) -> None:
    """One line instead of many. What a build adds at this moment may be lost: nothing hangs on it."""
    total = counts(directory)
    if (directory / COUNTS).is_file():
        write_atomically(directory / COUNTS, f"{total.hits} {total.misses}\n".encode())
