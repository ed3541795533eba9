"""Python source as ``ruff format`` would leave it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from teenybuild.types import Value

#: Characters a line has at most: what formatters take by default.
_WIDTH = 88


def literal(value: Value) -> str:
    """A constant as source."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


def fits(line: str) -> bool:
    """Whether a line is short enough to stay one."""
    return len(line) <= _WIDTH


def bracketed(indent: int, before: str, items: Sequence[str], after: str) -> list[str]:
    """``before`` + items + ``after``, on one line where it fits, else an item a line."""
    line = f"{' ' * indent}{before}{', '.join(items)}{after}"
    if fits(line):
        return [line]
    inner = " " * (indent + 4)
    return [f"{' ' * indent}{before}", *(f"{inner}{item}," for item in items), f"{' ' * indent}{after}"]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells in aligned columns, with no blanks at the ends."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
