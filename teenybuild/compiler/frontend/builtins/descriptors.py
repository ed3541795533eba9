"""Tensor descriptors: blocks of an array by their offsets, with everything outside of the array masked off.

A block is read and written as through a block pointer that is checked along every axis; here nothing else ever sees a descriptor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend import block_pointers
from teenybuild.compiler.frontend.builtins.checks import one_of, sides
from teenybuild.compiler.frontend.builtins.memory import LOAD_CACHES, hints
from teenybuild.compiler.frontend.builtins.registry import BUILTINS, builtin
from teenybuild.compiler.frontend.values import BlockPointer, Tensor, TensorDescriptor, describe, is_tuple
from teenybuild.dtypes import i32, i64
from teenybuild.types import DESCRIPTOR_AXES, DESCRIPTOR_BYTES

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

#: Of rows that are gathered or scattered: so many at least, of so many bytes.
_LEAST_ROWS, _LEAST_ROW_BYTES = 8, 32


@builtin("tl.make_tensor_descriptor")
def make_tensor_descriptor(
    s: Semantics,
    base: object,
    shape: object,
    strides: object,
    block_shape: object,
    padding_option: object = "zero",
) -> TensorDescriptor:
    block = sides(s, block_shape, "a block")
    if len(block) > DESCRIPTOR_AXES:
        raise s.builder.error(f"a tensor descriptor has up to {DESCRIPTOR_AXES} axes, got {len(block)}")
    start = (0,) * len(block)
    blocks = block_pointers.make(s, base, shape, strides, start, block)
    last = strides[-1] if is_tuple(strides) else strides
    if isinstance(last, Tensor) or last != 1:
        raise s.builder.error(
            f"the last stride of a tensor descriptor is the constant 1, got {describe(last)}",
            "the elements of a row lie next to each other; write strides=[..., 1]",
        )
    dtype = blocks.pointee
    if block[-1] * dtype.size < DESCRIPTOR_BYTES:
        raise s.builder.error(
            f"the last axis of a block has at least {DESCRIPTOR_BYTES} bytes, got {block[-1]} elements of {dtype}"
        )
    padding = one_of(s, padding_option, ("zero", "nan"), "padding_option of tl.make_tensor_descriptor")
    if padding == "nan" and not dtype.is_float:
        raise s.builder.error(f"padding_option='nan' is for floats, this is {describe(base)}")
    extents = tuple(s.cast(extent, i32) for extent in blocks.shape)
    fill = float("nan") if padding == "nan" else 0
    return TensorDescriptor(blocks, extents, fill, int(padding == "nan"))


def argument(
    s: Semantics,
    base: Tensor,
    extents: tuple[Tensor, ...],
    strides: tuple[Tensor, ...],
    padding: Tensor,
    block: tuple[int, ...],
) -> TensorDescriptor:
    """A descriptor that the launch makes; ``padding`` is whether NaN stands outside of the array."""
    blocks = block_pointers.make(s, base, extents, (*strides, 1), (0,) * len(block), block)
    dtype = blocks.pointee
    fill: float | Tensor = 0
    if dtype.is_float:
        fill = s.where(padding, s.number_as(float("nan"), dtype), s.number_as(0.0, dtype))
    return TensorDescriptor(blocks, extents, fill, padding)


def _descriptor(s: Semantics, value: object, name: str) -> TensorDescriptor:
    if not isinstance(value, TensorDescriptor):
        raise s.builder.error(f"{name} takes a tensor descriptor, got {describe(value)}")
    return value


def _addresses(s: Semantics, blocks: BlockPointer) -> tuple[Tensor, Tensor]:
    """The block's pointers, and where they lie within the array."""
    pointers, inside = block_pointers.addresses(s, blocks, range(len(blocks.block)))
    assert inside is not None
    return pointers, inside


def _value(s: Semantics, desc: TensorDescriptor, value: object, shape: tuple[int, ...], name: str) -> Tensor:
    data = s.tensor(value)
    if data.shape != shape:
        raise s.builder.error(f"{name} takes a tile of {list(shape)}, got {describe(data)}")
    return s.cast(data, desc.blocks.pointee)


@builtin("tl.tensor_descriptor.load")
def load(
    s: Semantics, self: object, offsets: object, cache_modifier: object = "", eviction_policy: object = ""
) -> Tensor:
    name = "load of a tensor descriptor"
    found = _descriptor(s, self, name)
    cache, eviction = hints(s, name, LOAD_CACHES, cache_modifier, eviction_policy)
    at = block_pointers.at(s, found.blocks, offsets)
    pointers, inside = _addresses(s, at)
    block = block_pointers.block_of(s, at, found.padding)
    return s.load(pointers, inside, found.fill, cache=cache, eviction=eviction, block=block)


@builtin("tl.tensor_descriptor.store")
def store(s: Semantics, self: object, offsets: object, value: object) -> None:
    name = "store of a tensor descriptor"
    found = _descriptor(s, self, name)
    data = _value(s, found, value, found.blocks.block, name)
    at = block_pointers.at(s, found.blocks, offsets)
    pointers, inside = _addresses(s, at)
    s.store(pointers, data, inside, block=block_pointers.block_of(s, at, found.padding))


@builtin("tl.load_tensor_descriptor")
def load_tensor_descriptor(s: Semantics, desc: object, offsets: object) -> Tensor:
    return load(s, _descriptor(s, desc, "tl.load_tensor_descriptor"), offsets)


@builtin("tl.store_tensor_descriptor")
def store_tensor_descriptor(s: Semantics, desc: object, offsets: object, value: object) -> None:
    store(s, _descriptor(s, desc, "tl.store_tensor_descriptor"), offsets, value)


def _register_atomic(name: str) -> None:
    def function(s: Semantics, self: object, offsets: object, value: object) -> None:
        what = f"{name} of a tensor descriptor"
        found = _descriptor(s, self, what)
        data = _value(s, found, value, found.blocks.block, what)
        pointers, inside = _addresses(s, block_pointers.at(s, found.blocks, offsets))
        BUILTINS[f"tl.{name}"](s, pointers, data, inside, "relaxed")

    builtin(f"tl.tensor_descriptor.{name}")(function)


for _name in ("atomic_add", "atomic_and", "atomic_max", "atomic_min", "atomic_or", "atomic_xor"):
    _register_atomic(_name)


def _rows(
    s: Semantics, desc: TensorDescriptor, rows: object, column: object, name: str
) -> tuple[Tensor, Tensor]:
    """Pointers to the rows numbered by a tile, from a column on, and where they lie within the array."""
    blocks = desc.blocks
    if len(blocks.block) != 2 or blocks.block[0] != 1:
        raise s.builder.error(
            f"{name} takes blocks of one row, [1, N], got {describe(desc)}",
            "make a descriptor of its own for it",
        )
    if not isinstance(rows, Tensor) or len(rows.shape) != 1 or rows.is_pointer or not rows.scalar.is_int:
        raise s.builder.error(
            f"{name} takes the rows as a tile of one axis of integers, got {describe(rows)}"
        )
    columns, size = blocks.block[1], blocks.pointee.size
    if rows.numel < _LEAST_ROWS or columns * size < _LEAST_ROW_BYTES:
        raise s.builder.error(
            f"{name} is of at least {_LEAST_ROWS} rows of {_LEAST_ROW_BYTES} bytes, "
            f"got {rows.numel} of {columns * size}"
        )
    row = s.expand_dims(s.cast(rows, i64), 1)
    one_row = block_pointers.at(s, blocks, (0, column))
    pointers, within = block_pointers.addresses(s, one_row, (1,))
    assert within is not None
    inside = s.bit_and(s.compare(">=", row, 0), s.compare("<", row, blocks.shape[0]))
    return s.add(pointers, s.mul(row, blocks.strides[0])), s.bit_and(within, inside)


@builtin("tl.tensor_descriptor.gather")
def gather(s: Semantics, self: object, x_offsets: object, y_offset: object) -> Tensor:
    name = "gather of a tensor descriptor"
    found = _descriptor(s, self, name)
    pointers, inside = _rows(s, found, x_offsets, y_offset, name)
    return s.load(pointers, inside, found.fill)


@builtin("tl.tensor_descriptor.scatter")
def scatter(s: Semantics, self: object, value: object, x_offsets: object, y_offset: object) -> None:
    name = "scatter of a tensor descriptor"
    found = _descriptor(s, self, name)
    pointers, inside = _rows(s, found, x_offsets, y_offset, name)
    s.store(pointers, _value(s, found, value, pointers.shape, name), inside)
