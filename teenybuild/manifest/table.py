"""One table of a manifest against its record: what is wrong is reported, and what is right is kept."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from teenybuild.diagnostics import near
from teenybuild.manifest.locate import KeyPath
from teenybuild.manifest.model import Origin
from teenybuild.manifest.report import MOST, Report
from teenybuild.manifest.shapes import Record
from teenybuild.manifest.toml import Table, Toml


@dataclass(frozen=True, slots=True)
class Checked:
    """The part of a table that has the right shape.

    Of a table in it, wrong entries are left out; of a list, wrong elements stay, so that the others keep their places.
    ``broken`` are the paths, of one or two names, that something is wrong with; ``wrong`` those of the elements.
    """

    good: Table
    broken: frozenset[KeyPath]
    wrong: frozenset[KeyPath]

    def elements(self, key: str) -> list[Toml | None]:
        """The elements of a list in their places, None for those that are wrong; empty where there is no such list."""
        value = self.good.get(key)
        if not isinstance(value, list):
            return []
        return [None if (key, index) in self.wrong else element for index, element in enumerate(value)]

    def texts(self, key: str, otherwise: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The strings of a list, but for wrong ones."""
        if key not in self.good:
            return otherwise
        return tuple(element for element in self.elements(key) if isinstance(element, str))


def check_table(table: Table, record: Record, title: str, origin: Origin, report: Report) -> Checked:
    """``table`` as far as ``record`` allows it. ``title`` is what messages call it."""
    good: Table = {}
    broken: set[KeyPath] = set()
    wrong: set[KeyPath] = set()
    for key, value in table.items():
        faults = list(islice(record.key_faults(key, value, (key,), title), MOST + 1))
        for fault in faults:
            report.fault(fault, origin)
        if record.row(key) is None:
            # What was meant by a misspelled key is wrong, not missing.
            broken.add((near(key, record.names()) or key,))
        elif any(len(fault.path) == 1 for fault in faults):
            broken.add((key,))
        elif isinstance(value, dict):
            bad = {fault.path[1] for fault in faults}
            broken |= {(key, name) for name in bad}
            good[key] = {name: entry for name, entry in value.items() if name not in bad}
        else:
            wrong |= {fault.path[:2] for fault in faults}
            broken |= {(key,) for _ in faults}
            good[key] = value
    for fault in record.missing({*table, *(path[0] for path in broken)}, (), title):
        report.fault(fault, origin)
    broken |= {(row.name,) for row in record.rows if row.required and row.name not in good}
    return Checked(good, frozenset(broken), frozenset(wrong))


def as_table(value: Toml | None) -> Table:
    """``value`` where it is a table; an empty one where it is something else, which has been reported."""
    return value if isinstance(value, dict) else {}
