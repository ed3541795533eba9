"""What must hold of a reader, whatever it is given.

It gives a result or a :class:`UserError`, the same when it reads again; what it says stands in the file and can be shown on a terminal; it ends
soon and takes little memory; and it does nothing but read: no file is written, no process started, nothing of the input run.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FrameType

from teenybuild.diagnostics import Diagnostic, Span, UserError, show

#: Seconds of processor time for one input, and bytes on top of what the process has when it begins.
SECONDS, BYTES = 20.0, 1 << 30


class Broken(AssertionError):
    """Something that must hold does not."""


class TooLong(BaseException):
    """The time is over. No ``except Exception`` takes this for its own."""


# Doing nothing but reading ---------------------------------------------------------------------------------------

#: Of :pep:`578`: each changes a file, or starts or reaches something.
_DEEDS = frozenset(
    [
        "os.chmod", "os.chown", "os.exec", "os.fork", "os.forkpty", "os.kill", "os.link", "os.mkdir", "os.posix_spawn", "os.putenv", "os.remove", "os.rename", "os.rmdir",
        "os.setxattr", "os.spawn", "os.symlink", "os.system", "os.truncate", "os.utime", "subprocess.Popen", "socket.__new__", "socket.connect", "shutil.rmtree", "tempfile.mkstemp",
        "tempfile.mkdtemp", "ctypes.dlopen",
    ]
)  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Watch:
    """Notes deeds while it is on. An audit hook cannot be taken back, so there is one for ever."""

    def __init__(self) -> None:
        self.directory: str | None = None
        self.seen: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.directory is None:
            return
        if event == "open":
            path, mode, flags = arguments
            written = isinstance(flags, int) and flags & _WRITING
            if written or (isinstance(mode, str) and set(mode) & set("wxa+")):
                self.seen.append(f"{event} {path!r} {mode} {flags}")
        elif event in _DEEDS:
            self.seen.append(f"{event} {arguments!r}"[:300])
        elif event == "exec":
            code = arguments[0]
            if isinstance(code, CodeType) and code.co_filename.startswith((self.directory, "kernels/")):
                self.seen.append(f"{event} {code!r}")


_watch: _Watch | None = None


@contextmanager
def only_reading(directory: Path) -> Iterator[None]:
    """Raises :class:`Broken` where anything but reading is done; ``directory`` has the input."""
    global _watch  # noqa: PLW0603
    if _watch is None:
        _watch = _Watch()
    _watch.seen.clear()
    _watch.directory = str(directory)
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # what we import late is compiled, and kept
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
        _watch.directory = None
    if _watch.seen:
        raise Broken(f"it did more than read: {_watch.seen[0]}")


# Time and memory ---------------------------------------------------------------------------------------------------


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooLong


@contextmanager
def bounded() -> Iterator[None]:
    """Raises :class:`Broken` after :data:`SECONDS` of this process's own time; past :data:`BYTES`, Python raises MemoryError."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    data = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmData"))) << 10
    before = resource.getrlimit(resource.RLIMIT_DATA)
    handler = signal.signal(signal.SIGPROF, _stop)
    resource.setrlimit(resource.RLIMIT_DATA, (data + BYTES, before[1]))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    except TooLong as slow:
        raise Broken(f"it takes more than {SECONDS:g} seconds").with_traceback(slow.__traceback__) from None
    except MemoryError as greedy:
        raise Broken(f"it takes more than {BYTES >> 20} MiB").with_traceback(greedy.__traceback__) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_DATA, before)
        signal.signal(signal.SIGPROF, handler)


# What is said ------------------------------------------------------------------------------------------------------


#: Where lines end, by what a file is: TOML knows two ends, and the first of them has the second in it; Python knows three.
_LINE_ENDS = {".toml": "\n", ".py": "\r\n|\r|\n"}


def check_said(wrong: UserError, files: Mapping[str, bytes]) -> None:
    """Every diagnostic says something, about a place that there is. ``files`` by the names that messages give them."""
    for diagnostic in wrong.diagnostics:
        _check(diagnostic, files)
    if len(set(wrong.diagnostics)) < len(wrong.diagnostics):
        raise Broken(f"the same is said twice: {wrong}")


def _check(diagnostic: Diagnostic, files: Mapping[str, bytes]) -> None:
    texts = [diagnostic.message, *(note.message for note in diagnostic.notes)]
    if not all(text.strip() for text in texts) or diagnostic.hint == "":
        raise Broken(f"nothing is said: {diagnostic!r}")
    for span in (diagnostic.span, *(note.span for note in diagnostic.notes)):
        if span is not None:
            _check_span(span, files)
    shown = show(diagnostic)
    for char in shown:
        if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") and char not in "\n\t":
            raise Broken(f"{char!r} is shown: {shown!r}")
    shown.encode()


def _check_span(span: Span, files: Mapping[str, bytes]) -> None:
    data = files.get(span.file)
    if data is None:
        raise Broken(f"{span.file!r} is no file of these: {sorted(files)}")
    lines = re.split(_LINE_ENDS[Path(span.file).suffix], data.decode("utf-8-sig", "replace"))
    if not 1 <= span.line <= len(lines) or not span.line <= span.end_line <= len(lines):
        raise Broken(f"{span!r} is not in the file, which has {len(lines)} lines")
    if (span.end_line, span.end_column) < (span.line, span.column) or span.column < 1:
        raise Broken(f"{span!r} ends before it begins")
    try:
        data.decode()
    except UnicodeDecodeError:
        return  # what can be shown of such a line is another matter
    # One past the end is where something is missing; an end is exclusive.
    if span.column > len(lines[span.line - 1]) + 1 or span.end_column > len(lines[span.end_line - 1]) + 2:
        raise Broken(f"{span!r} is past the end of its line, {lines[span.line - 1]!r}")
    if span.text not in ("", lines[span.line - 1], lines[span.line - 1].rstrip("\r\n")):
        raise Broken(f"{span!r} has not the text of its line, {lines[span.line - 1]!r}")


# All of it -----------------------------------------------------------------------------------------------------------


@contextmanager
def _quiet() -> Iterator[None]:
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        yield


_ADDRESS = re.compile(" at 0x[0-9a-f]+")


def outcome(
    directory: Path, read: Callable[[], object], files: Mapping[str, bytes], *, times: int = 2
) -> str:
    """What reading gives, as text: results that are equal have equal texts. Raises whatever must not come out."""
    said: list[str] = []
    for _ in range(times):
        with bounded(), only_reading(directory), _quiet():  # kernels may print when they are compiled
            try:
                said.append(_ADDRESS.sub("", f"read: {read()!r}"))
            except UserError as wrong:
                said.append(f"refused: {wrong.diagnostics!r}")
                refused = wrong
            else:
                refused = None
        if refused is not None:
            check_said(refused, files)
    if len(set(said)) > 1:
        at = next(i for i, chars in enumerate(zip_longest(*said)) if len(set(chars)) > 1)
        parts = " and then ".join(each[max(0, at - 100) : at + 100] for each in said)
        raise Broken(f"reading it again gives something else: {parts}")
    return said[0]


@contextmanager
def remembered(files: Mapping[str, bytes]) -> Iterator[None]:
    """What is raised knows what was being read."""
    try:
        yield
    except Exception as wrong:
        vars(wrong)["files"] = files
        raise


def files_of(wrong: Exception) -> Mapping[str, bytes]:
    """What was being read when this was raised."""
    return vars(wrong).get("files", {})
