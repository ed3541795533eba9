"""What one specialisation fixes: concrete types, constant values, assumptions.

Frozen and hashable, and known to everything above: manifest, compiler, cache keys, loader.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

from teenybuild.diagnostics import did_you_mean
from teenybuild.dtypes import BY_LANGUAGE, BY_NAME, BY_NUMPY, DType


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number passed by value: ``i32``."""

    dtype: DType

    def __str__(self) -> str:
        return self.dtype.name


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of elements in memory: ``*f32``."""

    dtype: DType

    def __str__(self) -> str:
        return f"*{self.dtype.name}"


@dataclass(frozen=True, slots=True)
class Absent:
    """An argument that this specialisation does not have: ``none``. The kernel sees ``None``."""

    def __str__(self) -> str:
        return "none"


#: A type with nothing left open. ``str()`` gives the manifest's spelling back.
Type: TypeAlias = Scalar | Pointer | Absent

#: A constant. ``None`` never comes from a manifest, but may come from Python.
Value: TypeAlias = int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class Assume:
    """What the compiler may rely on for one argument, and the loader checks before a launch.

    ``div``: the value, or the address in bytes, is a multiple of ``value`` (a power of two).
    ``eq``: the integer is ``value``.
    """

    kind: Literal["div", "eq"]
    value: int

    def __str__(self) -> str:
        return f"{self.kind}={self.value}"


class TypeSyntaxError(ValueError):
    """A type that cannot be read.

    ``start`` and ``end`` count characters of the text from 0, ``end`` exclusive. ``hint`` is a way out, if one is known.
    """

    def __init__(self, message: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint


def parse_type(text: str) -> Type:
    """The concrete type that ``text`` spells: ``i32``, ``*f16`` or ``none``.

    Raises :class:`TypeSyntaxError`.
    """
    stars = len(text) - len(text.lstrip("*"))
    name = text[stars:]
    later = _later(name)
    if later is not None:
        raise TypeSyntaxError(f"{later} are not supported by this version of teenybuild", stars, len(text))
    if stars > 1:
        raise TypeSyntaxError(
            "pointers to pointers are not supported",
            0,
            stars,
            f"pass the address as an integer, or as *{name}",
        )
    if name == "none":
        if stars:
            raise TypeSyntaxError("a pointer to none is not a type", 0, len(text), 'write "none"')
        return Absent()
    if not name:
        message = "a dtype is missing after *" if stars else "a type is missing"
        raise TypeSyntaxError(message, 0, max(stars, 1), f"dtypes are {', '.join(BY_NAME)}")
    dtype = BY_NAME.get(name)
    if dtype is None:
        raise TypeSyntaxError(f'"{name}" is not a dtype', stars, len(text), _meant(name))
    return Pointer(dtype) if stars else Scalar(dtype)


def canonical(value: Value) -> str:
    """One text for each constant, different for constants that differ: what digests and comparisons are made of.

    ``1``, ``1.0``, ``true`` and ``"1"`` are four constants; ``0.0`` and ``-0.0`` two; every NaN is one.
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value)


def _later(name: str) -> str | None:
    """What a later version will read: tuples and tensor descriptors."""
    if name.startswith("("):
        return "tuple types"
    if name.startswith("desc<") or name == "desc":
        return "tensor descriptors"
    return None


def _meant(name: str) -> str:
    """People write what Triton, NumPy or the language calls a dtype; those are known exactly."""
    spelling = {d.triton: d for d in BY_NAME.values()} | BY_LANGUAGE | BY_NUMPY
    bare = name.strip().removeprefix("tl.")
    if bare in spelling:
        return f"did you mean {spelling[bare].name}?"
    return did_you_mean(bare, [*BY_NAME, "none"]) or f"dtypes are {', '.join(BY_NAME)}"
