"""How long kernels as public projects write them take to compile: all of ``tests/kernels``, to PTX and for the host, beside Triton.

    python benchmarks/kernels.py [--json FILE] [--turns N] [NAME…]

Each kernel's first call there says for what it is specialised. Needs Triton installed (``pip install triton==3.6.0``) and PyTorch, which
the sources import, for Triton's column.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import compiling
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kernels.corpus import KERNELS, Kernel  # beside the package, not in it

#: Runs of one turn, and those of them that are not timed.
RUNS, UNTIMED = 4, 1


def request(kernel: Kernel) -> compiling.Request:
    """What the first call of a kernel needs."""
    with np.errstate(all="ignore"):
        case = next(kernel.cases(np.random.default_rng(1)))

    def imported() -> Any:
        return getattr(import_module(f"tests.kernels.sources.{kernel.path.stem}"), kernel.function)

    return compiling.Request(
        kernel.path, kernel.function, case.argument_types, case.const, frozenset(case.assume), case.num_warps,
        case.num_stages, imported,
    )  # fmt: skip


def compile_times(kernel: Kernel, turns: int) -> dict[str, float]:
    """Milliseconds of every way to compile one kernel."""
    wanted = request(kernel)
    with tempfile.TemporaryDirectory() as raw:
        cache = Path(raw)
        works = {"ptx": compiling.ours(wanted, "sm_90a", cache), "cpu": compiling.ours(wanted, "cpu", cache)}
        theirs = compiling.tritons(wanted, "ptx")
        if theirs is not None:
            works["triton"] = theirs
        return compiling.medians_ms(works, turns, RUNS, UNTIMED)


def mean(ratios: list[float]) -> float:
    """The geometric one."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def show(name: str, times: Mapping[str, float]) -> None:
    """A line of the table."""
    columns = [f"{times[c]:9.1f}" if c in times else f"{'-':>9}" for c in ("ptx", "cpu", "triton")]
    ratio = f"{times['ptx'] / times['triton']:9.2f}" if "triton" in times else f"{'-':>9}"
    print(f"{name:44}{''.join(columns)}{ratio}{times['cpu'] / times['ptx']:9.2f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels to measure (file.function); all")
    parser.add_argument("--turns", type=int, default=3, help=f"of {RUNS} runs each, one way after the other")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'ms':44}{'PTX':>9}{'cpu':>9}{'Triton':>9}{'/Triton':>9}{'cpu/PTX':>9}")
    found: dict[str, dict[str, float]] = {}
    for name in arguments.names or KERNELS:
        found[name] = compile_times(KERNELS[name], arguments.turns)
        show(name, found[name])
    beside = [times["ptx"] / times["triton"] for times in found.values() if "triton" in times]
    host = [times["cpu"] / times["ptx"] for times in found.values()]
    for what, ratios in (("PTX / Triton", beside), ("cpu / PTX", host)):
        if ratios:
            print(f"{what}: geometric mean {mean(ratios):.2f}, largest {max(ratios):.2f}, of {len(ratios)}")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
