"""Two tiles as one, and one as two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import a_flag, a_tile
from teenybuild.compiler.frontend.builtins.reductions import only_element
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.compiler.ir import tt

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


def joined(s: Semantics, a: object, b: object, name: str) -> Tensor:
    """Both in one shape and beside each other in a new last axis; two scalars give a tile of two."""
    first, second = s.tensor(a), s.tensor(b)
    if first.dtype != second.dtype:
        raise s.builder.error(
            f"{name} takes two of one dtype, got {describe(first)} and {describe(second)}",
            "convert one of them with .to(...)",
        )
    first, second = s.broadcast(first, second)
    if not first.is_tile:
        return s.reshape(joined(s, s.splat(first, (1,)), s.splat(second, (1,)), name), (2,))
    s.check_shape((*first.shape, 2))
    return s.builder.tensor(tt.Join(first.value, second.value), first.dtype)


def halves(s: Semantics, value: Tensor) -> tuple[Tensor, Tensor]:
    """What stands at 0 and at 1 of the last axis, which has two elements."""
    if len(value.shape) == 1:
        first, second = halves(s, s.expand_dims(value, 0))
        return only_element(s, first), only_element(s, second)
    op = s.builder.add(tt.Split(value.value))
    return Tensor(op.results[0], value.dtype), Tensor(op.results[1], value.dtype)


@builtin("tl.join")
def join(s: Semantics, a: object, b: object) -> Tensor:
    return joined(s, a, b, "tl.join")


@builtin("tl.split", method=True)
def split(s: Semantics, a: object) -> tuple[Tensor, Tensor]:
    value = a_tile(s, a, "tl.split")
    if value.shape[-1] != 2:
        raise s.builder.error(f"tl.split takes a tile whose last side is 2, got {describe(value)}")
    return halves(s, value)


@builtin("tl.interleave")
def interleave(s: Semantics, a: object, b: object) -> Tensor:
    both = joined(s, a, b, "tl.interleave")
    if len(both.shape) == 1:
        return both
    return s.reshape(both, (*both.shape[:-2], 2 * both.shape[-2]))


@builtin("tl.cat")
def cat(s: Semantics, input: object, other: object, can_reorder: object = False) -> Tensor:
    # Triton's may give the elements in any order, and so asks for can_reorder; the natural one is as good as any.
    a_flag(s, can_reorder, "can_reorder")
    first, second = a_tile(s, input, "tl.cat"), a_tile(s, other, "tl.cat")
    if len(first.shape) != 1 or first.shape != second.shape:
        raise s.builder.error(
            f"tl.cat takes two tiles of one axis and one length, got {describe(first)} and {describe(second)}"
        )
    both = joined(s, first, second, "tl.cat")
    return s.reshape(s.permute(both, (1, 0)), (both.numel,))
