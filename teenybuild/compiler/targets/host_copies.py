"""Copies beside the program on a CPU: they land where they are waited for, and not before.

What a copy reads waits in a *shadow* of shared memory; its place is filled with ones, NaN in every float, until its group has been waited for.  So a
program that reads too early reads what cannot be right.  A queue holds the rooms that copies are under way to, by the number of their group, or by
the signal of what they are copied with (``host_blocks.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.types import Pointer
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.loops import counted
from teenybuild.compiler.lower.machine import Access
from teenybuild.compiler.lower.text import Text
from teenybuild.compiler.targets import host_memory
from teenybuild.dtypes import i32

if TYPE_CHECKING:
    from teenybuild.compiler.targets.host import HostMachine

#: Rooms that copies can be under way to at once: more than any loop's stages times its loads.
_ROOMS = 256
#: The queue, in i64: groups committed, rooms put in, rooms taken out; then offset, bytes and group, or signal, of each room.
_GROUPS, _PUT, _TAKEN, _FIRST, _EACH = 0, 1, 2, 3, 3


@dataclass(frozen=True, slots=True)
class Queue:
    """Where the queue stands in the frame."""

    pointer: str

    def at(self, text: Text, index: str) -> str:
        return text.op(f"getelementptr i64, ptr {self.pointer}, i64 {index}")


def queue(machine: HostMachine) -> Queue:
    """An empty queue, for the function's start."""
    pointer = machine.reserve(8 * (_FIRST + _EACH * _ROOMS))
    found = Queue(pointer)
    with machine.text.into(machine.text.entry):
        for field in (_GROUPS, _PUT, _TAKEN):
            machine.text.do(f"store i64 0, ptr {found.at(machine.text, str(field))}, align 8")
    return found


def begin(machine: HostMachine, address: str, size: int) -> None:
    """A tile of ``size`` bytes is about to be copied to ``address`` (i32), in the group that is being gathered."""
    text, rooms = machine.text, machine.copies
    group = text.op(f"load i64, ptr {rooms.at(text, str(_GROUPS))}, align 8")
    put(text, rooms, address, size, group)


def put(text: Text, rooms: Queue, address: str, size: int, tag: str) -> None:
    """A room at the end of a queue; ``tag`` is its group or signal, i64."""
    number = text.op(f"load i64, ptr {rooms.at(text, str(_PUT))}, align 8")
    room = _room(text, number)
    wide = text.op(f"zext i32 {address} to i64")
    for i, value in enumerate((wide, str(size), tag)):
        text.do(f"store i64 {value}, ptr {rooms.at(text, text.op(f'add i64 {room}, {i}'))}, align 8")
    text.do(f"store i64 {text.op(f'add i64 {number}, 1')}, ptr {rooms.at(text, str(_PUT))}, align 8")


def _room(text: Text, number: str) -> str:
    place = text.op(f"mul i64 {text.op(f'and i64 {number}, {_ROOMS - 1}')}, {_EACH}")
    return text.op(f"add i64 {place}, {_FIRST}")


def copy(machine: HostMachine, lane: Lane, access: Access, values: Sequence[str], address: str) -> None:
    """What a lane's copy reads goes to the shadow, and ones to where it will be."""
    carrier, size = machine.carrier(access.element), access.element.size
    wide = lane.convert("zext", "i32", address, "i64")
    for base, written in (("%shadow", values), ("%shared", None)):
        start = lane.broadcast(Pointer(i32), base)
        for i in range(access.count):
            at = lane.two("add", "i64", wide, lane.splat("i64", str(i * size))) if i else wide
            place = lane.op(f"getelementptr i8, {lane.of('ptr')} {start}, {lane.of('i64')} {at}")
            if written is not None:
                host_memory.scatter(lane, carrier, place, None, written[i])
            else:
                host_memory.scatter(lane, f"i{8 * size}", place, None, lane.splat(f"i{8 * size}", "-1"))


def commit(machine: HostMachine) -> None:
    """What was begun since the last commit is a group."""
    text = machine.text
    place = machine.copies.at(text, str(_GROUPS))
    groups = text.op(f"load i64, ptr {place}, align 8")
    text.do(f"store i64 {text.op(f'add i64 {groups}, 1')}, ptr {place}, align 8")


def wait(machine: HostMachine, pending: int) -> None:
    """All groups but the latest land."""
    text, rooms = machine.text, machine.copies
    groups = text.op(f"load i64, ptr {rooms.at(text, str(_GROUPS))}, align 8")
    land(machine, rooms, "slt", text.op(f"sub i64 {groups}, {pending}"))


def land(machine: HostMachine, rooms: Queue, how: str, tag: str) -> None:
    """Rooms land, the oldest first, as far as their tags compare (``icmp how``) with ``tag``, i64."""
    name = f"@teeny.land.{how}"
    if not machine.text.defines(name):
        machine.text.define_function(
            name, f"void {name}(ptr %queue, ptr %shared, ptr %shadow, i64 %tag)", _land(how)
        )
    machine.text.do(f"call void {name}(ptr {rooms.pointer}, ptr %shared, ptr %shadow, i64 {tag})")


def _land(how: str) -> Text:
    """While the oldest room's tag compares: its bytes go where they belong."""
    text, rooms = Text(), Queue("%queue")
    head, some, landing, done = (text.label() for _ in range(4))
    text.do(f"br label %{head}")
    text.open(head)
    taken = text.op(f"load i64, ptr {rooms.at(text, str(_TAKEN))}, align 8")
    last = text.op(f"load i64, ptr {rooms.at(text, str(_PUT))}, align 8")
    text.do(f"br i1 {text.op(f'icmp ult i64 {taken}, {last}')}, label %{some}, label %{done}")
    text.open(some)
    room = _room(text, taken)
    offset, size, tag = (
        text.op(f"load i64, ptr {rooms.at(text, text.op(f'add i64 {room}, {i}'))}, align 8")
        for i in range(_EACH)
    )
    text.do(f"br i1 {text.op(f'icmp {how} i64 {tag}, %tag')}, label %{landing}, label %{done}")
    text.open(landing)

    def turn(index: str, _: Sequence[str]) -> Sequence[str]:
        at = text.op(f"add i64 {offset}, {index}")
        word = text.op(f"load i64, ptr {text.op(f'getelementptr i8, ptr %shadow, i64 {at}')}, align 8")
        text.do(f"store i64 {word}, ptr {text.op(f'getelementptr i8, ptr %shared, i64 {at}')}, align 8")
        return ()

    counted(text, size, 8, (), turn)
    text.do(f"store i64 {text.op(f'add i64 {taken}, 1')}, ptr {rooms.at(text, str(_TAKEN))}, align 8")
    text.do(f"br label %{head}")
    text.open(done)
    text.do("ret void")
    return text
