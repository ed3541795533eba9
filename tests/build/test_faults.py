"""Builds that are killed at any moment: what they leave is whole, and the next build ends well."""

from __future__ import annotations

import random
from pathlib import Path

from tests.build import soak

#: A short run; ``python -m tests.build.soak`` has long ones.
KILLS = 9


def test_builds_that_are_killed(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"again: python -m tests.build.soak --kills {KILLS} --seed {seed}")
    *_, last = soak.soak(tmp_path, KILLS, seed)
    assert last.startswith(f"{KILLS} builds killed in ")
    assert last.endswith("nothing left over")
