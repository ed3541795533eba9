"""Products on tensor cores in PTX: one ``mma.sync`` a step, on words of two numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.tt import Mma
from teenybuild.compiler.ir.types import dtype_of
from teenybuild.compiler.layout.fragments import Step
from teenybuild.dtypes import f32

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine

#: Four numbers of the result, from four words of one operand, two of the other, and what they are added to.
_CONSTRAINTS = ",".join(["=f"] * 4 + ["r"] * 6 + ["f"] * 4)


def multiply(machine: GpuMachine, op: Mma, steps: Sequence[Step]) -> None:
    """See :meth:`~teenybuild.compiler.lower.machine.Machine.multiply`."""
    lane, text = machine.uniform, machine.text
    source, out = dtype_of(op.a.type), dtype_of(op.c.type)
    kind = source.name
    asm = f"mma.sync.aligned.m16n8k16.row.col.f32.{kind}.{kind}.f32 {{$0, $1, $2, $3}}, {{$4, $5, $6, $7}}, {{$8, $9}}, {{$10, $11, $12, $13}};"
    a, b, c = (list(machine.registers(lane, v)) for v in (op.a, op.b, op.c))
    sums = c if out == f32 else [machine.widen(lane, v, out, f32) for v in c]
    words: dict[tuple[int, ...], str] = {}

    def word(of: list[str], registers: tuple[int, ...], side: int) -> str:
        found = words.get((side, *registers))
        if found is None:
            found = words[(side, *registers)] = machine.word(source, [of[r] for r in registers])
        return found

    for step in steps:
        operands = [word(a, step.a[i : i + 2], 0) for i in range(0, 8, 2)]
        operands += [word(b, step.b[i : i + 2], 1) for i in range(0, 4, 2)]
        arguments = ", ".join([*(f"i32 {o}" for o in operands), *(f"float {sums[r]}" for r in step.c)])
        four = text.op(f'call {{ float, float, float, float }} asm "{asm}", "{_CONSTRAINTS}"({arguments}) #4')
        for i, r in enumerate(step.c):
            sums[r] = text.op(f"extractvalue {{ float, float, float, float }} {four}, {i}")
    machine.give(op.result, sums if out == f32 else [machine.narrow(lane, s, f32, out) for s in sums])
