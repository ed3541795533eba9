"""Where each key and value of a TOML text stands.

``tomllib`` keeps no positions, so the text is scanned again, here, once there is something to point at. The scan is only
about places: it takes text that ``tomllib`` accepted (or refused: then it goes as far as it can) and never judges values.
"""

from __future__ import annotations

import re
import tomllib
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from teenybuild.diagnostics import Span

#: The way from the document to a key or an element: names and list indices.
KeyPath: TypeAlias = tuple[str | int, ...]

Part: TypeAlias = Literal["key", "value"]

#: Values may be nested so deep, and keys have so many dotted parts.
DEEPEST = 64


class Extent(NamedTuple):
    """Characters of the text, from 0; ``end`` is exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clash:
    """A key that stands twice."""

    path: KeyPath
    first: Extent
    second: Extent


class ScanError(Exception):
    """The scan cannot go on: the text is not TOML, or nested deeper than :data:`DEEPEST` (``deep``)."""

    def __init__(self, at: int, *, deep: bool = False) -> None:
        super().__init__(at)
        self.at = at
        self.deep = deep


class Lines:
    """Offsets of a text as lines and columns."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._starts = array("Q", [0])
        self._starts.extend(match.end() for match in re.finditer("\n", text))
        self._shown: tuple[int, str] = (0, "")

    def span(self, start: int, end: int) -> Span:
        """The span of characters ``start`` to ``end`` (exclusive)."""
        line, column = self._position(start)
        end_line, end_column = self._position(max(start, end))
        return Span(self.file, line, column, end_line, end_column, self.line(line))

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column (from 1), at most the length of the text."""
        if line > len(self._starts):
            return len(self.text)
        return min(self._starts[line - 1] + column - 1, len(self.text))

    def line(self, number: int) -> str:
        """The text of a line, without its end. The last one asked for is kept: errors come in bunches."""
        if self._shown[0] != number:
            start = self._starts[number - 1]
            end = self._starts[number] if number < len(self._starts) else len(self.text)
            self._shown = (number, self.text[start:end].rstrip("\r\n"))
        return self._shown[1]

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


class Positions:
    """Every key and value of a text, by path.

    ``clash`` is the first key that is set twice, and ``failure`` where the scan had to stop; ``tomllib`` refuses such
    texts.
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        scanner = _Scanner(lines.text)
        self.failure: ScanError | None = None
        try:
            scanner.document()
        except ScanError as error:
            self.failure = error
        self._keys = scanner.keys
        self._values = scanner.values
        self.clash = scanner.clash

    def span(self, path: KeyPath, part: Part = "key") -> Span:
        """Where ``path`` stands, or else the nearest thing around it that is written in the text.

        A table that is not written as ``{ … }`` has no value to point at: its key stands for it, as an element of a
        list stands for its own key.
        """
        found = self._extent(path, part)
        if found is None:
            return self._lines.span(0, len(self._lines.line(1)))
        return self._lines.span(*found)

    def span_inside(self, path: KeyPath, start: int, end: int) -> Span:
        """Where characters ``start`` to ``end`` of the string at ``path`` stand; all of the string where escapes or
        line breaks part what is written from what is meant."""
        extent = self._values.get(path)
        if extent is None:
            return self.span(path, "value")
        raw = self._lines.text[extent.start : extent.end]
        escaped = raw.startswith('"') and "\\" in raw
        if escaped or raw.startswith(('"""', "'''")) or not raw.startswith(('"', "'")):
            return self.span(path, "value")
        first = extent.start + 1
        return self._lines.span(min(first + start, extent.end - 1), min(first + end, extent.end))

    def _extent(self, path: KeyPath, part: Part) -> Extent | None:
        while path:
            keys, values = self._keys.get(path), self._values.get(path)
            found = (keys or values) if part == "key" else (values or keys)
            if found is not None:
                return found
            path, part = path[:-1], "key"
        return None


_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_BLANK = re.compile(r"[ \t]*")
_BLANK_LINES = re.compile(r"(?:[ \t\r\n]|\#[^\n]*)*")
_REST = re.compile(r"[ \t]*(?:\#[^\n]*)?\r?(?:\n|\Z)")
# The closing quotes may follow up to two quotes that belong to the text. What follows a character is decided by the character: a string
# has one reading, and one that does not end is given up in linear time. (Possessive repeats would say so, but are broken in Python 3.11.2.)
_STRING = re.compile(
    r'''"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3}"{0,2}'''
    r"""|'''[^']*(?:'(?!'')[^']*)*'{3}'{0,2}"""
    r"""|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*'""",
    re.DOTALL,
)
# A date may be parted from its time by a blank.
_PLAIN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[^\s,\]}#]+|[^\s,\]}#\[{\"'=]+")

_Kind: TypeAlias = Literal["implicit", "dotted", "table", "value", "array"]


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.keys: dict[KeyPath, Extent] = {}
        self.values: dict[KeyPath, Extent] = {}
        self.clash: Clash | None = None
        self._kinds: dict[KeyPath, _Kind] = {}
        self._elements: dict[KeyPath, int] = {}

    def document(self) -> None:
        table: KeyPath = ()
        while True:
            self._skip(_BLANK_LINES)
            if self.at == len(self.text):
                return
            if self._take("[["):
                table = self._array_header()
            elif self._take("["):
                table = self._enter((), self._key("]"), "implicit", "table")
            else:
                self._pair(table, 0)
            if not self._skip(_REST):
                raise ScanError(self.at)

    def _pair(self, table: KeyPath, depth: int) -> None:
        path = self._enter(table, self._key("="), "dotted", "value")
        self._skip(_BLANK)
        self._value(path, depth)

    def _array_header(self) -> KeyPath:
        parts = self._key("]]")
        path = self._enter((), parts, "implicit", "array")
        index = self._elements.get(path, 0)
        self._elements[path] = index + 1
        element = (*path, index)
        self.keys[element] = parts[-1][1]
        return element

    def _key(self, closing: str) -> list[tuple[str, Extent]]:
        """A dotted key and what follows it: the parts, each with its place."""
        parts: list[tuple[str, Extent]] = []
        while True:
            self._skip(_BLANK)
            match = _KEY.match(self.text, self.at)
            if match is None:
                raise ScanError(self.at)
            if len(parts) == DEEPEST:
                raise ScanError(self.at, deep=True)
            parts.append((_meaning(match[0], self.at), Extent(*match.span())))
            self.at = match.end()
            self._skip(_BLANK)
            if self._take(closing):
                return parts
            if not self._take("."):
                raise ScanError(self.at)

    def _enter(
        self, path: KeyPath, parts: list[tuple[str, Extent]], on_the_way: _Kind, kind: _Kind
    ) -> KeyPath:
        """Record a key and the tables on the way to it; where the way leads into a ``[[list]]``, its last element."""
        for index, (name, extent) in enumerate(parts):
            path = (*path, name)
            last = index == len(parts) - 1
            self._see(path, extent, kind if last else on_the_way)
            self.keys.setdefault(path, extent)
            if not last and path in self._elements:
                path = (*path, self._elements[path] - 1)
        return path

    def _see(self, path: KeyPath, extent: Extent, kind: _Kind) -> None:
        before = self._kinds.setdefault(path, kind)
        if path not in self.keys or self.clash is not None:
            return
        both = {before, kind}
        if "value" in both or both == {"table"} or ("array" in both and both & {"table", "dotted"}):
            self.clash = Clash(path, self.keys[path], extent)
        elif before == "implicit":
            # `[a.b]` and then `[a]`: from here on, `a` is taken.
            self._kinds[path] = kind
            if kind == "table":
                self.keys[path] = extent

    def _value(self, path: KeyPath, depth: int) -> None:
        if depth == DEEPEST:
            raise ScanError(self.at, deep=True)
        start = self.at
        if self._take("["):
            self._list(path, depth)
        elif self._take("{"):
            self._inline_table(path, depth)
        elif not self._skip(_STRING) and not self._skip(_PLAIN):
            raise ScanError(self.at)
        self.values[path] = Extent(start, self.at)

    def _list(self, path: KeyPath, depth: int) -> None:
        index = 0
        while True:
            self._skip(_BLANK_LINES)
            if self._take("]"):
                return
            self._value((*path, index), depth + 1)
            index += 1
            self._skip(_BLANK_LINES)
            if not self._take(",") and not self.text.startswith("]", self.at):
                raise ScanError(self.at)

    def _inline_table(self, path: KeyPath, depth: int) -> None:
        # Line breaks and a last comma are TOML 1.1; whether they are allowed is for tomllib to say.
        while True:
            self._skip(_BLANK_LINES)
            if self._take("}"):
                return
            self._pair(path, depth + 1)
            self._skip(_BLANK_LINES)
            if not self._take(",") and not self.text.startswith("}", self.at):
                raise ScanError(self.at)

    def _take(self, symbol: str) -> bool:
        if self.text.startswith(symbol, self.at):
            self.at += len(symbol)
            return True
        return False

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self.text, self.at)
        if match is None:
            return False
        self.at = match.end()
        return True


def _meaning(raw: str, at: int) -> str:
    """What a key as written stands for."""
    if raw[0] == "'" or (raw[0] == '"' and "\\" not in raw):
        return raw[1:-1]
    if raw[0] != '"':
        return raw
    try:
        return tomllib.loads(f"key = {raw}")["key"]
    except tomllib.TOMLDecodeError:
        raise ScanError(at) from None
