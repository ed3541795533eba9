"""Assemblers that are not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from teenybuild.assembler import find_assembler
from teenybuild.diagnostics import UserError


def test_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    pathfinder: Any = pytest.importorskip("cuda.pathfinder")

    def nothing(name: str) -> None:
        raise pathfinder.DynamicLibNotFoundError(f"there is no {name}\nlooked everywhere")

    monkeypatch.setattr(pathfinder, "load_nvidia_dynamic_lib", nothing)
    with pytest.raises(UserError) as wrong:
        find_assembler("nvjitlink")
    [said] = wrong.value.diagnostics
    assert said.message == "cubins need an assembler, and there is no nvJitLink: there is no nvJitLink"
    assert said.hint is not None
    assert said.hint.startswith("pip install 'teenybuild[cubin]'")


def test_no_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TEENYBUILD_PTXAS", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="there is no ptxas on the PATH"):
        find_assembler("ptxas")


@pytest.mark.parametrize(
    ("text", "message"),
    [("#!/bin/sh\nexit 3\n", "is no ptxas"), ("#!/bin/sh\necho hello\n", "does not say which ptxas it is")],
)
def test_another_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, message: str) -> None:
    program = tmp_path / "ptxas"
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("TEENYBUILD_PTXAS", str(program))
    with pytest.raises(UserError, match=message):
        find_assembler("ptxas")
