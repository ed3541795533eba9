"""Products of four warps on a CPU: shared memory is read as descriptors say, and lanes hold what the PTX ISA says.

Nothing here knows of layouts: that operands lie as the instruction reads them is what emulating it shows.  A product is done where it is begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.ttg import GroupMma
from teenybuild.compiler.ir.types import Tile, dtype_of
from teenybuild.compiler.layout.buffers import Matrix
from teenybuild.compiler.layout.fragments import GROUP, GROUP_ROWS, ROW_BYTES
from teenybuild.compiler.layout.policy import LANES
from teenybuild.compiler.lower.dot import accumulates_in, multiply_add, taken
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.loops import counted
from teenybuild.compiler.lower.machine import GroupProduct, SharedOperand
from teenybuild.compiler.lower.text import Text
from teenybuild.compiler.targets.host_arrays import Array
from teenybuild.compiler.targets.host_mma import convert_all
from teenybuild.dtypes import DType

if TYPE_CHECKING:
    from teenybuild.compiler.targets.host import HostMachine

_THREADS = GROUP * LANES
#: A left operand from registers: rows as they are, one after the other.
_ROWS = Matrix(along=True, row=ROW_BYTES, leading=0, stride=8 * ROW_BYTES)


def multiply_group(machine: HostMachine, op: GroupMma, product: GroupProduct) -> None:
    """See :meth:`~teenybuild.compiler.lower.machine.Machine.multiply_group`."""
    kinds, out, total = (dtype_of(op.a.type), dtype_of(op.b.type)), dtype_of(op.c.type), accumulates_in(op)
    c = machine.array_of(op.c)
    held = machine.array_of(op.a) if isinstance(op.a.type, Tile) else None
    text, lane = machine.text, Lane(machine, 1)
    sums = machine.hold(op.result) if out == total else machine.array(total, c.registers, c.threads)
    convert_all(machine, lane, c, out, sums, total)
    rows = machine.reserve(GROUP_ROWS * ROW_BYTES) if held is not None else ""
    for group in range(c.threads // _THREADS):
        right = _start(machine, product.b, group)
        left = _start(machine, product.a, group) if product.a is not None else "0"
        first = group * _THREADS
        for part in product.parts:
            place = _place(machine, sums, part.first, first)
            for step in part.steps:
                base, matrix, at = "%shared", _ROWS, "0"
                if isinstance(step.a, int):
                    assert product.a is not None
                    matrix, at = product.a.matrix, text.op(f"add i64 {left}, {product.a.starts[step.a]}")
                else:
                    assert held is not None
                    base = rows
                    _lay_out(machine, held, step.a, kinds[0], first, rows)
                matrices = matrix, product.b.matrix
                function = _step(machine, kinds, total, matrices, swizzled=base == "%shared")
                start = text.op(f"add i64 {right}, {product.b.starts[step.b]}")
                text.do(
                    f"call void {function}(ptr {base}, i64 {at}, ptr %shared, i64 {start}, "
                    f"i64 {part.columns}, ptr {place}, i64 {c.threads})"
                )
    if out != total:
        convert_all(machine, lane, sums, total, machine.hold(op.result), out)


def _start(machine: HostMachine, operand: SharedOperand, group: int) -> str:
    """Where a group's part of an operand starts, i64."""
    own = 0
    for bit, offset in enumerate(operand.groups):
        own ^= offset if group >> bit & 1 else 0
    text = machine.text
    stage = text.op(f"zext i32 {operand.stage} to i64") if operand.stage else "0"
    return text.op(f"add i64 {stage}, {operand.room.offset + own}")


def _place(machine: HostMachine, array: Array, register: int, thread: int) -> str:
    at = (register * array.threads + thread) * array.size
    return machine.text.op(f"getelementptr i8, ptr {array.pointer}, i64 {at}")


def _lay_out(
    machine: HostMachine, a: Array, registers: Sequence[int], dtype: DType, first: int, rows: str
) -> None:
    """What lanes hold of 64 rows, row by row: lane 4 g + t of warp w has words t and t + 4 of rows 16 w + g and 16 w + g + 8 (PTX ISA, "Register Fragments")."""
    text, many = machine.text, 4 // dtype.size

    def turn(thread: str, _: Sequence[str]) -> Sequence[str]:
        warp = text.op(f"lshr i64 {thread}, 5")
        quad = text.op(f"and i64 {text.op(f'lshr i64 {thread}, 2')}, 7")
        row = text.op(f"add i64 {text.op(f'shl i64 {warp}, 4')}, {quad}")
        word = text.op(f"and i64 {thread}, 3")
        start = text.op(f"add i64 {text.op(f'mul i64 {row}, {ROW_BYTES}')}, {text.op(f'shl i64 {word}, 2')}")
        for i, register in enumerate(registers):
            number, inside = divmod(i, many)
            low, half = number & 1, number >> 1
            source = text.op(
                f"getelementptr i{8 * a.size}, ptr {_place(machine, a, register, first)}, i64 {thread}"
            )
            value = text.op(f"load {a.stored}, ptr {source}, align {a.size}")
            at = text.op(f"add i64 {start}, {8 * ROW_BYTES * low + 16 * half + inside * a.size}")
            text.do(
                f"store {a.stored} {value}, ptr {text.op(f'getelementptr i8, ptr {rows}, i64 {at}')}, align {a.size}"
            )
        return ()

    counted(text, str(_THREADS), 1, (), turn)


def _step(
    machine: HostMachine,
    operands: tuple[DType, DType],
    total: DType,
    matrices: tuple[Matrix, Matrix],
    *,
    swizzled: bool,
) -> str:
    """A function for one instruction of one group: sums in place, from the first lane's first register on.

    Lane 4 g + t of warp w holds rows 16 w + g and 16 w + g + 8, columns 8 j + 2 t and the next, of every j.
    """
    (left_kind, right_kind), (a, b) = operands, matrices
    kinds = "_".join(f"{int(m.along)}.{m.row}.{m.leading}.{m.stride}" for m in matrices)
    name = f"@teeny.wgmma.{left_kind.name}.{right_kind.name}.{kinds}.{int(swizzled)}"
    if machine.text.defines(name):
        return name
    text = Text()
    lane = Lane(machine, 1, text)
    size = left_kind.size

    def element(dtype: DType, base: str, start: str, other: str, k: str, swizzle: bool) -> str:
        matrix, carrier = a if base == "%left" else b, machine.carrier(dtype)
        fast, slow = (k, other) if matrix.along else (other, k)
        per = matrix.row // size
        eights = text.op(f"mul i64 {text.op(f'lshr i64 {slow}, 3')}, {matrix.stride}")
        one = text.op(f"mul i64 {text.op(f'and i64 {slow}, 7')}, {matrix.row}")
        if matrix.along:
            # Steps along k start within a row: what they reach past its end is in the same row's next bytes.
            parts = [text.op(f"mul i64 {fast}, {size}")]
        else:
            parts = [
                text.op(f"mul i64 {text.op(f'udiv i64 {fast}, {per}')}, {matrix.leading}"),
                text.op(f"mul i64 {text.op(f'urem i64 {fast}, {per}')}, {size}"),
            ]
        at = start
        for part in (eights, one, *parts):
            at = text.op(f"add i64 {at}, {part}")
        if swizzle:
            row = text.op(f"and i64 {text.op(f'lshr i64 {at}, 7')}, {matrix.row // 16 - 1}")
            at = text.op(f"xor i64 {at}, {text.op(f'shl i64 {row}, 4')}")
        value = text.op(
            f"load {carrier}, ptr {text.op(f'getelementptr i8, ptr {base}, i64 {at}')}, align {size}"
        )
        return taken(lane, value, dtype, total)

    def thread_turn(thread: str, _: Sequence[str]) -> Sequence[str]:
        warp, quad = (
            text.op(f"lshr i64 {thread}, 5"),
            text.op(f"and i64 {text.op(f'lshr i64 {thread}, 2')}, 7"),
        )
        row = text.op(f"add i64 {text.op(f'shl i64 {warp}, 4')}, {quad}")
        pair = text.op(f"shl i64 {text.op(f'and i64 {thread}, 3')}, 1")

        def register_turn(register: str, _: Sequence[str]) -> Sequence[str]:
            low = text.op(f"and i64 {text.op(f'lshr i64 {register}, 1')}, 1")
            half = text.op(f"shl i64 {low}, 3")
            i = text.op(f"add i64 {row}, {half}")
            eight = text.op(f"shl i64 {text.op(f'lshr i64 {register}, 2')}, 3")
            j = text.op(f"add i64 {text.op(f'add i64 {eight}, {pair}')}, {text.op(f'and i64 {register}, 1')}")
            at = text.op(f"add i64 {text.op(f'mul i64 {register}, %threads')}, {thread}")
            address = text.op(f"getelementptr {total.llvm}, ptr %sums, i64 {at}")
            before = text.op(f"load {total.llvm}, ptr {address}, align {total.size}")

            def k_turn(k: str, sums: Sequence[str]) -> Sequence[str]:
                left = element(left_kind, "%left", "%left_start", i, k, swizzled)
                right = element(right_kind, "%right", "%right_start", j, k, True)
                return [multiply_add(lane, total, left, right, sums[0])]

            found = counted(text, str(ROW_BYTES // size), 1, [(total.llvm, before)], k_turn)
            text.do(f"store {total.llvm} {found[0]}, ptr {address}, align {total.size}")
            return ()

        counted(text, registers, 1, (), register_turn)
        return ()

    registers = text.op("lshr i64 %columns, 1")
    counted(text, str(_THREADS), 1, (), thread_turn)
    text.do("ret void")
    head = f"void {name}(ptr %left, i64 %left_start, ptr %right, i64 %right_start, i64 %columns, ptr %sums, i64 %threads)"
    machine.text.define_function(name, head, text)
    return name
