"""Products of four warps in PTX: ``wgmma``, which reads shared memory by descriptors and runs beside the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.constant import constant_of, is_positive_zero
from teenybuild.compiler.ir.ttg import GroupMma, WaitProducts
from teenybuild.compiler.ir.types import Tile, dtype_of
from teenybuild.compiler.layout.fragments import GROUP, ROW_BYTES, GroupPart, GroupStep
from teenybuild.compiler.layout.linear import log2
from teenybuild.compiler.layout.policy import LANES
from teenybuild.compiler.lower.lane import thread_position
from teenybuild.compiler.lower.machine import GroupProduct, SharedOperand
from teenybuild.compiler.targets.nvptx_words import numbered
from teenybuild.dtypes import DType, bf16, f8e4m3, f8e5m2, f16, f32, i8, i32

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine

#: PTX's words for operands.
_KINDS = {f16: "f16", bf16: "bf16", f32: "tf32", f8e4m3: "e4m3", f8e5m2: "e5m2", i8: "s8"}
#: What sums are: PTX's word, and the letter of their registers.
_SUMS = {f16: ("f16", "r"), f32: ("f32", "f"), i32: ("s32", "r")}
#: How a descriptor names its swizzling mode, by the bytes of a row; where its fields stand, in units of 16 bytes (PTX ISA, "Matrix Descriptor Format").
_MODES = {128: 1, 64: 2, 32: 3}
_LEADING, _STRIDE, _MODE = 16, 32, 62
_UNIT = 16


def multiply_group(machine: GpuMachine, op: GroupMma, product: GroupProduct) -> None:
    """See :meth:`~teenybuild.compiler.lower.machine.Machine.multiply_group`.

    What adds to sums from shared memory alone may be under way for long, and is one piece of assembly with one fence: assemblers take what
    stands behind another for a group of its own, and wait for one too many.  Of what is read from registers, or read at once, each part is a
    piece: it begins when its own registers are computed, and what is done with one goes between the instructions of the next.
    """
    text = machine.text
    # Zeros need not be there: the first step of each part begins its sums.
    begins = is_positive_zero(constant_of(op.c))
    held_sums = machine.all_registers(op.c)
    kind, sums = held_sums[0][0], [name for _, name in held_sums]
    total = dtype_of(op.c.type)
    operand = _operands(machine, op, product)
    together = product.a is not None and not begins
    pieces = [product.parts] if together else [[part] for part in product.parts]
    for parts in pieces:
        first = _registers(parts[0].first * 2, total)
        mine = range(first, first + sum(_registers(part.columns, total) for part in parts))
        operands = [each for part in parts for step in part.steps for each in operand(step)]
        results = f"{{ {', '.join([kind] * len(mine))} }}"
        constraints = [f"={_SUMS[total][1]}"] * len(mine)
        arguments = [value for _, value in operands]
        if not begins:
            constraints += [str(i) for i in range(len(mine))]
            arguments = [*(f"{kind} {sums[r]}" for r in mine), *arguments]
        constraints += [letter for letter, _ in operands]
        assembly = _assembly(op, product, parts, len(mine), begins=begins, last=parts is pieces[-1])
        found = text.op(
            f'call {results} asm sideeffect "{assembly}", "{",".join([*constraints, "~{memory}"])}"({", ".join(arguments)}) #5'
        )
        for i, r in enumerate(mine):
            sums[r] = text.op(f"extractvalue {results} {found}, {i}")
    machine.give_all(op.result, sums)


def _operands(
    machine: GpuMachine, op: GroupMma, product: GroupProduct
) -> Callable[[GroupStep], list[tuple[str, str]]]:
    """What a step reads: the letters of registers, and values."""
    source = dtype_of(op.a.type)
    held = list(machine.registers(machine.uniform, op.a)) if isinstance(op.a.type, Tile) else []
    left = _descriptor(machine, product.a) if product.a is not None else ""
    right = _descriptor(machine, product.b)
    many = 4 // source.size

    def operands(step: GroupStep) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        if isinstance(step.a, int):
            assert product.a is not None
            found.append(("l", f"i64 {_moved(machine, left, product.a.starts[step.a])}"))
        else:
            for i in range(0, len(step.a), many):
                word = machine.word(source, [held[r] for r in step.a[i : i + many]])
                found.append(("r", f"i32 {word}"))
        return [*found, ("l", f"i64 {_moved(machine, right, product.b.starts[step.b])}")]

    return operands


def _registers(columns: int, total: DType) -> int:
    """How many of a lane's registers so many columns are: two rows of a pair in each eight, a pair of f16 in one word."""
    return columns // 2 * total.size // 4


def _assembly(
    op: GroupMma, product: GroupProduct, parts: Sequence[GroupPart], count: int, *, begins: bool, last: bool
) -> str:
    """Numbers of operands: the ``count`` sums, the same again as they come in (unless it ``begins`` them), then those of each step in order."""
    a, b, total = (dtype_of(v.type) for v in (op.a, op.b, op.c))
    kinds = f"{_SUMS[total][0]}.{_KINDS[a]}.{_KINDS[b]}"
    at = count if begins else 2 * count
    lines = ["{ .reg .pred p;", "setp.eq.u32 p, 0, 0;"]
    if begins:
        lines.append(".reg .pred none; setp.ne.u32 none, 0, 0;")
    lines.append("wgmma.fence.sync.aligned;")
    turned_b = _turned(b, product.b)
    for part in parts:
        name = f"wgmma.mma_async.sync.aligned.m64n{part.columns}k{ROW_BYTES // a.size}.{kinds}"
        at_sums = _registers((part.first - parts[0].first) * 2, total)
        sums = numbered(at_sums, _registers(part.columns, total))
        for number, step in enumerate(part.steps):
            # Whether sums count (scale-d); of floats, neither operand is negated; of two bytes, which of them run along their other axis.
            scales = "none" if begins and number == 0 else "p"
            if total.is_float:
                scales += ", 1, 1"
            if isinstance(step.a, int):
                assert product.a is not None
                left, turned = f"${at}", _turned(a, product.a)
                at += 1
            else:
                left, turned = numbered(at, 4), ""
                at += 4
            lines.append(f"{name} {sums}, {left}, ${at}, {scales}{turned}{turned_b};")
            at += 1
    if last:
        lines.append("wgmma.commit_group.sync.aligned;")
    return " ".join([*lines, "}"])


def _turned(dtype: DType, operand: SharedOperand) -> str:
    return f", {int(not operand.matrix.along)}" if dtype.size == 2 else ""


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
        machine.give_all(
            result, [text.op(f"extractvalue {results} {found}, {at + i}") for i in range(len(group))]
        )
        at += len(group)
