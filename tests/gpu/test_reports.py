"""What kernels print on a GPU, and assertions that fail there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.language.test_debugging import ASSERTS, PRINTS

pytestmark = pytest.mark.gpu

#: A failed assertion takes the context with it, and what is printed comes out when that is synchronised: each in a process of its own.
PROGRAM = """
import sys
import numpy as np
import device as gpu
from teenybuild import compile
from tests.gpu.program import GpuProgram

path, target, cache, what = sys.argv[1:]
device = gpu.find()
if what == "prints":
    x = np.array([[1.5, -2, 0, 1e6], [3, np.inf, np.nan, -0.25]], np.float32)
    arguments = {"x": x, "y": np.array([200, 7], np.uint8), "o": np.zeros_like(x), "n": 3}
    types, const = {"x": "*f32", "y": "*u8", "o": "*f32", "n": "i32"}, {"R": 2, "C": 4}
else:
    arguments = {"x": np.arange(64, dtype=np.int32), "o": np.zeros(64, np.int32), "n": int(what)}
    types, const = {"x": "*i32", "o": "*i32", "n": "i32"}, {"BLOCK": 32}
artifact = compile(path + ":kernel", target, types, const, debug=True, cache_dir=cache)
GpuProgram(device, artifact)(arguments, (2,))
"""


def ran(tmp_path: Path, source: str, target: str, what: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "kernel.py"
    path.write_text(source)
    command = [sys.executable, "-c", PROGRAM, str(path), target, str(tmp_path / "cache"), what]
    paths = [str(Path(__file__).parents[2]), *sys.path]
    environment = {"PYTHONPATH": ":".join(paths), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_prints(tmp_path: Path, target: str) -> None:
    """The lines that the host prints, in whatever order lanes come to it."""
    done = ran(tmp_path, PRINTS, target, "prints")
    assert done.returncode == 0, done.stderr
    words = ["1.500000", "-2.000000", "0.000000", "1000000.000000", "3.000000", "inf", "nan", "-0.250000"]
    raw = ["3fc00000", "c0000000", "00000000", "49742400", "40400000", "7f800000", "7fc00000", "be800000"]
    places = [f"{r}, {c}" for r in range(2) for c in range(4)]
    expected: list[str] = []
    for program in ("pid (0, 0, 0)", "pid (1, 0, 0)"):
        for text, values in ((" v: ", words), (" both: (operand 0) ", words), (" bits: 0x", raw)):
            expected += [f"{program} idx ({p}){text}{w}" for p, w in zip(places, values, strict=True)]
        expected += [f"{program} idx () both: (operand 1) 3", f"{program} hello"]
        expected += [
            f"{program} idx (0) y: 200",
            f"{program} idx (1) y: 7",
            f"{program} idx () in a helper: 3",
        ]
    assert sorted(done.stdout.splitlines()) == sorted(expected)


def test_assertions(tmp_path: Path, target: str) -> None:
    right = ran(tmp_path, ASSERTS, target, "64")
    assert right.returncode == 0, right.stderr
    for n, message in ((40, "below n"), (13, "unlucky")):
        wrong = ran(tmp_path, ASSERTS, target, str(n))
        assert wrong.returncode != 0
        assert "CUDA_ERROR_ASSERT" in wrong.stderr
        assert f"Assertion `{message}` failed" in wrong.stdout + wrong.stderr
