"""Products on tensor cores in PTX: one ``mma.sync`` a step, on words of four bytes; of f64 four smaller ones before sm_90."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.ttg import Mma
from teenybuild.compiler.ir.types import dtype_of
from teenybuild.compiler.layout.fragments import ROW_WORDS, Step, in_word
from teenybuild.compiler.lower.dot import accumulates_in
from teenybuild.compiler.targets.nvptx_words import numbered
from teenybuild.dtypes import DType, bf16, f8e4m3, f8e5m2, f16, f32, f64, i8, i32

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine

#: PTX's words for operands.
_KINDS = {f16: "f16", bf16: "bf16", f32: "tf32", f64: "f64", f8e4m3: "e4m3", f8e5m2: "e5m2", i8: "s8"}
#: What sums are: PTX's word, and the letter of their registers.
_SUMS = {f16: ("f16", "r"), f32: ("f32", "f"), f64: ("f64", "d"), i32: ("s32", "r")}
#: The first with the larger shapes of f64 (PTX ISA, ``mma``).
_LARGE_F64 = 90


def multiply(machine: GpuMachine, op: Mma, steps: Sequence[Step]) -> None:
    """See :meth:`~teenybuild.compiler.lower.machine.Machine.multiply`."""
    lane = machine.uniform
    kinds, out = (dtype_of(op.a.type), dtype_of(op.b.type)), dtype_of(op.c.type)
    # Of 8 bits into f16 is of later versions of the PTX ISA: those are rounded at the end.
    total = out if kinds[0] == f16 else accumulates_in(op)
    operands = [list(machine.registers(lane, v)) for v in (op.a, op.b)]
    if out == total:
        held = machine.all_registers(op.c)
        sums, kind = [name for _, name in held], held[0][0]
    else:
        sums = [machine.widen(lane, v, out, total) for v in machine.registers(lane, op.c)]
        kind = total.llvm
    many = in_word(kinds[0].size)
    words: dict[tuple[int, ...], tuple[str, str]] = {}

    def word(side: int, registers: tuple[int, ...]) -> tuple[str, str]:
        """(type, name)."""
        found = words.get((side, *registers))
        if found is None:
            held = [operands[side][r] for r in registers]
            found = ("double", held[0]) if kinds[0] == f64 else ("i32", machine.word(kinds[side], held))
            words[side, *registers] = found
        return found

    for step in steps:
        a, b = (
            [word(side, registers[i : i + many]) for i in range(0, len(registers), many)]
            for side, registers in enumerate((step.a, step.b))
        )
        # Two f16 in a word: those of a row.
        mine = [r // 2 for r in step.c[::2]] if total == f16 else step.c
        if total == f64 and machine.arch.sm < _LARGE_F64:
            for half in range(2):
                row = mine[2 * half : 2 * half + 2]
                _one(machine, "m8n8k4", kinds, total, a[half : half + 1], b[:1], sums, row, kind)
                _one(machine, "m8n8k4", kinds, total, a[half + 2 : half + 3], b[1:], sums, row, kind)
        else:
            _one(machine, f"m16n8k{ROW_WORDS * many}", kinds, total, a, b, sums, mine, kind)
    if out == total:
        machine.give_all(op.result, sums)
    else:
        machine.give(op.result, [machine.narrow(lane, s, total, out) for s in sums])


def _one(
    machine: GpuMachine,
    shape: str,
    kinds: tuple[DType, DType],
    total: DType,
    a: Sequence[tuple[str, str]],
    b: Sequence[tuple[str, str]],
    sums: list[str],
    registers: Sequence[int],
    kind: str,
) -> None:
    """One instruction: adds to the ``registers`` of ``sums``, each of the LLVM type ``kind``."""
    word, letter = _SUMS[total]
    type_ = f"{{ {', '.join([kind] * len(registers))} }}"
    inputs = [*a, *b, *((kind, sums[r]) for r in registers)]
    letters = ["d" if of == "double" else "r" for of, _ in (*a, *b)]
    constraints = ",".join([f"={letter}"] * len(registers) + letters + [letter] * len(registers))
    at, groups = 0, list[str]()
    for group in (registers, a, b, registers):
        groups.append(numbered(at, len(group)))
        at += len(group)
    name = f"mma.sync.aligned.{shape}.row.col.{word}.{_KINDS[kinds[0]]}.{_KINDS[kinds[1]]}.{word}"
    arguments = ", ".join(f"{of} {value}" for of, value in inputs)
    found = machine.text.op(
        f'call {type_} asm "{name} {", ".join(groups)};", "{constraints}"({arguments}) #4'
    )
    for i, r in enumerate(registers):
        sums[r] = machine.text.op(f"extractvalue {type_} {found}, {i}")
