"""Whether a function with layouts is one that lowering may take at its word: every operation's tiles lie where it reads and leaves them."""

from __future__ import annotations

from typing import cast

from teenybuild.compiler.ir import scf, tt, ttg
from teenybuild.compiler.ir.core import ELEMENTWISE, Function, Op, Value, VerifyError, walk
from teenybuild.compiler.ir.moves import Exchange
from teenybuild.compiler.ir.types import Buffer, Tile, dtype_of, shape_of
from teenybuild.compiler.layout.assign import product_fragments
from teenybuild.compiler.layout.buffers import matrix
from teenybuild.compiler.layout.linear import Layout, View, drop_axis, scan_layout
from teenybuild.compiler.layout.policy import Policy
from teenybuild.compiler.layout.views import view_of


def check_layouts(function: Function, policy: Policy) -> None:
    """Raises :class:`VerifyError` at the first operation that is given a tile in another layout than it takes."""
    for op in walk(function.body):
        _check(op, policy)


def _layout(value: Value) -> Layout:
    return cast(Layout, value.layout)


def _same(op: Op, values: list[Value]) -> None:
    """All that are tiles lie alike."""
    found = [_layout(v) for v in values if isinstance(v.type, Tile)]
    if any(layout != found[0] for layout in found):
        raise VerifyError(op, "its tiles lie in different layouts")


def _check(op: Op, policy: Policy) -> None:
    match op:
        case tt.Viewing() if isinstance(op.source.type, Tile):
            source, result, view = _layout(op.source), _layout(op.result), view_of(op)
            if source not in (policy.viewed(result, view), result.viewed(view)):
                raise VerifyError(op, "its source does not lie where the result reads it")
        case tt.Reduce():
            _same(op, list(op.sources))
            layout = _layout(op.sources[0])
            left = policy.viewed(layout, drop_axis(layout.shape, op.axis))
            if any(isinstance(r.type, Tile) and _layout(r) != left for r in op.results):
                raise VerifyError(op, "its result does not lie where the source leaves it")
        case tt.Scan():
            _same(op, [*op.sources, *op.results])
            if _layout(op.sources[0]) != scan_layout(_layout(op.sources[0]), op.axis):
                raise VerifyError(op, "its axis does not lie as a scan takes it")
        case tt.Dot():
            _same(op, [op.c, op.result])
        case ttg.Mma():
            held = product_fragments(op, policy)
            found = tuple(_layout(v) for v in (op.a, op.b, op.c, op.result))
            if held is None or found != (held.a, held.b, held.c, held.c):
                raise VerifyError(op, "its tiles do not lie as tensor cores take them")
        case ttg.GroupMma():
            held = product_fragments(op, policy)
            registers = [op.c, op.result, *([op.a] if isinstance(op.a.type, Tile) else [])]
            if held is None or [_layout(v) for v in registers] != [held.c, held.c, held.a][: len(registers)]:
                raise VerifyError(op, "its tiles do not lie as tensor cores take them")
            for operand, k in ((op.a, 1), (op.b, 0)):
                if isinstance(operand.type, Buffer):
                    places, size = cast(View, operand.layout), dtype_of(operand.type).size
                    if matrix(places, shape_of(operand.type), k, size) is None:
                        raise VerifyError(
                            op, "an operand does not lie in shared memory as tensor cores read it"
                        )
        case tt.Gather():
            _same(op, [op.index, op.result])
        case tt.Histogram():
            _same(op, op.operands)
        case Exchange():
            _same(op, [op.source, op.result])
        case scf.Loop():
            for each in op.carried:
                _same(op, [each.initial, *each.args, each.yielded, each.result])
        case scf.If():
            ways = op.then.terminator.operands, op.otherwise.terminator.operands
            for group in zip(op.results, *ways, strict=True):
                _same(op, list(group))
        case tt.Load() | tt.Store() | tt.AtomicRmw() | tt.AtomicCas():
            _same(op, [*op.operands, *op.results])
        case _ if op.traits & ELEMENTWISE and op.results:
            _same(op, [*op.operands, *op.results])
        case _:
            pass
