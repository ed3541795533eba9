"""Matrices that a warp moves between registers and shared memory at once, in PTX: ``ldmatrix`` and ``stmatrix``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.targets.nvptx_words import numbered

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine


def load(machine: GpuMachine, address: str, count: int, turned: bool) -> list[str]:
    """A word (i32) of each of ``count`` matrices, whose rows are where the lanes' addresses say."""
    text = machine.text
    result = "i32" if count == 1 else f"{{ {', '.join(['i32'] * count)} }}"
    assembly = (
        f"ldmatrix.sync.aligned.m8n8.x{count}{_turned(turned)}.shared.b16 {numbered(0, count)}, [${count}];"
    )
    found = text.op(
        f'call {result} asm sideeffect "{assembly}", "{",".join(["=r"] * count)},r,~{{memory}}"'
        f"(ptr addrspace(3) {machine.shared_pointer(address)}) #5"
    )
    if count == 1:
        return [found]
    return [text.op(f"extractvalue {result} {found}, {i}") for i in range(count)]


def store(machine: GpuMachine, address: str, words: Sequence[str], turned: bool) -> None:
    """The other way round."""
    count = len(words)
    assembly = f"stmatrix.sync.aligned.m8n8.x{count}{_turned(turned)}.shared.b16 [$0], {numbered(1, count)};"
    arguments = ", ".join(
        [f"ptr addrspace(3) {machine.shared_pointer(address)}", *(f"i32 {w}" for w in words)]
    )
    machine.text.do(
        f'call void asm sideeffect "{assembly}", "{",".join(["r"] * (count + 1))},~{{memory}}"({arguments}) #5'
    )


def _turned(turned: bool) -> str:
    return ".trans" if turned else ""
