"""One specialisation of a kernel, as users see it."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from .errors import CallError, StreamError
from .explain import argument_problems, raise_problems, read_views, shown
from .grids import GPU_LIMITS, HOST_LIMITS
from .places import Places
from .streams import stream_handle
from .views import HOST

if TYPE_CHECKING:
    from .grids import Grids
    from .index import Row, Value
    from .loaded import Loaded
    from .places import Place
    from .protocols import Grid, Stream
    from .views import View

#: The tuple of arguments that a launch takes.
Args = TypeVar("Args", contravariant=True, bound=tuple[Any, ...])


class Specialisation(Generic[Args]):
    """One kernel with everything fixed but its arguments and the device."""

    def __init__(
        self, kernel: str, parameters: Sequence[str], row: Row, loaded: Loaded, grids: Grids, dense: bool
    ) -> None:
        """``dense``: the kernel takes no strides, so arrays must be contiguous."""
        self._kernel, self._parameters = kernel, tuple(parameters)
        self._row, self._loaded, self._grids, self._dense = row, loaded, grids, dense
        self._places = Places(row.id, parameters, tuple(row.artifacts))

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
        """The type of every parameter: ``*f32``, ``i32``, ``none``."""
        return dict(zip(self._parameters, self._row.layout.types, strict=True))

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
        self.run(self._places.find(views, target), values, views, grid, stream)

    def load(self, device: int | None = None, *, target: str | None = None) -> None:
        """Loads it ahead of the first launch: on a CUDA device, or for None on the host, or where it was not built for that on the
        current device.

        Loading is forbidden while a CUDA graph is captured, so what a graph launches is loaded before. Raises a :class:`LaunchError`.
        """
        place = self._places.on(device, target)
        artifact = self._row.artifacts[place.target]
        if place.device < 0:
            self._loaded.load_on_host(artifact)
        else:
            self._loaded.load_on_gpu(artifact, place.device)

    def unload(self) -> None:
        """Takes it out of memory, on every device, after waiting for those. Launching it is an error until it is loaded again."""
        self._loaded.unload()

    def run(self, place: Place, values: Sequence[Any], views: Sequence[View], grid: Any, stream: Any) -> None:
        """Checks ``views`` (what is known of ``values``, which were passed), and runs.

        ``grid`` None is computed by the manifest's expressions. Raises :class:`LaunchError`, and then nothing has run.
        """
        row, device = self._row, place.device
        if not self._are_right(views, device):
            raise_problems(
                row.id, argument_problems(row.layout.arguments, values, views, device, self._dense)
            )
        limits = HOST_LIMITS if device == HOST else GPU_LIMITS
        extents = (
            self._grids.computed(row, views, limits) if grid is None else self._grids.given(grid, limits)
        )
        artifact = row.artifacts[place.target]
        try:
            packed = row.layout.values(views)
            if 0 in extents:
                # Nothing to run; numbers out of range are told all the same.
                row.layout.pack(*packed)
            elif device == HOST:
                if stream is not None:
                    raise StreamError(f"{row.id}: stream: the host has no streams", row.id, "stream")
                self._loaded.run_on_host(artifact, packed, extents)
            else:
                self._loaded.run_on_gpu(
                    artifact, device, packed, extents, _stream(stream, views, device, row.id)
                )
        except (struct.error, OverflowError):
            raise_problems(
                row.id, argument_problems(row.layout.arguments, values, views, device, self._dense)
            )
            raise

    def _are_right(self, views: Sequence[View], device: int) -> bool:
        """Whether nothing about the arguments looks wrong; all but the range of numbers, which packing checks."""
        layout, dense = self._row.layout, self._dense
        for index, type_, mask, writes in layout.pointers:
            what, address, where, contiguous, writable, count, _ = views[index]
            if what != type_ or address & mask or where != device:
                return False
            if (dense and not contiguous) or (writes and not writable) or (count and not address):
                return False
        for index, kinds, mask, eq in layout.scalars:
            what, value, *_ = views[index]
            if what not in kinds or (mask and value & mask) or (eq is not None and value != eq):
                return False
        return all(views[index][0] == "none" for index in layout.absent)

    def __repr__(self) -> str:
        return f"<specialisation {self.id} for {', '.join(self.targets)}>"


def _stream(stream: Any, views: Sequence[View], device: int, kernel: str) -> int:
    """The stream that was passed, or else the current one of the first array's framework, or else the default one."""
    if stream is not None:
        return stream_handle(stream, kernel)
    for view in views:
        current = view[6]
        if current is not None:
            return current(device)
    return 0
