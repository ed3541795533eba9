"""A short run of the fuzzers. ``python -m tests.fuzz SECONDS`` has long ones, ``TEENYBUILD_FUZZ_SEED`` other cases here."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz import held

#: Cases of each kind.
CASES = 60
_ROOT = Path(__file__).parents[2]


def fuzz(*arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fuzz", "300", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=False)


def test_a_short_run() -> None:
    """The same cases, and in other processes, with the hashes of other days, the same is said."""
    seed = os.environ.get("TEENYBUILD_FUZZ_SEED", "0")
    runs = [fuzz("--seed", seed, "--cases", str(CASES), hash_seed=each) for each in ("1", "2")]
    for run in runs:
        assert run.returncode == 0, run.stdout + run.stderr
    first, second = (run.stdout.splitlines()[-1] for run in runs)
    assert first == second
    assert first.startswith(f"{2 * CASES} cases: ")


def test_what_is_not_held_is_told(tmp_path: Path) -> None:
    """Reading that writes, runs or never gives the same is found."""

    def write() -> None:
        (tmp_path / "written").write_text("x")

    def run() -> None:
        subprocess.run(["true"], check=False)

    def execute() -> None:
        exec(compile("x = 1", str(tmp_path / "kernel.py"), "exec"))

    def greedy() -> None:
        bytearray(2 * held.BYTES)

    r = random.Random(0)
    for read, said in ((write, "more than read"), (run, "more than read"), (execute, "more than read"), (greedy, "MiB"), (r.random, "something else")):  # fmt: skip
        with pytest.raises(held.Broken, match=said):
            held.outcome(tmp_path, read, {})
