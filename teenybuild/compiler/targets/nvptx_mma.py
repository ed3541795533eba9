"""Products on tensor cores in PTX: one ``mma.sync`` a step, on words of four bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.ttg import Mma
from teenybuild.compiler.ir.types import dtype_of
from teenybuild.compiler.layout.fragments import ROW_BYTES, Step
from teenybuild.compiler.lower.dot import accumulates_in
from teenybuild.dtypes import DType, bf16, f16, f32, i8

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine

#: PTX's words for operands and sums.
_KINDS = {f16: ("f16", "f32"), bf16: ("bf16", "f32"), i8: ("s8", "s32")}


def multiply(machine: GpuMachine, op: Mma, steps: Sequence[Step]) -> None:
    """See :meth:`~teenybuild.compiler.lower.machine.Machine.multiply`."""
    lane, text = machine.uniform, machine.text
    source, out, total = dtype_of(op.a.type), dtype_of(op.c.type), accumulates_in(op)
    a, b, c = (list(machine.registers(lane, v)) for v in (op.a, op.b, op.c))
    sums = c if out == total else [machine.widen(lane, v, out, total) for v in c]
    instruction = _instruction(source, total)
    four = f"{{ {', '.join([total.llvm] * 4)} }}"
    many = 4 // source.size
    words: dict[tuple[int, ...], str] = {}

    def word(side: int, registers: tuple[int, ...]) -> str:
        found = words.get((side, *registers))
        if found is None:
            held = (a, b)[side]
            found = words[side, *registers] = machine.word(source, [held[r] for r in registers])
        return found

    for step in steps:
        operands = [
            f"i32 {word(side, registers[i : i + many])}"
            for side, registers in enumerate((step.a, step.b))
            for i in range(0, len(registers), many)
        ]
        arguments = ", ".join([*operands, *(f"{total.llvm} {sums[r]}" for r in step.c)])
        found = text.op(f"call {four} asm {instruction}({arguments}) #4")
        for i, r in enumerate(step.c):
            sums[r] = text.op(f"extractvalue {four} {found}, {i}")
    machine.give(op.result, sums if out == total else [machine.narrow(lane, s, total, out) for s in sums])


def _instruction(source: DType, total: DType) -> str:
    """The assembly and its constraints: four numbers of the result, four words of one operand, two of the other, and what they are added to."""
    kind, sum_ = _KINDS[source]
    shape = f"m16n8k{ROW_BYTES // source.size}"
    register = "f" if total == f32 else "r"
    constraints = ",".join([f"={register}"] * 4 + ["r"] * 6 + [register] * 4)
    operands = "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13}"
    return f'"mma.sync.aligned.{shape}.row.col.{sum_}.{kind}.{kind}.{sum_} {operands};", "{constraints}"'
