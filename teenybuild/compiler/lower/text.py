"""LLVM IR as text, written in order, with places kept open for what is only written when someone asks for it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


class Slot(list["str | Slot"]):
    """A piece of text, with the place in the source that its instructions belong to."""

    debug = ""


class Text:
    """The body of one LLVM function, and the declarations it needs.

    ``slot()`` keeps a place open; ``into(slot)`` writes there. Because a slot comes after everything its operation reads and before
    everything that reads it, what is written late still stands where it dominates its uses.
    """

    def __init__(self) -> None:
        self.entry = Slot()
        self._body = Slot()
        self._at = self._body
        #: What is appended to every instruction: its line information, where that is wanted.
        self.debug = ""
        self._count = 0
        self.block = "entry"
        self._declarations: dict[str, None] = {}
        self._definitions: dict[str, str] = {}

    def name(self) -> str:
        """A fresh local name."""
        self._count += 1
        return f"%v{self._count}"

    def op(self, text: str) -> str:
        """Appends an instruction and names its result."""
        self._count += 1
        name = f"%v{self._count}"
        self._at.append(f"  {name} = {text}{self.debug}")
        return name

    def do(self, text: str) -> None:
        """Appends an instruction without a result."""
        self._at.append(f"  {text}{self.debug}")

    def label(self) -> str:
        """A fresh block name, for branches to come."""
        self._count += 1
        return f"b{self._count}"

    def open(self, label: str) -> None:
        """Starts a block."""
        self._at.append(f"{label}:")
        self.block = label

    @contextmanager
    def when(self, condition: str) -> Generator[None]:
        """What is written meanwhile is done where ``condition``, an i1, is true; all others go past it."""
        inside, after = self.label(), self.label()
        self.do(f"br i1 {condition}, label %{inside}, label %{after}")
        self.open(inside)
        yield
        self.do(f"br label %{after}")
        self.open(after)

    def slot(self) -> Slot:
        """A place in the text that is filled later, as part of the same source line."""
        slot = Slot()
        slot.debug = self.debug
        self._at.append(slot)
        return slot

    @contextmanager
    def into(self, slot: Slot) -> Generator[None]:
        """Writes into a slot for a while. No blocks may be opened there."""
        outer, self._at = self._at, slot
        debug, self.debug = self.debug, slot.debug
        try:
            yield
        finally:
            self._at = outer
            self.debug = debug

    @property
    def place(self) -> str | int:
        """Where instructions go now: what was written at one place is seen by all that is written there later."""
        return self.block if self._at is self._body else id(self._at)

    def declare(self, text: str) -> None:
        """An external function, once."""
        self._declarations[text] = None

    def define(self, name: str, text: str) -> None:
        """A private helper function or global, once."""
        self._definitions.setdefault(name, text)

    def defines(self, name: str) -> bool:
        """Whether a helper function or global is there already."""
        return name in self._definitions

    def define_function(self, name: str, head: str, inside: Text) -> None:
        """A private helper function with the body ``inside``, and what that declares and defines."""
        self._declarations |= inside._declarations
        self._definitions |= inside._definitions
        self._definitions[name] = f"define internal {head} #1 {{\nentry:\n{inside.body()}\n}}"

    def body(self) -> str:
        """Everything written, the entry's lines first."""
        lines: list[str] = []
        _flatten(self.entry, lines)
        _flatten(self._body, lines)
        return "\n".join(lines)

    def preamble(self) -> str:
        """Definitions and declarations."""
        return "\n".join([*self._definitions.values(), *(f"declare {d}" for d in self._declarations)])


def _flatten(chunk: Slot, lines: list[str]) -> None:
    for item in chunk:
        if isinstance(item, str):
            lines.append(item)
        else:
            _flatten(item, lines)
