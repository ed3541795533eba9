"""Runs every kernel of the library through the generated package and checks it against NumPy.

    python examples/demo.py [--package build]

On the host always; on a GPU too where there is one. Prints a table: what ran, how long a call took, how far it is from float64.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import device  # noqa: E402
import library  # noqa: E402


def best_ms(work: Callable[[], None], runs: int = 3) -> float:
    """The shortest of a few calls, in milliseconds."""
    times: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def run_host(package: Any, case: library.Case) -> tuple[dict[str, np.ndarray], float]:
    """Results, and milliseconds of a call."""
    kernel = getattr(package, case.kernel)

    def call() -> None:
        kernel(**case.arguments, **case.options)

    call()
    return {name: case.arguments[name] for name in case.wanted}, best_ms(call)


def run_gpu(package: Any, case: library.Case, gpu: device.Device) -> tuple[dict[str, np.ndarray], float]:
    """The same on a GPU, with arrays copied there and back."""
    kernel = getattr(package, case.kernel)
    there = {k: gpu.array(v) if isinstance(v, np.ndarray) else v for k, v in case.arguments.items()}

    def call() -> None:
        kernel(**there, **case.options)
        gpu.wait()

    call()
    milliseconds = best_ms(call)
    return {name: there[name].numpy() for name in case.wanted}, milliseconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--package", type=Path, default=HERE.parent / "build", help="the directory with teeny_kernels"
    )
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.package))
    package = importlib.import_module("teeny_kernels")
    gpu = device.find()
    print("error: the largest difference from NumPy in float64, relative to the largest value of its row")
    print(
        f"{'kernel':13} {'call':42} {'allowed':>8} {'host ms':>8} {'error':>8}"
        + (f" {'GPU ms':>8} {'error':>8}" if gpu else "")
    )
    wrong = count = 0
    for case in library.small(np.random.default_rng(2026)):
        results, milliseconds = run_host(package, case)
        line, right = row(case, results, milliseconds)
        if gpu is not None:
            results, milliseconds = run_gpu(package, case, gpu)
            more, also = row(case, results, milliseconds)
            line, right = line + more, right and also
        allowed = f"{case.tolerance:8.1e}"
        print(f"{case.kernel:13} {case.label:42} {allowed}{line}{'' if right else '  WRONG'}")
        wrong += not right
        count += 1
    where = f"the host and {gpu.name}" if gpu else "the host (no GPU here)"
    print(f"{count - wrong} of {count} calls are right on {where}")
    return 1 if wrong else 0


def row(case: library.Case, results: dict[str, np.ndarray], milliseconds: float) -> tuple[str, bool]:
    """Columns of one machine, and whether the results are right."""
    error = case.error(results)
    return f" {milliseconds:8.3f} {error:8.1e}", error <= case.tolerance


if __name__ == "__main__":
    raise SystemExit(main())
