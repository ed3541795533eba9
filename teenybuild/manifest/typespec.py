"""Types of arguments as the manifest writes them: concrete, or with a dtype variable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from teenybuild.types import Absent, Pointer, Scalar, Type, TypeSyntaxError, parse_type

#: Dtype variables are upper case, dtypes lower: neither can be mistaken for the other.
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class Variable:
    """What a dtype variable stands for, or (``pointer``) the address of such elements: ``D``, ``*D``."""

    name: str
    pointer: bool

    def __str__(self) -> str:
        return f"*{self.name}" if self.pointer else self.name


#: The type of an argument before dtype variables are bound.
TypeSpec: TypeAlias = Scalar | Pointer | Absent | Variable


def parse_spec(text: str) -> TypeSpec:
    """The type that ``text`` spells, where upper-case names are dtype variables.

    Raises :class:`~teenybuild.types.TypeSyntaxError`.
    """
    pointer = text.startswith("*")
    name = text[1:] if pointer else text
    if VARIABLE.fullmatch(name):
        return Variable(name, pointer)
    return parse_type(text)


def substitute(spec: TypeSpec, bindings: Mapping[str, Type]) -> Type:
    """The concrete type of ``spec``. ``*D`` is ``none`` where ``D`` is.

    Raises :class:`~teenybuild.types.TypeSyntaxError` where ``D`` of ``*D`` is itself a pointer.
    """
    if not isinstance(spec, Variable):
        return spec
    bound = bindings[spec.name]
    if not spec.pointer or isinstance(bound, Absent):
        return bound
    if isinstance(bound, Pointer):
        text = str(spec)
        raise TypeSyntaxError(f"{text} is a pointer to a pointer where {spec.name} is {bound}", 0, len(text))
    return Pointer(bound.dtype)
