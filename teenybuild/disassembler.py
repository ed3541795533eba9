"""Machine code as text: by ``nvdisasm``, where one is at hand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from teenybuild.diagnostics import error

#: Where an nvdisasm is, if not on the PATH.
NVDISASM_VARIABLE = "TEENYBUILD_NVDISASM"
_LINE = re.compile(r'\s*//## File "[^"]*", line (\d+)')
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")


def disassembled(cubin: bytes) -> str:
    """What nvdisasm makes of a cubin, line information in it. Raises :class:`UserError` where there is no nvdisasm, or it fails."""
    program = os.environ.get(NVDISASM_VARIABLE) or shutil.which("nvdisasm")
    if program is None:
        raise error(
            "there is no nvdisasm on the PATH",
            hint=f"it comes with the CUDA toolkit; {NVDISASM_VARIABLE} says where it is",
        )
    with tempfile.TemporaryDirectory(prefix="teenybuild-") as directory:
        Path(directory, "kernel.cubin").write_bytes(cubin)
        command = [program, "-c", "-g", "kernel.cubin"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=directory)
        except OSError as wrong:
            raise error(f"{program} is no nvdisasm: {wrong.strerror}") from None
    if done.returncode != 0:
        raise error(f"{program} cannot read the cubin:\n{done.stderr.strip()}")
    return done.stdout


def instructions(text: str) -> Iterator[tuple[int, str, str]]:
    """(line of the source, address in hexadecimal digits, instruction), in order, without the padding at the end; 0 is of no line."""
    line, padding = 0, list[tuple[int, str, str]]()
    for each in text.split("\n"):
        located = _LINE.match(each)
        if located is not None:
            line = int(located[1])
        found = _INSTRUCTION.match(each)
        if found is None:
            continue
        row = (line, found[1], re.sub(r"\s+", " ", found[2]))
        if row[2] == "NOP":
            padding.append(row)
        else:
            yield from padding
            padding.clear()
            yield row
