"""How builds take to many specialisations: cold, with nothing to do, after one edit, from the cache alone.

    python benchmarks/scale.py [--sizes 500 5000] [--json FILE]

A project of N specialisations is N / 10 kernels, elementwise and reductions in turn, ten to a file, each with ten specialisations for one GPU.
Needs no GPU. A hundred thousand take a quarter of an hour and a few GB below the temporary directory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compiling

#: Specialisations of a kernel, and kernels in a file.
EACH, IN_FILE = 10, 10
#: Turns and runs of builds with nothing to do.
TURNS, RUNS, UNTIMED = 5, 5, 2

HEAD = '"""Kernels of a benchmark."""\n\nimport triton\nimport triton.language as tl\n'
ELEMENTWISE = """

@triton.jit
def kernel_{n}(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x * {n}.5 + tl.exp(x), mask=at < n)
"""
REDUCTION = """

@triton.jit
def kernel_{n}(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x * {n}.5, 0))
"""
MANIFEST = 'edition = 1\n\n[build]\ntargets = ["sm_90a"]\ncache = "cache"\n'
KERNEL = """
[kernel.kernel_{n}]
source = "file_{file}.py"
args = {{ x_ptr = "*f32", out_ptr = "*f32", n = "i32" }}
const = {{ BLOCK = [128, 256, 512, 1024, 2048] }}
options = {{ num_warps = [2, 4] }}
grid = ["cdiv(n, BLOCK)"]
"""


def make_project(directory: Path, specialisations: int) -> None:
    """Writes the manifest and the kernels."""
    manifest, files = [MANIFEST], dict[int, list[str]]()
    for n in range(specialisations // EACH):
        manifest.append(KERNEL.format(n=n, file=n // IN_FILE))
        files.setdefault(n // IN_FILE, [HEAD]).append((REDUCTION if n % 2 else ELEMENTWISE).format(n=n))
    (directory / "kernels").mkdir()
    (directory / "kernels.toml").write_text("".join(manifest))
    for number, parts in files.items():
        (directory / f"kernels/file_{number}.py").write_text("".join(parts))


def build(directory: Path) -> tuple[float, int]:
    """(seconds, compiles) of one run of the command line, as a process."""
    command = [sys.executable, "-m", "teenybuild", "build", "--json"]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    return seconds, json.loads(done.stdout)["compiled"]


def edit(directory: Path, turn: int) -> None:
    """Another constant in the first kernel."""
    path = directory / "kernels/file_0.py"
    text = path.read_text()
    before = "x * 0.5" if turn == 0 else f"x * 0.{turn}5"
    assert before in text
    path.write_text(text.replace(before, f"x * 0.{turn + 1}5", 1))


def measured(specialisations: int) -> dict[str, Any]:
    """Everything, of a project of that size."""
    from teenybuild.build import ninja_binary

    with tempfile.TemporaryDirectory() as raw:
        directory = Path(raw)
        make_project(directory, specialisations)
        cold, compiled = build(directory)
        assert compiled == specialisations, compiled
        ninja = [ninja_binary(), "-C", str(directory / "build")]
        plain = [sys.executable, "-m", "teenybuild", "build"]

        def run(command: list[str], said: str) -> Callable[[], object]:
            def once() -> None:
                done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True)
                assert said in done.stdout, done.stdout

            return once

        nothing = compiling.medians_ms(
            {"teenybuild": run(plain, "nothing to do"), "ninja": run(ninja, "no work to do")},
            TURNS,
            RUNS,
            UNTIMED,
        )
        edits: list[float] = []
        for turn in range(3):
            edit(directory, turn)
            seconds, compiled = build(directory)
            assert compiled == EACH, compiled
            edits.append(seconds)
        for stamp in (directory / "build" / "stamps").rglob("*.json"):
            stamp.unlink()
        cached, compiled = build(directory)
        assert compiled == 0, compiled
    cores = os.cpu_count() or 1
    return {
        "specialisations": specialisations,
        "cold_s": cold,
        "cold_ms_each_and_core": 1000 * cold * cores / specialisations,
        "nothing_teenybuild_ms": nothing["teenybuild"],
        "nothing_ninja_ms": nothing["ninja"],
        "edit_s": sorted(edits)[1],
        "from_cache_s": cached,
        "from_cache_ms_each": 1000 * cached / specialisations,
        "most_memory_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }


ROWS = {
    "cold_s": ("cold build", "s"),
    "cold_ms_each_and_core": ("the same, a specialisation and core", "ms"),
    "nothing_teenybuild_ms": ("nothing to do: teenybuild build", "ms"),
    "nothing_ninja_ms": ("nothing to do: ninja", "ms"),
    "edit_s": (f"one kernel edited, {EACH} compiles", "s"),
    "from_cache_s": ("all in the cache, no stamps", "s"),
    "from_cache_ms_each": ("the same, a specialisation", "ms"),
    "most_memory_mb": ("most memory of a process", "MB"),
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    found = [measured(size) for size in arguments.sizes]
    print(
        f"{os.cpu_count()} cores{'specialisations':>38}" + "".join(f"{size:>12,}" for size in arguments.sizes)
    )
    for name, (what, unit) in ROWS.items():
        print(f"{what:40} {unit:4}" + "".join(f"{each[name]:12.2f}" for each in found))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
