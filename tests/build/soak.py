"""Builds that are killed at any moment, several at once on one cache: ``python -m tests.build.soak --kills 500``.

Each round has a kernel that no round had before, so that there is something to compile.  Whatever a killed build left, every entry of the cache is
whole, the next build in the same directory ends well, and comes out as one in a place of its own does.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from teenybuild.cache import Cache
from teenybuild.upkeep import SPARED, collect, contents
from tests.build.project import TestProject

#: Builds that run at once, each in a build directory of its own.
BUILDS = 3
#: Seconds after which the last of them is killed: about as long as an undisturbed round takes.
LONGEST = 3.5


def soak(directory: Path, kills: int, seed: int) -> Iterator[str]:
    """Says how each round went. Raises :class:`AssertionError` for anything lost or wrong."""
    rng = random.Random(seed)
    project = TestProject(directory / "project")
    cache = Cache(project.directory / "cache")
    killed = rounds = 0
    while killed < kills:
        rounds += 1
        change(project, rounds)
        now = kill_some(project, rng, min(BUILDS, kills - killed))
        killed += now
        entries = whole(cache)
        yield f"round {rounds}: {killed} killed so far, {entries} whole entries"
    check_end(project, cache, directory / "apart", rounds)
    yield f"{killed} builds killed in {rounds} rounds, {len(contents(cache.directory).entries)} entries, all whole; nothing left over"


def change(project: TestProject, number: int) -> None:
    """A constant that every kernel but one is made from."""
    path = project.directory / "kernels/scale.py"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(f"FACTOR: tl.constexpr = {number}.5\n" if x.startswith("FACTOR") else x for x in lines)
    path.write_text(text, encoding="utf-8")


def command(name: str) -> Sequence[str]:
    return [sys.executable, "-m", "teenybuild", "build", "-q", "-j", "2", "--build-dir", name]


def kill_some(project: TestProject, rng: random.Random, count: int) -> int:
    """Starts builds at once, and kills each at a moment of its own, with all that it started; how many of them were at work."""
    moments = sorted(rng.uniform(0, LONGEST) for _ in range(count))
    running = [
        subprocess.Popen(
            command(f"build{i}"),
            cwd=project.directory,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for i in range(count)
    ]
    started, killed = time.monotonic(), 0
    for process, moment in zip(running, moments, strict=True):
        time.sleep(max(0.0, started + moment - time.monotonic()))
        if process.poll() is None:
            killed += 1
            for pid in family(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        process.wait()
    return killed


def family(pid: int) -> list[int]:
    """A process and all that it has started, in its session: ninja gives each of its children a group of its own."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == pid:
            found.append(int(path.parent.name))
    return [pid, *(each for each in found if each != pid)]


def whole(cache: Cache) -> int:
    """How many entries there are, each of which is what its description says."""
    found = contents(cache.directory).entries
    for entry in found:
        name, _, key = entry.description.stem.rpartition("_")
        assert cache.find(name, key) is not None, cache.damaged
    assert not cache.damaged
    return len(found)


def check_end(project: TestProject, cache: Cache, apart: Path, rounds: int) -> None:
    """Every build directory builds again, to the bytes that come out elsewhere; what was left half done goes."""
    for i in range(BUILDS):
        done = project.run("build", "-q", "--build-dir", f"build{i}")
        assert done.returncode == 0, done.stderr
        assert not done.stderr, done.stderr
    elsewhere = TestProject(apart)
    change(elsewhere, rounds)
    elsewhere.build()
    for path in (elsewhere.directory / "cache").glob("*_*.*"):
        assert (cache.directory / path.name).read_bytes() == path.read_bytes(), path.name
    package = elsewhere.directory / "build/teeny_kernels"
    for path in package.rglob("*"):
        if path.is_file():
            for i in range(BUILDS):
                other = project.directory / f"build{i}/teeny_kernels" / path.relative_to(package)
                assert other.read_bytes() == path.read_bytes(), other
    for path, _, written in contents(cache.directory).leftovers:
        os.utime(path, (written - 2 * SPARED, written - 2 * SPARED))
    collect(cache.directory)
    assert not contents(cache.directory).leftovers
    assert whole(cache) >= 10


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills builds at random, and looks at what is left.")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    parsed = parser.parse_args()
    seed = parsed.seed if parsed.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"--seed {seed}")
    directory = Path(tempfile.mkdtemp(prefix="soak-"))
    for line in soak(directory, parsed.kills, seed):
        print(line, flush=True)
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
