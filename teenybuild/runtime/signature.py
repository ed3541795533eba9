"""A call's arguments, by position and by name, put where they belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import CallError


class _Missing:
    """Where no argument came."""


_MISSING = _Missing()
_NOTHING: dict[str, Any] = {}


class Signature:
    """What may be passed to a kernel: ``parameters`` by position or name, ``named`` (consts and options) by name only.

    A kernel may have a parameter called ``grid``: the launch's own is then called ``grid_``; so with ``stream`` and ``target``.
    """

    def __init__(
        self, kernel: str, parameters: Sequence[str], named: Sequence[str], launch: Sequence[str]
    ) -> None:
        self._kernel = kernel
        self._parameters = tuple(parameters)
        taken = {*parameters, *named}
        self.launch = {f"{name}_" if name in taken else name: name for name in launch}
        #: Where a named argument goes: a place among the parameters, or which mapping.
        self._roles: dict[str, int | str] = {
            **{name: place for place, name in enumerate(parameters)},
            **dict.fromkeys(named, "given"),
            **dict.fromkeys(self.launch, "launch"),
        }

    def bind(
        self, args: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Sequence[Any], dict[str, Any], dict[str, Any]]:
        """(a value for every parameter, consts and options, what is said of the launch).

        Raises :class:`CallError` with everything that does not match.
        """
        count = len(self._parameters)
        if not named and len(args) == count:
            return args, _NOTHING, _NOTHING
        values = [*args, *[_MISSING] * (count - len(args))]
        given: dict[str, Any] = {}
        launch: dict[str, Any] = {}
        filled, right = len(args), True
        for name, value in named.items():
            role = self._roles.get(name)
            if role == "given":
                given[name] = value
            elif role == "launch":
                launch[self.launch[name]] = value
            elif isinstance(role, int) and values[role] is _MISSING:
                values[role] = value
                filled += 1
            else:
                right = False
        if not right or filled != count or len(args) > count:
            raise self._mismatch(args, named)
        return values, given, launch

    def _mismatch(self, args: Sequence[Any], named: Mapping[str, Any]) -> CallError:
        import difflib  # for messages only

        lines: list[str] = []
        wrong: list[str] = []
        meant: set[str] = set()
        count = len(self._parameters)
        if len(args) > count:
            some = f" ({', '.join(self._parameters)})" if count else ""
            came = f"got {len(args)}; consts and options go by name"
            lines.append(f"expected {_count(count)} by position{some}, {came}")
        for name in named:
            if name not in self._roles:
                near = difflib.get_close_matches(name, self._roles, n=1)
                there = f"did you mean {near[0]}?" if near else f"there are {', '.join(self._roles)}"
                lines.append(f"{name}: there is no such argument; {there}")
                wrong.append(name)
                meant.update(near)
            elif name in self._parameters[: len(args)]:
                lines.append(f"{name}: given by position and by name")
                wrong.append(name)
        # What is misspelled is not missing too.
        missing = [name for name in self._parameters[len(args) :] if name not in named and name not in meant]
        lines += [f"{name}: missing" for name in missing]
        message = lines[0] if len(lines) == 1 else "\n  ".join(["the arguments do not match", *lines])
        return CallError(f"{self._kernel}: {message}", self._kernel, next(iter([*wrong, *missing]), None))


def _count(number: int) -> str:
    return f"{number} argument{'' if number == 1 else 's'}"
