"""What a kernel is made of, from its index: made at the first use, so that importing a package costs next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .choose import Chooser
from .explain import read_views
from .grids import Grids, RowGrid
from .index import Index, Row, read_index
from .launcher import Launcher
from .places import Places
from .signature import Signature
from .specialisation import Specialisation


class Opened:
    """The specialisations of a kernel, and how calls choose among them. Launchers are made as they are chosen."""

    def __init__(self, path: Path, grid: Callable[..., tuple[int, ...]] | None) -> None:
        """Reads the index at ``path``. Raises :class:`PackageError`."""
        self.index = index = read_index(path)
        first = index.rows[0]
        named = (*first.consts, *first.options)
        self._call = Signature(index.kernel, index.parameters, named, ("grid", "stream", "target"))
        self._spec = Signature(index.kernel, (), (*first.dtypes, *named), ("auto",))
        self._chooser = Chooser(index.kernel, index.rows)
        targets = [target for target in index.targets if any(target in row.artifacts for row in index.rows)]
        self.places = Places(index.kernel, index.parameters, targets)
        self._grids = Grids(index.kernel, grid, index.grid_names, index.grid)
        self._dense = not takes_strides(index)
        self._specialisations: dict[str, Specialisation[Any]] = {}

    def run(self, args: Sequence[Any], named: Mapping[str, Any]) -> None:
        """What a call of the kernel does. Raises :class:`LaunchError`, and then nothing has run."""
        values, given, launch = self._call.bind(args, named)
        views = read_views(self.index.kernel, self.index.parameters, values)
        place = self.places.find(views, launch.get("target"))
        row = self._chooser.for_call(place.target, values, views, given)
        launcher = self.specialisation(row).launcher
        launcher.launch(place, values, views, launch.get("grid"), launch.get("stream"))

    def pick(self, args: Sequence[Any], named: Mapping[str, Any]) -> Specialisation[Any]:
        """What such a call runs. Raises :class:`LaunchError`."""
        values, given, launch = self._call.bind(args, named)
        views = read_views(self.index.kernel, self.index.parameters, values)
        place = self.places.find(views, launch.get("target"))
        return self.specialisation(self._chooser.for_call(place.target, values, views, given))

    def spec(self, args: Sequence[Any], named: Mapping[str, Any]) -> Specialisation[Any]:
        """The first with these dtype variables, consts and options. Raises :class:`LaunchError`."""
        _, given, said = self._spec.bind(args, named)
        return self.specialisation(self._chooser.by_name(given, bool(said.get("auto"))))

    def specialisation(self, row: Row) -> Specialisation[Any]:
        """The one of a row, always the same object."""
        found = self._specialisations.get(row.id)
        if found is None:
            index = self.index
            grid = RowGrid(self._grids, row.consts, [each.name for each in row.layout.arguments])
            launcher = Launcher(index.parameters, row, index.host_isa, grid, self._dense)
            found = Specialisation[Any](index.kernel, index.parameters, launcher)
            # Another thread may have been here meanwhile: its object is the one.
            found = self._specialisations.setdefault(row.id, found)
        return found

    def specialisations(self) -> tuple[Specialisation[Any], ...]:
        """All of them, in declared order."""
        return tuple(self.specialisation(row) for row in self.index.rows)

    def values(self, of: Callable[[Row], Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
        """The values that rows have under each name, once each, in declared order."""
        rows = [of(row) for row in self.index.rows]
        # 1, 1.0 and True are equal, and three constants.
        return {name: tuple({repr(row[name]): row[name] for row in rows}.values()) for name in rows[0]}


def takes_strides(index: Index) -> bool:
    """Whether a kernel is told how its arrays lie: it has an integer argument or const with ``stride`` in its name.

    Arrays for one that is not must be contiguous.
    """
    consts = index.rows[0].consts
    names = {name for name, value in consts.items() if isinstance(value, int)}
    for layout in {id(row.layout): row.layout for row in index.rows}.values():
        # What a descriptor says of its array concerns no other.
        passed = (each for each in layout.arguments if "." not in each.name)
        names |= {each.name for each in passed if each.type[0] in "iu" and each.type != "i1"}
    return any("stride" in name.lower() for name in names)
