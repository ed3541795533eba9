"""Copies to shared memory beside the program in PTX: ``cp.async``, 4, 8 or 16 bytes a lane (PTX ISA, "Non-bulk copy")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.layout.swizzle import WIDEST
from teenybuild.compiler.lower.machine import Access

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine


def copy_async(
    machine: GpuMachine,
    access: Access,
    pointer: str,
    offset: int,
    mask: str | None,
    address: str,
    when: str,
) -> None:
    """See :meth:`~teenybuild.compiler.lower.machine.Machine.copy_async`. What is not wanted is read as nothing, and filled up with zeros."""
    text = machine.text
    bytes_ = access.count * access.element.size
    piece = min(bytes_, WIDEST)
    # Only whole lines of 16 bytes can pass the first cache by.
    cache = "cg" if piece == WIDEST else "ca"
    to = machine.shared_pointer(address)
    # Under a predicate of its own, the assembler would copy every address first, into few registers that copies then wait for.
    lane = machine.uniform
    reads = when if mask is None else lane.two("and", "i1", mask, when)
    size = text.op(f"select i1 {reads}, i32 {piece}, i32 0")
    for first in range(0, bytes_, piece):
        text.do(
            f'call void asm sideeffect "cp.async.{cache}.shared.global [$0 + {first}], [$1 + {offset + first}], {piece}, $2;", '
            f'"r,l,r"(ptr addrspace(3) {to}, ptr addrspace(1) {pointer}, i32 {size})'
        )


def commit(machine: GpuMachine) -> None:
    """Ends a group."""
    machine.text.do('call void asm sideeffect "cp.async.commit_group;", "~{memory}"()')


def wait(machine: GpuMachine, pending: int) -> None:
    """Waits for groups."""
    machine.text.do(f'call void asm sideeffect "cp.async.wait_group {pending};", "~{{memory}}"()')
