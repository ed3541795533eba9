"""Types of tile IR: scalars, pointers, and tiles of either.

A scalar's type is its dtype's row (:class:`teenybuild.dtypes.DType`) with the sign taken away: tile IR, like MLIR's
``arith``, keeps signs in operations.  A tile's sides are powers of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from teenybuild.dtypes import DType, i1, i64


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of a ``pointee`` in global memory, 64 bits.

    Of a pointer to pointers, which only the front end has, ``behind`` is what those are; its pointees are addresses, i64.
    """

    pointee: DType
    behind: Pointer | None = None

    def __str__(self) -> str:
        return f"!tt.ptr<{self.pointee.mlir}>"


Element = DType | Pointer


@dataclass(frozen=True, slots=True)
class Tile:
    """``shape`` elements, spread over the lanes of one program. Sides are powers of two."""

    shape: tuple[int, ...]
    element: Element

    def __str__(self) -> str:
        return f"tensor<{'x'.join(map(str, self.shape))}x{spell(self.element)}>"


@dataclass(frozen=True, slots=True)
class Buffer:
    """Room in shared memory for ``stages`` tiles."""

    stages: int
    tile: Tile

    def __str__(self) -> str:
        return f"!ttg.memdesc<{self.stages}x{'x'.join(map(str, self.tile.shape))}x{spell(self.tile.element)}>"


@dataclass(frozen=True, slots=True)
class Signals:
    """``count`` words of shared memory that say which copies have arrived."""

    count: int

    def __str__(self) -> str:
        return f"!ttg.memdesc<{self.count}x1xi64>"


Type = DType | Pointer | Tile | Buffer | Signals


def spell(type_: Type) -> str:
    """The type as MLIR prints it."""
    return type_.mlir if isinstance(type_, DType) else str(type_)


def element(type_: Type) -> Element:
    """What one lane holds: the tile's element, or the scalar itself; of a buffer, what its tiles are of."""
    match type_:
        case Tile():
            return type_.element
        case Buffer():
            return type_.tile.element
        case Signals():
            return i64
        case _:
            return type_


def dtype_of(type_: Type) -> DType:
    """The dtype of a scalar or of a tile of scalars; a pointer has none."""
    found = element(type_)
    assert isinstance(found, DType), f"{spell(type_)} holds pointers"
    return found


def shape_of(type_: Type) -> tuple[int, ...]:
    """The sides of a tile, or of each of a buffer's; ``()`` for a scalar."""
    match type_:
        case Tile():
            return type_.shape
        case Buffer():
            return type_.tile.shape
        case _:
            return ()


def numel(type_: Type) -> int:
    """Elements in a tile; 1 for a scalar."""
    return prod(shape_of(type_))


def with_element(type_: Type, new: Element) -> Type:
    """A tile of the same shape, or a scalar, of another element."""
    return Tile(type_.shape, new) if isinstance(type_, Tile) else new


def with_shape(type_: Type, shape: tuple[int, ...]) -> Type:
    """The same elements in another shape; ``()`` gives the scalar."""
    return Tile(shape, element(type_)) if shape else element(type_)


def mask_of(type_: Type) -> Type:
    """The type of a predicate over ``type_``."""
    return with_element(type_, i1)


def spell_string(text: str) -> str:
    """A string as MLIR writes it: bytes that are no plain ASCII, quotes and backslashes as two hex digits."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())
    return f'"{"".join(plain)}"'
