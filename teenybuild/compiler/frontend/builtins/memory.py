"""Loads and stores, through pointers and through block pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from teenybuild.compiler.frontend import block_pointers
from teenybuild.compiler.frontend.builtins.checks import a_flag, an_operand, constant_int, one_of, sides
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import BlockPointer, Tensor, describe, is_tuple
from teenybuild.compiler.ir import tt

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

LOAD_CACHES = ("", ".ca", ".cg", ".cv")
_STORE_CACHES = ("", ".wb", ".cg", ".cs", ".wt")
_EVICTIONS = ("", "evict_first", "evict_last")
_PADDINGS = ("", "zero", "nan")


def hints(
    s: Semantics,
    function: str,
    caches: tuple[str, ...],
    cache: object,
    eviction: object,
    volatile: bool = False,
) -> tuple[tt.Cache, tt.Eviction]:
    """Cache operator and eviction priority. A GPU's access carries one of them, or is volatile."""
    through = one_of(s, cache, caches, f"cache_modifier of {function}").removeprefix(".")
    kept = one_of(s, eviction, _EVICTIONS, f"eviction_policy of {function}")
    if bool(through) + bool(kept) + volatile > 1:
        raise s.builder.error(
            f"{function} takes one of cache_modifier, eviction_policy and volatile, not several"
        )
    return cast(tt.Cache, through), cast(tt.Eviction, kept)


@builtin("tl.load")
def load(
    s: Semantics,
    pointer: object,
    mask: object = None,
    other: object = None,
    boundary_check: object = (),
    padding_option: object = "",
    cache_modifier: object = "",
    eviction_policy: object = "",
    volatile: object = False,
) -> Tensor:
    fixed = a_flag(s, volatile, "volatile")
    cache, eviction = hints(s, "tl.load", LOAD_CACHES, cache_modifier, eviction_policy, fixed)
    padding = one_of(s, padding_option, _PADDINGS, "padding_option of tl.load")
    where = None if mask is None else an_operand(s, mask, "the mask of tl.load")
    fill = None if other is None else an_operand(s, other, "other of tl.load")
    block = None
    if isinstance(pointer, BlockPointer):
        if where is not None or fill is not None:
            raise s.builder.error(
                "a block pointer is loaded without mask and other",
                "boundary_check=(0, 1) leaves out what lies outside the array, padding_option says what comes instead",
            )
        checked = block_pointers.checked_axes(s, pointer, boundary_check)
        tile, where = block_pointers.addresses(s, pointer, checked)
        if len(checked) == len(pointer.block):
            block = block_pointers.block_of(s, pointer, int(padding == "nan"))
        if padding == "nan" and not pointer.pointee.is_float:
            raise s.builder.error(f"padding_option='nan' is for floats, this is {describe(pointer)}")
        if padding and where is not None:
            fill = float("nan") if padding == "nan" else 0
        pointer = tile
    elif boundary_check not in ((), None) or padding:
        raise s.builder.error("boundary_check and padding_option are for block pointers", _MASKED)
    if not isinstance(pointer, Tensor):
        raise s.builder.error(f"tl.load needs a pointer, got {describe(pointer)}")
    return s.load(pointer, where, fill, cache=cache, eviction=eviction, volatile=fixed, block=block)


_MASKED = "pointers are guarded with mask= and other="


@builtin("tl.store")
def store(
    s: Semantics,
    pointer: object,
    value: object,
    mask: object = None,
    boundary_check: object = (),
    cache_modifier: object = "",
    eviction_policy: object = "",
) -> None:
    cache, eviction = hints(s, "tl.store", _STORE_CACHES, cache_modifier, eviction_policy)
    where = None if mask is None else an_operand(s, mask, "the mask of tl.store")
    data = an_operand(s, value, "tl.store")
    block = None
    if isinstance(pointer, BlockPointer):
        if where is not None:
            raise s.builder.error(
                "a block pointer is stored through without mask",
                "boundary_check=(0, 1) leaves out what lies outside the array",
            )
        checked = block_pointers.checked_axes(s, pointer, boundary_check)
        if len(checked) == len(pointer.block):
            block = block_pointers.block_of(s, pointer, 0)
        pointer, where = block_pointers.addresses(s, pointer, checked)
    elif boundary_check not in ((), None):
        raise s.builder.error("boundary_check is for block pointers", _MASKED)
    if not isinstance(pointer, Tensor):
        raise s.builder.error(f"tl.store needs a pointer, got {describe(pointer)}")
    s.store(pointer, data, where, cache=cache, eviction=eviction, block=block)


@builtin("tl.make_block_ptr")
def make_block_ptr(
    s: Semantics,
    base: object,
    shape: object,
    strides: object,
    offsets: object,
    block_shape: object,
    order: object,
) -> BlockPointer:
    block = sides(s, block_shape, "a block")
    # How the array lies in memory is read off its strides; the order is checked and not needed.
    axes = [constant_int(s, axis, "each of order") for axis in (order if is_tuple(order) else (order,))]
    if sorted(axes) != list(range(len(block))):
        raise s.builder.error(f"order names each of the {len(block)} axes of the block once, got {axes}")
    return block_pointers.make(s, base, shape, strides, offsets, block)


@builtin("tl.advance", method=True)
def advance(s: Semantics, base: object, offsets: object) -> BlockPointer:
    if not isinstance(base, BlockPointer):
        raise s.builder.error(
            f"tl.advance moves a block pointer, got {describe(base)}", "pointers are moved by adding to them"
        )
    return block_pointers.advance(s, base, offsets)
