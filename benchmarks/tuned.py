"""Kernels whose speed hangs on their configuration, on a GPU: ours and Triton's, each at its best of the same configurations, beside libraries.

A :class:`Row` is one problem. Every configuration's values are checked against float64 first, outputs filled with NaN before; a few rounds rank
the configurations of each side; then the best of both and the libraries run in turn.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pages
import torch
import triton
from gpu_timing import HEAD_START, seconds
from launches import Launch, compile_both, compiled, our_runs, poison, their_runs
from timing import in_turn, ratio_interval

Arrays = Mapping[str, torch.Tensor]
#: Launches once; what a library made, by the names of the outputs, or None where it wrote to them.
Run = Callable[[], Arrays | None]

OURS, TRITON = "ours", "Triton"
#: What rows are called that say how fast tensor cores are when nothing is loaded.
CEILING = "ceiling"
#: Rounds that rank configurations.
RANKING = 5
#: What one timing spans at least, in seconds.
SPAN = 2e-3
#: Arrays that take turns are together so many times as large as the L2.
TIMES_L2 = 4
#: Clock cycles of a second, at most: how long the device is kept busy while launches are queued.
CLOCK = 2e9


@dataclass(frozen=True)
class Config:
    """Constants of a kernel (the sides of its tiles, and ``more``), stages and warps."""

    const: Mapping[str, Any]
    num_stages: int
    num_warps: int
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        more = "".join(f", {name} {value}" for name, value in self.more.items())
        return f"{' x '.join(map(str, self.const.values()))}, {self.num_stages} stages, {self.num_warps} warps{more}"


@dataclass(frozen=True)
class Row:
    """One problem. ``flops`` are counted as if nothing were computed twice."""

    name: str
    flops: float
    #: One set of inputs and outputs, on the default device.
    arrays: Callable[[], Arrays]
    outputs: Sequence[str]
    configs: Sequence[Config]
    #: What a configuration launches, one after the other.
    launches: Callable[[Arrays, Config], Sequence[Launch]]
    #: Outputs in float64.
    reference: Callable[[Arrays], Arrays]
    #: How far an output may lie from that: see :func:`error`.
    tolerance: float
    libraries: Mapping[str, Callable[[Arrays], Run]] = field(default_factory=dict)


def error(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest difference, relative to the largest value of its row, or of a usual row where that is larger: some are zero but for rounding."""
    largest = wanted.abs().amax(-1)
    difference = (got.double() - wanted).abs().amax(-1) / largest.clamp_min(largest.median())
    worst = difference.max().item()
    return worst if worst == worst else math.inf


@dataclass(frozen=True)
class Entrant:
    """A side at one of its configurations: what it runs on each set of arrays."""

    side: str
    config: str
    runs: Sequence[Run]

    def error(self, row: Row, arrays: Arrays, wanted: Arrays) -> float:
        """Runs once; how far the worst output is from what is wanted."""
        for name in row.outputs:
            poison(arrays[name], 0x5A)
        # A library gives what it made; a launch may give what it launched.
        given = self.runs[0]()
        made = given if isinstance(given, Mapping) else arrays
        torch.cuda.synchronize()
        return max(error(made[name], wanted[name]) for name in row.outputs)

    def timer(self) -> Callable[[], float]:
        """Seconds of a launch, over enough launches; the sets of arrays take turns."""
        turns = itertools.cycle(self.runs)

        def work() -> None:
            next(turns)()

        once = seconds(work)
        once()
        launches = max(1, math.ceil(SPAN / once()))
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(launches):
            work()
        queueing = time.perf_counter() - start
        torch.cuda.synchronize()
        return seconds(work, launches, HEAD_START + int(1.5 * queueing * CLOCK))


@dataclass(frozen=True)
class Result:
    """What came out of a row. ``wrong``: values that were not right; ``failed``: what did not compile or launch."""

    row: Row
    #: By side: the configuration and the seconds of each round.
    best: Mapping[str, tuple[str, Sequence[float]]]
    #: Seconds of every configuration in the first rounds, by side.
    tried: Mapping[str, Mapping[str, float]]
    wrong: Sequence[str]
    failed: Sequence[str]

    def tflops(self, side: str) -> float:
        return self.row.flops / statistics.median(self.best[side][1]) / 1e12

    def ratio(self, side: str) -> tuple[float, float, float]:
        """How many times as fast as a side we are: (median, low, high)."""
        return ratio_interval(self.best[side][1], self.best[OURS][1])

    def json(self) -> dict[str, Any]:
        return {
            "name": self.row.name,
            "flops": self.row.flops,
            "sides": {
                side: {"tflops": self.tflops(side), "config": config}
                | ({"ratio": self.ratio(side)} if side != OURS and OURS in self.best else {})
                for side, (config, _) in self.best.items()
            },
            "tried": {
                side: {config: self.row.flops / took / 1e12 for config, took in times.items()}
                for side, times in self.tried.items()
            },
            "failed": list(self.failed),
        }


def entrants(row: Row, sets: Sequence[Arrays], directory: Path, failed: list[str]) -> Iterable[Entrant]:
    """Every side at every configuration, those that cannot be had left out."""

    def made(side: str, config: str, make: Callable[[], Sequence[Run]]) -> Iterable[Entrant]:
        try:
            entrant = Entrant(side, config, make())
            entrant.runs[0]()
            torch.cuda.synchronize()
        # Whatever a compiler, a driver or a library raises: too much shared memory, a backend that is not there.
        except Exception as wrong:
            first = str(wrong).strip().partition("\n")[0]
            failed.append(f"{row.name}, {side}{config and ', '}{config}: {type(wrong).__name__}: {first}")
        else:
            yield entrant

    for config in row.configs:
        launches = [row.launches(arrays, config) for arrays in sets]

        def ours(launches: Sequence[Sequence[Launch]] = launches) -> list[Run]:
            makers = [our_runs(each, compiled(each, directory), directory) for each in launches[0]]
            return in_sequence(makers, launches)

        def theirs(launches: Sequence[Sequence[Launch]] = launches) -> list[Run]:
            return in_sequence([their_runs(each) for each in launches[0]], launches)

        yield from made(OURS, str(config), ours)
        yield from made(TRITON, str(config), theirs)
    for name, library in row.libraries.items():
        yield from made(name, "", lambda library=library: [library(arrays) for arrays in sets])


def in_sequence(makers: Sequence[Any], launches: Sequence[Sequence[Launch]]) -> list[Run]:
    """For each set of arrays, its launches one after the other."""

    def joined(launches: Sequence[Launch]) -> Run:
        runs = [make(each.arguments) for make, each in zip(makers, launches, strict=True)]
        if len(runs) == 1:
            return runs[0]

        def run() -> None:
            for each in runs:
                each()

        return run

    return [joined(each) for each in launches]


def measured(row: Row, rounds: int, directory: Path) -> Result:
    """Checks, ranks and times one row."""
    with torch.device("cuda"):
        first = row.arrays()
        size = sum(array.nbytes for array in first.values())
        cache = torch.cuda.get_device_properties(0).L2_cache_size
        sets = [first, *(row.arrays() for _ in range(math.ceil(TIMES_L2 * cache / size) - 1))]
    wanted = row.reference(first)
    wrong: list[str] = []
    failed: list[str] = []
    right: dict[str, list[Entrant]] = {}
    for each in entrants(row, sets, directory, failed):
        error = each.error(row, first, wanted)
        if error <= row.tolerance:
            right.setdefault(each.side, []).append(each)
        else:
            wrong.append(
                f"{row.name}, {each.side}, {each.config}: error {error:.2e}, at most {row.tolerance:.2e} is right"
            )
    if OURS not in right:
        wrong.append(f"{row.name}: no configuration of ours is right")
    timers = {(e.side, e.config): e.timer() for each in right.values() for e in each}
    ranked = {
        side: {e.config: statistics.median(times[side, e.config]) for e in each}
        for times in [in_turn(timers, rounds=RANKING, warmup=1)]
        for side, each in right.items()
    }
    chosen = {side: min(times, key=lambda config: times[config]) for side, times in ranked.items()}
    found = in_turn({side: timers[side, config] for side, config in chosen.items()}, rounds=rounds)
    return Result(
        row, {side: (config, found[side]) for side, config in chosen.items()}, ranked, wrong, failed
    )


def show(result: Result, tried: bool) -> None:
    """A row of the table."""
    print(result.row.name)
    for side, (config, _) in result.best.items():
        beside = ""
        if side != OURS and OURS in result.best:
            ratio, low, high = result.ratio(side)
            beside = f"ours / {side} {ratio:6.4f} [{low:.4f}, {high:.4f}]"
        print(f"  {side:16} {result.tflops(side):8.1f}   {config:40} {beside}")
        for other, took in result.tried[side].items() if tried and config else ():
            print(f"  {'':16} {result.row.flops / took / 1e12:8.1f} ~ {other}")
    sys.stdout.flush()


def dry_run(rows: Iterable[Row], directory: Path) -> int:
    """Compiles all configurations of all rows on both sides; the exit status."""
    failed = 0
    for row in rows:
        with torch.device("meta"):
            arrays = row.arrays()
        size = sum(array.nbytes for array in arrays.values())
        good = 0
        for config in row.configs:
            try:
                for launch in row.launches(arrays, config):
                    compile_both(launch, directory)
                good += 1
            except Exception as wrong:
                print(f"{row.name}, {config}: {type(wrong).__name__}: {wrong}", file=sys.stderr)
        failed += len(row.configs) - good
        print(
            f"{row.name:34} {row.flops / 1e9:9.0f} GFLOP {size / 1e6:7.0f} MB, {good} of {len(row.configs)} configurations",
            flush=True,
        )
    return 1 if failed else 0


def multiprocessors() -> int:
    """Of the device; where there is none, as for dry runs, an H200's."""
    return torch.cuda.get_device_properties(0).multi_processor_count if torch.cuda.is_available() else 132


def run(benchmark: str, rows: Sequence[Row], arguments: argparse.Namespace, directory: Path) -> int:
    """Measures rows and writes what is asked for; the exit status."""
    torch.manual_seed(time.time_ns())
    device = torch.cuda.get_device_name(0)
    versions = {"torch": torch.__version__, "triton": triton.__version__}
    print(f"{device}, {', '.join(f'{name} {version}' for name, version in versions.items())}; TFLOP/s")
    wrong: list[str] = []
    found: list[dict[str, Any]] = []
    for row in rows:
        result = measured(row, arguments.rounds, directory)
        show(result, arguments.tried)
        for line in result.failed:
            print(f"left out: {line}", file=sys.stderr)
        wrong += result.wrong
        found.append({**result.json(), "rounds": arguments.rounds})
        # After every row: what was measured is kept whatever comes.
        if arguments.json:
            said = {
                "benchmark": benchmark,
                "device": device,
                **versions,
                "rows": found,
            }
            arguments.json.write_text(json.dumps(said, indent=1) + "\n")
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    if arguments.plot:
        arguments.plot.write_text(pages.figure(found, arguments.figure))
    return 1 if wrong else 0


def main(benchmark: str, make: Callable[[], Iterable[Row]], description: str | None, figure: str) -> int:
    """The command line of every script of this kind. ``figure``: what rows of its picture have in their names."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="rows with this in their name")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--plot", type=Path, help="draw them here (SVG)")
    parser.add_argument(
        "--figure", default=figure, help="the rows that are drawn have this in their names (%(default)r)"
    )
    parser.add_argument("--tried", action="store_true", help="show every configuration's first rounds too")
    parser.add_argument("--dry-run", action="store_true", help="compile both sides and launch nothing")
    parser.add_argument(
        "--page", nargs="+", type=Path, metavar="JSON", help=f"write docs/{benchmark}.md from figures"
    )
    arguments = parser.parse_args()
    if arguments.page:
        pages.write(benchmark, arguments.page, arguments.figure)
        return 0
    rows = [row for row in make() if arguments.only is None or arguments.only in row.name]
    if not rows:
        raise SystemExit(f"no row has {arguments.only} in its name")
    with tempfile.TemporaryDirectory() as raw:
        if arguments.dry_run:
            return dry_run(rows, Path(raw))
        return run(benchmark, rows, arguments, Path(raw))
