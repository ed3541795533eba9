"""What a lowering rule sees: one lane.

A rule takes and gives *scalars* of one lane.  On a GPU they are exactly that.  On the host a lane stands for ``width`` neighbouring lanes
at once, and every scalar is an LLVM vector of that many; the text of an instruction differs only in its type, which the rule asks for.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.numbers import bits_of
from teenybuild.compiler.ir.types import Element, Pointer
from teenybuild.compiler.layout.linear import thread_runs
from teenybuild.compiler.lower.text import Text
from teenybuild.dtypes import DType, i1

if TYPE_CHECKING:
    from teenybuild.compiler.lower.machine import Machine


class Lane:
    """Writes instructions for one lane (or ``width`` of them side by side)."""

    def __init__(self, machine: Machine, width: int, text: Text | None = None) -> None:
        self.machine = machine
        #: Where it writes: the program, or a function beside it.
        self.text: Text = text or machine.text
        self.width = width

    # Types ----------------------------------------------------------------------------------------------------

    def of(self, llvm: str) -> str:
        """The type that holds one ``llvm`` value a lane."""
        return llvm if self.width == 1 else f"<{self.width} x {llvm}>"

    def type(self, element: Element) -> str:
        """The type that holds one element a lane."""
        return self.of(self.machine.carrier(element))

    def suffix(self, llvm: str) -> str:
        """How an overloaded intrinsic spells :meth:`of` ``llvm``."""
        short = {"float": "f32", "double": "f64", "half": "f16"}.get(llvm, llvm)
        return short if self.width == 1 else f"v{self.width}{short}"

    # Constants ------------------------------------------------------------------------------------------------

    def splat(self, llvm: str, literal: str) -> str:
        """A constant in every lane, without its type."""
        return literal if self.width == 1 else f"splat ({llvm} {literal})"

    def number(self, value: int | float, dtype: DType) -> str:
        """A number of ``dtype`` in every lane, without its type."""
        carrier = self.machine.carrier(dtype)
        return self.splat(carrier, literal(value, dtype, carrier))

    # Instructions ---------------------------------------------------------------------------------------------

    def op(self, text: str) -> str:
        """Appends an instruction as it is."""
        return self.text.op(text)

    def two(self, opcode: str, llvm: str, a: str, b: str) -> str:
        """``opcode type a, b``."""
        return self.text.op(f"{opcode} {self.of(llvm)} {a}, {b}")

    def convert(self, opcode: str, source: str, a: str, to: str) -> str:
        """``opcode source a to to`` (types of one lane)."""
        return self.text.op(f"{opcode} {self.of(source)} {a} to {self.of(to)}")

    def compare(self, opcode: str, llvm: str, a: str, b: str) -> str:
        """``icmp``/``fcmp`` with its predicate."""
        return self.text.op(f"{opcode} {self.of(llvm)} {a}, {b}")

    def select(self, condition: str, llvm: str, a: str, b: str) -> str:
        """``a`` where the condition holds, else ``b``."""
        ty = self.of(llvm)
        return self.text.op(f"select {self.of('i1')} {condition}, {ty} {a}, {ty} {b}")

    def intrinsic(self, name: str, llvm: str, *operands: str) -> str:
        """A call of ``llvm.name`` overloaded on, taking and giving, one type."""
        ty = self.of(llvm)
        full = f"@llvm.{name}.{self.suffix(llvm)}"
        self.text.declare(f"{ty} {full}({', '.join([ty] * len(operands))})")
        return self.text.op(f"call {ty} {full}({', '.join(f'{ty} {o}' for o in operands)})")

    def bits(self, llvm: str) -> str:
        """The integer type as wide as ``llvm``."""
        return {"float": "i32", "double": "i64", "half": "i16", "bfloat": "i16"}.get(llvm, llvm)

    def broadcast(self, element: Element, scalar: str) -> str:
        """A uniform scalar in every lane."""
        if self.width == 1:
            return scalar
        llvm = self.machine.carrier(element)
        ty = self.of(llvm)
        one = self.text.op(f"insertelement {ty} poison, {llvm} {scalar}, i64 0")
        return self.text.op(f"shufflevector {ty} {one}, {ty} poison, <{self.width} x i32> zeroinitializer")

    # Values ---------------------------------------------------------------------------------------------------

    def registers(self, value: Value) -> Sequence[str]:
        """The registers of a tile in this lane; a scalar is one register that every lane shares."""
        return self.machine.registers(self, value)


def literal(value: int | float, dtype: DType, carrier: str) -> str:
    """A number as LLVM spells a constant of ``carrier``."""
    if dtype == i1:
        return "true" if value else "false"
    if not dtype.is_float:
        return str(int(value))
    value = float(value)
    if carrier[0] == "i":
        return str(bits_of(value, dtype))
    if carrier == "half":
        return f"0xH{bits_of(value, dtype):04X}"
    # LLVM writes float constants as the double of the same value.
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def element_bits(element: Element) -> int:
    """Bits one element takes in memory."""
    return 64 if isinstance(element, Pointer) else 8 * element.size


def thread_position(lane: Lane, thread: str, bases: tuple[int, ...]) -> str:
    """The XOR of the bases of the set bits of ``thread``, i32: runs of bits are moved by one shift each."""
    parts: list[str] = []
    for first, count, at in thread_runs(bases):
        part, mask = thread, ((1 << count) - 1) << first
        if mask != (1 << len(bases)) - 1:
            part = lane.two("and", "i32", part, lane.splat("i32", str(mask)))
        if at > first:
            part = lane.two("shl nuw nsw", "i32", part, lane.splat("i32", str(at - first)))
        elif at < first:
            part = lane.two("lshr", "i32", part, lane.splat("i32", str(first - at)))
        parts.append(part)
    if not parts:
        return lane.splat("i32", "0")
    result = parts[0]
    for part in parts[1:]:
        result = lane.two("xor", "i32", result, part)
    return result
