"""Values that host code has beside those of the language: lists, functions of its own, configurations, and what a launch will bring.

A list is a Python ``list`` and a dict a ``dict`` while one expression is read; what a module-level name keeps is frozen.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

from teenybuild.compiler.frontend.expressions import Frame
from teenybuild.compiler.frontend.values import is_constant, is_dict, is_tuple

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.modules import Module

#: The oldest Python that teenybuild runs on: what sources ask about the version is answered for this one and all later ones.
OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A lambda, or a function inside a function: its code, the names around it, and its defaults."""

    node: ast.Lambda | ast.FunctionDef
    frame: Frame
    defaults: Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class TritonConfig:
    """``triton.Config(...)``, as it was written. ``node`` is the call."""

    kwargs: Mapping[object, object]
    num_warps: object
    num_stages: object
    num_ctas: object
    maxnreg: object
    module: Module
    node: ast.AST


class NotKnown(Exception):
    """The value of a run-time argument is asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Argument:
    """A run-time argument of a kernel: there, but its value is not known. ``multiple``: what it is known to be a multiple of."""

    def __init__(self, name: str, multiple: int = 1) -> None:
        self.name = name
        self.multiple = multiple

    def __mod__(self, other: object) -> int:
        if isinstance(other, int) and other != 0 and self.multiple % other == 0:
            return 0
        raise NotKnown(self.name)

    def _ask(self, *_: object) -> Any:
        raise NotKnown(self.name)

    __bool__ = __int__ = __index__ = __float__ = __len__ = __iter__ = __abs__ = __neg__ = __pos__ = (
        __invert__
    ) = _ask
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _ask
    __floordiv__ = __rfloordiv__ = __rmod__ = __pow__ = __rpow__ = __lshift__ = __rlshift__ = __rshift__ = (
        _ask
    )
    __rrshift__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __divmod__ = __rdivmod__ = _ask
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __hash__ = __round__ = __getitem__ = (
        __contains__
    ) = _ask
    __str__ = __repr__ = __format__ = _ask


class Target:
    """What ``triton.runtime.driver.active.get_current_target()`` gives: kernels are built for CUDA, whatever runs the build."""

    known: Mapping[str, object] = MappingProxyType({"backend": "cuda", "warp_size": 32})


class VersionInfo:
    """``sys.version_info``, or the start of it: of any Python from :data:`OLDEST_PYTHON` on."""

    def compare(self, symbol: str, other: object) -> bool | None:
        """What every such version answers; None where they differ."""
        if not is_tuple(other) or not all(isinstance(part, int) for part in other):
            return None
        if other < OLDEST_PYTHON:
            return symbol in (">=", ">", "!=")
        # The oldest is longer than what it is compared with, or equal to it.
        return {">=": True, "<": False}.get(symbol) if other == OLDEST_PYTHON else None


class FrozenList(tuple[object, ...]):
    """A list that a module-level name keeps. To kernels it is a tuple; host code knows that it is none."""

    __slots__ = ()


def freeze(value: object) -> object:
    """The value as a module-level name keeps it: nothing in it can be changed any more."""
    if isinstance(value, list):
        return FrozenList(freeze(item) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, FrozenList):
        return value
    if is_tuple(value):
        return tuple(freeze(item) for item in value)
    if is_dict(value):
        return MappingProxyType({freeze(key): freeze(item) for key, item in value.items()})
    return value


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a value is a list, be it one that can no longer be changed."""
    return isinstance(value, list | FrozenList)


def is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)


def has_truth(value: object) -> bool:
    """Whether host code may ask a value for its truth."""
    return is_constant(value) or isinstance(
        value, list | tuple | Mapping | frozenset | Closure | TritonConfig | Argument
    )
