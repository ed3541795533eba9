"""A TOML file, read whole and never trusted: every way it can be wrong is a UserError with a place."""

from __future__ import annotations

import datetime
import os
import re
import stat
import tomllib
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from teenybuild.diagnostics import Note, Span, UserError, error
from teenybuild.manifest.locate import DEEPEST, KeyPath, Lines, Part, Positions

#: What ``tomllib`` gives.
Toml: TypeAlias = "str | int | float | bool | datetime.datetime | datetime.date | datetime.time | list[Toml] | dict[str, Toml]"
Table: TypeAlias = "dict[str, Toml]"

#: Files of a manifest are at most so many bytes, together.
LARGEST = 16 * 1024 * 1024


class TomlFile:
    """One file of a manifest: its text, and where things stand in it.

    ``name`` is how messages call the file. Positions are found when the first one is asked for.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.name, self.text)

    @cached_property
    def positions(self) -> Positions:
        return Positions(self.lines)

    def span(self, path: KeyPath, part: Part = "key") -> Span:
        """Where the key or the value at ``path`` stands, or else the nearest thing around it."""
        return self.positions.span(path, part)

    def span_inside(self, path: KeyPath, start: int, end: int) -> Span:
        """Where characters ``start`` to ``end`` (from 0) of the string at ``path`` stand."""
        return self.positions.span_inside(path, start, end)


def read_text(path: Path, *, what: str, at_most: int = LARGEST) -> str:
    """The text of a file of at most ``at_most`` bytes. ``what`` is what messages call it: ``manifest``.

    Raises UserError where it is not a regular file, cannot be read, is too large, or is not UTF-8.
    """
    try:
        with open(path, "rb", opener=_open) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise error(f"{path}: expected {_article(what)} {what}, and this is not a regular file")
            if status.st_size > at_most:
                raise _too_large(path, what, status.st_size)
            data = file.read(at_most + 1)
    except FileNotFoundError:
        hint = "run where kernels.toml is, name it with -m FILE, or start one with: teenybuild init"
        raise error(f"{path}: there is no such {what}", hint=hint if what == "manifest" else None) from None
    except IsADirectoryError:
        hint = "name the file in it"
        raise error(f"{path}: expected {_article(what)} {what}, and this is a directory", hint=hint) from None
    except (OSError, ValueError) as problem:
        raise error(f"{path}: the {what} cannot be read: {_reason(problem)}") from None
    if len(data) > at_most:
        raise _too_large(path, what, len(data))
    return _decode(str(path), data)


def _article(what: str) -> str:
    return "an" if what[0] in "aeiou" else "a"


def _open(path: str, flags: int) -> int:
    """Not blocking: opening a pipe would wait for a writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def parse_toml(file: TomlFile) -> Table:
    """The document in ``file``. Raises UserError, with the place, where it is not TOML."""
    _refuse_nul(file)
    # A dotted key takes tomllib time in the square of its parts, and worse; ours is linear, and knows a bound.
    if any(line.count(".") > DEEPEST for line in file.text.split("\n")):
        _refuse_depth(file)
    try:
        return tomllib.loads(file.text)
    except RecursionError:
        _refuse_depth(file)
        raise error("the values are nested too deep to read", file.span(())) from None
    except ValueError as problem:  # TOMLDecodeError is one; an integer of thousands of digits is a plain one
        raise _syntax_error(file, str(problem)) from None


def _reason(problem: OSError | ValueError) -> str:
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)


def _too_large(path: Path, what: str, size: int) -> UserError:
    message = f"{path}: the {what} has {size} bytes; at most {LARGEST} are read, included files counted in"
    return error(message, hint="a list multiplies: few lines describe many specialisations")


def _decode(name: str, data: bytes) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        text = data[3:].decode("utf-8", "replace")
        span = Lines(name, text).span(0, 1)
        raise error("the file starts with a byte order mark", span, hint="save it as UTF-8 without BOM")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode("utf-8")
        lines = Lines(name, data.decode("utf-8", "replace"))
        span = lines.span(len(before), len(before) + 1)
        message = f"the file is not UTF-8: byte 0x{data[problem.start]:02x} at offset {problem.start}"
        raise error(message, span, hint="save it as UTF-8") from None


def _refuse_nul(file: TomlFile) -> None:
    at = file.text.find("\0")
    if at >= 0:
        raise error("the file has a NUL character; is it text?", file.lines.span(at, at + 1))


def _refuse_depth(file: TomlFile) -> None:
    failure = file.positions.failure
    if failure is not None and failure.deep:
        raise error("the values are nested too deep to read", file.lines.span(failure.at, failure.at + 1))


_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")

#: What tomllib says (its start), and a way out.
_HINTS = {
    "Invalid value": 'strings are quoted, "…"; booleans are true and false',
    "Expected '=' after a key": "a line is a key, =, and a value; a table starts with its [name]",
    "Unescaped '\\'": "a backslash is written twice, or the string in single quotes",
    "Unclosed inline table": "an inline table { … } ends on the line it starts on, and has no comma before the }",
    "Unclosed array": "a list ends in ], its elements parted by commas",
    "Expected newline": "one key a line; elements are parted by commas inside [ ] and { }",
    "Invalid initial character": "a key has letters, digits, _ and -; anything else is quoted",
    "Cannot mutate immutable": "an inline table { … } is whole: say it all inside, or as a [table]",
    "Cannot declare": "a table has one [header]",
}


def _syntax_error(file: TomlFile, problem: str) -> UserError:
    place = _PLACE.search(problem)
    at = file.lines.offset(int(place[1]), int(place[2])) if place and place[1] else len(file.text.rstrip())
    clash = file.positions.clash
    if clash is not None and clash.second.start <= at:
        where = file.lines.span(*clash.second)
        note = Note("first set here", file.lines.span(*clash.first))
        name = file.text[clash.second.start : clash.second.end]
        return error(f"{name} is set twice", where, notes=[note], hint="keep one of them")
    if place is None:
        # Python's own limit on the digits of an integer: the scan knows no values, so find the digits.
        digits = re.search(r"[0-9_]{1000,}", file.text)
        span = file.lines.span(*digits.span()) if digits else file.span(())
        return error("the integer is too large to read", span, hint="integers have at most 64 bits")
    said = problem[: place.start()]
    if said.startswith(("Illegal", "Invalid initial")) and file.text[at : at + 1] in ("\r", "\n"):
        hint = "strings in one pair of quotes, and inline tables { … }, end on the line they start on"
    else:
        hint = next((hint for start, hint in _HINTS.items() if said.startswith(start)), None)
    return error(f"not valid TOML: {said[:1].lower()}{said[1:]}", file.lines.span(at, at + 1), hint=hint)
