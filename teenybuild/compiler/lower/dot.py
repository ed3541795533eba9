"""Products of tiles by fused multiply-add, one output element a register, over k in order.

Operands are staged where every lane can read any element of them: shared memory on a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from teenybuild.compiler.ir import tt, ttg
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.types import Buffer, dtype_of, element, shape_of
from teenybuild.compiler.layout.buffers import matrix
from teenybuild.compiler.layout.fragments import GROUP, Fragments, group_parts, steps
from teenybuild.compiler.layout.linear import Layout, View, log2
from teenybuild.compiler.lower.buffers import stage_offset
from teenybuild.compiler.lower.convert import write_shared
from teenybuild.compiler.lower.lane import Lane, element_bits
from teenybuild.compiler.lower.machine import GroupProduct, LaneRegisters, Machine, SharedOperand
from teenybuild.dtypes import DType, f16, f32, i32


def accumulates_in(op: tt.Dot | ttg.Mma | ttg.GroupMma) -> DType:
    """The dtype products are summed in: the accumulator's; f32 for an f16 one, rounded at the end of each dot."""
    out = dtype_of(op.c.type)
    return f32 if out == f16 else out


def widened(lane: Lane, value: str, source: DType, to: DType) -> str:
    """An operand's element in the dtype that products are summed in; integers have a sign."""
    if source == to:
        return value
    if source.is_int:
        return lane.convert("sext", source.llvm, value, to.llvm)
    return lane.machine.widen(lane, value, source, to)


def taken(lane: Lane, value: str, source: DType, to: DType) -> str:
    """The same as tensor cores take it: of f32, without the low 13 bits."""
    if source == f32:
        bits = lane.convert("bitcast", "float", value, "i32")
        kept = lane.two("and", "i32", bits, lane.number(~0x1FFF, i32))
        return lane.convert("bitcast", "i32", kept, "float")
    return widened(lane, value, source, to)


def multiply_add(lane: Lane, dtype: DType, a: str, b: str, c: str) -> str:
    """``a * b + c``: rounded once, or wrapping."""
    if dtype.is_int:
        return lane.two("add", dtype.llvm, lane.two("mul", dtype.llvm, a, b), c)
    return lane.intrinsic("fma", dtype.llvm, a, b, c)


def lower_dot(machine: Machine, op: tt.Dot) -> None:
    """See the module's text; a machine that has its own way with whole tiles takes it."""
    if machine.whole_dot(op):
        return
    a, b = write_shared(machine, op.a), write_shared(machine, op.b)
    machine.barrier()
    layout = cast(Layout, op.result.layout)
    held = machine.each_lane(
        [dtype_of(op.c.type)],
        lambda lane: _product(machine, lane, op, layout, a, b),
        1 << len(layout.threads),
        [op.c],
    )
    machine.bind(op.result, held[0])


def lower_mma(machine: Machine, op: ttg.Mma) -> None:
    """A product on tensor cores: what each lane holds of the operands, multiplied instruction by instruction."""
    held = Fragments(*(cast(Layout, v.layout) for v in (op.a, op.b, op.c)))
    machine.multiply(op, list(steps(held, element_bits(dtype_of(op.a.type)) // 8)))


def lower_group_mma(machine: Machine, op: ttg.GroupMma) -> None:
    """A product by groups of four warps: which instruction reads what, and from where."""
    size = element_bits(dtype_of(op.a.type)) // 8
    (_, n), (_, k) = shape_of(op.c.type), shape_of(op.a.type)
    c = cast(Layout, op.c.layout)
    a = None if isinstance(op.a.type, Buffer) else cast(Layout, op.a.layout)
    parts = list(group_parts(a, c, k, size))
    groups = c.warps[log2(GROUP) :]
    steps_ = [step for part in parts for step in part.steps]
    left = None
    if a is None:
        starts = [step.a for step in steps_ if isinstance(step.a, int)]
        left = _shared_operand(machine, op.a, op.stages[0], 1, [basis // n * k for basis in groups], starts)
    right = _shared_operand(
        machine, op.b, op.stages[-1], 0, [basis % n for basis in groups], [step.b for step in steps_]
    )
    machine.meet()
    machine.multiply_group(op, GroupProduct(left, right, parts))


def _shared_operand(
    machine: Machine, buffer: Value, stage: Value, k: int, groups: Sequence[int], starts: Sequence[int]
) -> SharedOperand:
    places, size = cast(View, buffer.layout), element_bits(element(buffer.type)) // 8
    found = matrix(places, shape_of(buffer.type), k, size)
    assert found is not None, "layout assignment puts operands where products can read them"
    return SharedOperand(
        found,
        machine.buffers[buffer],
        stage_offset(machine, machine.uniform, buffer, stage),
        tuple(size * places.moved(index) for index in groups),
        {index: size * places.moved(index) for index in starts},
    )


def _at(lane: Lane, index: str, flip: int, size: int, base: int) -> str:
    if flip:
        index = lane.two("xor", "i32", index, lane.number(flip, i32))
    scaled = lane.two("mul", "i32", index, lane.number(size, i32))
    return lane.two("add", "i32", scaled, lane.number(base, i32)) if base else scaled


def _product(machine: Machine, lane: Lane, op: tt.Dot, layout: Layout, a: int, b: int) -> LaneRegisters:
    """A loop over k: each turn reads one column of the lane's rows and one row of its columns.

    Rows and columns are counted on from matrix to matrix where there are several.
    """
    (*_, m, k), (*_, n) = shape_of(op.a.type), shape_of(op.b.type)
    source, out = dtype_of(op.a.type), dtype_of(op.c.type)
    total = accumulates_in(op)
    size = element_bits(source) // 8
    first = machine.coordinate(lane, layout, 0) if len(layout.shape) == 3 else None
    row, column = (machine.coordinate(lane, layout, axis) for axis in (-2, -1))
    if first is not None:
        row = lane.two("or", "i32", row, lane.two("mul", "i32", first, lane.number(m, i32)))
    rows = sorted({index // n for index in layout.indices})
    # (matrix, column)
    columns = sorted({(index // (m * n), index % n) for index in layout.indices})
    start = [c if out == total else machine.widen(lane, c, out, total) for c in lane.registers(op.c)]

    def turn(position: str, sums: Sequence[str]) -> list[str]:
        at = lane.broadcast(i32, position)
        left: dict[int, str] = {}
        right: dict[tuple[int, int], str] = {}
        for r in rows:
            i = lane.two("xor", "i32", row, lane.number(r, i32))
            index = lane.two("add", "i32", lane.two("mul", "i32", i, lane.number(k, i32)), at)
            left[r] = _load(machine, lane, source, total, _at(lane, index, 0, size, a))
        for number, c in columns:
            j = lane.two("xor", "i32", column, lane.number(c, i32))
            i = at
            if first is not None:
                which = lane.two("xor", "i32", first, lane.number(number, i32))
                i = lane.two("add", "i32", lane.two("mul", "i32", which, lane.number(k, i32)), at)
            index = lane.two("add", "i32", lane.two("mul", "i32", i, lane.number(n, i32)), j)
            right[number, c] = _load(machine, lane, source, total, _at(lane, index, 0, size, b))
        return [
            multiply_add(lane, total, left[index // n], right[index // (m * n), index % n], s)
            for index, s in zip(layout.indices, sums, strict=True)
        ]

    sums = machine.count_loop(lane, k, lane.type(total), start, turn)
    return [[s if out == total else machine.narrow(lane, s, total, out) for s in sums]]


def _load(machine: Machine, lane: Lane, source: DType, to: DType, address: str) -> str:
    return widened(lane, machine.shared_load(lane, source, address, 1)[0], source, to)
