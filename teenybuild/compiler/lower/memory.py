"""Loads and stores: neighbouring registers become one wide access, replicas write once, masked-off lanes touch nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from teenybuild.compiler.ir import tt, ttg
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.types import Pointer, Tile, element
from teenybuild.compiler.layout.assign import WIDEST, fastest_axes, neighbours
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.linear import Layout, axis_offsets
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import Access, LaneRegisters, Machine
from teenybuild.dtypes import DType, i32


class Pieces(Sequence[str]):
    """Registers that come in groups, each asked for only when its register is."""

    def __init__(self, count: int) -> None:
        self._places: list[tuple[Sequence[str], int] | None] = [None] * count

    def put(self, registers: Sequence[int], values: Sequence[str]) -> None:
        """``values`` are the registers of these numbers."""
        for i, register in enumerate(registers):
            self._places[register] = (values, i)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, r: int) -> str:  # type: ignore[override]  # no slices
        if r >= len(self._places):
            raise IndexError(r)
        place = self._places[r]
        assert place is not None, "every register is loaded"
        values, i = place
        return values[i]


@dataclass(frozen=True, slots=True)
class Group:
    """Registers that one access serves, in order of address; ``anchor`` is the register whose pointer is used, ``offset`` bytes before."""

    registers: tuple[int, ...]
    anchor: int
    offset: int


def _pointee(pointer: Value) -> DType:
    found = element(pointer.type)
    assert isinstance(found, Pointer)
    return found.pointee


def _layout(value: Value) -> Layout:
    return cast(Layout, value.layout)


def plan(op: tt.Load | tt.Store | ttg.CopyAsync, axes: AxisAnalysis) -> tuple[Access, list[Group]]:
    """How the registers of an access are grouped, from what is known of its pointers and mask."""
    layout = _layout(op.pointer)
    dtype = _pointee(op.pointer)
    axis = fastest_axes(op.pointer, axes)[0]
    unit = 1 << axis_offsets(layout.shape)[axis]
    count = neighbours(op, layout, axes)
    info = axes[op.pointer]
    # Every register whose address differs from an earlier one's by a constant shares that one's pointer.
    same_run = ~((info.contiguity[axis] - 1) * unit)
    anchors: dict[int, tuple[int, int]] = {}
    groups: list[Group] = []
    for first in range(0, layout.count, count):
        index = layout.indices[first]
        run = index & same_run
        anchor, at = anchors.setdefault(run, (first, index))
        offset = ((index - at) // unit) * dtype.size
        groups.append(Group(tuple(range(first, first + count)), anchor, offset))
    run, uniform = _lane_runs(op, axes, layout, axis, unit, count)
    divisor = (
        info.divisibility[axis]
        if info.contiguity[axis] <= count
        else min(info.divisibility[axis], count * dtype.size)
    )
    alignment = max(dtype.size, min(divisor, count * dtype.size, WIDEST))
    return _hinted(op, Access(dtype, count, alignment, run, uniform)), groups


def _hinted(op: tt.Load | tt.Store | ttg.CopyAsync, access: Access) -> Access:
    if isinstance(op, ttg.CopyAsync):
        return replace(access, op=op)
    volatile = isinstance(op, tt.Load) and op.volatile
    return replace(access, cache=op.cache, eviction=op.eviction, volatile=volatile, op=op)


def _lane_runs(
    op: tt.Load | tt.Store | ttg.CopyAsync,
    axes: AxisAnalysis,
    layout: Layout,
    axis: int,
    unit: int,
    count: int,
) -> tuple[int, int]:
    """How many neighbouring lanes have addresses that follow each other, and how many of those share one mask."""
    run = 1
    contiguity = axes[op.pointer].contiguity[axis]
    for basis in layout.threads:
        if basis != unit * count * run or run * 2 * count > contiguity:
            break
        run *= 2
    if op.mask is None:
        return run, run
    return run, max(1, min(run, axes[op.mask].constancy[axis] // count))


def lower_load(machine: Machine, op: tt.Load, axes: AxisAnalysis) -> None:
    """A tile is read group by group; a scalar once for all lanes."""
    if not isinstance(op.pointer.type, Tile):
        _scalar_load(machine, op, axes)
        return
    access, groups = plan(op, axes)

    def rule(lane: Lane) -> LaneRegisters:
        pointers = lane.registers(op.pointer)
        masks = lane.registers(op.mask) if op.mask is not None else None
        others = lane.registers(op.other) if op.other is not None else None
        found = Pieces(_layout(op.pointer).count)
        for group in groups:
            values = machine.load(
                lane,
                access,
                pointers[group.anchor],
                group.offset,
                masks[group.registers[0]] if masks is not None else None,
                [others[r] for r in group.registers] if others is not None else None,
            )
            found.put(group.registers, values)
        return [found]

    machine.local(op, rule)


def _scalar_access(op: tt.Load | tt.Store, axes: AxisAnalysis) -> Access:
    dtype = _pointee(op.pointer)
    return _hinted(op, Access(dtype, 1, max(dtype.size, min(axes[op.pointer].divisor, dtype.size)), 1, 1))


def _scalar_load(machine: Machine, op: tt.Load, axes: AxisAnalysis) -> None:
    machine.meet()
    lane = machine.uniform
    mask = machine.scalar(op.mask) if op.mask is not None else None
    other = [machine.scalar(op.other)] if op.other is not None else None
    access = _scalar_access(op, axes)
    machine.set_scalar(op.result, machine.load(lane, access, machine.scalar(op.pointer), 0, mask, other)[0])


def lower_store(machine: Machine, op: tt.Store, axes: AxisAnalysis) -> None:
    """A tile is written group by group, by the owner where lanes hold replicas; a scalar by one lane."""
    if not isinstance(op.pointer.type, Tile):
        _scalar_store(machine, op, axes)
        return
    layout = _layout(op.pointer)
    access, groups = plan(op, axes)
    owned = layout.replica_bits
    if owned:
        # A vector's lanes then have masks of their own.
        access = replace(access, uniform=1)

    def rule(lane: Lane) -> LaneRegisters:
        pointers, values = lane.registers(op.pointer), lane.registers(op.value)
        masks = lane.registers(op.mask) if op.mask is not None else None
        owner = owns(lane, owned) if owned else None
        for group in groups:
            mask = masks[group.registers[0]] if masks is not None else None
            if owner is not None:
                mask = owner if mask is None else lane.two("and", "i1", owner, mask)
            machine.store(
                lane, access, pointers[group.anchor], group.offset, mask, [values[r] for r in group.registers]
            )
        return []

    machine.local(op, rule)


def _scalar_store(machine: Machine, op: tt.Store, axes: AxisAnalysis) -> None:
    machine.meet()
    mask = machine.scalar(op.mask) if op.mask is not None else None
    machine.store_once(_scalar_access(op, axes), machine.scalar(op.pointer), mask, machine.scalar(op.value))


def owns(lane: Lane, bits: int) -> str:
    """Whether this lane is the first of those that differ only in ``bits`` of the thread number."""
    masked = lane.two("and", "i32", lane.machine.thread(lane), lane.number(bits, i32))
    return lane.compare("icmp eq", "i32", masked, lane.number(0, i32))


def element_address(lane: Lane, layout: Layout, register: int, size: int, base: int, flip: int = 0) -> str:
    """Where a register's element (or the one whose index differs in ``flip``) stands among others of ``size`` bytes, row-major from ``base`` on; i32."""
    index, flip = index_of(lane, layout), flip ^ layout.indices[register]
    if flip:
        index = lane.two("xor", "i32", index, lane.number(flip, i32))
    scaled = lane.two("mul", "i32", index, lane.number(size, i32))
    return lane.two("add", "i32", scaled, lane.number(base, i32)) if base else scaled


def index_of(lane: Lane, layout: Layout) -> str:
    """The element index (row-major, i32) that register 0 of the lane holds in ``layout``: other registers differ by a constant XOR."""
    parts: list[str] = []
    machine = lane.machine
    for axis, side in enumerate(layout.shape):
        if side == 1:
            continue
        at = machine.coordinate(lane, layout, axis)
        shift = axis_offsets(layout.shape)[axis]
        parts.append(lane.two("shl", "i32", at, lane.number(shift, i32)) if shift else at)
    if not parts:
        return lane.number(0, i32)
    result = parts[0]
    for part in parts[1:]:
        result = lane.two("or", "i32", result, part)
    return result
