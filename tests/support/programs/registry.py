"""What a random program is made of: every kind of step that can be written next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .writer import Writer

Write = Callable[[Writer], None]


@dataclass(frozen=True)
class Operation:
    """Writes one step, and what it needs before it."""

    name: str
    write: Write
    #: Whether it may stand in a loop or branch: not where it changes memory, or has such inside itself.
    nests: bool


#: All of them by name, simplest first.
OPERATIONS: dict[str, Operation] = {}


def operation(function: Write) -> Write:
    """Marks a function that writes a step; its name is the operation's."""
    OPERATIONS[function.__name__] = Operation(function.__name__, function, True)
    return function


def outermost(function: Write) -> Write:
    """The same of one that stands in no loop or branch."""
    OPERATIONS[function.__name__] = Operation(function.__name__, function, False)
    return function


def write_step(w: Writer) -> None:
    """Some operation that the rules allow here."""
    there = [o for o in OPERATIONS.values() if o.name not in w.rules.without and (o.nests or w.outer is None)]
    w.choose(there).write(w)
