"""Kernel files: read once, parsed whole, never run. Knows where every node stands."""

from __future__ import annotations

import ast
import io
import re
import stat
import tokenize
import warnings
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from teenybuild.diagnostics import Note, Span, UserError, error

#: Far above any kernel file; keeps a hostile input from taking the machine's time and memory: Python's parser takes some seconds for a megabyte of
#: brackets, and nothing can stop it.
_LARGEST_FILE = 1 << 20
_LINE_END = re.compile("\r\n|\r|\n")


class Source:
    """One parsed file. ``display`` is how messages call it, whatever the machine's paths are."""

    def __init__(self, display: str, data: bytes) -> None:
        self.display = display
        # Not str.splitlines, which also ends lines at form feeds and other characters that Python takes for white space.
        self.lines = _LINE_END.split(_decode(display, data))
        self.tree = self._parse(data)

    @cached_property
    def statements(self) -> frozenset[ast.stmt]:
        """All of them, wherever they stand."""
        return frozenset(node for node in ast.walk(self.tree) if isinstance(node, ast.stmt))

    def _parse(self, data: bytes) -> ast.Module:
        if b"\0" in data:
            line = data.count(b"\n", 0, data.index(b"\0")) + 1
            raise error("not Python: a zero byte", Span(self.display, line, 1, line, 2, self.line(line)))
        try:
            with warnings.catch_warnings():
                # Of escapes in strings, say: what Python thinks of the file is for those who run it.
                warnings.simplefilter("ignore")
                return ast.parse(data, filename=self.display)
        except SyntaxError as wrong:
            raise error(f"not Python: {wrong.msg}", self._place(wrong)) from None
        except (ValueError, RecursionError, MemoryError) as wrong:
            why = "nested too deeply" if not isinstance(wrong, ValueError) else str(wrong)
            raise error(f"not Python that can be read: {why}", Span(self.display, 1, 1, 1, 2)) from None

    def _place(self, wrong: SyntaxError) -> Span:
        """Where the file is not Python. Some of these errors count bytes, or what is behind the last line: places are within the file."""
        line = min(max(wrong.lineno or 1, 1), len(self.lines))
        text = self.line(line)
        column = min(max(wrong.offset or 1, 1), len(text) + 1)
        end = wrong.end_offset if wrong.end_lineno == wrong.lineno and wrong.end_offset else column + 1
        return Span(self.display, line, column, line, max(min(end, len(text) + 1), column + 1), text)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1; empty where there is none."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def span(self, node: ast.AST) -> Span:
        """Where a node stands. ``ast`` counts columns in UTF-8 bytes; spans count characters."""
        line = getattr(node, "lineno", 1)
        end_line = getattr(node, "end_lineno", None) or line
        text = self.line(line)
        column = _characters(text, getattr(node, "col_offset", 0))
        end = _characters(self.line(end_line), getattr(node, "end_col_offset", None) or 0)
        return Span(self.display, line, column + 1, end_line, end + 1, text)

    def name_span(self, node: ast.FunctionDef) -> Span:
        """Where a function's definition names it."""
        whole = self.span(node)
        start = whole.text.find(node.name, whole.column - 1 + len("def "))
        if start < 0:
            return whole
        return Span(self.display, whole.line, start + 1, whole.line, start + 1 + len(node.name), whole.text)

    def function(self, name: str) -> ast.FunctionDef | None:
        """The last top-level function of that name."""
        found: ast.FunctionDef | None = None
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                found = node
        return found

    def functions(self) -> list[str]:
        """Names of all top-level functions, in order."""
        return [node.name for node in self.tree.body if isinstance(node, ast.FunctionDef)]


def _decode(display: str, data: bytes) -> str:
    span = Span(display, 1, 1, 1, 2)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except UnicodeDecodeError as wrong:
        said = f"'{wrong.encoding}' codec can't decode byte 0x{data[wrong.start]:02x}: {wrong.reason}"
        span = _place_of_byte(display, data, wrong.start)
    except (SyntaxError, UnicodeError, LookupError) as wrong:
        # detect_encoding says where only in words, and some codecs not at all.
        said = str(wrong)
        try:
            data.decode()
        except UnicodeDecodeError as found:
            span = _place_of_byte(display, data, found.start)
    raise error(f"not a text file that Python can read: {said}", span)


def _place_of_byte(display: str, data: bytes, at: int) -> Span:
    """The place of a byte that is no text, with what can be shown of its line."""
    line = data.count(b"\n", 0, at) + 1
    start = data.rfind(b"\n", 0, at) + 1
    column = len(data[start:at].decode(errors="replace")) + 1
    text = data[start:].split(b"\n", 1)[0].decode(errors="replace").rstrip("\r")
    return Span(display, line, column, line, column + 1, text)


def _characters(line: str, byte_offset: int) -> int:
    if line.isascii():
        return byte_offset
    return len(line.encode()[:byte_offset].decode(errors="replace"))


def read_source(path: Path, display: str) -> Source:
    """Reads and parses a kernel file. Raises :class:`UserError` where it cannot be read or is not Python."""
    span = Span(display, 1, 1, 1, 2)
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            raise error("cannot read the kernel file: it is not a regular file", span)
        if found.st_size > _LARGEST_FILE:
            raise error(f"larger than {_LARGEST_FILE >> 20} MiB; a kernel file is not", span)
        data = path.read_bytes()
    except OSError as wrong:
        raise error(f"cannot read the kernel file: {wrong.strerror}", span) from None
    return _source(display, data)


@lru_cache(maxsize=16)
def _source(display: str, data: bytes) -> Source:
    """A process that compiles many specialisations of a file parses it once. Nothing changes a source once it is made."""
    return Source(display, data)


@dataclass(frozen=True, slots=True, eq=False)
class Location:
    """Where an operation comes from: a node of a file, and the calls that led into that file's function."""

    source: Source
    node: ast.AST
    caller: Location | None = None
    #: The function the node is in.
    function: str = ""

    def span(self) -> Span:
        """The node's place."""
        return self.source.span(self.node)

    def chain(self) -> tuple[Note, ...]:
        """The calls that led here, innermost first, for a diagnostic's notes."""
        notes: list[Note] = []
        inner, outer = self.function, self.caller
        while outer is not None:
            notes.append(Note(f"in {inner}, called from here", outer.span()))
            inner, outer = outer.function, outer.caller
        return tuple(notes)

    def error(self, message: str, hint: str | None = None) -> UserError:
        """A user's mistake at this place, with the calls that led here."""
        return error(message, self.span(), notes=self.chain(), hint=hint)
