"""Kernels of both sides on a GPU: what one launch takes, how far results are apart, and the table of all cases."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from timing import Comparison, compare

#: Launches in a row that one timing spans.
LAUNCHES = 5
#: Clock cycles for which the device is kept busy first, so that all launches are queued before the first begins: about 0.5 ms.
HEAD_START = 1_000_000
#: How far a result may lie from float64, relative to its size: a few roundings of the dtype that is stored.
TOLERANCE = {"f32": 4e-6, "f16": 2e-3, "bf16": 1.6e-2}


@dataclass(frozen=True)
class Case:
    """One kernel at one size. ``bytes_`` are read and written at least once."""

    name: str
    bytes_: int
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    check: Callable[[], float]
    tolerance: float


@dataclass(frozen=True)
class Figure:
    """What came out of a case. It holds no arrays: those of the next case need their memory."""

    name: str
    bytes_: int
    comparison: Comparison


def seconds(
    work: Callable[[], Any], launches: int = LAUNCHES, head_start: int = HEAD_START
) -> Callable[[], float]:
    """Seconds a launch takes on the device, over some launches in a row. What the host takes to launch is not in it."""

    def run() -> float:
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(head_start)
        start.record()
        for _ in range(launches):
            work()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / launches / 1e3

    return run


def relative_error(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest difference, relative to the largest value of each row; NaN anywhere is infinite."""
    difference = (got.double() - wanted).abs().amax(-1) / wanted.abs().amax(-1).clamp_min(1e-30)
    worst = difference.max().item()
    return worst if worst == worst else float("inf")


def measure(cases: Iterable[Case], rounds: int) -> tuple[list[Figure], list[str]]:
    """Checks, then times every case; what came out, and what was wrong."""
    found: list[Figure] = []
    wrong: list[str] = []
    print(f"{'':34} {'ours':>9} {'Triton':>9}   {'ratio':>6}  95 % interval   error")
    for case in cases:
        # Both write to the same memory: where an array lies is worth half a percent.
        case.ours()
        torch.cuda.synchronize()
        error = case.check()
        if not error <= case.tolerance:
            wrong.append(f"{case.name}: error {error:.2e}, at most {case.tolerance:.2e} is right")
        comparison = compare(seconds(case.ours), seconds(case.theirs), rounds=rounds)
        found.append(Figure(case.name, case.bytes_, comparison))
        ours, theirs = (case.bytes_ / t / 1e12 for t in (comparison.ours, comparison.theirs))
        interval = f"[{comparison.low:.4f}, {comparison.high:.4f}]"
        verdict = "" if comparison.holds else "  below 1.0"
        print(
            f"{case.name:34} {ours:9.3f} {theirs:9.3f}   {comparison.ratio:6.4f}  {interval}  {error:.1e}{verdict}",
            flush=True,
        )
    print("ours and Triton in TB/s (bytes read and written)")
    return found, wrong


def report(found: Iterable[Figure], wrong: Iterable[str], json_file: Path | None) -> int:
    """Says what was wrong, and writes the figures; the exit status."""
    wrong = list(wrong)
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    if json_file is not None:
        rows = [{"name": each.name, "bytes": each.bytes_, **each.comparison.json()} for each in found]
        device = torch.cuda.get_device_name(0)
        json_file.write_text(json.dumps({"device": device, "cases": rows}, indent=1) + "\n")
    return 1 if wrong else 0
