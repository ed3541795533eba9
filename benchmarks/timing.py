"""How two things are compared: interleaved rounds in one process, the median ratio and its 95 % interval."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
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


def compare(
    ours: Callable[[], float], theirs: Callable[[], float], *, rounds: int = 31, warmup: int = 3
) -> Comparison:
    """Runs both in turn, in alternating order; each call gives its own seconds."""
    for _ in range(warmup):
        ours()
        theirs()
    a: list[float] = []
    b: list[float] = []
    for i in range(rounds):
        if i % 2:
            b.append(theirs())
            a.append(ours())
        else:
            a.append(ours())
            b.append(theirs())
    ratio, low, high = median_interval([y / x for x, y in zip(a, b, strict=True)])
    return Comparison(statistics.median(a), statistics.median(b), ratio, low, high)
