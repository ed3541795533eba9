"""Every wrong kernel gets exactly the messages written down for it, all at once, and never an exception of ours; right ones their tile IR."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .corpus import FAILING, GOLDEN, TESTS, cases, complaints, goldens


@pytest.mark.parametrize("case", cases(FAILING), ids=lambda case: case.name)
def test_wrong(case: Path) -> None:
    assert complaints(case) == (case / "expected.txt").read_text(encoding="utf-8")


def test_every_wrong_kernel_is_refused() -> None:
    texts = {case.name: (case / "expected.txt").read_text(encoding="utf-8") for case in cases(FAILING)}
    assert len(texts) >= 100
    assert [name for name, text in texts.items() if "error: " not in text] == []


def test_goldens() -> None:
    """Tile IR of a few kernels, and the canonical print of everything that can be printed: the same on every Python version."""
    wanted = goldens()
    found = {
        path.name: path.read_text(encoding="utf-8")
        for path in GOLDEN.iterdir()
        if path.name != "statements.py"
    }
    assert sorted(found) == sorted(wanted)
    for name, text in wanted.items():
        assert found[name] == text, name


def test_ci_refuses_to_update() -> None:
    command = [sys.executable, "-m", "tests.compiler.update"]
    done = subprocess.run(
        command, cwd=TESTS.parent, env=os.environ | {"CI": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "not in CI" in done.stderr
