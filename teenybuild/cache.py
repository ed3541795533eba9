"""The cache: entries named by key, written whole, verified when used.

An entry is a few files ``{name}_{key}.{extension}`` in one directory and exists when its ``json``, written last, does.  Any number of
processes on any number of hosts may share the directory: writers of one key write the same bytes, and a reader accepts only files that match
the digests in the ``json``.  Nothing waits for anyone.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from teenybuild.diagnostics import UserError, error
from teenybuild.keys import digest


@dataclass(frozen=True, slots=True)
class Entry:
    """A verified entry: its description, and the bytes of its files by extension."""

    name: str
    key: str
    description: Mapping[str, Any]
    files: Mapping[str, bytes]

    @property
    def digests(self) -> dict[str, str]:
        """sha256 of each file, by extension."""
        return dict(self.description["files"])


@dataclass(frozen=True, slots=True)
class Damage:
    """An entry that is there and is not whole: which file, and what is wrong with it."""

    path: Path
    why: str


class Cache:
    """One cache directory. ``damaged`` collects what was found broken (and will be rebuilt)."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.damaged: list[Damage] = []

    def path(self, name: str, key: str, extension: str) -> Path:
        """Where a file of an entry is."""
        return self.directory / f"{name}_{key}.{extension}"

    def find(self, name: str, key: str, wanted: tuple[str, ...] | None = None) -> Entry | None:
        """The entry, with the files named in ``wanted`` (all for None) read and verified; None where there is none that is whole."""
        where = self.path(name, key, "json")
        try:
            raw = where.read_bytes()
        except OSError:
            return None
        try:
            description = json.loads(raw)
            recorded: dict[str, str] = description["files"]
            if description["key"] != key or not recorded:
                raise KeyError("key")
        except (ValueError, KeyError, TypeError):
            self.damaged.append(Damage(where, "it is not a description of this entry"))
            return None
        files: dict[str, bytes] = {}
        for extension, expected in recorded.items():
            if wanted is not None and extension not in wanted:
                continue
            path = self.path(name, key, extension)
            try:
                data = path.read_bytes()
            except OSError:
                self.damaged.append(Damage(path, "it is missing"))
                return None
            if digest(data) != expected:
                self.damaged.append(Damage(path, "its contents do not match its digest"))
                return None
            files[extension] = data
        return Entry(name, key, description, files)

    def used(self, entry: Entry) -> None:
        """Notes that a build has taken an entry: what is not used for long may go (:mod:`~teenybuild.upkeep`). Of advice alone, so never an error."""
        path = self.path(entry.name, entry.key, "json")
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _NOTED:
                os.utime(path)

    def count(self, hits: int, misses: int) -> None:
        """Adds to what builds have asked for, had and had not. Nor is this ever an error."""
        if not hits + misses:
            return
        with contextlib.suppress(OSError):
            file = os.open(
                self.directory / COUNTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666
            )
            try:
                os.write(file, b"%d %d\n" % (hits, misses))
            finally:
                os.close(file)

    def store(self, name: str, key: str, files: Mapping[str, bytes], description: Mapping[str, Any]) -> Entry:
        """Writes an entry, ``json`` last. Raises :class:`UserError` where the directory cannot be written."""
        full = {**description, "key": key, "files": {ext: digest(data) for ext, data in files.items()}}
        text = "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in full.items()) + "\n}\n"
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            for extension, data in files.items():
                _write_part(self.path(name, key, extension), data)
            write_atomically(self.path(name, key, "json"), text.encode())
        except OSError as wrong:
            raise _cannot_write(self.directory, wrong) from None
        return Entry(name, key, full, dict(files))

    def clear(self) -> int:
        """Removes every entry and leftover; the number of files removed."""
        removed = 0
        if self.directory.is_dir():
            for path in sorted(self.directory.iterdir()):
                if path.is_file() and (is_ours(path.name) or path.name == COUNTS):
                    path.unlink(missing_ok=True)
                    removed += 1
        return removed


#: Hits and misses, a line for each chunk of a build.
COUNTS = "teenybuild.counts"
_ENTRY = r"\w+_[0-9a-f]{64}\.(ptx|so|cubin|mlir|ll|py|json)"
_OURS = re.compile(rf"{_ENTRY}|\.({_ENTRY}|{re.escape(COUNTS)})\.[0-9a-f]+\.tmp")
#: Seconds in which a second use need not be noted.
_NOTED = 600.0


def is_ours(name: str) -> bool:
    """Whether a file name is one the cache gives to files of entries: ``…_{64 hex digits}.{extension}``, or a temporary one."""
    return _OURS.fullmatch(name) is not None


def write_atomically(path: Path, data: bytes) -> None:
    """Writes a file that appears whole or not at all; leaves nothing behind when it cannot."""
    directory, name = os.path.split(path)
    temporary = os.path.join(directory, f".{name}.{os.urandom(6).hex()}.tmp")  # noqa: PTH118
    _write_new(temporary, data)
    try:
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def _write_part(path: Path, data: bytes) -> None:
    """Writes a file of an entry that is not there before its description is, and is checked against that.

    So it may be seen half written, and a rename, which would take most of the time, is needed only where such a file is there: another
    writer's, under way or dead, or a damaged one.
    """
    try:
        _write_new(str(path), data)
    except FileExistsError:
        write_if_changed(path, data)


def _write_new(path: str, data: bytes) -> None:
    """Writes a file that must not be there yet. Plain calls: a build writes five files for each kernel."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(file, left) :]
        finally:
            os.close(file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108
        raise


def write_if_changed(path: Path, data: bytes) -> bool:
    """Writes a file unless it already holds ``data``; whether it was written."""
    try:
        if path.read_bytes() == data:
            return False
    except OSError:
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data)
    return True


def _cannot_write(directory: Path, wrong: OSError) -> UserError:
    hints = {
        errno.ENOSPC: "free some space, or give another directory with --cache-dir",
        errno.EDQUOT: "the quota is used up; give another directory with --cache-dir",
    }
    hint = hints.get(
        wrong.errno or 0, "give a directory that can be written with --cache-dir or TEENYBUILD_CACHE_DIR"
    )
    return error(f"cannot write to the cache {directory}: {os.strerror(wrong.errno or 0)}", hint=hint)


def default_directory() -> Path:
    """The user's cache directory for this program."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("teenybuild", appauthor=False))
