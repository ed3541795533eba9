"""A kernel of a generated package: what is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .choose import Chooser
from .explain import read_views
from .grids import Grids, RowGrid
from .index import Index, Row, read_index
from .launcher import Launcher
from .locks import LOADING
from .places import Places
from .signature import Signature
from .specialisation import Specialisation

if TYPE_CHECKING:
    from .index import Value


class _Opened:
    """What is made from a kernel's index, at the first use. Launchers are made as they are chosen."""

    def __init__(self, index: Index, grid: Callable[..., tuple[int, ...]] | None) -> None:
        self.index = index
        first = index.rows[0]
        named = (*first.consts, *first.options)
        self.call = Signature(index.kernel, index.parameters, named, ("grid", "stream", "target"))
        self.pick = Signature(index.kernel, index.parameters, named, ("target",))
        self.spec = Signature(index.kernel, (), (*first.dtypes, *named), ("auto",))
        self.chooser = Chooser(index.kernel, index.rows)
        targets = [target for target in index.targets if any(target in row.artifacts for row in index.rows)]
        self.places = Places(index.kernel, index.parameters, targets)
        self._grids = Grids(index.kernel, index.parameters, grid, index.grid_names, index.grid)
        self._dense = not takes_strides(index)
        self._specialisations: dict[str, Specialisation[Any]] = {}

    def specialisation(self, row: Row) -> Specialisation[Any]:
        """The one of a row, always the same object."""
        found = self._specialisations.get(row.id)
        if found is None:
            index = self.index
            grid = RowGrid(self._grids, row.consts)
            launcher = Launcher(index.parameters, row, index.host_isa, grid, self._dense)
            found = Specialisation[Any](index.kernel, index.parameters, launcher)
            # Another thread may have been here meanwhile: its object is the one.
            found = self._specialisations.setdefault(row.id, found)
        return found


def takes_strides(index: Index) -> bool:
    """Whether a kernel is told how its arrays lie: it has an integer argument or const with ``stride`` in its name.

    Arrays for one that is not must be contiguous.
    """
    names = {name for name in index.rows[0].consts if not isinstance(index.rows[0].consts[name], str)}
    for row in index.rows:
        names |= {each.name for each in row.layout.arguments if each.type[0] in "iu" and each.type != "i1"}
    return any("stride" in name.lower() for name in names)


class Kernel:
    """A kernel: call it with its arguments.

    Arguments go by position or by name, consts and options by name only; one that is left out is the first declared that fits. The
    dtypes of the arrays choose the specialisation, and where they are the target.
    """

    def __init__(self, file: str, name: str, grid: Callable[..., tuple[int, ...]] | None = None) -> None:
        self.__name__ = name
        self._path = Path(file).with_suffix(".json")
        self._grid = grid
        self._state: _Opened | None = None

    def __call__(self, /, *args: Any, **named: Any) -> None:
        """Runs the kernel: on the host, and then it is done, or in the order of a device's stream.

        Raises a :class:`LaunchError`, and then nothing has run.
        """
        state = self._state or self._open()
        values, given, launch = state.call.bind(args, named)
        views = read_views(self.__name__, state.index.parameters, values)
        place = state.places.find(views, launch.get("target"))
        row = state.chooser.for_call(place.target, values, views, given)
        launcher = state.specialisation(row).launcher
        launcher.launch(place, values, views, launch.get("grid"), launch.get("stream"))

    def pick(self, /, *args: Any, **named: Any) -> Specialisation[Any]:
        """The specialisation that a call with these arguments runs. Raises a :class:`LaunchError` where none does."""
        state = self._state or self._open()
        values, given, launch = state.pick.bind(args, named)
        views = read_views(self.__name__, state.index.parameters, values)
        place = state.places.find(views, launch.get("target"))
        return state.specialisation(state.chooser.for_call(place.target, values, views, given))

    def spec(self, /, *args: Any, **named: Any) -> Specialisation[Any]:
        """The first declared specialisation with these dtype variables, consts and options; with ``auto=True``, its extra variant.

        Raises a :class:`LaunchError` where there is none.
        """
        state = self._state or self._open()
        _, given, said = state.spec.bind(args, named)
        return state.specialisation(state.chooser.by_name(given, bool(said.get("auto"))))

    @property
    def specialisations(self) -> tuple[Specialisation[Any], ...]:
        """Every specialisation, in declared order."""
        state = self._state or self._open()
        return tuple(state.specialisation(row) for row in state.index.rows)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The arguments of a call, in order."""
        state = self._state or self._open()
        return state.index.parameters

    @property
    def targets(self) -> tuple[str, ...]:
        """What it was built for."""
        state = self._state or self._open()
        return state.places.targets

    @property
    def dtypes(self) -> Mapping[str, tuple[str, ...]]:
        """What each dtype variable may stand for."""
        return self._values(lambda row: row.dtypes)

    @property
    def consts(self) -> Mapping[str, tuple[Value, ...]]:
        """The values of each const."""
        return self._values(lambda row: row.consts)

    @property
    def options(self) -> Mapping[str, tuple[Value, ...]]:
        """The values of each option."""
        return self._values(lambda row: row.options)

    def load(self, device: int | None = None, *, target: str | None = None) -> None:
        """Loads every specialisation ahead of its first launch; see :meth:`Specialisation.load`."""
        state = self._state or self._open()
        place = state.places.on(device, target)
        for each in self.specialisations:
            if place.target in each.targets:
                each.load(device, target=place.target)

    def unload(self) -> None:
        """Takes every specialisation out of memory; see :meth:`Specialisation.unload`."""
        for each in self.specialisations:
            each.unload()

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    def _open(self) -> _Opened:
        with LOADING:
            if self._state is None:
                self._state = _Opened(read_index(self._path), self._grid)
            return self._state

    def _values(self, of: Callable[[Row], Mapping[str, Any]]) -> dict[str, tuple[Any, ...]]:
        """The values that rows have under each name, once each, in declared order."""
        state = self._state or self._open()
        rows = [of(row) for row in state.index.rows]
        # 1, 1.0 and True are equal, and three constants.
        return {name: tuple({repr(row[name]): row[name] for row in rows}.values()) for name in rows[0]}
