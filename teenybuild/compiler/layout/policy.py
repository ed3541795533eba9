"""What layouts a target wants. Lowering and assignment ask; they never look which target it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from teenybuild.compiler.layout.linear import Layout, View, blocked, row_major

#: Lanes of a warp, on every GPU there is.
LANES = 32


class Policy(Protocol):
    """Chooses layouts for the operations that care; the others follow their operands."""

    def access(self, shape: tuple[int, ...], order: tuple[int, ...], vector: int) -> Layout:
        """For loads and stores whose pointers run along ``order[0]`` fastest, ``vector`` elements an access at most."""
        ...

    def dot(self, shape: tuple[int, ...]) -> Layout:
        """For the accumulator of a product."""
        ...

    def stored(self, value: Layout, access: Layout) -> Layout:
        """For a store: ``access``, or the layout the value already has where moving it first is not worth it."""
        ...

    def viewed(self, layout: Layout, view: View) -> Layout:
        """For the tile that a tile in ``layout`` is read from through ``view``, or is reduced to along it."""
        ...


@dataclass(frozen=True, slots=True)
class WarpPolicy:
    """Warps of ``lanes`` lanes, as on a GPU: neighbouring lanes on neighbouring elements, each on a whole vector."""

    warps: int
    lanes: int = LANES

    def access(self, shape: tuple[int, ...], order: tuple[int, ...], vector: int) -> Layout:
        total = 1
        for side in shape:
            total *= side
        # A vector no wider than leaves every thread something to do.
        width = min(vector, shape[order[0]], max(1, total // (self.lanes * self.warps)))
        vectors = tuple(width if axis == order[0] else 1 for axis in range(len(shape)))
        return blocked(shape, order, vectors, self.lanes, self.warps)

    def dot(self, shape: tuple[int, ...]) -> Layout:
        rows, columns = shape
        per_thread = max(1, rows * columns // (self.lanes * self.warps))
        wide = min(4, columns, per_thread)
        tall = min(4, rows, max(1, per_thread // wide))
        return blocked(shape, (1, 0), (tall, wide), self.lanes, self.warps)

    def stored(self, value: Layout, access: Layout) -> Layout:
        elements = 1 << value.bits
        return value if elements <= self.lanes * self.warps else access

    def viewed(self, layout: Layout, view: View) -> Layout:
        return layout.viewed(view)


@dataclass(frozen=True, slots=True)
class RowMajorPolicy:
    """As many lanes as elements, in order: nothing ever has to move, and a CPU runs along them in vectors."""

    def access(self, shape: tuple[int, ...], order: tuple[int, ...], vector: int) -> Layout:
        return row_major(shape)

    def dot(self, shape: tuple[int, ...]) -> Layout:
        return row_major(shape)

    def stored(self, value: Layout, access: Layout) -> Layout:
        return value

    def viewed(self, layout: Layout, view: View) -> Layout:
        return row_major(view.source)
