"""The tables that the functions of the language are entered in, and what their calls are checked against."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeVar

Implementation = Callable[..., object]
_Function = TypeVar("_Function", bound=Implementation)

#: Canonical dotted name → what it does. Parameters named as in Triton.
BUILTINS: dict[str, Implementation] = {}
#: Builtins that can also be called as methods of a tile or scalar.
METHODS: set[str] = set()


def builtin(name: str, *, method: bool = False) -> Callable[[_Function], _Function]:
    """Registers a function of the language."""

    def register(function: _Function) -> _Function:
        BUILTINS[name] = function
        if method:
            METHODS.add(name.removeprefix("tl."))
        return function

    return register


@cache
def _parameters(name: str) -> tuple[tuple[str, ...], frozenset[str], int]:
    """The parameters that may go by position, those without a default, and how many arguments go by position at most."""
    found = signature(name).parameters.values()
    by_position = tuple(p.name for p in found if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD)
    collects = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in found)
    required = frozenset(
        p.name for p in found if p.default is inspect.Parameter.empty and p.name in by_position
    )
    return by_position, required, 1 << 30 if collects else len(by_position)


def takes(name: str, positional: int, named: Mapping[str, object]) -> bool:
    """Whether so many arguments by position, and these by name, are a call of the function; in doubt, no.

    For every call of every kernel: :meth:`inspect.Signature.bind` says why not, and takes ten times as long.
    """
    by_position, required, most = _parameters(name)
    if positional > most or any(keyword not in by_position[positional:] for keyword in named):
        return False
    return all(n in named or n in by_position[:positional] for n in required)


@cache
def signature(name: str) -> inspect.Signature:
    """How the language's function is called: the implementation's parameters without the first."""
    empty = inspect.Signature.empty
    parameters = list(inspect.signature(BUILTINS[name]).parameters.values())[1:]
    return inspect.Signature([p.replace(annotation=empty) for p in parameters])
