"""Programs of one grid over the CPUs of this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from time import perf_counter

from .locks import LOADING

#: Runs programs ``first`` to ``last - 1``. It lets go of the interpreter lock while it does.
Run = Callable[[int, int], None]

#: Seconds a grid runs in the calling thread before the others are asked to help: some times what waking one costs.
_ALONE = 50e-6
#: What is left of a grid is cut into so many chunks a worker: small enough that uneven programs end together.
_CHUNKS_PER_WORKER = 4


def run_programs(run: Run, total: int, shared: bool = False) -> bool:
    """Runs programs 0 to ``total - 1``, each once, in any order; returns when all are done.

    The calling thread starts alone, with chunks that double in size, and takes part to the end: a small grid never meets another
    thread, and callers never wait for a worker that another launch keeps busy. ``shared``: it asks the others at once.

    Gives whether that is worth it, for the next launch of the same code: a few long programs would wait for the first of them.
    """
    start = perf_counter()
    first, size = 0, 1
    while not shared and first < total and perf_counter() - start < _ALONE:
        last = min(first + size, total)
        run(first, last)
        first, size = last, 2 * size
    if first < total:
        _share(run, first, total)
    return perf_counter() - start >= _ALONE


class _Grid:
    """Programs that are still to run, handed out in chunks. ``busy`` counts the workers inside one."""

    def __init__(self, run: Run, first: int, total: int, workers: int) -> None:
        self.run = run
        self.next = first
        self.total = total
        self.parts = _CHUNKS_PER_WORKER * workers
        self.busy = 0
        self.wrong: BaseException | None = None
        self.changed = threading.Condition()

    def take(self, workers: int) -> tuple[int, int] | None:
        """The next chunk, for the caller (0) or for a worker (1); None where none is left."""
        with self.changed:
            first = self.next
            self.next = min(first + max(1, (self.total - first) // self.parts), self.total)
            if first == self.next:
                return None
            self.busy += workers
            return first, self.next

    def help(self) -> None:
        """What a worker does."""
        while (chunk := self.take(1)) is not None:
            try:
                self.run(*chunk)
            except BaseException as wrong:
                self.stop(wrong)
            finally:
                with self.changed:
                    self.busy -= 1
                    self.changed.notify_all()

    def stop(self, wrong: BaseException) -> None:
        """Hands out no more, and keeps the first error for the caller."""
        with self.changed:
            self.next = self.total
            self.wrong = self.wrong or wrong

    def wait(self) -> None:
        """Until no worker is inside a chunk. Their chunks write to the caller's arrays, so an interrupt has to wait too."""
        while self.busy:
            try:
                with self.changed:
                    if self.busy:
                        self.changed.wait()
            except KeyboardInterrupt as interrupt:
                self.stop(interrupt)


class _Pool:
    """One thread a CPU that this process may use, but for the one that calls."""

    def __init__(self) -> None:
        self.workers = len(os.sched_getaffinity(0))
        self.grids: SimpleQueue[_Grid] = SimpleQueue()
        for number in range(1, self.workers):
            # Daemons: they hold nothing, and must not keep the interpreter from ending.
            threading.Thread(target=self._serve, name=f"kernel-worker-{number}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self.grids.get().help()


#: The pool, once there is one. A child of a fork has none of its parent's threads, and makes its own.
_pools: list[_Pool] = []
os.register_at_fork(after_in_child=_pools.clear)


def _share(run: Run, first: int, total: int) -> None:
    pool = _the_pool()
    grid = _Grid(run, first, total, pool.workers)
    for _ in range(min(pool.workers, total - first) - 1):
        pool.grids.put(grid)
    try:
        while (chunk := grid.take(0)) is not None:
            run(*chunk)
    except BaseException as wrong:
        grid.stop(wrong)
    finally:
        grid.wait()
    if grid.wrong is not None:
        raise grid.wrong


def _the_pool() -> _Pool:
    if not _pools:
        with LOADING:
            if not _pools:
                _pools.append(_Pool())
    return _pools[0]
