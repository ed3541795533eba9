"""Tensor cores on a CPU: each instruction's step as the PTX ISA says which lane holds what.

Nothing here knows of layouts: that they fit the instruction is what emulating it shows.  Sums run over k in order, each step one
multiply-add, as in products of whole tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.tt import Mma
from teenybuild.compiler.ir.types import dtype_of
from teenybuild.compiler.layout.fragments import Step
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.loops import counted
from teenybuild.compiler.lower.text import Text
from teenybuild.compiler.targets.host_arrays import Array
from teenybuild.dtypes import DType, f32

if TYPE_CHECKING:
    from teenybuild.compiler.targets.host import HostMachine

#: Lanes of a warp.
_LANES = 32


def multiply(machine: HostMachine, op: Mma, steps: Sequence[Step]) -> None:
    """See :meth:`~teenybuild.compiler.lower.machine.Machine.multiply`."""
    source, out = dtype_of(op.a.type), dtype_of(op.c.type)
    a, b, c = (machine.array_of(v) for v in (op.a, op.b, op.c))
    function = _step(machine, source)
    lane, text = Lane(machine, 1), machine.text
    sums = machine.hold(op.result) if out == f32 else machine.array(f32, c.registers, c.threads)
    _copy(machine, lane, c, out, sums, f32)

    def turn(warp: str, _: Sequence[str]) -> Sequence[str]:
        first = lane.op(f"mul i64 {warp}, {_LANES}")

        def place(array: Array, register: int) -> str:
            at = lane.op(f"add i64 {first}, {register * array.threads}")
            return f"ptr {lane.op(f'getelementptr i{8 * array.size}, ptr {array.pointer}, i64 {at}')}"

        for step in steps:
            pairs = [(a, r) for r in step.a], [(b, r) for r in step.b], [(sums, r) for r in step.c]
            arguments = [place(array, r) for group in pairs for array, r in group]
            text.do(f"call void {function}({', '.join(arguments)})")
        return ()

    counted(text, str(c.threads // _LANES), 1, (), turn)
    if out != f32:
        _copy(machine, lane, sums, f32, machine.hold(op.result), out)


def _copy(machine: HostMachine, lane: Lane, source: Array, of: DType, to: Array, as_: DType) -> None:
    """All elements, converted."""

    def turn(index: str, _: Sequence[str]) -> Sequence[str]:
        address = lane.op(f"getelementptr i{8 * source.size}, ptr {source.pointer}, i64 {index}")
        value = lane.op(f"load {source.stored}, ptr {address}, align {source.size}")
        if of != as_:
            value = (machine.widen if of.bits < as_.bits else machine.narrow)(lane, value, of, as_)
        target = lane.op(f"getelementptr i{8 * to.size}, ptr {to.pointer}, i64 {index}")
        lane.text.do(f"store {to.stored} {value}, ptr {target}, align {to.size}")
        return ()

    counted(machine.text, str(source.registers * source.threads), 1, (), turn)


def _step(machine: HostMachine, dtype: DType) -> str:
    """A function for one instruction of one warp: where the 8, 4 and 4 registers of its first lane stand; sums in place.

    Lane 4 g + t holds of ``a`` [16, 16] rows g and g + 8 and columns 2 t, 2 t + 1 and those 8 further, of ``b`` [16, 8] the same rows of
    column g, and of the result rows g, g + 8 and columns 2 t, 2 t + 1 (PTX ISA, "Matrix fragments for mma.m16n8k16 with
    floating point type").
    """
    name = f"@teeny.mma.m16n8k16.{dtype.name}"
    if machine.text.defines(name):
        return name
    text = Text()
    lane = Lane(machine, 1, text)
    carrier, size = machine.carrier(dtype), dtype.size

    def element(pointer: str, index: str) -> str:
        address = lane.op(f"getelementptr {carrier}, ptr {pointer}, i64 {index}")
        return machine.widen(lane, lane.op(f"load {carrier}, ptr {address}, align {size}"), dtype, f32)

    def turn(number: str, _: Sequence[str]) -> Sequence[str]:
        quad = lane.op(f"and i64 {number}, -4")  # lane 4 g
        twice = lane.op(f"shl i64 {lane.op(f'and i64 {number}, 3')}, 3")  # lane 4 (2 t)
        for register in range(4):
            low, column = register >> 1, lane.op(f"add i64 {twice}, {4 * (register & 1)}")
            address = lane.op(f"getelementptr float, ptr %sum{register}, i64 {number}")
            total = lane.op(f"load float, ptr {address}, align 4")
            for k in range(16):
                pair, inside = k >> 3, k & 1
                across = (k & 7) >> 1
                left = element(f"%left{4 * pair + 2 * low + inside}", lane.op(f"add i64 {quad}, {across}"))
                right = element(f"%right{2 * pair + inside}", lane.op(f"add i64 {column}, {across}"))
                total = lane.intrinsic("fma", "float", left, right, total)
            text.do(f"store float {total}, ptr {address}, align 4")
        return ()

    counted(text, str(_LANES), 1, (), turn)
    text.do("ret void")
    parameters = [
        f"ptr %{side}{i}" for side, count in (("left", 8), ("right", 4), ("sum", 4)) for i in range(count)
    ]
    machine.text.define_function(name, f"void {name}({', '.join(parameters)})", text)
    return name
