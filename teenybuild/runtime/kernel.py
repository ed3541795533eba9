"""A kernel of a generated package: what is called. What it does is in ``opened``, imported at the first use."""

from __future__ import annotations

TYPE_CHECKING = False  # to type checkers it is true; importing typing would take longer than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .index import Value
    from .opened import Opened
    from .specialisation import Specialisation


class Kernel:
    """A kernel: call it with its arguments.

    Arguments go by position or by name, consts and options by name only; one that is left out is the first declared that fits. The
    dtypes of the arrays choose the specialisation, and where they are the target.

    Arrays must be contiguous, unless the kernel is told how they lie: unless it has an integer argument or const with ``stride`` in
    its name.
    """

    def __init__(self, file: str, name: str, grid: Callable[..., tuple[int, ...]] | None = None) -> None:
        """``file`` is the module it is made in: its index lies beside that. ``grid`` are the manifest's expressions, if it has any."""
        self.__name__ = name
        self._file = file
        self._grid = grid
        self._state: Opened | None = None

    def __call__(self, /, *args: Any, **named: Any) -> None:
        """Runs the kernel: on the host, and then it is done, or in the order of a device's stream.

        Raises a :class:`LaunchError`, and then nothing has run.
        """
        (self._state or self._open()).run(args, named)

    def pick(self, /, *args: Any, **named: Any) -> Specialisation[Any]:
        """The specialisation that a call with these arguments runs. Raises a :class:`LaunchError` where none does."""
        return self._open().pick(args, named)

    def spec(self, /, *args: Any, **named: Any) -> Specialisation[Any]:
        """The first declared specialisation with these dtype variables, consts and options; with ``auto=True``, its extra variant.

        Raises a :class:`LaunchError` where there is none.
        """
        return self._open().spec(args, named)

    @property
    def specialisations(self) -> tuple[Specialisation[Any], ...]:
        """Every specialisation, in declared order."""
        return self._open().specialisations()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The arguments of a call, in order."""
        return self._open().index.parameters

    @property
    def targets(self) -> tuple[str, ...]:
        """What it was built for."""
        return self._open().places.targets

    @property
    def dtypes(self) -> Mapping[str, tuple[str, ...]]:
        """What each dtype variable may stand for."""
        return self._open().values(lambda row: row.dtypes)

    @property
    def consts(self) -> Mapping[str, tuple[Value, ...]]:
        """The values of each const."""
        return self._open().values(lambda row: row.consts)

    @property
    def options(self) -> Mapping[str, tuple[Value, ...]]:
        """The values of each option."""
        return self._open().values(lambda row: row.options)

    def load(self, device: int | None = None, *, target: str | None = None) -> None:
        """Loads every specialisation ahead of its first launch; see :meth:`Specialisation.load`."""
        state = self._open()
        place = state.places.on(device, target)
        for each in state.specialisations():
            if place.target in each.targets:
                each.load(device, target=place.target)

    def unload(self) -> None:
        """Takes every specialisation out of memory; see :meth:`Specialisation.unload`."""
        for each in self._open().specialisations():
            each.unload()

    def __reduce__(self) -> str:
        """Copied and pickled by name: every generated module calls its one kernel so."""
        return "kernel"

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    def _open(self) -> Opened:
        if self._state is None:
            from pathlib import Path

            from .locks import LOADING
            from .opened import Opened

            with LOADING:
                if self._state is None:
                    self._state = Opened(Path(self._file).with_suffix(".json"), self._grid)
        return self._state
