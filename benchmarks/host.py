"""The kernel library on the host beside NumPy, one thread each.

    python benchmarks/host.py [--package build] [--json FILE]

Values are checked against float64 first. NumPy does the same in the way a user would write it (f16 and bf16 by way of f32);
what is quoted is the ratio of our time to its, medians of interleaved rounds.
"""

from __future__ import annotations

import os

# Before NumPy is loaded: its libraries read these once.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "examples")]

import library  # noqa: E402
import numpy as np  # noqa: E402
from timing import compare  # noqa: E402


def seconds(work: Callable[[], Any]) -> Callable[[], float]:
    """Seconds of a call, over enough calls to take a millisecond or more."""
    start = time.perf_counter()
    work()
    count = max(1, int(2e-3 / max(time.perf_counter() - start, 1e-7)))

    def run() -> float:
        begin = time.perf_counter()
        for _ in range(count):
            work()
        return (time.perf_counter() - begin) / count

    return run


def cases(rng: np.random.Generator) -> Iterator[library.Case]:
    """The library at sizes that do not fit the nearest cache, and a product of a usual size."""
    yield from library.elementwise(rng, 1 << 22)
    yield from library.rows(rng, 1000, 1000)
    yield from library.rows(rng, 300, 4000)
    for case in library.products(rng, 512, 512, 512):
        if case.options["ACTIVATION"] == "relu" and case.arguments["bias_ptr"] is not None:
            yield case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--package", type=Path, default=HERE.parent / "build", help="the directory with teeny_kernels"
    )
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core for both sides
    sys.path.insert(0, str(arguments.package))
    package = importlib.import_module("teeny_kernels")
    rows: list[dict[str, Any]] = []
    wrong = 0
    print(f"{'':52} {'ours ms':>9} {'NumPy ms':>9} {'ours / NumPy':>13}")
    for case in cases(np.random.default_rng(7)):
        kernel = getattr(package, case.kernel)

        def ours(kernel: Any = kernel, case: library.Case = case) -> None:
            kernel(**case.arguments, **case.options)

        ours()
        error = case.error({name: case.arguments[name] for name in case.wanted})
        wrong += error > case.tolerance
        found = compare(seconds(ours), seconds(case.numpy), rounds=9, warmup=1)
        ratio = 1 / found.ratio
        rows.append({"kernel": case.kernel, "case": case.label, "ours_over_numpy": ratio, **found.json()})
        name = f"{case.kernel}, {case.label}"
        flag = "  WRONG" if error > case.tolerance else ("" if ratio <= 10 else "  over 10")
        print(f"{name:52} {found.ours * 1e3:9.3f} {found.theirs * 1e3:9.3f} {ratio:13.2f}{flag}", flush=True)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps({"cases": rows}, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
