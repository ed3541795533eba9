"""Whether one specialisation is what a call asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .dtypes import DTYPES
from .explain import accepts, range_problem
from .views import READERS

if TYPE_CHECKING:
    from .index import Row, Value
    from .views import View


def fixed(row: Row, name: str) -> Value:
    """What a specialisation fixes under a name: a dtype variable, a const or an option."""
    return (
        row.consts[name]
        if name in row.consts
        else row.options[name]
        if name in row.options
        else row.dtypes[name]
    )


def value_is(declared: Value, given: Any) -> bool:
    """Whether ``given`` is the constant ``declared``. A bool is no number; NumPy's scalars are taken by value."""
    what, value, *_ = READERS[type(given)](given)
    if isinstance(declared, bool) or what == "bool":
        return what == "bool" and declared is value
    if isinstance(declared, float):
        # 0.0 and -0.0 are two constants, and every NaN is one.
        return what in ("float", "int") and repr(declared) == repr(float(value))
    return type(declared) is type(value) and declared == value


def has(row: Row, given: Mapping[str, Any]) -> bool:
    """Whether a specialisation has the dtype variables, consts and options ``given``."""
    return all(value_is(fixed(row, name), value) for name, value in given.items())


def takes(row: Row, views: Sequence[View]) -> bool:
    """Whether a specialisation takes arguments of these kinds."""
    return all(accepts(type_, view[0]) for type_, view in zip(row.layout.types, views, strict=True))


def in_range(row: Row, views: Sequence[View]) -> bool:
    """Whether the number types of a specialisation that takes ``views`` can hold the values."""
    return all(
        type_ == "none" or type_.startswith("*") or range_problem(DTYPES[type_], view[1]) is None
        for type_, view in zip(row.layout.types, views, strict=True)
    )
