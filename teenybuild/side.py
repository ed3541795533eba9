"""A kernel's source, what the compiler understood of each line, and what became of it: side by side, a source line at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.printer import print_operations
from teenybuild.compiler.lower.debug import Lines
from teenybuild.compiler.pipeline import Job, Product, compile_job, front
from teenybuild.disassembler import disassembled, instructions

if TYPE_CHECKING:
    from teenybuild.assembler import Assembler

#: Characters of an instruction that are shown.
_WIDEST = 150
#: Registers of an operand that are shown, of more than four.
_LONG_OPERAND = re.compile(r"\{(%\w+), (%\w+), (?:%\w+, )+(%\w+)\}")
_LOCATION = re.compile(r"\s*\.loc\s+\d+\s+(\d+)\s")


@dataclass(slots=True)
class _Line:
    """What belongs to one line of the source."""

    operations: list[str] = field(default_factory=list[str])
    instructions: list[str] = field(default_factory=list[str])


def side(job: Job, assembler: Assembler | None = None) -> str:
    """The canonical source; under each of its lines the IR's operations, and under those PTX, whose instructions are numbered in their own order.

    With an ``assembler`` machine code comes last, each instruction after its address.  The code is that of the artifact with line information: the same but for where an instruction stands among its neighbours.
    Raises :class:`UserError` as a compile does, and where there is no disassembler.
    """
    lines = Lines(job.source_name, job.reached.text, job.reached.lines)
    found: dict[int, _Line] = {}
    for op, text in print_operations(front(job)):
        found.setdefault(lines.line(op) or 0, _Line()).operations.append(text)
    job = replace(job, lineinfo=True)
    product = compile_job(job)
    assert product.ptx is not None
    source = job.reached.text.rstrip("\n").split("\n")
    # What every kernel begins with is of the first line, as line information has it.
    head = next(i for i, text in enumerate(source, 1) if text.startswith(f"def {job.reached.function.name}("))
    code = list(_instructions(product.ptx))
    if assembler is not None:
        code += _machine_code(job, product, assembler)
    for line, text in code:
        found.setdefault(head if line == 1 else line, _Line()).instructions.append(text)
    return "\n".join(_shown(source, found)) + "\n"


def _instructions(ptx: str) -> Iterator[tuple[int, str]]:
    """(line of the source, instruction) in order."""
    line = number = 0
    for text in ptx.split("\n"):
        located = _LOCATION.match(text)
        if located is not None:
            line = int(located[1])
        elif line and text.startswith("\t") and not text.strip().startswith(("//", ".")):
            number += 1
            yield line, f"{number:5d}  {_short(text.strip())}"


def _machine_code(job: Job, product: Product, assembler: Assembler) -> Iterator[tuple[int, str]]:
    from teenybuild.assembler import assemble

    assert product.ptx is not None
    described = product.description
    cubin, _ = assemble(
        assembler,
        product.ptx.encode(),
        job.target.name,
        described.symbol,
        described.shared_bytes,
        lineinfo=True,
    )
    for line, address, text in instructions(disassembled(cubin)):
        yield line, f"{address:>5}: {_short(text)}"


def _short(text: str) -> str:
    text = _LONG_OPERAND.sub(r"{\1, \2, …, \3}", text.replace("\t", " "))
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _shown(source: Sequence[str], found: dict[int, _Line]) -> Iterator[str]:
    for number, text in enumerate(source, 1):
        yield f"{number:4d} | {text}".rstrip()
        yield from _below(found.get(number))
    if 0 in found:
        yield "     | (of no line)"
        yield from _below(found[0])


def _below(line: _Line | None) -> Iterator[str]:
    if line is not None:
        yield from (f"     |     {text}" for text in line.operations)
        yield from (f"     | {text}" for text in line.instructions)
