"""Reads input that nobody wrote for as long as it is told to: ``python -m tests.fuzz 600``.

Each case has a number, and is a function of that and of the seed: ``--seed S --only kernels --case 17`` is one again. What is found is said once a
kind, with where its files are kept. A case that takes the whole process down is told like any other: they run in a child.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import itertools
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests.fuzz import kernels, manifests
from tests.fuzz.held import files_of

RUNS: Mapping[str, Callable[[Path, random.Random], str]] = {
    "manifests": manifests.run,
    "kernels": kernels.run,
}
#: Seconds on the clock after which a case hangs: in code that no signal stops.
HANGS = 120.0
#: How a child says that something did not hold; what a process that dies says is something else.
_FAILED = 10


class Session:
    """Cases one after the other. What is known of them lies in memory that a child shares."""

    def __init__(self, seed: int, scratch: Path, kept: Path) -> None:
        self.seed, self.scratch, self.kept = seed, scratch, kept
        self.known: set[str] = set()
        self.digest = hashlib.sha256()
        self.counts = {"read": 0, "refused": 0}

    def case(self, what: str, number: int) -> bool:
        """Runs one; whether all held."""
        r = random.Random(f"{self.seed} {what} {number}")
        try:
            text = RUNS[what](self.scratch / what, r)
        except Exception as wrong:
            self.found(what, number, wrong)
            return False
        self.counts[text.partition(":")[0]] += 1
        self.digest.update(text.replace(str(self.scratch), "").encode("utf-8", "backslashreplace"))
        return True

    def found(self, what: str, number: int, wrong: Exception) -> None:
        """Tells of a find, if it is the first from where it comes."""
        frames = traceback.extract_tb(wrong.__traceback__)
        kind = f"{type(wrong).__name__} {frames[-1].filename} {frames[-1].lineno} {str(wrong)[:40]}"
        if kind in self.known:
            return
        self.known.add(kind)
        place = self.kept / f"{what}-{number}"
        for name, data in files_of(wrong).items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        trace = "".join(traceback.format_exception(wrong, limit=-6))[-6000:]
        print(f"{trace}{again(self.seed, what, number)}\nfiles: {place}\n", flush=True)


def again(seed: int, what: str, number: int) -> str:
    """How to see a case again."""
    return f"again: python -m tests.fuzz --seed {seed} --only {what} --case {number}"


def fuzz(session: Session, only: list[str], seconds: float, cases: int | None, first: int) -> int:
    """Runs cases until the time is over, or so many of each kind; how many did not hold."""
    until = time.monotonic() + seconds
    failed = done = 0
    for number in itertools.count(first):
        if (cases is not None and number >= first + cases) or time.monotonic() > until:
            break
        for what in only:
            faulthandler.dump_traceback_later(HANGS, exit=True)
            PLACE.seek(0)
            PLACE.write(f"{what} {number} ".encode())
            failed += not session.case(what, number)
            done += 1
    faulthandler.cancel_dump_traceback_later()
    said = ", ".join(f"{count} {what}" for what, count in session.counts.items())
    print(f"{done} cases: {said}, {failed} failed; {session.digest.hexdigest()[:16]}", flush=True)
    return failed


#: The case that a child is at.
PLACE = mmap.mmap(-1, 64)


def in_child(run: Callable[[int], int], seed: int, first: int) -> tuple[int, int | None]:
    """Runs cases in a child; its exit status, and where to go on after a case that it died of."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 70
        try:
            status = _FAILED if run(first) else 0
        finally:
            sys.stdout.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status in (0, _FAILED):
        return int(status == _FAILED), None
    what, number, *_ = PLACE[:].decode().split(" ")
    how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    print(f"the process died: {how}\n{again(seed, what, int(number))}\n", flush=True)
    return 1, int(number) + 1


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Reads input that nobody wrote."
    )
    parser.add_argument("seconds", nargs="?", type=float, default=60.0)
    parser.add_argument("--seed", type=int, help="else a new one every time")
    parser.add_argument("--only", choices=list(RUNS), action="append")
    parser.add_argument("--cases", type=int, help="of each kind, and no more, whatever the time")
    parser.add_argument("--case", type=int, help="this one alone")
    parsed = parser.parse_args()
    seed = parsed.seed if parsed.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"--seed {seed}", flush=True)
    only = parsed.only or list(RUNS)
    scratch, kept = Path(tempfile.mkdtemp(prefix="fuzz-")), Path(tempfile.mkdtemp(prefix="finds-"))
    session = Session(seed, scratch, kept)
    cases = 1 if parsed.case is not None else parsed.cases
    until = time.monotonic() + parsed.seconds
    first: int | None = parsed.case or 0
    status = 0
    while first is not None and time.monotonic() < until:
        left = until - time.monotonic()
        said, first = in_child(partial(fuzz, session, only, left, cases), seed, first)
        status |= said
    shutil.rmtree(scratch)
    if not any(kept.iterdir()):
        kept.rmdir()
    return status


if __name__ == "__main__":
    raise SystemExit(main())
