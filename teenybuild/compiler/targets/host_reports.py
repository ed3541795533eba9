"""Reports of a host program: values in its frame, shown to a function that the launch supplies.

``i32 report(i32 number, i32 x, i32 y, i32 z, ptr values)``: which report, of which program, and where the values stand; other than 0 ends
the program.  (``docs/contracts.md``.)

``arrays``, where it is not null, is a count and so many rows of three addresses: where an array begins, where it ends, and a number for
each of its bytes, which is 0 or one more than the linear number of the program that wrote there last.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import Op, Value
from teenybuild.compiler.ir.types import Tile, element, numel
from teenybuild.compiler.lower.convert import write_shared
from teenybuild.compiler.lower.debug import Lines
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.reports import Report, report_of

if TYPE_CHECKING:
    from teenybuild.compiler.targets.host import HostMachine

#: Whether all of some bytes are other than 0.
_ALL = """define internal i1 @teeny.all(ptr %bytes, i64 %count) #1 {
entry:
  br label %turn
turn:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %p = getelementptr i8, ptr %bytes, i64 %i
  %byte = load i8, ptr %p
  %holds = icmp ne i8 %byte, 0
  br i1 %holds, label %more, label %done
more:
  %next = add i64 %i, 1
  %left = icmp ult i64 %next, %count
  br i1 %left, label %turn, label %done
done:
  ret i1 %holds
}"""


def tell(machine: HostMachine, report: Report) -> None:
    """Shows the values; the program goes on."""
    _call(machine, report, _written(machine, report))


def stop_unless(machine: HostMachine, report: Report) -> None:
    """Shows a condition that does not hold everywhere; the program ends if the answer is not 0."""
    text = machine.text
    place = _written(machine, report)
    text.define("@teeny.all", _ALL)
    holds = text.op(f"call i1 @teeny.all(ptr {place}, i64 {numel(report.values[0].type)})")
    fails, ends, goes_on = text.label(), text.label(), text.label()
    text.do(f"br i1 {holds}, label %{goes_on}, label %{fails}")
    text.open(fails)
    answer = _call(machine, report, place)
    ending = text.op(f"icmp ne i32 {answer}, 0")
    text.do(f"br i1 {ending}, label %{ends}, label %{goes_on}")
    text.open(ends)
    text.do("ret void")
    text.open(goes_on)


def _written(machine: HostMachine, report: Report) -> str:
    """The address of the report's values, once they stand there."""
    if not report.values:
        return "null"
    base = machine.shared(report.size, 16)
    for value, offset in zip(report.values, report.offsets, strict=True):
        _write(machine, value, base + offset)
    machine.barrier()
    return machine.text.op(f"getelementptr i8, ptr %shared, i64 {base}")


def _write(machine: HostMachine, value: Value, base: int) -> None:
    kind = element(value.type)
    if not isinstance(value.type, Tile):
        machine.shared_store(machine.uniform, kind, str(base), [machine.scalar(value)], None)
        return
    write_shared(machine, value, base)


def _call(machine: HostMachine, report: Report, place: str) -> str:
    number = _number(machine, report)
    return machine.text.op(f"call i32 %report(i32 {number}, {_program(machine)}, ptr {place})")


def _number(machine: HostMachine, report: Report) -> int:
    machine.reports.append(report)
    return len(machine.reports) - 1


def _program(machine: HostMachine) -> str:
    return ", ".join(f"i32 {machine.program_id(axis)}" for axis in "xyz")


#: Whether ``size`` bytes at an address lie in one of the arrays. What does not is told (report ``number``), as is a write where another
#: program wrote (``number + 1``); a ``writer`` of 0 reads.
_CHECK = """define internal i1 @teeny.check(ptr %pointer, i64 %size, i32 %number, i32 %writer, i32 %x, i32 %y, i32 %z, ptr %report, ptr %arrays) #1 {
entry:
  %unknown = icmp eq ptr %arrays, null
  br i1 %unknown, label %fine, label %known
known:
  %count = load i64, ptr %arrays
  %first = ptrtoint ptr %pointer to i64
  %last = add i64 %first, %size
  br label %head
head:
  %i = phi i64 [ 0, %known ], [ %next, %more ]
  %left = icmp ult i64 %i, %count
  br i1 %left, label %turn, label %outside
turn:
  %words = mul i64 %i, 3
  %at = add i64 %words, 1
  %row = getelementptr i64, ptr %arrays, i64 %at
  %start = load i64, ptr %row
  %row.end = getelementptr i64, ptr %row, i64 1
  %end = load i64, ptr %row.end
  %above = icmp uge i64 %first, %start
  %below = icmp ule i64 %last, %end
  %inside = and i1 %above, %below
  br i1 %inside, label %found, label %more
more:
  %next = add i64 %i, 1
  br label %head
outside:
  %told = call i32 %report(i32 %number, i32 %x, i32 %y, i32 %z, ptr %pointer)
  ret i1 false
found:
  %reads = icmp eq i32 %writer, 0
  br i1 %reads, label %fine, label %writes
writes:
  %row.writers = getelementptr ptr, ptr %row, i64 2
  %writers = load ptr, ptr %row.writers
  %offset = sub i64 %first, %start
  %place = getelementptr i32, ptr %writers, i64 %offset
  %before = load i32, ptr %place
  store i32 %writer, ptr %place
  %nobody = icmp eq i32 %before, 0
  %me = icmp eq i32 %before, %writer
  %alone = or i1 %nobody, %me
  br i1 %alone, label %fine, label %race
race:
  %number.race = add i32 %number, 1
  %told.race = call i32 %report(i32 %number.race, i32 %x, i32 %y, i32 %z, ptr %pointer)
  br label %fine
fine:
  ret i1 true
}"""


class Checks:
    """Checks the accesses of one program, but for ``strays``: those may touch what is no argument's."""

    def __init__(self, machine: HostMachine, lines: Lines, strays: Set[Op]) -> None:
        self._machine = machine
        self._lines = lines
        self._strays = strays
        self._numbers: dict[Op, int] = {}

    def mask(
        self, lane: Lane, op: Op | None, pointer: str, offset: int, size: int, mask: str | None
    ) -> str | None:
        """The lanes of ``mask`` whose ``size`` bytes, ``offset`` behind the pointer, may be touched; the others are told."""
        assert op is not None
        if op in self._strays:
            return mask
        machine, text = self._machine, self._machine.text
        text.define("@teeny.check", _CHECK)
        writer = self._writer() if isinstance(op, tt.Store) else "0"
        same = (
            f"i64 {size}, i32 {self._number(op)}, i32 {writer}, {_program(machine)}, ptr %report, ptr %arrays"
        )
        found = "" if lane.width == 1 else lane.splat("i1", "false")
        for i in range(lane.width):
            wanted = mask if mask is None or lane.width == 1 else _of_lane(lane, "i1", mask, i)
            address = pointer if lane.width == 1 else _of_lane(lane, "ptr", pointer, i)
            if offset:
                address = text.op(f"getelementptr i8, ptr {address}, i64 {offset}")
            before, check, after = text.block, text.label(), text.label()
            text.do(f"br i1 {wanted or 'true'}, label %{check}, label %{after}")
            text.open(check)
            holds = text.op(f"call i1 @teeny.check(ptr {address}, {same})")
            text.do(f"br label %{after}")
            text.open(after)
            holds = text.op(f"phi i1 [ {holds}, %{check} ], [ false, %{before} ]")
            found = (
                holds
                if lane.width == 1
                else text.op(f"insertelement {lane.of('i1')} {found}, i1 {holds}, i64 {i}")
            )
        return found

    def _number(self, op: Op) -> int:
        """Of the report of a wrong access; the next is that of a race."""
        found = self._numbers.get(op)
        if found is None:
            found = self._numbers[op] = _number(self._machine, report_of(op, "access", (), self._lines))
            if isinstance(op, tt.Store):
                _number(self._machine, report_of(op, "race", (), self._lines))
        return found

    def _writer(self) -> str:
        """One more than the program's linear number."""
        lane = self._machine.uniform
        row = lane.two("mul", "i32", self._machine.program_id("z"), self._machine.num_programs("y"))
        row = lane.two("add", "i32", row, self._machine.program_id("y"))
        at = lane.two("mul", "i32", row, self._machine.num_programs("x"))
        at = lane.two("add", "i32", at, self._machine.program_id("x"))
        return lane.two("add", "i32", at, "1")


def _of_lane(lane: Lane, llvm: str, vector: str, i: int) -> str:
    return lane.op(f"extractelement {lane.of(llvm)} {vector}, i64 {i}")
