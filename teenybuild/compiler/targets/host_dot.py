"""Products of whole tiles on a CPU: blocks of the result stay in registers while k runs, rows of ``b`` a vector at a time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.tt import Dot
from teenybuild.compiler.ir.types import dtype_of, shape_of
from teenybuild.compiler.lower.dot import accumulates_in, multiply_add, widened
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.loops import counted
from teenybuild.compiler.targets.host_arrays import Array, spread
from teenybuild.dtypes import DType

if TYPE_CHECKING:
    from teenybuild.compiler.targets.host import HostMachine

#: Rows and vectors of columns of one block: 4 × 2 accumulators and what feeds them fit 16 vector registers.
_ROWS, _VECTORS = 4, 2


def lower_whole_dot(machine: HostMachine, op: Dot) -> None:
    """``result[i, j] = c[i, j] + Σ_k a[i, k] b[k, j]``, k in order, each step one multiply-add; of several, i counts the rows of all."""
    (*most, m, k), (*_, n) = shape_of(op.a.type), shape_of(op.b.type)
    matrices = prod(most)
    total = accumulates_in(op)
    a = _in(machine, op.a, total)
    b = _in(machine, op.b, total)
    c, out = machine.array_of(op.c), machine.hold(op.result)
    lane = Lane(machine, min(8, n))
    vectors = min(_VECTORS, n // lane.width)
    rows = min(_ROWS, m)
    same = dtype_of(op.c.type) == total
    text = machine.text

    def block(i: str, j: str, first: str | None) -> None:
        places = [(r, v) for r in range(rows) for v in range(vectors)]
        at = [_index(lane, i, r, n, j, v * lane.width) for r, v in places]
        start = [_load(lane, c, p) for p in at]
        if not same:
            start = [machine.widen(lane, s, dtype_of(op.c.type), total) for s in start]

        def turn(step: str, sums: Sequence[str]) -> list[str]:
            down = step if first is None else lane.op(f"add i64 {first}, {step}")
            right = [_load(lane, b, _index(lane, down, 0, n, j, v * lane.width)) for v in range(vectors)]
            left = [
                spread(lane, total.llvm, _element(lane, a, _index(lane, i, r, k, step, 0)))
                for r in range(rows)
            ]
            return [
                multiply_add(lane, total, left[r], right[v], s)
                for (r, v), s in zip(places, sums, strict=True)
            ]

        sums = counted(text, str(k), 1, [(lane.of(total.llvm), s) for s in start], turn)
        for p, s in zip(at, sums, strict=True):
            value = s if same else machine.narrow(lane, s, total, dtype_of(op.c.type))
            _store(lane, out, p, value)

    def over_columns(i: str) -> None:
        # The row of b that the matrix of these rows begins at.
        first = lane.op(f"mul i64 {lane.op(f'udiv i64 {i}, {m}')}, {k}") if matrices > 1 else None
        counted(text, str(n), lane.width * vectors, (), lambda j, _: block(i, j, first) or ())

    counted(text, str(matrices * m), rows, (), lambda i, _: over_columns(i) or ())


def _in(machine: HostMachine, value: Value, to: DType) -> Array:
    """The operand in the dtype that is summed in: widened once, not at every use."""
    array = machine.array_of(value)
    if array.carrier == to.llvm:
        return array
    source = dtype_of(value.type)
    wide = machine.array(to, 1, array.threads)
    lane = Lane(machine, min(8, array.threads))

    def turn(index: str, _: Sequence[str]) -> Sequence[str]:
        _store(lane, wide, index, widened(lane, _load(lane, array, index), source, to))
        return ()

    counted(machine.text, str(array.threads), lane.width, (), turn)
    return wide


def _index(lane: Lane, row: str, r: int, width: int, column: str, c: int) -> str:
    """``(row + r) * width + column + c``, i64."""
    at = lane.op(f"add i64 {row}, {r}") if r else row
    at = lane.op(f"mul i64 {at}, {width}")
    at = lane.op(f"add i64 {at}, {column}")
    return lane.op(f"add i64 {at}, {c}") if c else at


def _load(lane: Lane, array: Array, index: str) -> str:
    address = lane.op(f"getelementptr i{8 * array.size}, ptr {array.pointer}, i64 {index}")
    return lane.op(f"load {lane.of(array.stored)}, ptr {address}, align {array.size}")


def _element(lane: Lane, array: Array, index: str) -> str:
    address = lane.op(f"getelementptr i{8 * array.size}, ptr {array.pointer}, i64 {index}")
    return lane.op(f"load {array.stored}, ptr {address}, align {array.size}")


def _store(lane: Lane, array: Array, index: str, value: str) -> None:
    address = lane.op(f"getelementptr i{8 * array.size}, ptr {array.pointer}, i64 {index}")
    lane.text.do(f"store {lane.of(array.stored)} {value}, ptr {address}, align {array.size}")
