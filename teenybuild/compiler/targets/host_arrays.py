"""Arrays of a program's frame: ``[register][lane]``, read and written a vector of lanes at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from teenybuild.compiler.layout.linear import View, thread_runs
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.loops import counted
from teenybuild.compiler.lower.machine import Combine

if TYPE_CHECKING:
    from teenybuild.compiler.targets.host import HostMachine

#: Lanes side by side: a 256-bit register of f32.
WIDTH = 8


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """``registers`` times ``threads`` elements; a bool is stored as a byte."""

    pointer: str
    carrier: str
    stored: str
    size: int
    registers: int
    threads: int


def size_of(llvm: str) -> int:
    """Bytes of an LLVM scalar."""
    return {"float": 4, "double": 8, "half": 2, "ptr": 8}.get(llvm) or int(llvm[1:]) // 8


def _place(lane: Lane, array: Array, register: int, index: str) -> str:
    """The address of lane ``index`` (i64) of a register."""
    pointer = array.pointer
    if register:
        pointer = lane.op(f"getelementptr i8, ptr {pointer}, i64 {register * array.threads * array.size}")
    return (
        pointer if index == "0" else lane.op(f"getelementptr i{8 * array.size}, ptr {pointer}, i64 {index}")
    )


def _aligned(lane: Lane, array: Array) -> int:
    return min(64, array.size * lane.width)


def _read(lane: Lane, array: Array, address: str, align: int) -> str:
    raw = lane.op(f"load {lane.of(array.stored)}, ptr {address}, align {align}")
    return _restored(lane, array, raw)


def _restored(lane: Lane, array: Array, raw: str) -> str:
    return lane.convert("trunc", "i8", raw, "i1") if array.carrier == "i1" else raw


def load(lane: Lane, array: Array, register: int, index: str) -> str:
    """The lanes from ``index`` on."""
    return _read(lane, array, _place(lane, array, register, index), _aligned(lane, array))


def store(lane: Lane, array: Array, register: int, index: str, value: str) -> None:
    """Writes the lanes from ``index`` on."""
    raw = lane.convert("zext", "i1", value, "i8") if array.carrier == "i1" else value
    address = _place(lane, array, register, index)
    lane.text.do(f"store {lane.of(array.stored)} {raw}, ptr {address}, align {_aligned(lane, array)}")


def load_across(lane: Lane, array: Array, register: int, index: str, flip: int) -> str:
    """What the lanes hold whose numbers differ in the bits of ``flip``."""
    inside = flip & (lane.width - 1)
    if flip != inside:
        index = lane.op(f"xor i64 {index}, {flip - inside}")
    found = load(lane, array, register, index)
    return across(lane, array.carrier, found, inside)


def across(lane: Lane, carrier: str, value: str, flip: int) -> str:
    """A vector's elements, those in each other's place whose numbers differ in the bits of ``flip``."""
    return shuffled(lane, carrier, value, [i ^ flip for i in range(lane.width)]) if flip else value


def load_lanes(lane: Lane, array: Array, register: int, index: str, cleared: int, put: int) -> str:
    """What the lanes hold whose numbers are these lanes' without the bits ``cleared`` and with the bits ``put``."""
    inside = lane.width - 1
    if cleared & ~inside and index != "0":
        index = lane.op(f"and i64 {index}, {~(cleared & ~inside)}")
    if put & ~inside:
        index = str(put & ~inside) if index == "0" else lane.op(f"or i64 {index}, {put & ~inside}")
    found = load(lane, array, register, index)
    order = [(i & ~cleared | put) & inside for i in range(lane.width)]
    return found if order == list(range(lane.width)) else shuffled(lane, array.carrier, found, order)


def shuffled(lane: Lane, carrier: str, value: str, order: Sequence[int]) -> str:
    """A vector's elements in another order."""
    ty = lane.of(carrier)
    mask = ", ".join(f"i32 {i}" for i in order)
    return lane.op(f"shufflevector {ty} {value}, {ty} poison, <{len(order)} x i32> <{mask}>")


def load_through(lane: Lane, array: Array, view: View, index: str, thread: str) -> str:
    """Reads a row-major tile through a view of it: lane ``i`` gets element ``view(i)``."""
    width = lane.width
    low = view.bits[: width.bit_length() - 1]
    base = _position(lane, view, index)
    if view.flip:
        base = str(view.flip) if base == "0" else lane.op(f"xor i64 {base}, {view.flip}")
    if all(b == 0 for b in low):
        raw = lane.op(f"load {array.stored}, ptr {_place(lane, array, 0, base)}, align {array.size}")
        one = lane.op(f"trunc i8 {raw} to i1") if array.carrier == "i1" else raw
        return spread(lane, array.carrier, one)
    if all(b == 1 << i for i, b in enumerate(low)) and not view.flip & (width - 1):
        return _read(lane, array, _place(lane, array, 0, base), array.size)
    # A few elements, each repeated or in another order within the vector: read one by one.
    ty = lane.of(array.stored)
    raw = "poison"
    for i in range(width):
        offset = view.moved(i)
        at = lane.op(f"xor i64 {base}, {offset}") if offset else base
        one = lane.op(f"load {array.stored}, ptr {_place(lane, array, 0, at)}, align {array.size}")
        raw = lane.op(f"insertelement {ty} {raw}, {array.stored} {one}, i64 {i}")
    return _restored(lane, array, raw)


def spread(lane: Lane, carrier: str, scalar: str) -> str:
    """One value in every lane."""
    if lane.width == 1:
        return scalar
    ty = lane.of(carrier)
    one = lane.op(f"insertelement {ty} poison, {carrier} {scalar}, i64 0")
    return lane.op(f"shufflevector {ty} {one}, {ty} poison, <{lane.width} x i32> zeroinitializer")


def _position(lane: Lane, view: View, index: str) -> str:
    """``view`` of the first lane's number, i64."""
    if index == "0":
        return "0"
    parts: list[str] = []
    for first, count, at in thread_runs(view.bits):
        part = lane.op(f"and i64 {index}, {((1 << count) - 1) << first}")
        if at > first:
            part = lane.op(f"shl i64 {part}, {at - first}")
        elif at < first:
            part = lane.op(f"lshr i64 {part}, {first - at}")
        parts.append(part)
    if not parts:
        return "0"
    result = parts[0]
    for part in parts[1:]:
        result = lane.op(f"or i64 {result}, {part}")
    return result


def fold(machine: HostMachine, arrays: list[Array], bits: Sequence[int], combine: Combine) -> list[Array]:
    """Combines elements whose numbers differ in ``bits``, one bit after the other; what is left moves together.

    Works in place: the element written is never beyond the ones read.
    """
    length = arrays[0].threads
    left = list(bits)
    while left:
        bit = left.pop(0)
        _fold_bit(machine, arrays, length, bit, combine)
        left = [b - 1 if b > bit else b for b in left]
        length //= 2
    return [Array(a.pointer, a.carrier, a.stored, a.size, 1, length) for a in arrays]


def _fold_bit(machine: HostMachine, arrays: list[Array], length: int, bit: int, combine: Combine) -> None:
    half = length // 2
    width = min(WIDTH, half)
    lane = Lane(machine, width)
    double = Lane(machine, 2 * width)

    def turn(index: str, _: Sequence[str]) -> Sequence[str]:
        first: list[str] = []
        second: list[str] = []
        for array in arrays:
            if 1 << bit >= width:
                low = _split_index(lane, index, bit)
                a = _read(lane, array, _place(lane, array, 0, low), array.size)
                high = lane.op(f"add i64 {low}, {1 << bit}") if low != "0" else str(1 << bit)
                b = _read(lane, array, _place(lane, array, 0, high), array.size)
            else:
                at = lane.op(f"shl i64 {index}, 1") if index != "0" else "0"
                both = _read(double, array, _place(lane, array, 0, at), array.size)
                order = [((i >> bit) << (bit + 1)) | (i & ((1 << bit) - 1)) for i in range(width)]
                a = _picked(double, lane, array.carrier, both, order)
                b = _picked(double, lane, array.carrier, both, [i | 1 << bit for i in order])
            first.append(a)
            second.append(b)
        for array, value in zip(arrays, combine(lane, first, second), strict=True):
            store(
                lane, Array(array.pointer, array.carrier, array.stored, array.size, 1, half), 0, index, value
            )
        return ()

    if width == half:
        turn("0", ())
    else:
        counted(machine.text, str(half), width, (), turn)


def _split_index(lane: Lane, index: str, bit: int) -> str:
    """``index`` with a zero put in at ``bit``."""
    if index == "0":
        return "0"
    high = lane.op(f"shl i64 {lane.op(f'lshr i64 {index}, {bit}')}, {bit + 1}")
    return lane.op(f"or i64 {high}, {lane.op(f'and i64 {index}, {(1 << bit) - 1}')}")


def _picked(double: Lane, lane: Lane, carrier: str, value: str, order: Sequence[int]) -> str:
    ty = double.of(carrier)
    if len(order) == 1:
        return lane.op(f"extractelement {ty} {value}, i64 {order[0]}")
    mask = ", ".join(f"i32 {i}" for i in order)
    return lane.op(f"shufflevector {ty} {value}, {ty} poison, <{len(order)} x i32> <{mask}>")
