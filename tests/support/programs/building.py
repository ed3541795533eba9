"""Compiles random programs: one, or many at once in processes of their own."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from teenybuild.api import Artifact, compile
from tests.support.run import type_of, workspace, write_source

from . import Program, Rules, by_seed


def compile_program(made: Program, target: str, cache: Path | None = None) -> Artifact:
    """One program for one target."""
    return compile(
        f"{write_source(made.source())}:kernel",
        target,
        {name: type_of(value) for name, value in made.arguments.items()},
        cache_dir=cache or workspace() / "cache",
        **made.options,
    )


def _compile_seed(seed: int, rules: Rules, targets: tuple[str, ...], cache: Path) -> None:
    for target in targets:
        compile_program(by_seed(seed, rules), target, cache)


def compile_seeds(seeds: Iterable[int], rules: Rules, targets: tuple[str, ...], workers: int) -> None:
    """Puts programs into this process' cache. What does not compile will fail again, and be seen, where it is asked for."""
    cache = workspace() / "cache"
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for done in [pool.submit(_compile_seed, seed, rules, targets, cache) for seed in seeds]:
            done.exception()
