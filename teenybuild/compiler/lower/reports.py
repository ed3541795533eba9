"""What a program tells whoever launched it: what it prints, and why it ended early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from teenybuild.compiler.ir import tt, ttg
from teenybuild.compiler.ir.core import Op, Value
from teenybuild.compiler.ir.types import Element, Pointer, element, numel, shape_of
from teenybuild.compiler.lower.debug import Lines
from teenybuild.compiler.lower.lane import element_bits
from teenybuild.compiler.lower.machine import Machine

#: Each value of a report starts on a multiple of so many bytes.
_ALIGNMENT = 16


#: ``access``: of memory in none of the launched arrays; ``race``: a write where another program wrote. Both show the address.
Kind = Literal["print", "assert", "access", "race"]


class ToldJson(TypedDict):
    """One value: row-major elements from ``offset`` on."""

    dtype: str
    shape: list[int]
    offset: int


class ReportJson(TypedDict):
    """One place in a kernel that tells something. ``line`` is one of the entry's ``.py``, ``code`` what stands there."""

    kind: Kind
    text: str
    hex: bool
    values: list[ToldJson]
    line: int
    code: str


@dataclass(frozen=True, slots=True)
class Report:
    """What is told at one place, and of which values."""

    op: Op
    kind: Kind
    values: tuple[Value, ...]
    file: str
    line: int
    code: str

    @property
    def offsets(self) -> list[int]:
        """Where each value stands in the memory that is shown."""
        at, found = 0, list[int]()
        for value in self.values:
            at = -(-at // _ALIGNMENT) * _ALIGNMENT
            found.append(at)
            at += numel(value.type) * element_bits(element(value.type)) // 8
        return found

    @property
    def size(self) -> int:
        """Bytes of all values."""
        if not self.values:
            return 0
        last = self.values[-1]
        return self.offsets[-1] + numel(last.type) * element_bits(element(last.type)) // 8

    @property
    def dtypes(self) -> list[str]:
        """Of each value, with the sign of its integers; ``ptr`` for addresses."""
        match self.op:
            case tt.Print():
                pairs = zip(self.values, self.op.signed, strict=True)
                return [_spelled(element(v.type), signed) for v, signed in pairs]
            case _:
                return ["i1"] * len(self.values)

    @property
    def text(self) -> str:
        """What is printed first, or the message of an assertion; of an access, what it does."""
        match self.op:
            case tt.Print(prefix=text) | tt.Assert(message=text):
                return text
            case tt.Load() | ttg.CopyAsync():
                return "load"
            case tt.Store():
                return "store"
            case _:
                return "atomic access"

    def json(self) -> ReportJson:
        """As plain data, keys in documented order."""
        told = zip(self.dtypes, self.values, self.offsets, strict=True)
        return {
            "kind": self.kind,
            "text": self.text,
            "hex": isinstance(self.op, tt.Print) and self.op.hex,
            "values": [{"dtype": d, "shape": list(shape_of(v.type)), "offset": at} for d, v, at in told],
            "line": self.line,
            "code": self.code,
        }


def _spelled(kind: Element, signed: bool) -> str:
    if isinstance(kind, Pointer):
        return "ptr"
    return f"u{kind.bits}" if kind.is_int and kind.bits > 1 and not signed else kind.name


def report_of(op: Op, kind: Kind, values: Sequence[Value], lines: Lines) -> Report:
    """What an operation tells, and where it stands."""
    line = lines.line(op) or 1
    return Report(op, kind, tuple(values), lines.file, line, lines.code(line))


def lower_report(machine: Machine, op: Op, lines: Lines) -> None:
    """Tells, in the machine's own way."""
    machine.meet()
    if isinstance(op, tt.Print):
        machine.tell(report_of(op, "print", op.args, lines))
    else:
        machine.stop_unless(report_of(op, "assert", op.operands, lines))
