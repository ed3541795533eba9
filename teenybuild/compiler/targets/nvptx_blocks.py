"""Blocks copied by the tensor memory accelerator, and the barriers they arrive at, in PTX (PTX ISA, ``cp.async.bulk.tensor`` and ``mbarrier``).

One lane of the first warp asks. What it tells the accelerator of an array is a *tensor map*, a parameter of the kernel that the launch makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.arrays import Argument, Given
from teenybuild.compiler.ir.ttg import StoreBlock
from teenybuild.compiler.ir.types import dtype_of
from teenybuild.compiler.lower.blocks import MAP_ALIGNMENT, MAP_BYTES, SIGNAL, TensorMap
from teenybuild.compiler.targets.nvptx_words import numbered
from teenybuild.dtypes import i32

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine


def parameter(number: int) -> str:
    """How a kernel takes a tensor map: by value, to be read where it is passed."""
    return f'ptr byval([{MAP_BYTES} x i8]) align {MAP_ALIGNMENT} "nvvm.grid_constant" %map{number}'


def open_signals(machine: GpuMachine, offset: int, count: int) -> None:
    """One arrival, of who announces the bytes, and they themselves make a phase."""
    first = machine.speaker()
    for i in range(count):
        _each(machine, "@$1 mbarrier.init.shared::cta.b64 [$0], 1;", offset + SIGNAL * i, first)
    # For the accelerator; and what lanes wrote before to where it is going to.
    machine.text.do(
        'call void asm sideeffect "fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;", "~{memory}"() #5'
    )
    machine.barrier()


def close_signals(machine: GpuMachine, offset: int, count: int) -> None:
    """Their room may hold anything again."""
    first = machine.speaker()
    for i in range(count):
        _each(machine, "@$1 mbarrier.inval.shared::cta.b64 [$0];", offset + SIGNAL * i, first)


def _each(machine: GpuMachine, assembly: str, offset: int, first: str) -> None:
    pointer = machine.shared_pointer(str(offset))
    machine.text.do(
        f'call void asm sideeffect "{assembly}", "r,b,~{{memory}}"(ptr addrspace(3) {pointer}, i1 {first}) #5'
    )


def only(machine: GpuMachine, says: str, rule: Callable[[], None]) -> None:
    """What one lane does: the others, and all other warps, go past it (each instruction under a predicate would be one for all of them)."""
    with machine.text.when(says):
        rule()


def expect(machine: GpuMachine, signal: str, bytes_: int) -> None:
    """The one arrival."""
    machine.text.do(
        f'call void asm sideeffect "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], {bytes_};", '
        f'"r,~{{memory}}"(ptr addrspace(3) {machine.shared_pointer(signal)}) #5'
    )


def copy_block(
    machine: GpuMachine, map_: TensorMap, corner: Sequence[str], address: str, signal: str
) -> None:
    """A box after the other, by the lane that has announced them."""
    rank, name, arrives = len(corner), machine.tensor_map(map_), machine.shared_pointer(signal)
    assembly = (
        f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        f"[$0], [$1, {numbered(3, rank)}], [$2];"
    )
    constraints = ",".join(["r", "l", "r", *["r"] * rank, "~{memory}"])
    for at, places in _boxes(machine, map_, corner, address):
        machine.text.do(
            f'call void asm sideeffect "{assembly}", "{constraints}"(ptr addrspace(3) {at}, ptr {name}, '
            f"ptr addrspace(3) {arrives}, {places}) #5"
        )


def store_block(
    machine: GpuMachine, op: StoreBlock, map_: TensorMap, corner: Sequence[str], address: str
) -> None:
    """By one lane, or one of each warp, which waits until shared memory has been read, or all has been written, if that is wanted."""
    text, says = machine.text, machine.speaker()
    if op.warps is not None:
        machine.show_hardware()
        machine.meet_warp()
        says = machine.elected()
        corner, address = _own(machine, map_, op.warps, corner, address)
    for extent in map_.array.shape:
        # The map of an empty array is of one element, which others read.
        says = machine.uniform.two("and", "i1", says, _positive(machine, extent))
    rank, name = len(corner), machine.tensor_map(map_)
    assembly = (
        f"cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [$1, {numbered(2, rank)}], [$0];"
    )
    constraints = ",".join(["r", "l", *["r"] * rank, "~{memory}"])

    def ask() -> None:
        for at, places in _boxes(machine, map_, corner, address, op.warps):
            text.do(
                f'call void asm sideeffect "{assembly}", "{constraints}"(ptr addrspace(3) {at}, ptr {name}, {places}) #5'
            )
        text.do('call void asm sideeffect "cp.async.bulk.commit_group;", "~{memory}"() #5')

    only(machine, says, ask)
    if op.done != "asked":
        wait_stores(machine, written=op.done == "written")


def wait_stores(machine: GpuMachine, *, written: bool = False) -> None:
    """Until shared memory has been read, or all has been ``written``. Lanes that asked for nothing go on."""
    read = "" if written else ".read"
    machine.text.do(f'call void asm sideeffect "cp.async.bulk.wait_group{read} 0;", "~{{memory}}"() #5')


def _own(
    machine: GpuMachine, map_: TensorMap, warps: Sequence[int], corner: Sequence[str], address: str
) -> tuple[list[str], str]:
    """Where the boxes of this warp begin, in the array and in shared memory."""
    lane, moves = machine.uniform, map_.boxes.moves(warps)

    def moved(start: str, bases: Sequence[int]) -> str:
        return lane.two("add", "i32", start, machine.moved_by_warp(bases)) if any(bases) else start

    own = [moved(start, [along[axis] for along, _ in moves]) for axis, start in enumerate(corner)]
    return own, moved(address, [bytes_ for _, bytes_ in moves])


def _positive(machine: GpuMachine, given: Given) -> str:
    if not isinstance(given, Argument):
        return "true" if given > 0 else "false"
    value = machine.arguments[given.number]
    return machine.uniform.compare("icmp sgt", dtype_of(value.type).llvm, machine.scalar(value), "0")


def _boxes(
    machine: GpuMachine,
    map_: TensorMap,
    corner: Sequence[str],
    address: str,
    warps: Sequence[int] | None = None,
) -> Iterator[tuple[str, str]]:
    """Of each box: where it lies in shared memory, and its offsets as arguments of assembly."""
    lane = machine.uniform
    for offsets, byte in map_.boxes.starts(warps):
        at = lane.two("add", "i32", address, lane.number(byte, i32)) if byte else address
        places = [
            lane.two("add", "i32", start, lane.number(offset, i32)) if offset else start
            for start, offset in zip(corner, offsets, strict=True)
        ]
        yield machine.shared_pointer(at), ", ".join(f"i32 {place}" for place in places)


def await_signal(machine: GpuMachine, signal: str, phase: str) -> None:
    """Asks again until it is so; the hardware lets the warp sleep for a while each time."""
    machine.text.do(
        'call void asm sideeffect "{ .reg .pred p; again_${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1; '
        '@!p bra again_${:uid}; }", '
        f'"r,r,~{{memory}}"(ptr addrspace(3) {machine.shared_pointer(signal)}, i32 {phase}) #5'
    )
