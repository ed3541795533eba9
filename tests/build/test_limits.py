"""What one compile may take: time and memory. What takes more is the kernel's error, with its place, and the others are kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teenybuild import worker
from teenybuild.cache import Cache
from teenybuild.diagnostics import UserError
from teenybuild.limits import DEFAULT_SECONDS, Limits, limits_of
from tests.build.project import TestProject
from tests.build.test_worker import plan

#: Of the members of a chunk, the one that takes too much.
GREEDY = 128


def run_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: Limits, greedy: Callable[[], None]
) -> worker.Outcome:
    """A chunk of five, one of which does something else than to compile."""
    compile_ = worker.build_entry

    def build_entry(job: Any, cache: Cache, *, force: bool = False) -> Any:
        if job.instance.consts["BLOCK"] == GREEDY:
            greedy()
        return compile_(job, cache, force=force)

    monkeypatch.setattr(worker, "build_entry", build_entry)
    made = plan(tmp_path, (32, 64, GREEDY, 256, 512))
    return worker.run_chunk(made, tmp_path, "", tmp_path / "cache", limits)


def spin() -> None:
    while True:
        pass


def swallow() -> None:
    kept: list[bytearray] = []
    while True:
        kept.append(bytearray(1 << 24))


def data_of_this_process() -> int:
    """Bytes that RLIMIT_DATA counts."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmData"))
    return int(line.split()[1]) << 10


def test_one_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = time.monotonic()
    outcome = run_with(tmp_path, monkeypatch, Limits(1.5), spin)
    assert time.monotonic() - started < 15, "once, and no second time"
    assert (outcome.compiled, outcome.failed, outcome.bugs) == (4, 1, [])
    (said,) = outcome.diagnostics
    assert said.message == f"scale__{GREEDY} for sm_90a: compiling it takes longer than 1.5 seconds"
    assert said.span is not None
    assert "def scale" in said.span.text
    assert "--time-limit" in str(said.hint)


def test_time_is_each_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five that take half of it each."""
    compile_ = worker.build_entry

    def slow(job: Any, cache: Cache, *, force: bool = False) -> Any:
        time.sleep(1.0)
        return compile_(job, cache, force=force)

    monkeypatch.setattr(worker, "build_entry", slow)
    made = plan(tmp_path, (32, 64, 128))
    outcome = worker.run_chunk(made, tmp_path, "", tmp_path / "cache", Limits(2.0))
    assert (outcome.compiled, outcome.failed) == (3, 0)


def test_one_that_takes_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(bytes=data_of_this_process() + (1 << 28))
    outcome = run_with(tmp_path, monkeypatch, limits, swallow)
    assert (outcome.compiled, outcome.failed, outcome.bugs) == (4, 1, [])
    (said,) = outcome.diagnostics
    assert said.message.startswith(f"scale__{GREEDY} for sm_90a: compiling it takes more than ")
    assert "--memory-limit" in str(said.hint)


def test_limits_of_a_build(built: TestProject) -> None:
    """From the command line, and from the environment, which bare ninja has too; a loop that is unrolled far too often is no bug of ours."""
    built.replace(
        "kernels/scale.py",
        "tl.sum(x, axis=0))",
        "unrolled(x))\n\n\n@triton.jit\ndef unrolled(x):\n    for i in tl.static_range(20000):\n        x = tl.sin(x) * i\n    return tl.sum(x, axis=0)",
    )
    done = built.run("build", "--time-limit", "2", "--target", "cpu")
    assert done.returncode == 1
    assert "total__256 for cpu: compiling it takes longer than 2 seconds" in done.stderr
    assert "kernels/scale.py:" in done.stderr
    assert "def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):" in done.stderr
    done = built.run("build", "--target", "cpu", env={"TEENYBUILD_TIME_LIMIT": "1.5"})
    assert "takes longer than 1.5 seconds" in done.stderr


def test_too_little_memory_for_anything(built: TestProject) -> None:
    done = built.run("build", "--force", "--memory-limit", "1M")
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("compiling it takes more than 1.0 MB of memory") == 10
    assert "bug" not in done.stderr


def test_limits_beyond_what_the_system_counts(tmp_path: Path) -> None:
    """They are none."""
    made = plan(tmp_path, (32, 64))
    outcome = worker.run_chunk(made, tmp_path, "", tmp_path / "cache", Limits(1e300, 10**30))
    assert (outcome.compiled, outcome.failed, outcome.bugs) == (2, 0, [])


@pytest.mark.parametrize(
    ("environment", "limits"),
    [
        ({}, Limits(DEFAULT_SECONDS, None)),
        ({"TEENYBUILD_TIME_LIMIT": "0"}, Limits(0.0, None)),
        ({"TEENYBUILD_TIME_LIMIT": "2.5", "TEENYBUILD_MEMORY_LIMIT": "2G"}, Limits(2.5, 2 * 10**9)),
        ({"TEENYBUILD_TIME_LIMIT": ""}, Limits()),
    ],
)
def test_what_the_environment_says(environment: dict[str, str], limits: Limits) -> None:
    assert limits_of(environment) == limits


@pytest.mark.parametrize("name", ["TEENYBUILD_TIME_LIMIT", "TEENYBUILD_MEMORY_LIMIT"])
def test_what_it_cannot_mean(name: str) -> None:
    with pytest.raises(UserError, match=f"{name}: 'soon' is not a"):
        limits_of({name: "soon"})
