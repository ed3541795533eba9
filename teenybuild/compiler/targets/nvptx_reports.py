"""Reports of a GPU program: the CUDA device runtime's ``vprintf`` and ``__assertfail``, which every driver links in.

(CUDA C++ programming guide, formatted output and assertion; lines look as Triton's do.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.types import Element, Pointer, Tile, element, shape_of
from teenybuild.compiler.layout.linear import Layout, axis_offsets
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.memory import owns
from teenybuild.compiler.lower.reports import Report
from teenybuild.dtypes import f32, f64, i1, i32

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine

#: An argument of a format: its LLVM type, and its name.
_Argument = tuple[str, str]


def tell(machine: GpuMachine, report: Report) -> None:
    """Every lane prints the elements that it owns, a line each."""
    assert isinstance(report.op, tt.Print)
    text, hexadecimal = report.op.prefix, report.op.hex
    if not report.values:
        _alone(machine, lambda: _print(machine, f"{text}\n", []))
    for number, (value, dtype) in enumerate(zip(report.values, report.dtypes, strict=True)):
        operand = f"(operand {number}) " if len(report.values) > 1 else ""
        _tell_value(machine, f"{text}{operand}", value, dtype, hexadecimal)


def stop_unless(machine: GpuMachine, report: Report) -> None:
    """The first lane that finds the condition false ends the whole launch with an error."""
    (condition,) = report.values
    text, lane = machine.text, machine.uniform
    found = (
        machine.registers(lane, condition)
        if isinstance(condition.type, Tile)
        else [machine.scalar(condition)]
    )
    holds = found[0]
    for other in list(found)[1:]:
        holds = lane.two("and", "i1", holds, other)
    fails, goes_on = text.label(), text.label()
    text.do(f"br i1 {holds}, label %{goes_on}, label %{fails}")
    text.open(fails)
    message, file, function = (
        _string(machine, s) for s in (report.text or report.code, report.file, machine.symbol)
    )
    text.declare("void @__assertfail(ptr, ptr, i32, ptr, i64) #3")
    text.do(f"call void @__assertfail(ptr {message}, ptr {file}, i32 {report.line}, ptr {function}, i64 1)")
    text.do("unreachable")
    text.open(goes_on)


def _tell_value(machine: GpuMachine, text: str, value: Value, dtype: str, hexadecimal: bool) -> None:
    kind = element(value.type)
    how, lane = _format(kind, dtype, hexadecimal), machine.uniform
    if not isinstance(value.type, Tile):
        _alone(machine, lambda: _print(machine, f" idx (){text}{how}\n", [_promoted(lane, kind, dtype, machine.scalar(value), hexadecimal)]))  # fmt: skip
        return
    layout = cast(Layout, value.layout)
    widths = [len(str(side - 1)) for side in shape_of(value.type)]
    place = ", ".join(f"%{width}u" for width in widths)
    registers = machine.registers(lane, value)
    at = [machine.coordinate(lane, layout, axis) for axis in range(len(widths))]

    def print_all() -> None:
        for r, name in enumerate(registers):
            index = [
                ("i32", lane.two("xor", "i32", start, lane.number((layout.indices[r] >> shift) & (side - 1), i32)))
                for start, shift, side in zip(at, axis_offsets(layout.shape), layout.shape, strict=True)
            ]  # fmt: skip
            shown = _promoted(lane, kind, dtype, name, hexadecimal)
            _print(machine, f" idx ({place}){text}{how}\n", [*index, shown])

    owner = owns(lane, layout.replica_bits) if layout.replica_bits else None
    _guarded(machine, owner, print_all)


def _alone(machine: GpuMachine, work: Callable[[], None]) -> None:
    """What one lane does for the whole program."""
    lane = machine.uniform
    first = lane.compare("icmp eq", "i32", machine.thread(lane), lane.number(0, i32))
    _guarded(machine, first, work)


def _guarded(machine: GpuMachine, guard: str | None, work: Callable[[], None]) -> None:
    if guard is None:
        work()
        return
    with machine.text.when(guard):
        work()


def _format(kind: Element, dtype: str, hexadecimal: bool) -> str:
    if isinstance(kind, Pointer):
        return "%p"
    wide = "ll" if kind.bits == 64 else ""
    if hexadecimal:
        return f"0x%0{max(1, kind.bits // 4)}{wide}x"
    if kind.is_float:
        return "%f"
    return f"%{wide}{'u' if dtype.startswith('u') else 'i'}"


def _promoted(lane: Lane, kind: Element, dtype: str, name: str, hexadecimal: bool) -> _Argument:
    """As C promotes an argument without a parameter: floats to double, small integers to int; in hexadecimal, its bits."""
    machine = lane.machine
    if isinstance(kind, Pointer):
        return "i64", lane.op(f"ptrtoint {machine.carrier(kind)} {name} to i64")
    if kind.is_float and not hexadecimal:
        return "double", name if kind == f64 else machine.widen(lane, name if kind == f32 else machine.widen(lane, name, kind, f32), f32, f64)  # fmt: skip
    carrier = machine.carrier(kind)
    bits = carrier if carrier.startswith("i") else f"i{kind.bits}"
    if bits != carrier:
        name = lane.op(f"bitcast {carrier} {name} to {bits}")
    if bits in ("i32", "i64"):
        return bits, name
    signed = not (hexadecimal or kind == i1 or dtype.startswith("u") or kind.is_float)
    return "i32", lane.convert("sext" if signed else "zext", bits, name, "i32")


def _print(machine: GpuMachine, text: str, arguments: Sequence[_Argument]) -> None:
    """One line, which says the program first."""
    program: list[_Argument] = [("i32", machine.program_id(axis)) for axis in "xyz"]
    values = [*program, *arguments]
    types = f"{{ {', '.join(type_ for type_, _ in values)} }}"
    out = machine.text
    with out.into(out.entry):
        held = out.op(f"alloca {types}, align 8")
    for i, (type_, name) in enumerate(values):
        place = out.op(f"getelementptr {types}, ptr {held}, i32 0, i32 {i}")
        out.do(f"store {type_} {name}, ptr {place}")
    out.declare("i32 @vprintf(ptr, ptr)")
    out.op(f"call i32 @vprintf(ptr {_string(machine, f'pid (%u, %u, %u){text}')}, ptr {held})")


def _string(machine: GpuMachine, text: str) -> str:
    """The address of a text that ends in a zero, in the module's constants."""
    data = text.encode() + b"\0"
    name = machine.texts.setdefault(data, f"@text.{len(machine.texts)}")
    escaped = "".join(f"\\{b:02X}" for b in data)
    machine.text.define(
        name, f'{name} = private unnamed_addr addrspace(1) constant [{len(data)} x i8] c"{escaped}"'
    )
    return f"addrspacecast (ptr addrspace(1) {name} to ptr)"
