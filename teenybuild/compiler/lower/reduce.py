"""Reductions: within a lane's registers, then across lanes, then across warps through shared memory.

Pairs that differ in one bit of their position along the axis are combined, in the order the operation carries
(:func:`~teenybuild.compiler.layout.linear.reduction_order`), so every target adds the same numbers in the same tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.types import element
from teenybuild.compiler.layout.linear import Layout, axis_offsets, drop_axis, reduction_order
from teenybuild.compiler.lower.elementwise import RULES
from teenybuild.compiler.lower.lane import Lane, element_bits
from teenybuild.compiler.lower.machine import Combine, Held, LaneRegisters, Machine
from teenybuild.compiler.lower.memory import element_address
from teenybuild.dtypes import i32


@dataclass(frozen=True, slots=True)
class _Axis:
    """Which bits of register, lane and warp number run along the reduced axis, in combining order."""

    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]


def _axis_bits(layout: Layout, axis: int, order: Sequence[int]) -> _Axis:
    low = axis_offsets(layout.shape)[axis]

    def along(bases: tuple[int, ...]) -> tuple[int, ...]:
        where = {basis: bit for bit, basis in enumerate(bases)}
        return tuple(where[1 << (low + b)] for b in order if 1 << (low + b) in where)

    return _Axis(along(layout.registers), along(layout.lanes), along(layout.warps))


def combiner(op: tt.Combining) -> Combine:
    """The combine block as a function of two sets of scalars."""
    half = len(op.sources)

    def combine(lane: Lane, a: Sequence[str], b: Sequence[str]) -> list[str]:
        env: dict[Value, str] = dict(zip(op.combine.args, [*a[:half], *b[:half]], strict=True))
        for inner in op.combine.ops[:-1]:
            if inner.name == "arith.constant":
                value = cast("int | float", inner.attributes()[0])
                found = element(inner.results[0].type)
                assert not hasattr(found, "pointee")
                env[inner.results[0]] = lane.number(value, found)  # type: ignore[arg-type]  # not a pointer
            else:
                env[inner.results[0]] = RULES[type(inner)](lane, inner, [env[v] for v in inner.operands])
        return [env[v] for v in op.combine.terminator.operands]

    return combine


def lower_reduce(machine: Machine, op: tt.Reduce) -> None:
    """See the module's text."""
    layout = cast(Layout, op.sources[0].layout)
    order = op.order if op.order is not None else reduction_order(layout, op.axis)
    bits = _axis_bits(layout, op.axis, order)
    combine = combiner(op)
    elements = [element(s.type) for s in op.sources]
    helds = machine.each_lane(
        elements,
        lambda lane: _in_registers(lane, op, layout, bits, combine),
        1 << len(layout.threads),
        op.sources,
    )
    if bits.lanes:
        helds = machine.fold_lanes(helds, bits.lanes, layout, combine)
    if bits.warps:
        helds = _across_warps(machine, op, helds, layout, bits, combine)
    for result, held in zip(op.results, helds, strict=True):
        machine.bind(result, held)


def _in_registers(lane: Lane, op: tt.Reduce, layout: Layout, bits: _Axis, combine: Combine) -> LaneRegisters:
    """Folds the registers of each lane, halves first; what is left is in the order of the result's registers."""
    sources = [lane.registers(s) for s in op.sources]
    partial: dict[int, list[str]] = {r: [s[r] for s in sources] for r in range(layout.count)}
    for bit in bits.registers:
        mask = 1 << bit
        partial = {
            r: combine(lane, values, partial[r | mask]) for r, values in partial.items() if not r & mask
        }
    kept = [values for _, values in sorted(partial.items())]
    return [[values[i] for values in kept] for i in range(len(sources))]


def _across_warps(
    machine: Machine, op: tt.Reduce, helds: list[Held], layout: Layout, bits: _Axis, combine: Combine
) -> list[Held]:
    """Each warp writes what it has, all lanes read what every warp wrote and combine it in one order.

    The parts of one element lie side by side, so a lane reads them in one access.
    """
    reduced = layout.viewed(drop_axis(layout.shape, op.axis))
    warps = 1 << len(bits.warps)
    elements = [held.element for held in helds]
    sizes = [element_bits(e) // 8 for e in elements]
    # Warps along the other axes hold other elements; copies along the reduced axis, and replicas, write once.
    lanes = len(layout.lanes)
    silent = sum(1 << b for b in bits.lanes) | (reduced.replica_bits & ((1 << lanes) - 1))
    idle_warps = reduced.replica_bits & ~sum(1 << (lanes + w) for w in bits.warps) & ~((1 << lanes) - 1)
    silent |= idle_warps
    total = 1 << reduced.bits
    buffers = [machine.shared(total * warps * size, 16) for size in sizes]

    def write(lane: Lane) -> LaneRegisters:
        mine = warp_rank(lane, layout, bits.warps)
        owner = None
        if silent:
            masked = lane.two("and", "i32", machine.thread(lane), lane.number(silent, i32))
            owner = lane.compare("icmp eq", "i32", masked, lane.number(0, i32))
        for held, size, base in zip(helds, sizes, buffers, strict=True):
            for register, value in enumerate(machine.read(lane, held)):
                at = element_address(lane, reduced, register, warps * size, base)
                offset = lane.two("mul", "i32", mine, lane.number(size, i32))
                machine.shared_store(lane, held.element, lane.two("add", "i32", at, offset), [value], owner)
        return []

    def read(lane: Lane) -> LaneRegisters:
        found: LaneRegisters = [[] for _ in helds]
        for register in range(helds[0].count):
            parts = [
                machine.shared_load(
                    lane, held.element, element_address(lane, reduced, register, warps * size, base), warps
                )
                for held, size, base in zip(helds, sizes, buffers, strict=True)
            ]
            sets = [[p[w] for p in parts] for w in range(warps)]
            # Warp bits in combining order are the rank's bits from the highest down: halves meet first.
            while len(sets) > 1:
                half = len(sets) // 2
                sets = [combine(lane, sets[w], sets[w + half]) for w in range(half)]
            for i, value in enumerate(sets[0]):
                found[i].append(value)
        return found

    threads = 1 << len(layout.threads)
    machine.each_lane([], write, threads)
    machine.barrier()
    return machine.each_lane(elements, read, threads)


def warp_rank(lane: Lane, layout: Layout, warps: Sequence[int]) -> str:
    """The warp's place among those that differ in the warp bits ``warps``, the first of them in the highest bit; i32."""
    thread = lane.machine.thread(lane)
    lanes = len(layout.lanes)
    rank: str | None = None
    for place, warp_bit in enumerate(reversed(warps)):
        bit = lane.two("lshr", "i32", thread, lane.number(lanes + warp_bit, i32))
        bit = lane.two("and", "i32", bit, lane.number(1, i32))
        bit = lane.two("shl", "i32", bit, lane.number(place, i32)) if place else bit
        rank = bit if rank is None else lane.two("or", "i32", rank, bit)
    return rank if rank is not None else lane.number(0, i32)
