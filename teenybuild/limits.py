"""What compiling one specialisation may take: time, and memory. Held to by the system, in the process that compiles: LLVM asks nobody."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from teenybuild.diagnostics import error
from teenybuild.units import parse_number, parse_size, show_size

TIME_VARIABLE, MEMORY_VARIABLE = "TEENYBUILD_TIME_LIMIT", "TEENYBUILD_MEMORY_LIMIT"
_T = TypeVar("_T")
#: Seconds, where nothing else is said: a hundred times what the slowest kernel we know takes.
DEFAULT_SECONDS = 600.0
#: The most that the system can be told: more is as good as no limit.
_MOST_SECONDS, _MOST_BYTES = 10.0**9, 2**62


@dataclass(frozen=True, slots=True)
class Limits:
    """``seconds`` of one specialisation; ``bytes`` of the process that compiles a chunk of them. 0 and None are no limit."""

    seconds: float = DEFAULT_SECONDS
    bytes: int | None = None

    def begin(self) -> None:
        """Holds this process to its memory, from now on."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        if self.bytes is not None:
            _, most = resource.getrlimit(resource.RLIMIT_DATA)
            allowed = min(self.bytes, _MOST_BYTES if most == resource.RLIM_INFINITY else most)
            resource.setrlimit(resource.RLIMIT_DATA, (allowed, most))

    def next(self) -> None:
        """The next specialisation begins: when its time is over, so is this process."""
        signal.setitimer(signal.ITIMER_REAL, min(self.seconds, _MOST_SECONDS))

    def wrong(self, status: int) -> tuple[str, str] | None:
        """What to say where a process ended with ``status``, and a way out; None where that has nothing to do with limits."""
        if status == -signal.SIGALRM and self.seconds:
            hint = f"--time-limit SECONDS, or {TIME_VARIABLE}, raises it (0: none); loops that are unrolled are what takes long"
            return f"compiling it takes longer than {self.seconds:g} seconds", hint
        return self.of_memory() if status != 0 and self.bytes is not None else None

    def of_memory(self) -> tuple[str, str]:
        """The same of a process that had no more memory."""
        assert self.bytes is not None
        hint = f"--memory-limit SIZE, or {MEMORY_VARIABLE}, raises it"
        return f"compiling it takes more than {show_size(self.bytes)} of memory", hint


#: Where nothing is said.
DEFAULT = Limits()


def limits_of(environment: Mapping[str, str] = os.environ) -> Limits:
    """What the environment says. Raises :class:`UserError` for what it cannot mean."""
    return Limits(
        _said(environment, TIME_VARIABLE, lambda text: parse_number(text, "seconds"), DEFAULT_SECONDS),
        _said(environment, MEMORY_VARIABLE, parse_size, None),
    )


def _said(environment: Mapping[str, str], name: str, parse: Callable[[str], _T], otherwise: _T) -> _T:
    text = environment.get(name)
    if not text:
        return otherwise
    try:
        return parse(text)
    except ValueError as wrong:
        raise error(f"{name}: {wrong}") from None
