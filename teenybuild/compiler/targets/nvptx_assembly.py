"""Pieces of PTX that kernels bring along: elements as the 32-bit (or 64-bit) registers that they are written for.

As in Triton: elements narrower than 32 bits are packed, the first in the lowest bits; each operand and result takes its registers in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.types import Element, Pointer, element, spell_string

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine


def assemble(machine: GpuMachine, op: tt.InlineAsm, operands: Sequence[Sequence[str]]) -> list[list[str]]:
    """One call of the assembly."""
    text = machine.text
    arguments: list[str] = []
    for value, names in zip(op.args, operands, strict=True):
        carrier = _carrier(machine, element(value.type))
        registers = [_plain(machine, element(value.type), name) for name in names]
        for first in range(0, op.pack, _per_register(carrier)):
            part = registers[first : first + _per_register(carrier)]
            arguments.append(_packed(machine, carrier, part))
    types = [
        t for result in op.results for t in _result_types(_carrier(machine, element(result.type)), op.pack)
    ]
    returned = types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}" if types else "void"
    sideeffect = "" if op.pure else " sideeffect"
    call = f"call {returned} asm{sideeffect} {spell_string(op.asm)}, {spell_string(op.constraints)}({', '.join(arguments)})"
    name = text.op(call)
    found: list[list[str]] = []
    at = 0
    for result in op.results:
        carrier = _carrier(machine, element(result.type))
        unpacked: list[str] = []
        for type_ in _result_types(carrier, op.pack):
            word = name if len(types) == 1 else text.op(f"extractvalue {returned} {name}, {at}")
            unpacked += _unpacked(machine, carrier, type_, word)
            at += 1
        found.append([_own(machine, element(result.type), n) for n in unpacked])
    return found


def _carrier(machine: GpuMachine, kind: Element) -> str:
    """A pointer travels as a number; a bool as a byte."""
    if isinstance(kind, Pointer):
        return "i64"
    return "i8" if kind.bits == 1 else machine.carrier(kind)


def _bits(carrier: str) -> int:
    return {"float": 32, "double": 64, "half": 16}.get(carrier) or int(carrier[1:])


def _per_register(carrier: str) -> int:
    return max(1, 32 // _bits(carrier))


def _result_types(carrier: str, pack: int) -> list[str]:
    per = min(_per_register(carrier), pack)
    return [carrier if per == 1 else f"<{per} x {carrier}>"] * -(-pack // per)


def _plain(machine: GpuMachine, kind: Element, name: str) -> str:
    if isinstance(kind, Pointer):
        return machine.text.op(f"ptrtoint {machine.carrier(kind)} {name} to i64")
    return machine.text.op(f"zext i1 {name} to i8") if kind.bits == 1 else name


def _own(machine: GpuMachine, kind: Element, name: str) -> str:
    assert not isinstance(kind, Pointer)
    return machine.text.op(f"trunc i8 {name} to i1") if kind.bits == 1 else name


def _packed(machine: GpuMachine, carrier: str, names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{carrier} {names[0]}"
    type_, vector = f"<{len(names)} x {carrier}>", "poison"
    for i, name in enumerate(names):
        vector = machine.text.op(f"insertelement {type_} {vector}, {carrier} {name}, i64 {i}")
    return f"{type_} {vector}"


def _unpacked(machine: GpuMachine, carrier: str, type_: str, word: str) -> list[str]:
    if type_ == carrier:
        return [word]
    count = int(type_[1:].partition(" ")[0])
    return [machine.text.op(f"extractelement {type_} {word}, i64 {i}") for i in range(count)]
