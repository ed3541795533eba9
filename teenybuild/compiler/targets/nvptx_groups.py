"""Products of four warps in PTX: ``wgmma``, which reads shared memory by descriptors and runs beside the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.ir.ttg import GroupMma, WaitProducts
from teenybuild.compiler.ir.types import Tile, dtype_of
from teenybuild.compiler.layout.fragments import GROUP, ROW_BYTES, GroupPart
from teenybuild.compiler.layout.linear import log2
from teenybuild.compiler.layout.policy import LANES
from teenybuild.compiler.lower.lane import thread_position
from teenybuild.compiler.lower.machine import GroupProduct, SharedOperand
from teenybuild.dtypes import bf16, f16

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine

#: PTX's words for operands.
_KINDS = {f16: "f16", bf16: "bf16"}
#: How a descriptor names its swizzling mode, by the bytes of a row; where its fields stand, in units of 16 bytes (PTX ISA, "Matrix Descriptor Format").
_MODES = {128: 1, 64: 2, 32: 3}
_LEADING, _STRIDE, _MODE = 16, 32, 62
_UNIT = 16


def multiply_group(machine: GpuMachine, op: GroupMma, product: GroupProduct) -> None:
    """See :meth:`~teenybuild.compiler.lower.machine.Machine.multiply_group`.

    All steps of one part of the result are one piece of assembly, so that what they add to goes in and out once.
    """
    text = machine.text
    sums = list(machine.registers(machine.uniform, op.c))
    source = dtype_of(op.a.type)
    held = list(machine.registers(machine.uniform, op.a)) if isinstance(op.a.type, Tile) else []
    left = _descriptor(machine, product.a) if product.a is not None else ""
    right = _descriptor(machine, product.b)
    many = 4 // source.size
    for number, part in enumerate(product.parts):
        count = part.columns // 2
        last = number == len(product.parts) - 1
        operands: list[tuple[str, str]] = []
        for step in part.steps:
            if isinstance(step.a, int):
                assert product.a is not None
                operands.append(("l", f"i64 {_moved(machine, left, product.a.starts[step.a])}"))
            else:
                registers = step.a
                operands += [
                    ("r", f"i32 {machine.word(source, [held[r] for r in registers[i : i + many]])}")
                    for i in range(0, len(registers), many)
                ]
            operands.append(("l", f"i64 {_moved(machine, right, product.b.starts[step.b])}"))
        assembly = _assembly(_KINDS[source], source.size, product, part, last=last)
        results = f"{{ {', '.join(['float'] * count)} }}"
        constraints = ["=f"] * count + [str(i) for i in range(count)] + [kind for kind, _ in operands]
        mine = range(part.first, part.first + count)
        arguments = [*(f"float {sums[r]}" for r in mine), *(value for _, value in operands)]
        found = text.op(
            f'call {results} asm sideeffect "{assembly}", "{",".join([*constraints, "~{memory}"])}"({", ".join(arguments)}) #5'
        )
        for i, r in enumerate(mine):
            sums[r] = text.op(f"extractvalue {results} {found}, {i}")
    machine.give(op.result, sums)


def _assembly(kind: str, size: int, product: GroupProduct, part: GroupPart, *, last: bool) -> str:
    """Numbers of operands: the sums, the same again as they come in, then those of each step in order."""
    count = part.columns // 2
    sums = ", ".join(f"${i}" for i in range(count))
    name = f"wgmma.mma_async.sync.aligned.m64n{part.columns}k{ROW_BYTES // size}.f32.{kind}.{kind}"
    at = 2 * count
    lines = ["{ .reg .pred p;", "setp.eq.u32 p, 0, 0;", "wgmma.fence.sync.aligned;"]
    turned_b = f", {int(not product.b.matrix.along)}"
    for step in part.steps:
        if isinstance(step.a, int):
            assert product.a is not None
            left, turned = f"${at}", f", {int(not product.a.matrix.along)}"
            at += 1
        else:
            left, turned = f"{{{', '.join(f'${at + i}' for i in range(4))}}}", ""
            at += 4
        # Sums count (scale-d), neither operand is negated; which of them run along their other axis.
        lines.append(f"{name} {{{sums}}}, {left}, ${at}, p, 1, 1{turned}{turned_b};")
        at += 1
    if last:
        lines.append("wgmma.commit_group.sync.aligned;")
    return " ".join([*lines, "}"])


def _descriptor(machine: GpuMachine, operand: SharedOperand) -> str:
    """Where the operand of this lane's group of warps starts, and how it goes on from there, i64."""
    text = machine.text
    matrix, lane = operand.matrix, machine.uniform
    fixed = (
        _MODES[matrix.row] << _MODE
        | matrix.stride // _UNIT << _STRIDE
        | max(1, matrix.leading // _UNIT) << _LEADING
    )
    if fixed >= 1 << 63:
        fixed -= 1 << 64
    address = machine.shared_address(operand.room.offset)
    if operand.stage:
        address = text.op(f"add i32 {address}, {operand.stage}")
    if any(operand.groups):
        bases = (*[0] * log2(GROUP * LANES), *operand.groups)
        group = thread_position(lane, machine.group_thread(), bases)
        address = text.op(f"add i32 {address}, {group}")
    start = text.op(f"zext i32 {text.op(f'lshr i32 {address}, 4')} to i64")
    return text.op(f"or i64 {start}, {fixed}")


def _moved(machine: GpuMachine, descriptor: str, bytes_: int) -> str:
    return machine.text.op(f"add i64 {descriptor}, {bytes_ // _UNIT}") if bytes_ else descriptor


def wait_products(machine: GpuMachine, op: WaitProducts) -> None:
    """What is waited for passes through the assembly: nothing that reads it may come before."""
    text = machine.text
    names = [machine.all_registers(v) for v in op.values]
    given = [pair for group in names for pair in group]
    wait = f"wgmma.wait_group.sync.aligned {op.pending};"
    if not given:
        text.do(f'call void asm sideeffect "{wait}", "~{{memory}}"() #5')
        return
    letters = {"float": "f", "i32": "r"}
    outputs = [f"={letters[type_]}" for type_, _ in given]
    ties = [str(i) for i in range(len(given))]
    results = f"{{ {', '.join(type_ for type_, _ in given)} }}"
    arguments = ", ".join(f"{type_} {name}" for type_, name in given)
    found = text.op(
        f'call {results} asm sideeffect "{wait}", "{",".join([*outputs, *ties, "~{memory}"])}"({arguments}) #5'
    )
    at = 0
    for result, group in zip(op.results, names, strict=True):
        machine.give(
            result, [text.op(f"extractvalue {results} {found}, {at + i}") for i in range(len(group))]
        )
        at += len(group)
