"""What can go wrong, where, and how it is shown.

A user's mistake is a :class:`UserError` carrying one or more :class:`Diagnostic`; a mistake of ours is a
:class:`BugError`.  Nothing here prints or exits: ``cli.py`` alone turns errors into output and exit codes.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text file.

    Lines and columns count from 1, columns in characters (not bytes); ``end_column`` is exclusive.  ``text`` is
    the source line the span starts on, kept here so that showing an error never has to read the file again.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that explains the first: a call that led there, an earlier definition."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong: what was expected and what came (``message``), where, and a way out (``hint``)."""

    message: str
    span: Span | None = None
    notes: tuple[Note, ...] = ()
    hint: str | None = None
    severity: str = field(default="error")

    def __str__(self) -> str:
        return show(self)


class UserError(Exception):
    """The input is wrong. ``diagnostics`` holds everything that was found, in source order."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        assert found, "a UserError says at least one thing"
        super().__init__(found)
        self.diagnostics: tuple[Diagnostic, ...] = found

    def __str__(self) -> str:
        return "\n".join(show(d) for d in self.diagnostics)


class BugError(Exception):
    """teenybuild itself is wrong. ``reproduce`` says what to run to see it again."""

    def __init__(self, message: str, reproduce: str = "") -> None:
        super().__init__(message, reproduce)
        self.message = message
        self.reproduce = reproduce

    def __str__(self) -> str:
        again = f"\nto reproduce: {self.reproduce}" if self.reproduce else ""
        return f"{self.message}{again}\nThis is a bug in teenybuild, not in your input; please report it."


def error(
    message: str,
    span: Span | None = None,
    *,
    notes: Sequence[Note] = (),
    hint: str | None = None,
) -> UserError:
    """A :class:`UserError` with one diagnostic: ``raise error("…", span)``."""
    return UserError(Diagnostic(message, span, tuple(notes), hint))


#: Things of one kind that are said one by one.
_MOST = 20


def first_of(messages: Sequence[str], what: str) -> list[str]:
    """No more than the first few of many messages, and then how many more ``what`` there are."""
    more = len(messages) - _MOST
    return [*messages[:_MOST], f"and {more} more {what}"] if more > 0 else list(messages)


def near(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that ``name`` was most likely meant to be, or None."""
    found = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(name: str, candidates: Iterable[str], prefix: str = "") -> str | None:
    """A hint that names the nearest candidate, or None where none is near."""
    found = near(name, candidates)
    return f"did you mean {prefix}{found}?" if found else None


def show(diagnostic: Diagnostic) -> str:
    """The diagnostic as text, in the form compilers use::

    kernels/softmax.py:14:9: error: tl.lode is not part of the language
       14 |     x = tl.lode(x_ptr + offs, mask=offs < n)
          |         ^^^^^^^
    note: kernels/model.py:7:5: called from here
    hint: did you mean tl.load?
    """
    lines = [_said(_headline(diagnostic))]
    if diagnostic.span is not None:
        lines += _excerpt(diagnostic.span)
    for note in diagnostic.notes:
        where = f"{note.span}: " if note.span is not None else ""
        lines.append(_said(f"note: {where}{note.message}"))
        if note.span is not None:
            lines += _excerpt(note.span)
    if diagnostic.hint:
        lines.append(_said(f"hint: {diagnostic.hint}"))
    return "\n".join(lines)


def _said(text: str) -> str:
    """Names and values of the input stand in what is said; lines are ours to break."""
    return "\n".join(map(_visible, text.split("\n")))


def _headline(diagnostic: Diagnostic) -> str:
    where = f"{diagnostic.span}: " if diagnostic.span is not None else ""
    return f"{where}{diagnostic.severity}: {diagnostic.message}"


_LONGEST_LINE = 160


def _excerpt(span: Span) -> list[str]:
    """The source line and a caret under the span; empty where the line is unknown."""
    text = span.text.rstrip("\r\n")
    if not text.strip():
        return []
    start = span.column - 1
    if span.end_line == span.line:
        stop = max(span.end_column - 1, start + 1)
    else:
        stop = max(len(text), start + 1)
    stop = min(stop, max(len(text), start + 1))
    text, start, stop = _window(text, start, stop)
    number = f"{span.line:5d}"
    caret = _blank(text[:start]) + "^" * max(1, _width(text[start:stop]))
    return [f"{number} | {_visible(text)}", f"{' ' * len(number)} | {caret}"]


def _window(text: str, start: int, stop: int) -> tuple[str, int, int]:
    """A line too long to show is cut to the part around the span."""
    if len(text) <= _LONGEST_LINE:
        return text, start, stop
    left = max(0, min(start - _LONGEST_LINE // 3, len(text) - _LONGEST_LINE))
    right = min(len(text), left + _LONGEST_LINE)
    cut = ("…" if left else "") + text[left:right] + ("…" if right < len(text) else "")
    shift = left - (1 if left else 0)
    return cut, start - shift, min(stop, right) - shift


def _visible(text: str) -> str:
    """Control characters other than a tab would move the cursor, and lines have ends of other kinds too: shown as a replacement character."""
    if text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if _moves(c) else c for c in text)


def _moves(char: str) -> bool:
    category = unicodedata.category(char)
    return char != "\t" and (category[0] == "C" or category in ("Zl", "Zp"))


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _width(text: str) -> int:
    """Columns a terminal gives to ``text``."""
    return sum(_cells(c) for c in text)


def _blank(text: str) -> str:
    """White space exactly as wide as ``text``: tabs stay tabs, so that the caret lands under its character."""
    return "".join("\t" if c == "\t" else " " * _cells(c) for c in text)
