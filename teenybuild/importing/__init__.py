"""``import = true``: a kernel file is imported, in a process of its own, to find out what reading it does not tell.

The process sees nothing of this one, and an environment that is the same everywhere.  What it found is kept in the build directory, with
the digest of every file that was read: as long as those are the same, nothing is run again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from teenybuild.diagnostics import Note, Span, error

_CHILD = Path(__file__).with_name("child.py")
#: Seconds that an import may take.
_LONGEST = 300
#: What of the environment decides how Python itself is found; nothing else reaches the source.
_KEPT = ("PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Found:
    """What an import told, as plain data, and the files and directories that it hangs on."""

    data: dict[str, Any]
    files: tuple[Path, ...]


class Importer:
    """Imports the kernel files of one manifest, each once. ``kept``: a directory in which answers are kept from build to build."""

    def __init__(self, directory: Path, roots: Sequence[Path], kept: Path | None = None) -> None:
        self._directory = directory
        self._roots = [str(root.resolve()) for root in roots]
        self._kept = kept
        self._found: dict[Path, Found] = {}

    def find(self, source: Path, span: Span) -> Found:
        """What importing ``source`` tells. Raises :class:`UserError` at ``span``, where the manifest asks for it."""
        path = source.resolve()
        if path not in self._found:
            self._found[path] = self._remembered(path) or self._run(path, span)
        return self._found[path]

    @property
    def files(self) -> tuple[Path, ...]:
        """Everything that the imports so far hang on."""
        return tuple(sorted({path for found in self._found.values() for path in found.files}))

    def _run(self, path: Path, span: Span) -> Found:
        own = list(dict.fromkeys([*self._roots, str(path.parent)]))
        request = {"source": str(path), "roots": self._roots, "own": own}
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= {"PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(
                [sys.executable, "-s", "-P", str(_CHILD)],
                input=json.dumps(request).encode(),
                capture_output=True,
                cwd=self._directory.resolve(),
                env=environment,
                timeout=_LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise error(f"importing {path.name} took more than {_LONGEST} seconds", span) from None
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            how = f"ended with status {done.returncode}" + (f": {last}" if last else "")
            raise error(f"importing {path.name} failed: its process {how}", span) from None
        files = tuple(Path(file) for file in answer.pop("files"))
        if "error" in answer:
            notes = [self._note(file, line) for file, line in answer["frames"][-1:]]
            raise error(f"importing {path.name} failed: {answer['error']}", span, notes=notes)
        return Found(self._relative(answer), files)

    def _note(self, file: str, line: int) -> Note:
        shown = os.path.relpath(file, self._directory.resolve())
        try:
            lines = Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            lines = []
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        start = len(text) - len(text.lstrip())
        return Note("here", Span(shown, line, start + 1, line, len(text) + 1, text))

    def _relative(self, value: Any) -> Any:
        """The answer with files named from the manifest's directory, wherever that is."""
        base = str(self._directory.resolve())
        match value:
            case dict():
                return {self._name(key, base): self._relative(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            case [("function" | "lambda" | "module") as kind, str(path), *rest]:
                return [kind, os.path.relpath(path, base), *rest]
            case list():
                return [self._relative(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
            case _:
                return value

    @staticmethod
    def _name(key: str, base: str) -> str:
        return os.path.relpath(key, base) if key.startswith("/") else key

    # Kept answers ---------------------------------------------------------------------------------------------

    def _place(self, path: Path) -> Path | None:
        name = sha256(str(path).encode()).hexdigest()[:16]
        return None if self._kept is None else self._kept / f"{name}.json"

    def _asked(self) -> list[str]:
        """What beside the files decides an answer: who is asked, and how."""
        return [sys.executable, sys.version, sha256(_program()).hexdigest(), *self._roots]

    def _remembered(self, path: Path) -> Found | None:
        place = self._place(path)
        try:
            if place is None:
                return None
            raw = json.loads(place.read_bytes())
            files: dict[str, str] = raw["files"]
            if raw["asked"] != self._asked() or any(
                _digest(file) != digest for file, digest in files.items()
            ):
                return None
            return Found(raw["data"], tuple(map(Path, files)))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self) -> None:
        """Keeps the answers for the next build."""
        from teenybuild.cache import write_if_changed

        for path, found in self._found.items():
            place = self._place(path)
            assert place is not None, "nobody said where"
            files = {str(file): _digest(str(file)) for file in found.files}
            text = json.dumps({"asked": self._asked(), "files": files, "data": found.data}, indent=1)
            place.parent.mkdir(parents=True, exist_ok=True)
            write_if_changed(place, (text + "\n").encode())


def _program() -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted(_CHILD.parent.glob("*.py")))


def _digest(path: str) -> str:
    """Of a file's content, or of a directory's names."""
    if Path(path).is_dir():
        names = sorted(entry.name for entry in Path(path).iterdir())
        return sha256("\0".join(names).encode("utf-8", "surrogateescape")).hexdigest()
    return sha256(Path(path).read_bytes()).hexdigest()
