"""What layouts a target wants. Lowering and assignment ask; they never look which target it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Protocol

from teenybuild.compiler.ir.types import Tile, dtype_of
from teenybuild.compiler.layout.fragments import Fragments, batch_fragments, fragments, group_fragments
from teenybuild.compiler.layout.linear import Layout, View, axis_offsets, blocked, exchanged, log2, row_major
from teenybuild.compiler.layout.swizzle import WIDEST
from teenybuild.dtypes import DType, bf16, f8e4m3, f8e5m2, f16, f32, f64, i8
from teenybuild.targets import PTX_VERSIONS, Arch, ptx_number

#: Lanes of a warp, on every GPU there is.
LANES = 32


@dataclass(frozen=True, slots=True)
class Use:
    """What a program does with tiles of one shape: ``stores`` writes, of the first ``reach`` elements if that is known; whether it multiplies them."""

    stores: int = 0
    reach: int | None = None
    multiplied: bool = False


class Policy(Protocol):
    """Chooses layouts for the operations that care; the others follow their operands."""

    @property
    def copies(self) -> bool:
        """Whether the machine copies memory to shared memory beside the program."""
        ...

    @property
    def copies_blocks(self) -> bool:
        """Whether it so copies blocks of arrays that it has been told of."""
        ...

    def access(self, shape: tuple[int, ...], order: tuple[int, ...], vector: int, use: Use = Use()) -> Layout:
        """For loads and stores whose pointers run along ``order[0]`` fastest, ``vector`` elements an access at most."""
        ...

    def read_as(self, access: Layout, fastest: int, reader: Layout) -> Layout:
        """For a load laid out as ``access`` along the axis ``fastest``, whose tile is then moved to ``reader``."""
        ...

    def dot(self, shape: tuple[int, ...]) -> Layout:
        """For the accumulator of a product that is summed up element by element."""
        ...

    def fragments(self, a: Tile, b: Tile, total: DType) -> Fragments | None:
        """For a product of tiles on tensor cores, those of f32 cut to tf32, added to a tile of ``total``; None where there are none for it."""
        ...

    def turned(self, shape: tuple[int, ...], axis: int, size: int) -> Layout:
        """For a matrix of elements of ``size`` bytes that comes along one axis and is written along the other, ``axis``."""
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
    #: What tensor cores multiply, f32 as tf32: within a warp, and in groups of four from shared memory.
    products: frozenset[DType] = frozenset()
    group_products: frozenset[DType] = frozenset()
    #: Whether memory is copied to shared memory beside the program, and blocks of arrays as a whole.
    copies: bool = False
    copies_blocks: bool = False

    def access(self, shape: tuple[int, ...], order: tuple[int, ...], vector: int, use: Use = Use()) -> Layout:
        total, threads = prod(shape), self.lanes * self.warps
        # A vector no wider than leaves every thread something to do.
        width = min(vector, shape[order[0]], max(1, total // threads))
        vectors = tuple(width if axis == order[0] else 1 for axis in range(len(shape)))
        # What is never touched should be whole registers of all threads, which are then nobody's work, not threads that have none.
        scattered = use.reach is not None and use.reach <= total - width * threads
        # Two accesses of a warp are no page of DRAM, and where several arrays are written better apart (benchmarks/notes.md).
        # Rows of a matrix are a page each: what all warps read at once should be of few of them.
        scattered |= use.multiplied
        scattered |= len(shape) == 1 and total == 2 * width * threads and use.stores > 1
        return blocked(shape, order, vectors, self.lanes, self.warps, scattered=scattered)

    def read_as(self, access: Layout, fastest: int, reader: Layout) -> Layout:
        # Which lines of memory a lane reads is all the same to memory; what a lane holds of both layouts crosses shared memory together.
        low = axis_offsets(access.shape)[fastest]
        line = range(low, low + log2(access.shape[fastest]))
        return exchanged(access, {1 << bit for bit in line}, reader.registers)

    def dot(self, shape: tuple[int, ...]) -> Layout:
        *most, rows, columns = shape
        per_thread = max(1, prod(shape) // (self.lanes * self.warps))
        wide = min(4, columns, per_thread)
        tall = min(4, rows, max(1, per_thread // wide))
        order = tuple(reversed(range(len(shape))))
        return blocked(shape, order, (*(1 for _ in most), tall, wide), self.lanes, self.warps)

    def fragments(self, a: Tile, b: Tile, total: DType) -> Fragments | None:
        (*most, m, k), n, size = a.shape, b.shape[-1], dtype_of(a).size
        both, held = {dtype_of(a), dtype_of(b)}, None
        if not most and both <= self.group_products:
            held = group_fragments(m, n, k, size, self.warps)
        if held is None and both <= self.products:
            held = (
                batch_fragments(prod(most), m, n, k, size, self.warps)
                if most
                else fragments(m, n, k, size, self.warps)
            )
        return held

    def turned(self, shape: tuple[int, ...], axis: int, size: int) -> Layout:
        # A lane reads words and writes as much as it can at once; of the lanes that are served together none has the bank of another
        # (:mod:`buffers`: a row's number changes the places of its pieces).
        offsets = axis_offsets(shape)
        along, across = ([1 << offsets[a] + bit for bit in range(log2(shape[a]))] for a in (axis, 1 - axis))
        piece, word = log2(WIDEST // size), log2(max(1, 4 // size))
        registers = [*along[:piece], *across[:word]]
        left = [*across[word:3], *along[piece : piece + word], *across[3:], *along[piece + word :]]
        lanes, warps = log2(self.lanes), log2(self.warps)
        mine, others, more = left[:lanes], left[lanes : lanes + warps], left[lanes + warps :]
        return Layout(
            shape,
            (*registers, *more),
            (*mine, *[0] * (lanes - len(mine))),
            (*others, *[0] * (warps - len(others))),
        )

    def stored(self, value: Layout, access: Layout) -> Layout:
        small = 1 << value.bits <= self.lanes * self.warps
        # As good as it is where a warp writes the same pieces, whichever warp.
        vector = sum(basis < access.lanes[0] for basis in access.registers)
        alike = value.lanes == access.lanes and value.registers[:vector] == access.registers[:vector]
        return value if small or alike else access

    def viewed(self, layout: Layout, view: View) -> Layout:
        return layout.viewed(view)


@dataclass(frozen=True, slots=True)
class RowMajorPolicy:
    """As many lanes as elements, in order: nothing ever has to move, and a CPU runs along them in vectors."""

    copies: bool = False
    copies_blocks: bool = False

    def access(self, shape: tuple[int, ...], order: tuple[int, ...], vector: int, use: Use = Use()) -> Layout:
        return row_major(shape)

    def read_as(self, access: Layout, fastest: int, reader: Layout) -> Layout:
        return access

    def dot(self, shape: tuple[int, ...]) -> Layout:
        return row_major(shape)

    def fragments(self, a: Tile, b: Tile, total: DType) -> None:
        return None

    def turned(self, shape: tuple[int, ...], axis: int, size: int) -> Layout:
        return row_major(shape)

    def stored(self, value: Layout, access: Layout) -> Layout:
        return value

    def viewed(self, layout: Layout, view: View) -> Layout:
        return row_major(view.source)


#: What has instructions for products of four warps (PTX ISA, ``wgmma``).
GROUPS_MULTIPLY = "sm_90a"
#: The first with tensor cores for more than f16, tf32 among it (PTX ISA, ``mma``).
TF32_SINCE = 80
#: Since which architecture, and which version of the PTX ISA, tensor cores multiply what within a warp (PTX ISA, ``mma``).
_PRODUCTS = dict.fromkeys((f16, bf16, f32, f64, i8), (TF32_SINCE, (7, 0))) | dict.fromkeys(
    (f8e4m3, f8e5m2), (89, (8, 4))
)
_GROUP_PRODUCTS = frozenset({f16, bf16, f32, f8e4m3, f8e5m2, i8})


def gpu_policy(gpu: Arch, warps: int, version: str = "") -> WarpPolicy:
    """What an architecture wants, in a ``version`` of the PTX ISA; in the latest where none is said."""
    ptx = ptx_number(version or PTX_VERSIONS[-1])
    return WarpPolicy(
        warps,
        products=frozenset(d for d, (sm, version) in _PRODUCTS.items() if gpu.sm >= sm and ptx >= version),
        copies=gpu.sm >= 80,
        copies_blocks=gpu.sm >= 90,
        group_products=_GROUP_PRODUCTS if gpu.name == GROUPS_MULTIPLY else frozenset(),
    )
