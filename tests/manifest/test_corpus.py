"""Every wrong manifest gets exactly the messages written down for it; every right one exactly its expansion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .corpus import FAILING, GOLDEN, cases, complaints, expansion

_ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("case", cases(FAILING), ids=lambda case: case.name)
def test_wrong(case: Path) -> None:
    assert complaints(case) == (case / "expected.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", cases(GOLDEN), ids=lambda case: case.name)
def test_right(case: Path) -> None:
    assert expansion(case) == (case / "expected.json").read_text(encoding="utf-8")


def test_every_wrong_manifest_is_refused() -> None:
    texts = {case.name: (case / "expected.txt").read_text(encoding="utf-8") for case in cases(FAILING)}
    assert len(texts) >= 60
    assert [name for name, text in texts.items() if "error: " not in text] == []


def test_ci_refuses_to_update() -> None:
    command = [sys.executable, "-m", "tests.manifest.update"]
    done = subprocess.run(
        command, cwd=_ROOT, env=os.environ | {"CI": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "not in CI" in done.stderr
