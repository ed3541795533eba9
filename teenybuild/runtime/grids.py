"""The grid of a launch: how many programs, in one to three dimensions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from .errors import GridError
from .explain import shown

if TYPE_CHECKING:
    from .index import Row
    from .views import View

#: x, y and z.
Extents = tuple[int, int, int]

#: The largest extents: what a GPU takes, and what the calling convention of host code holds.
GPU_LIMITS: Extents = (2**31 - 1, 65535, 65535)
HOST_LIMITS: Extents = (2**31 - 1, 2**31 - 1, 2**31 - 1)


def cdiv(a: int, b: int) -> int:
    """``a / b`` rounded up."""
    return -(-a // b)


def next_power_of_2(a: int) -> int:
    """The smallest power of two that is at least ``a``; 1 for anything up to 1."""
    return 1 << (a - 1).bit_length() if a > 1 else 1


class Grids:
    """The grids of one kernel: ``function``, where the manifest has expressions, takes the values of ``names``.

    ``texts`` are the expressions, for messages.
    """

    def __init__(
        self,
        kernel: str,
        parameters: Sequence[str],
        function: Callable[..., tuple[int, ...]] | None,
        names: Sequence[str],
        texts: Sequence[str],
    ) -> None:
        self._kernel = kernel
        self._places = {name: place for place, name in enumerate(parameters)}
        self._function = function
        self._names = tuple(names)
        self._text = ", ".join(texts)

    def given(self, grid: Any, limits: Extents) -> Extents:
        """The three extents of a grid that was passed. Each is at least 1. Raises :class:`GridError`."""
        if type(grid) not in (tuple, list):
            hint = f"; write ({grid},)" if type(grid) is int else ""
            raise self._wrong(f"expected a tuple of 1 to 3 integers, got {shown(grid)}{hint}")
        extents: Sequence[Any] = grid
        if not 1 <= len(extents) <= 3:
            raise self._wrong(f"expected 1 to 3 extents, got {len(extents)}")
        whole = [self._whole(extent, axis) for extent, axis in zip(extents, "xyz", strict=False)]
        return self._checked(whole, 1, limits)

    def computed(self, row: Row, views: Sequence[View], limits: Extents) -> Extents:
        """The three extents that the manifest's expressions give. One of 0 means that there is nothing to do.

        Raises :class:`GridError`, also where there are no expressions.
        """
        if self._function is None:
            raise self._wrong(
                "missing; the manifest has no grid for this kernel, so every launch passes grid="
            )
        inputs = [self._input(name, row, views) for name in self._names]
        try:
            extents = self._function(*inputs)
        except ZeroDivisionError:
            said = ", ".join(f"{name} = {value}" for name, value in zip(self._names, inputs, strict=True))
            raise self._wrong(f"{self._text} divides by zero with {said}") from None
        return self._checked(extents, 0, limits)

    def _input(self, name: str, row: Row, views: Sequence[View]) -> Any:
        if name not in self._places:
            return row.consts[name]
        view = views[self._places[name]]
        if view[0] == "none":
            raise self._wrong(f"{self._text} needs {name}, which is None here; pass grid=")
        return view[1]

    def _whole(self, extent: Any, axis: str) -> int:
        kind = cast("type[Any]", type(extent))
        # A bool has an index, an array of one element too.
        if (
            issubclass(kind, bool)
            or not hasattr(kind, "__index__")
            or (hasattr(kind, "shape") and extent.shape)
        ):
            raise self._wrong(f"expected an integer, got {shown(extent)}", axis)
        return operator.index(extent)

    def _checked(self, extents: Sequence[int], lowest: int, limits: Extents) -> Extents:
        for extent, highest, axis in zip(extents, limits, "xyz", strict=False):
            if not lowest <= extent <= highest:
                raise self._wrong(f"expected {lowest} to {highest}, got {shown(extent)}", axis)
        x, y, z = (*extents, 1, 1)[:3]
        if x * y * z >= 2**63:
            raise self._wrong(f"{x} × {y} × {z} programs are more than 2^63 - 1")
        return x, y, z

    def _wrong(self, message: str, axis: str = "") -> GridError:
        where = f"grid {axis}" if axis else "grid"
        return GridError(f"{self._kernel}: {where}: {message}", self._kernel, "grid")
