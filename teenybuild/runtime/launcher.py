"""One specialisation as it is launched: the checks, then the run."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .errors import GridError, StreamError
from .explain import argument_problems, raise_problems
from .grids import GPU_LIMITS, HOST_LIMITS
from .loaded import Loaded
from .places import Places
from .streams import stream_handle
from .views import HOST

if TYPE_CHECKING:
    from .grids import Extents, RowGrid
    from .index import Row
    from .places import Place
    from .views import View


class Launcher:
    """A specialisation, what is loaded of it, and how its grid is computed.

    ``dense``: the kernel takes no strides, so arrays must be contiguous.
    """

    __slots__ = ("_dense", "_grid", "_layout", "loaded", "places", "row")

    def __init__(self, parameters: Sequence[str], row: Row, isa: str, grid: RowGrid, dense: bool) -> None:
        self.row = row
        self.loaded = Loaded(row.id, row.layout, isa)
        self.places = Places(row.id, parameters, tuple(row.artifacts))
        self._layout, self._grid, self._dense = row.layout, grid, dense

    def launch(
        self, place: Place, values: Sequence[Any], views: Sequence[View], grid: Any, stream: Any
    ) -> None:
        """Checks ``views`` (what is known of ``values``, which were passed), and runs.

        ``grid`` None is computed by the manifest's expressions. Raises :class:`LaunchError`, and then nothing has run.
        """
        device, target = place
        if self._layout.nested:
            from .flatten import flatten

            values, views, problems = flatten(self._layout, values, views)
            raise_problems(self.row.id, problems)
        if not self._are_right(views, device):
            self._raise_problems(values, views, device)
        limits = HOST_LIMITS if device == HOST else GPU_LIMITS
        queue = self._stream(stream, views, device)
        try:
            extents = self._grid.computed(views, limits) if grid is None else self._grid.given(grid, limits)
            packed = self._layout.values(views)
            if 0 in extents:
                # Nothing to run; numbers out of range are told all the same.
                self._layout.pack(*packed)
            elif device == HOST:
                self._run_on_host(target, views, packed, extents)
            else:
                self.loaded.run_on_gpu(self.row.artifacts[target], device, packed, extents, queue)
        except (struct.error, OverflowError, GridError):
            # A number out of range may have shown in the grid first.
            self._raise_problems(values, views, device)
            raise

    def _run_on_host(
        self, target: str, views: Sequence[View], packed: Sequence[Any], extents: Extents
    ) -> None:
        artifact = self.row.artifacts[target]
        if not artifact.reports:
            self.loaded.run_on_host(artifact, packed, extents)
            return
        from .reports import launched_arrays

        self.loaded.run_on_host(artifact, packed, extents, launched_arrays(self._layout, views))

    def load(self, device: int | None, target: str | None) -> None:
        """Loads it on a CUDA device, or for None on the host, or the current device. Raises :class:`LaunchError`."""
        place = self.places.on(device, target)
        artifact = self.row.artifacts[place.target]
        if place.device == HOST:
            self.loaded.load_on_host(artifact)
        else:
            self.loaded.load_on_gpu(artifact, place.device)

    def _are_right(self, views: Sequence[View], device: int) -> bool:
        """Whether nothing about the arguments looks wrong; all but the range of numbers, which packing checks."""
        layout, dense = self._layout, self._dense
        for index, type_, mask, writes in layout.pointers:
            what, address, where, contiguous, writable, count, _ = views[index]
            if what != type_ or address & mask or where != device:
                return False
            if (dense and not contiguous) or (writes and not writable) or (count and not address):
                return False
        for index, kinds, mask, eq in layout.scalars:
            view = views[index]
            if view[0] not in kinds or (mask and view[1] & mask) or (eq is not None and view[1] != eq):
                return False
        return not layout.absent or all(views[index][0] == "none" for index in layout.absent)

    def _raise_problems(self, values: Sequence[Any], views: Sequence[View], device: int) -> None:
        problems = argument_problems(self._layout.arguments, values, views, device, self._dense)
        raise_problems(self.row.id, problems)

    def _stream(self, stream: Any, views: Sequence[View], device: int) -> int:
        """The stream that was passed, or else the current one of the first array's framework, or else the default one."""
        if stream is not None:
            if device == HOST:
                raise StreamError(f"{self.row.id}: stream: the host has no streams", self.row.id, "stream")
            return stream_handle(stream, self.row.id)
        if device != HOST:
            for view in views:
                current = view[6]
                if current is not None:
                    return current(device)
        return 0
