"""Operations that only look at a tile in another way, as maps of indices; and the layouts in which looking moves nothing."""

from __future__ import annotations

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.moves import Half, Twice
from teenybuild.compiler.ir.types import numel, shape_of
from teenybuild.compiler.layout.linear import (
    Layout,
    View,
    broadcast_view,
    drop_axis,
    half_view,
    identity,
    transposed_view,
    twice_view,
)
from teenybuild.compiler.layout.policy import Policy


def view_of(op: tt.Viewing) -> View:
    """Where the elements of the result come from in the source."""
    source = shape_of(op.source.type)
    match op:
        case tt.Broadcast():
            return broadcast_view(source, shape_of(op.type))
        case tt.Trans():
            return transposed_view(source, op.order)
        case Twice():
            return twice_view(source)
        case Half():
            return half_view(source, op.side)
        case _:
            return identity(source, numel(op.type))


def source_layout(op: tt.Viewing, layout: Layout, policy: Policy) -> Layout:
    """Where the source is read from, if the result is held in ``layout``."""
    return policy.viewed(layout, view_of(op))


def result_layout(op: tt.Viewing, layout: Layout, policy: Policy) -> Layout | None:
    """Where the result is, if the source is held in ``layout``; None where it is larger, and more than one place would do."""
    match op:
        case tt.Broadcast():
            return None
        case tt.Trans():
            back = tuple(op.order.index(axis) for axis in range(len(op.order)))
            return policy.viewed(layout, transposed_view(shape_of(op.type), back))
        case Twice():
            # As if the result were split again: the new axis lies in registers.
            return policy.viewed(layout, half_view(shape_of(op.type), 0))
        case Half():
            kept = policy.viewed(layout, drop_axis(layout.shape, len(layout.shape) - 1))
            # Where lanes or warps hold the halves, half of them would be left with copies.
            return kept if kept.replica_bits == layout.replica_bits else None
        case _:
            return policy.viewed(layout, identity(shape_of(op.type), numel(op.type)))
