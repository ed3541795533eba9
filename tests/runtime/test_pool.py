"""Programs over threads: each once, whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teenybuild.runtime import pool


@pytest.fixture(params=["at once", "after a while"])
def _sharing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is shared from the first program on, or as it is for users."""
    if request.param == "at once":
        monkeypatch.setattr(pool, "_ALONE", -1.0)


@pytest.fixture
def four_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of four, whatever this machine has."""
    monkeypatch.setattr(pool, "_pools", [])
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    monkeypatch.setattr(pool, "_ALONE", -1.0)


def ran(total: int) -> Counter[int]:
    found: Counter[int] = Counter()
    lock = threading.Lock()

    def run(first: int, last: int) -> None:
        assert 0 <= first < last <= total
        with lock:
            found.update(range(first, last))

    pool.run_programs(run, total)
    return found


@pytest.mark.usefixtures("_sharing")
@given(st.integers(1, 5000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
def test_each_program_once(total: int) -> None:
    assert ran(total) == Counter(range(total))


def test_a_small_grid_stays_in_the_calling_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_ALONE", 60.0)
    threads: set[int] = set()
    pool.run_programs(lambda first, last: threads.add(threading.get_ident()), 64)
    assert threads == {threading.get_ident()}


def test_what_took_long_is_shared_at_once_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_ALONE", 60.0)
    assert not pool.run_programs(lambda first, last: None, 8)
    monkeypatch.setattr(pool, "_ALONE", 0.001)
    assert pool.run_programs(lambda first, last: time.sleep(0.002), 1)
    chunks: list[tuple[int, int]] = []
    monkeypatch.setattr(pool, "_ALONE", 60.0)
    monkeypatch.setattr(pool, "_share", lambda run, first, total: chunks.append((first, total)))
    assert not pool.run_programs(lambda first, last: None, 8, shared=True)
    assert chunks == [(0, 8)]


@pytest.mark.usefixtures("four_cpus")
def test_a_large_grid_uses_every_cpu() -> None:
    together = threading.Barrier(4, timeout=30)
    waited: set[int] = set()

    def run(first: int, last: int) -> None:
        me = threading.get_ident()
        if me not in waited:
            waited.add(me)
            together.wait()

    pool.run_programs(run, 1000)
    assert len(waited) == 4


@pytest.mark.usefixtures("four_cpus")
def test_an_error_reaches_the_caller_after_all_have_stopped() -> None:
    inside = 0
    lock = threading.Lock()

    def run(first: int, last: int) -> None:
        nonlocal inside
        with lock:
            inside += 1
        try:
            time.sleep(0.001)
            if first >= 20:
                raise MemoryError(f"at {first}")
        finally:
            with lock:
                inside -= 1

    with pytest.raises(MemoryError, match="at"):
        pool.run_programs(run, 1000)
    assert inside == 0
    assert ran(100) == Counter(range(100))


@pytest.mark.usefixtures("four_cpus")
def test_an_interrupt_waits_for_the_workers() -> None:
    caller = threading.get_ident()
    inside = 0
    lock = threading.Lock()

    def run(first: int, last: int) -> None:
        nonlocal inside
        if threading.get_ident() == caller:
            time.sleep(0.01)
            raise KeyboardInterrupt
        with lock:
            inside += 1
        time.sleep(0.05)
        with lock:
            inside -= 1

    with pytest.raises(KeyboardInterrupt):
        pool.run_programs(run, 1000)
    assert inside == 0


@pytest.mark.usefixtures("four_cpus")
def test_grids_within_grids() -> None:
    """A worker that launches takes part in its own grid: nothing waits for a thread that waits for it."""
    found: Counter[tuple[int, int]] = Counter()
    lock = threading.Lock()

    def outer(first: int, last: int) -> None:
        for program in range(first, last):

            def inner(start: int, stop: int, program: int = program) -> None:
                with lock:
                    found.update((program, each) for each in range(start, stop))

            pool.run_programs(inner, 50)

    pool.run_programs(outer, 40)
    assert found == Counter((a, b) for a in range(40) for b in range(50))


@pytest.mark.usefixtures("_sharing")
def test_many_callers_at_once() -> None:
    results: list[Counter[int]] = []
    threads = [threading.Thread(target=lambda: results.append(ran(700))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [Counter(range(700))] * 16


def test_a_forked_child_makes_its_own_threads() -> None:
    """In a process of its own: pytest's threads and a fork do not go together."""
    program = """
        import os, threading
        os.sched_getaffinity = lambda pid: {0, 1, 2}
        from teenybuild.runtime import pool
        pool._ALONE = -1.0
        def threads(total):
            found = set()
            barrier = threading.Barrier(3, timeout=30)
            def run(first, last):
                if threading.get_ident() not in found:
                    found.add(threading.get_ident())
                    barrier.wait()
            pool.run_programs(run, total)
            return len(found)
        assert threads(100) == 3
        child = os.fork()
        if child == 0:
            os._exit(0 if threads(100) == 3 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert threads(100) == 3
    """
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60, cwd=root)
