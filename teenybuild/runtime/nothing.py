"""What is said where no specialisation fits: what came that none takes, or else the nearest one, and what there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import ChoiceError, LaunchError
from .explain import Problem, kind_problems, problems_error, shown
from .match import fixed, value_is

if TYPE_CHECKING:
    from .index import Row
    from .views import View

#: The most specialisations that a message lists.
_LISTED = 8


def nothing_fits(
    kernel: str,
    target: str,
    rows: Sequence[Row],
    values: Sequence[Any],
    views: Sequence[View],
    given: Mapping[str, Any],
) -> LaunchError:
    """The error for a call that none of ``rows`` fits, all of which are for ``target``."""
    unknown = _arguments_none_takes(rows, values, views)
    if unknown:
        return problems_error(kernel, unknown)
    return _values_none_has(kernel, rows, given) or _combination(
        kernel, f" for {target}", rows, values, views, given
    )


def nothing_named(kernel: str, rows: Sequence[Row], given: Mapping[str, Any]) -> LaunchError:
    """The error where none of ``rows`` has the dtype variables, consts and options ``given``; there may be no rows."""
    if not rows:
        return ChoiceError(
            f"{kernel}: auto: there is no extra variant, as the manifest calls nothing auto", kernel
        )
    return _values_none_has(kernel, rows, given) or _combination(kernel, "", rows, (), (), given)


def _arguments_none_takes(rows: Sequence[Row], values: Sequence[Any], views: Sequence[View]) -> list[Problem]:
    problems: list[Problem] = []
    for place, (value, view) in enumerate(zip(values, views, strict=True)):
        kinds = list(dict.fromkeys(row.layout.types[place] for row in rows))
        problems += kind_problems(rows[0].layout.names[place], kinds, value, view)
    return problems


def _values_none_has(kernel: str, rows: Sequence[Row], given: Mapping[str, Any]) -> ChoiceError | None:
    lines: list[str] = []
    for name, value in given.items():
        there = list(dict.fromkeys(repr(fixed(row, name)) for row in rows))
        if not any(value_is(fixed(row, name), value) for row in rows):
            lines.append(f"{name}: expected {' or '.join(there)}, got {shown(value)}")
    if not lines:
        return None
    message = lines[0] if len(lines) == 1 else "\n  ".join([f"{len(lines)} values are not built", *lines])
    return ChoiceError(f"{kernel}: {message}", kernel)


def _combination(
    kernel: str,
    where: str,
    rows: Sequence[Row],
    values: Sequence[Any],
    views: Sequence[View],
    given: Mapping[str, Any],
) -> ChoiceError:
    # Of those that differ in as many things, the one that differs in later ones: dtypes come before consts.
    found = [(row, _differences(row, values, views, given)) for row in rows]
    nearest, differences = min(found, key=lambda pair: (len(pair[1]), [-place for place, _ in pair[1]]))
    ids = [row.id for row in rows]
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    return ChoiceError(
        f"{kernel}: no specialisation{where} fits\n"
        f"  nearest: {nearest.id}, but {'; '.join(text for _, text in differences)}\n"
        f"  there are: {', '.join(ids[:_LISTED])}{more}",
        kernel,
    )


def _differences(
    row: Row, values: Sequence[Any], views: Sequence[View], given: Mapping[str, Any]
) -> list[tuple[int, str]]:
    """What a specialisation wants otherwise, and where that stands among all that was said."""
    found: list[tuple[int, str]] = []
    parameters = zip(row.layout.names, row.layout.types, values, views, strict=False)
    for place, (name, kind, value, view) in enumerate(parameters):
        for problem in kind_problems(name, [kind], value, view):
            found.append((place, f"{problem.argument}: {problem.message}"))
    for place, (name, value) in enumerate(given.items(), len(views)):
        declared = fixed(row, name)
        if not value_is(declared, value):
            found.append((place, f"{name}: expected {declared!r}, got {shown(value)}"))
    return found
