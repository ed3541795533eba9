"""Putting a generated package on disk: whole files, only what changed, and nothing of anyone else's touched."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from teenybuild.diagnostics import UserError, error

#: What was generated: a JSON list of paths. Only these are ever removed or replaced.
FILES = "_files.json"


def write_package(files: Mapping[str, bytes], directory: Path) -> bool:
    """Makes ``directory`` hold ``files`` (from :func:`generate`); whether anything had to be changed.

    Files that an earlier call wrote and that are no longer among them are removed; others are left alone. Each file appears whole or
    not at all, ``__init__.py`` last. An interrupted call is finished by the next one.

    Raises :class:`UserError` where a file is in the way that is not ours, or the directory cannot be written.
    """
    try:
        return _write(files, directory)
    except OSError as wrong:
        where = wrong.filename or directory
        raise error(
            f"cannot write the package {directory}: {where}: {os.strerror(wrong.errno or 0)}"
        ) from None


def _write(files: Mapping[str, bytes], directory: Path) -> bool:
    ours = _ours(directory)
    changed = [path for path, data in files.items() if _contents(directory / path) != data]
    foreign = {path for path in changed if path not in ours and os.path.lexists(directory / path)}
    # Whoever writes the same package at the same time has listed its files before it wrote them.
    foreign -= _ours(directory) if foreign else set()
    if foreign:
        raise _in_the_way(directory, sorted(foreign))
    gone = sorted(ours - files.keys())
    listed = _listing(files)
    if not changed and not gone and _contents(directory / FILES) == listed:
        return False
    directory.mkdir(parents=True, exist_ok=True)
    # Before the first new file: what an interrupted call leaves is known to be ours.
    _replace(directory / FILES, _listing({*ours, *files}))
    # Whoever imports the package meanwhile finds what a module needs before the module.
    for path in sorted(changed, key=_order):
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, files[path])
    for path in gone:
        (directory / path).unlink(missing_ok=True)
    _remove_empty(directory, gone)
    _replace(directory / FILES, listed)
    return True


def remove_package(directory: Path) -> int:
    """Removes what :func:`write_package` wrote there, and nothing else; how many files."""
    ours = sorted(_ours(directory))
    removed = 0
    for path in [*ours, FILES]:
        with contextlib.suppress(FileNotFoundError):
            (directory / path).unlink()
            removed += 1
    for cached in {(directory / path).parent / "__pycache__" for path in ours}:
        for path in cached.glob("*.pyc"):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            cached.rmdir()
    _remove_empty(directory, ours)
    with contextlib.suppress(OSError):
        directory.rmdir()
    return removed


def _order(path: str) -> tuple[int, str]:
    pure = PurePosixPath(path)
    return (2 if path == "__init__.py" else 1 if pure.suffix == ".py" else 0, path)


def _ours(directory: Path) -> set[str]:
    """Paths that earlier calls wrote. A list that cannot be read is no list: nothing is then ours."""
    try:
        listed = json.loads((directory / FILES).read_bytes())
    except (OSError, ValueError):
        return set()
    if not isinstance(listed, list):
        return set()
    found: set[str] = set()
    for path in listed:  # pyright: ignore[reportUnknownVariableType]
        # The list may have been edited: it must not lead out of the package.
        if (
            isinstance(path, str)
            and not PurePosixPath(path).is_absolute()
            and ".." not in PurePosixPath(path).parts
        ):
            found.add(path)
    return found


def _listing(paths: Mapping[str, bytes] | set[str]) -> bytes:
    return (json.dumps(sorted(paths), indent=1) + "\n").encode()


def _contents(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _remove_empty(directory: Path, gone: list[str]) -> None:
    """Directories that held only what was removed."""
    for path in gone:
        for parent in (directory / path).parents:
            if parent == directory:
                break
            try:
                parent.rmdir()
            except OSError:
                break


def _in_the_way(directory: Path, foreign: list[str]) -> UserError:
    some = ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if len(foreign) > 3 else "")
    return error(
        f"{directory} has files that teenybuild did not generate and would replace: {some}",
        hint="move them, or give the package another name ([build] loader) or place (--loader-dir)",
    )
