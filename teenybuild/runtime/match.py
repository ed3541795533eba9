"""Whether one specialisation is what a call asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .dtypes import DTYPES
from .explain import range_problem, takes
from .kinds import Blocks
from .views import READERS

if TYPE_CHECKING:
    from .index import Row, Value
    from .kinds import Kind
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


def takes_all(row: Row, views: Sequence[View]) -> bool:
    """Whether a specialisation takes arguments of these kinds."""
    return all(map(takes, row.layout.types, views))


def in_range(row: Row, views: Sequence[View]) -> bool:
    """Whether the number types of a specialisation that takes ``views`` can hold the values."""
    return all(map(_holds, row.layout.types, views))


def _holds(kind: Kind, view: View) -> bool:
    if isinstance(kind, Blocks):
        return True
    if not isinstance(kind, str):
        return all(map(_holds, kind, view[1]))
    return kind == "none" or kind.startswith("*") or range_problem(DTYPES[kind], view[1]) is None
