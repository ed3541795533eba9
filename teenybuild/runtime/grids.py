"""The grid of a launch: how many programs, in one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from .errors import GridError
from .explain import shown
from .views import READERS

if TYPE_CHECKING:
    from .views import View

#: x, y and z.
Extents = tuple[int, int, int]

#: The largest extents: what a GPU takes, and what the calling convention of host code holds.
GPU_LIMITS: Extents = (2**31 - 1, 65535, 65535)
HOST_LIMITS: Extents = (2**31 - 1, 2**31 - 1, 2**31 - 1)
#: Programs are counted in 64 bits.
_MOST_PROGRAMS = 2**63


class Grids:
    """The grids of one kernel: ``function``, where the manifest has expressions, takes the values of ``names``.

    ``texts`` are the expressions, for messages.
    """

    def __init__(
        self,
        kernel: str,
        function: Callable[..., tuple[int, ...]] | None,
        names: Sequence[str],
        texts: Sequence[str],
    ) -> None:
        self.kernel = kernel
        self.function, self.names, self.text = function, tuple(names), ", ".join(texts)


class RowGrid:
    """The grid of one specialisation: its consts are known, and ``arguments`` are the names of all that is passed."""

    __slots__ = ("_grids", "_inputs", "_places")

    def __init__(self, grids: Grids, consts: Mapping[str, Any], arguments: Sequence[str]) -> None:
        self._grids = grids
        #: What the function takes, with holes, and which argument goes into each.
        self._inputs = [consts.get(name) for name in grids.names]
        self._places = [
            (hole, arguments.index(name)) for hole, name in enumerate(grids.names) if name in arguments
        ]

    def given(self, grid: Any, limits: Extents) -> Extents:
        """The three extents of a grid that was passed. Each is at least 1. Raises :class:`GridError`."""
        if grid.__class__ is tuple and 1 <= len(grid) <= 3:
            x, y, z = (*grid, 1, 1)[:3]
            # What is right is let through at once; all else is looked at again, for the message.
            if x.__class__ is y.__class__ is z.__class__ is int and _are_within(x, y, z, 1, limits):
                return x, y, z
        return self._looked_at(grid, limits)

    def computed(self, views: Sequence[View], limits: Extents) -> Extents:
        """The three extents that the manifest's expressions give. One of 0 means that there is nothing to do.

        Raises :class:`GridError`, also where there are no expressions.
        """
        function = self._grids.function
        if function is None:
            raise self._wrong(
                "missing; the manifest has no grid for this kernel, so every launch passes grid="
            )
        inputs = self._inputs.copy()
        for hole, place in self._places:
            inputs[hole] = views[place][1]
        try:
            x, y, z = (*function(*inputs), 1, 1)[:3]
        except (ZeroDivisionError, TypeError):
            raise self._no_value(inputs) from None
        return (x, y, z) if _are_within(x, y, z, 0, limits) else self._checked((x, y, z), 0, limits)

    def _looked_at(self, grid: Any, limits: Extents) -> Extents:
        if not isinstance(grid, tuple | list):
            hint = f"; write ({grid},)" if type(grid) is int else ""
            raise self._wrong(f"expected a tuple of 1 to 3 integers, got {shown(grid)}{hint}")
        extents = cast("Sequence[Any]", grid)
        if not 1 <= len(extents) <= 3:
            raise self._wrong(f"expected 1 to 3 extents, got {len(extents)}")
        whole = [self._whole(extent, axis) for extent, axis in zip(extents, "xyz", strict=False)]
        return self._checked(whole, 1, limits)

    def _whole(self, extent: Any, axis: str) -> int:
        what, value, *_ = READERS[type(extent)](extent)
        if what != "int":
            raise self._wrong(f"expected an integer, got {shown(extent)}", axis)
        return int(value)

    def _checked(self, extents: Sequence[int], lowest: int, limits: Extents) -> Extents:
        for extent, highest, axis in zip(extents, limits, "xyz", strict=False):
            if not lowest <= extent <= highest:
                raise self._wrong(f"expected {lowest} to {highest}, got {shown(extent)}", axis)
        x, y, z = (*extents, 1, 1)[:3]
        if not _are_within(x, y, z, lowest, limits):
            raise self._wrong(f"{x} × {y} × {z} programs are more than 2^63 - 1")
        return x, y, z

    def _no_value(self, inputs: Sequence[Any]) -> GridError:
        named = list(zip(self._grids.names, inputs, strict=True))
        absent = [name for name, value in named if value is None]
        if absent:
            return self._wrong(f"{self._grids.text} needs {absent[0]}, which is None here; pass grid=")
        said = ", ".join(f"{name} = {value}" for name, value in named)
        return self._wrong(f"{self._grids.text} divides by zero with {said}")

    def _wrong(self, message: str, axis: str = "") -> GridError:
        kernel, where = self._grids.kernel, f"grid {axis}" if axis else "grid"
        return GridError(f"{kernel}: {where}: {message}", kernel, "grid")


def _are_within(x: int, y: int, z: int, lowest: int, limits: Extents) -> bool:
    most_x, most_y, most_z = limits
    return (
        lowest <= x <= most_x
        and lowest <= y <= most_y
        and lowest <= z <= most_z
        and x * y * z < _MOST_PROGRAMS
    )
