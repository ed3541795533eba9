"""Machine code as text: what nvdisasm says, read; and no nvdisasm. ``tests/peer/test_cubins.py`` has a real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from teenybuild.diagnostics import UserError
from teenybuild.disassembler import disassembled, instructions

TEXT = """
.text.k_entry_point:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "k_00.py", line 9
        /*0010*/              @!P0 LDG.E R11,   desc[UR4][R2.64] ;
        /*0020*/                   NOP;
\t//## File "k_00.py", line 11 inlined at "k_00.py", line 12
        /*0030*/                   EXIT ;
.L_x_0:
        /*0040*/                   BRA `(.L_x_0);
        /*0050*/                   NOP;
        /*0060*/                   NOP;
"""


def test_instructions_and_their_lines() -> None:
    assert list(instructions(TEXT)) == [
        (0, "0000", "LDC R1, c[0x0][0x28]"),
        (9, "0010", "@!P0 LDG.E R11, desc[UR4][R2.64]"),
        (9, "0020", "NOP"),
        (11, "0030", "EXIT"),
        (11, "0040", "BRA `(.L_x_0)"),
    ]


def test_none_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TEENYBUILD_NVDISASM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="there is no nvdisasm on the PATH"):
        disassembled(b"")
    monkeypatch.setenv("TEENYBUILD_NVDISASM", str(tmp_path / "nothing"))
    with pytest.raises(UserError, match="is no nvdisasm: No such file"):
        disassembled(b"")


def test_one_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "nvdisasm"
    program.write_text("#!/bin/sh\necho 'what is this?' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("TEENYBUILD_NVDISASM", str(program))
    with pytest.raises(UserError, match=r"cannot read the cubin:\nwhat is this\?"):
        disassembled(b"")
