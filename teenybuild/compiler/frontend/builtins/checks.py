"""Checks of arguments: each gives the value in the type that was wanted, or says what came instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.semantics import Number
from teenybuild.compiler.frontend.values import Tensor, describe, is_tuple
from teenybuild.diagnostics import did_you_mean
from teenybuild.dtypes import DType

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


def constant_int(s: Semantics, value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        hint = (
            "make it a parameter of type tl.constexpr"
            if isinstance(value, Tensor) and not value.is_tile
            else None
        )
        raise s.builder.error(f"{what} is an integer known at compile time, got {describe(value)}", hint)
    return value


def an_axis(s: Semantics, value: object, rank: int, name: str, of: str) -> int:
    """An axis of ``rank``, counted from the end where it is negative; ``of`` says of what."""
    axis = constant_int(s, value, f"the axis of {name}")
    if not -rank <= axis < rank:
        raise s.builder.error(f"the axis of {name} is between {-rank} and {rank - 1} {of}, got {axis}")
    return axis % rank


def sides(s: Semantics, value: object, what: str) -> tuple[int, ...]:
    items = value if is_tuple(value) else (value,)
    return s.check_shape(tuple(constant_int(s, v, f"each side of {what}") for v in items))


def a_dtype(s: Semantics, value: object, what: str) -> DType:
    if not isinstance(value, DType):
        raise s.builder.error(f"{what} is a dtype such as tl.float32, got {describe(value)}")
    return value


def a_tile(s: Semantics, value: object, what: str) -> Tensor:
    if not isinstance(value, Tensor) or not value.is_tile:
        raise s.builder.error(f"{what} takes a tile, got {describe(value)}")
    return value


def a_flag(s: Semantics, value: object, what: str) -> bool:
    if not isinstance(value, bool | int):
        raise s.builder.error(f"{what} is True or False, known at compile time, got {describe(value)}")
    return bool(value)


def an_operand(s: Semantics, value: object, what: str) -> Tensor | Number:
    if not isinstance(value, Tensor | bool | int | float):
        raise s.builder.error(f"{what} takes numbers and tiles, got {describe(value)}")
    return value


def one_of(s: Semantics, value: object, allowed: tuple[str, ...], what: str) -> str:
    """One of some words; nothing for None."""
    if value is None:
        return ""
    if value not in allowed or not isinstance(value, str):
        words = ", ".join(repr(word) for word in allowed)
        hint = did_you_mean(value, allowed) if isinstance(value, str) else None
        raise s.builder.error(f"{what} is one of {words}, got {describe(value)}", hint)
    return value


def not_yet(s: Semantics, function: str, **options: tuple[object, object]) -> None:
    """Refuses options that this version does not carry out: (given, what means «not given»)."""
    for name, (given, default) in options.items():
        if given != default and given is not None:
            raise s.builder.error(f"{name}= of {function} is not in this version yet")
