"""How two things are compared: interleaved rounds in one process, the median ratio and its 95 % interval."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Seconds of both sides (medians), and theirs over ours: above 1.0, ours is faster."""

    ours: float
    theirs: float
    ratio: float
    low: float
    high: float

    def json(self) -> dict[str, float]:
        return {
            "ours_s": self.ours,
            "theirs_s": self.theirs,
            "ratio": self.ratio,
            "ratio_low": self.low,
            "ratio_high": self.high,
        }

    @property
    def holds(self) -> bool:
        """Whether "at least 1.0 times" holds: median at least 1.0, lower end of its interval at least 0.98."""
        return self.ratio >= 1.0 and self.low >= 0.98


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """(median, low, high): the 95 % interval of the median from order statistics (the binomial distribution's quantiles)."""
    ordered = sorted(values)
    n = len(ordered)
    half = 1.96 * math.sqrt(n) / 2
    low = max(0, math.floor(n / 2 - half))
    high = min(n - 1, math.ceil(n / 2 + half) - 1)
    return statistics.median(ordered), ordered[low], ordered[high]


def in_turn(
    sides: Mapping[str, Callable[[], float]], *, rounds: int, warmup: int = 3
) -> dict[str, list[float]]:
    """Runs all sides in turn, each round beginning with the next one; each call gives its own seconds."""
    names = list(sides)
    for _ in range(warmup):
        for run in sides.values():
            run()
    found: dict[str, list[float]] = {name: [] for name in names}
    for i in range(rounds):
        first = i % max(len(names), 1)
        for name in names[first:] + names[:first]:
            found[name].append(sides[name]())
    return found


def ratio_interval(theirs: Sequence[float], ours: Sequence[float]) -> tuple[float, float, float]:
    """Theirs over ours, round by round: (median, low, high)."""
    return median_interval([y / x for x, y in zip(ours, theirs, strict=True)])


def compare(
    ours: Callable[[], float], theirs: Callable[[], float], *, rounds: int = 31, warmup: int = 3
) -> Comparison:
    """Runs both in turn, in alternating order; each call gives its own seconds."""
    found = in_turn({"ours": ours, "theirs": theirs}, rounds=rounds, warmup=warmup)
    a, b = found["ours"], found["theirs"]
    return Comparison(statistics.median(a), statistics.median(b), *ratio_interval(b, a))
