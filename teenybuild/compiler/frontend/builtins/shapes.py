"""The same elements in another shape or order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import a_flag, an_axis, sides
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe, is_tuple

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


def _listed(values: tuple[object, ...]) -> tuple[object, ...]:
    """``f(x, 2, 3)`` and ``f(x, (2, 3))`` mean the same."""
    first = values[0] if len(values) == 1 else None
    return first if is_tuple(first) else values


@builtin("tl.broadcast_to", method=True)
def broadcast_to(s: Semantics, input: object, *shape: object) -> Tensor:
    return s.broadcast_to(s.tensor(input), sides(s, _listed(shape), "a tile"))


@builtin("tl.broadcast")
def broadcast(s: Semantics, input: object, other: object) -> tuple[Tensor, Tensor]:
    return s.broadcast(s.tensor(input), s.tensor(other))


@builtin("tl.expand_dims", method=True)
def expand_dims(s: Semantics, input: object, axis: object) -> Tensor:
    value = s.tensor(input)
    axes = axis if is_tuple(axis) else (axis,)
    rank = len(value.shape) + len(axes)
    found = sorted(an_axis(s, a, rank, "tl.expand_dims", "here") for a in axes)
    if len(set(found)) != len(found):
        raise s.builder.error(f"tl.expand_dims names an axis twice: {found}")
    for each in found:
        value = s.expand_dims(value, each)
    return value


@builtin("tl.reshape", method=True)
def reshape(s: Semantics, input: object, *shape: object, can_reorder: object = False) -> Tensor:
    # can_reorder allows another order of elements; the order they have is as good as any.
    a_flag(s, can_reorder, "can_reorder")
    return s.reshape(s.tensor(input), sides(s, _listed(shape), "a tile"))


@builtin("tl.view", method=True)
def view(s: Semantics, input: object, *shape: object) -> Tensor:
    return s.reshape(s.tensor(input), sides(s, _listed(shape), "a tile"))


@builtin("tl.ravel", method=True)
def ravel(s: Semantics, x: object, can_reorder: object = False) -> Tensor:
    a_flag(s, can_reorder, "can_reorder")
    value = s.tensor(x)
    return s.reshape(value, (value.numel,))


@builtin("tl.permute", method=True)
def permute(s: Semantics, input: object, *dims: object) -> Tensor:
    return _permuted(s, s.tensor(input), dims, "tl.permute")


def _permuted(s: Semantics, value: Tensor, dims: tuple[object, ...], name: str) -> Tensor:
    rank = len(value.shape)
    order = tuple(an_axis(s, d, rank, name, "here") for d in _listed(dims))
    if sorted(order) != list(range(rank)):
        raise s.builder.error(
            f"{name} names each of the {rank} axes of {describe(value)} once, got {list(order)}"
        )
    return s.permute(value, order)


@builtin("tl.trans", method=True)
def trans(s: Semantics, input: object, *dims: object) -> Tensor:
    value = s.tensor(input)
    rank = len(value.shape)
    if dims:
        return _permuted(s, value, dims, "tl.trans")
    if rank < 2:
        raise s.builder.error(f"tl.trans takes a tile of at least two axes, got {describe(value)}")
    return s.permute(value, (*range(rank - 2), rank - 1, rank - 2))
