"""Tensor cores on a CPU: each instruction's step as the PTX ISA says which lane holds what.

Nothing here knows of layouts: that they fit the instruction is what emulating it shows.  Sums run over k in order, each step one
multiply-add, as in products of whole tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.ttg import Mma
from teenybuild.compiler.ir.types import dtype_of
from teenybuild.compiler.layout.fragments import ROW_WORDS, Step, in_word
from teenybuild.compiler.layout.policy import LANES
from teenybuild.compiler.lower.dot import accumulates_in, multiply_add, taken
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.loops import counted
from teenybuild.compiler.lower.text import Text
from teenybuild.compiler.targets.host_arrays import Array
from teenybuild.dtypes import DType

if TYPE_CHECKING:
    from teenybuild.compiler.targets.host import HostMachine


def multiply(machine: HostMachine, op: Mma, steps: Sequence[Step]) -> None:
    """See :meth:`~teenybuild.compiler.lower.machine.Machine.multiply`."""
    left, right = dtype_of(op.a.type), dtype_of(op.b.type)
    out, total = dtype_of(op.c.type), accumulates_in(op)
    a, b, c = (machine.array_of(v) for v in (op.a, op.b, op.c))
    function = _step(machine, left, right, total)
    lane, text = Lane(machine, 1), machine.text
    sums = machine.hold(op.result) if out == total else machine.array(total, c.registers, c.threads)
    convert_all(machine, lane, c, out, sums, total)

    def turn(warp: str, _: Sequence[str]) -> Sequence[str]:
        first = lane.op(f"mul i64 {warp}, {LANES}")

        def place(array: Array, register: int) -> str:
            at = lane.op(f"add i64 {first}, {register * array.threads}")
            return f"ptr {lane.op(f'getelementptr i{8 * array.size}, ptr {array.pointer}, i64 {at}')}"

        for step in steps:
            pairs = [(a, r) for r in step.a], [(b, r) for r in step.b], [(sums, r) for r in step.c]
            arguments = [place(array, r) for group in pairs for array, r in group]
            text.do(f"call void {function}({', '.join(arguments)})")
        return ()

    counted(text, str(c.threads // LANES), 1, (), turn)
    if out != total:
        convert_all(machine, lane, sums, total, machine.hold(op.result), out)


def convert_all(machine: HostMachine, lane: Lane, source: Array, of: DType, to: Array, as_: DType) -> None:
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


def _step(machine: HostMachine, a: DType, b: DType, total: DType) -> str:
    """A function for one instruction of one warp: where the registers of its first lane stand, a word after the other; sums in place.

    Of ``a`` [16, k], where a row is eight words, lane 4 g + t holds words t and t + 4 of rows g and g + 8, of ``b`` [k, 8] the same words
    of column g, and of the result rows g, g + 8 and columns 2 t, 2 t + 1 (PTX ISA, "Matrix fragments for mma.m16n8k16 with
    floating point type", for m16n8k8 of .tf32 and .f64, and for m16n8k32).
    """
    name = f"@teeny.mma.{a.name}.{b.name}"
    if machine.text.defines(name):
        return name
    text = Text()
    lane = Lane(machine, 1, text)
    size, many = a.size, in_word(a.size)

    def element(dtype: DType, pointer: str, index: str) -> str:
        carrier = machine.carrier(dtype)
        address = lane.op(f"getelementptr {carrier}, ptr {pointer}, i64 {index}")
        return taken(lane, lane.op(f"load {carrier}, ptr {address}, align {size}"), dtype, total)

    def turn(number: str, _: Sequence[str]) -> Sequence[str]:
        quad = lane.op(f"and i64 {number}, -4")  # lane 4 g
        twice = lane.op(f"shl i64 {lane.op(f'and i64 {number}, 3')}, 3")  # lane 4 (2 t)
        for register in range(4):
            low, column = register >> 1, lane.op(f"add i64 {twice}, {4 * (register & 1)}")
            address = lane.op(f"getelementptr {total.llvm}, ptr %sum{register}, i64 {number}")
            found = lane.op(f"load {total.llvm}, ptr {address}, align {total.size}")
            for k in range(ROW_WORDS * many):
                word, inside = divmod(k, many)
                half, across = divmod(word, 4)
                left = element(
                    a, f"%left{(2 * half + low) * many + inside}", lane.op(f"add i64 {quad}, {across}")
                )
                right = element(b, f"%right{half * many + inside}", lane.op(f"add i64 {column}, {across}"))
                found = multiply_add(lane, total, left, right, found)
            text.do(f"store {total.llvm} {found}, ptr {address}, align {total.size}")
        return ()

    counted(text, str(LANES), 1, (), turn)
    text.do("ret void")
    sides = (("left", 4 * many), ("right", 2 * many), ("sum", 4))
    parameters = ", ".join(f"ptr %{side}{i}" for side, count in sides for i in range(count))
    machine.text.define_function(name, f"void {name}({parameters})", text)
    return name
