"""The tables that the functions of the language are entered in, and what their calls are checked against."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache

Implementation = Callable[..., object]

#: Canonical dotted name → what it does. Parameters named as in Triton.
BUILTINS: dict[str, Implementation] = {}
#: Builtins that can also be called as methods of a tile or scalar.
METHODS: set[str] = set()


def builtin(name: str, *, method: bool = False) -> Callable[[Implementation], Implementation]:
    """Registers a function of the language."""

    def register(function: Implementation) -> Implementation:
        BUILTINS[name] = function
        if method:
            METHODS.add(name.removeprefix("tl."))
        return function

    return register


@cache
def signature(name: str) -> inspect.Signature:
    """How the language's function is called: the implementation's parameters without the first."""
    empty = inspect.Signature.empty
    parameters = list(inspect.signature(BUILTINS[name]).parameters.values())[1:]
    return inspect.Signature([p.replace(annotation=empty) for p in parameters])
