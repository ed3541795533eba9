"""Which specialisation a call runs: by what its arguments are, and by the consts and options it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .explain import shown
from .index import Row
from .match import has, in_range, takes_all
from .nothing import nothing_fits, nothing_named

if TYPE_CHECKING:
    from .kinds import Kind
    from .views import View


class Choice(NamedTuple):
    """A specialisation, and the extra variant of it in which more is assumed; None where there is none."""

    plain: Row
    auto: Row | None


class Chooser:
    """Chooses among the specialisations of one kernel. What was chosen once is remembered."""

    def __init__(self, kernel: str, rows: Sequence[Row]) -> None:
        self._kernel = kernel
        self._choices = list(_pairs(rows))
        self._known: dict[Any, tuple[Choice, ...]] = {}
        self._named: dict[Any, Row] = {}

    def for_call(
        self, target: str, values: Sequence[Any], views: Sequence[View], given: Mapping[str, Any]
    ) -> Row:
        """The first declared specialisation for ``target`` that takes ``views`` and has the consts and options ``given``.

        Its extra variant, where all that assumes is so. Raises :class:`ArgumentTypeError` where an argument fits no specialisation,
        and :class:`ChoiceError` where a const or option has no such value, or not together with the rest.
        """
        key: Any = target, tuple([view[0] for view in views])
        if given:
            key = key, _key(given)
        fitting = self._known.get(key)
        if fitting is None:
            fitting = self._known[key] = self._find(target, values, views, given)
        choice = fitting[0]
        if len(fitting) > 1:
            # They differ in the types of numbers: the first that can hold them; where none can, the last will say why.
            choice = next((each for each in fitting if in_range(each.plain, views)), fitting[-1])
        auto = choice.auto
        return (
            auto
            if auto is not None and target in auto.artifacts and auto.layout.holds(values, views)
            else choice.plain
        )

    def by_name(self, given: Mapping[str, Any], auto: bool) -> Row:
        """The first declared specialisation with the dtype variables, consts and options ``given``.

        Raises :class:`ChoiceError` where there is none.
        """
        key = auto, _key(given)
        found = self._named.get(key)
        if found is None:
            rows = [
                row for choice in self._choices if (row := choice.auto if auto else choice.plain) is not None
            ]
            found = next((row for row in rows if has(row, given)), None)
            if found is None:
                raise nothing_named(self._kernel, rows, given)
            self._named[key] = found
        return found

    def _find(
        self, target: str, values: Sequence[Any], views: Sequence[View], given: Mapping[str, Any]
    ) -> tuple[Choice, ...]:
        """The first of each choice of number types that fits; at least one."""
        here = [choice for choice in self._choices if target in choice.plain.artifacts]
        fitting: dict[tuple[Kind, ...], Choice] = {}
        for choice in here:
            if has(choice.plain, given) and takes_all(choice.plain, views):
                fitting.setdefault(choice.plain.layout.types, choice)
        if not fitting:
            raise nothing_fits(self._kernel, target, [choice.plain for choice in here], values, views, given)
        return tuple(fitting.values())


#: Values of these classes are equal only to themselves. 0.0 and -0.0 are two constants, and a NaN is not even equal to itself.
_PLAIN = (int, bool, str)


def _key(given: Mapping[str, Any]) -> Any:
    """What was asked for, to look it up by. Classes go in too: 1 and True are equal, and two constants."""
    return tuple([(k, v if v.__class__ in _PLAIN else shown(v), v.__class__) for k, v in given.items()])


def _pairs(rows: Sequence[Row]) -> Iterator[Choice]:
    """Each plain specialisation with its extra variant, which comes right after it."""
    for place, row in enumerate(rows):
        if not row.auto:
            after = rows[place + 1] if place + 1 < len(rows) else None
            yield Choice(row, after if after is not None and after.auto else None)
