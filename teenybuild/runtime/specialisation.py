"""One specialisation of a kernel, as users see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from .errors import CallError
from .explain import read_views, shown
from .kinds import spelled

if TYPE_CHECKING:
    from .index import Value
    from .launcher import Launcher
    from .protocols import Grid, Stream

#: The tuple of arguments that a launch takes.
Args = TypeVar("Args", contravariant=True, bound=tuple[Any, ...])


class Specialisation(Generic[Args]):
    """One kernel with everything fixed but its arguments and the device."""

    def __init__(self, kernel: str, parameters: Sequence[str], launcher: Launcher) -> None:
        self._kernel, self._parameters = kernel, tuple(parameters)
        #: For the kernel it belongs to.
        self.launcher = launcher
        self._row = launcher.row

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self._kernel

    @property
    def id(self) -> str:
        """Its name in the build: ``vector_add__f32__128``."""
        return self._row.id

    @property
    def types(self) -> Mapping[str, str]:
        """The type of every parameter: ``*f32``, ``i32``, ``none``, ``(*f32, i32)``, ``desc<f16[128, 64]>``."""
        return dict(zip(self._parameters, map(spelled, self._row.layout.types), strict=True))

    @property
    def dtypes(self) -> Mapping[str, str]:
        """What each dtype variable stands for."""
        return dict(self._row.dtypes)

    @property
    def consts(self) -> Mapping[str, Value]:
        """The value of each const."""
        return dict(self._row.consts)

    @property
    def options(self) -> Mapping[str, Value]:
        """The value of each option."""
        return dict(self._row.options)

    @property
    def auto(self) -> bool:
        """Whether it is the variant in which all that the manifest calls auto is assumed."""
        return self._row.auto

    @property
    def targets(self) -> tuple[str, ...]:
        """What it was built for."""
        return tuple(self._row.artifacts)

    def launch(
        self, args: Args, grid: Grid | None = None, *, stream: Stream | None = None, target: str | None = None
    ) -> None:
        """Runs it: host arrays on the host, and then it is done; device arrays on their device, in the order of ``stream``.

        ``args`` are all of the kernel's arguments, None for those of type ``none``. ``grid`` may be left out where the manifest has
        one. Raises a :class:`LaunchError`, and then nothing has run.
        """
        values = cast("Sequence[Any]", args)
        if not isinstance(values, tuple | list):
            raise CallError(f"{self.id}: expected a tuple of arguments, got {shown(args)}", self.id)
        if len(values) != len(self._parameters):
            names = ", ".join(self._parameters)
            raise CallError(
                f"{self.id}: expected {len(self._parameters)} arguments ({names}), got {len(values)}", self.id
            )
        views = read_views(self.id, self._parameters, values)
        launcher = self.launcher
        launcher.launch(launcher.places.find(views, target), values, views, grid, stream)

    def load(self, device: int | None = None, *, target: str | None = None) -> None:
        """Loads it ahead of the first launch: on a CUDA device, or for None on the host, or where it was not built for that on the
        current device.

        Loading is forbidden while a CUDA graph is captured, so what a graph launches is loaded before. Raises a :class:`LaunchError`.
        """
        self.launcher.load(device, target)

    def unload(self) -> None:
        """Takes it out of memory, on every device, after waiting for those. Launching it is an error until it is loaded again."""
        self.launcher.loaded.unload()

    def __repr__(self) -> str:
        return f"<specialisation {self.id} for {', '.join(self.targets)}>"
