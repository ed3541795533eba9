"""``teenybuild cache`` and ``gc``: what a cache holds, and what of it goes, beside builds that are running."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from teenybuild.cache import COUNTS, Cache
from teenybuild.keys import digest
from teenybuild.packaging import recorded_package
from teenybuild.project import PACKAGE_STAMP
from teenybuild.upkeep import DAY, SPARED, Counts, collect, contents, counts
from tests.build.project import TestProject

#: Bytes of the ptx of each entry.
SIZE = 1000


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """Five entries, used 0, 1, 2, 3 and 4 days ago."""
    made = Cache(tmp_path / "cache")
    for days in range(5):
        key = digest(b"%d" % days)
        made.store("k", key, {"ptx": b"x" * SIZE, "py": b""}, {})
        age(made, days, days * DAY)
    return made


def age(cache: Cache, number: int, seconds: float) -> None:
    then = time.time() - seconds
    for extension in ("json", "ptx", "py"):
        os.utime(cache.path("k", digest(b"%d" % number), extension), (then, then))


def left(cache: Cache) -> list[int]:
    """Which entries are whole; of the others nothing is left."""
    found = [n for n in range(5) if cache.find("k", digest(b"%d" % n)) is not None]
    files = [p for p in cache.directory.iterdir() if p.name != COUNTS]
    assert len(files) == 3 * len(found)
    assert not cache.damaged
    return found


def test_what_is_there(cache: Cache) -> None:
    found = contents(cache.directory)
    assert len(found.entries) == 5
    assert not found.leftovers
    assert found.bytes == sum(p.stat().st_size for p in cache.directory.iterdir())
    assert contents(cache.directory / "nowhere").entries == []


def test_what_was_not_used_for_long_goes(cache: Cache) -> None:
    result = collect(cache.directory, max_age=2.5 * DAY)
    assert left(cache) == [0, 1, 2]
    assert (result.entries, result.entries_left) == (2, 3)
    assert result.bytes_left == contents(cache.directory).bytes
    assert result.bytes > 2 * SIZE


def test_what_was_used_last_stays_longest(cache: Cache) -> None:
    each = contents(cache.directory).bytes // 5
    collect(cache.directory, max_bytes=2 * each + 10)
    assert left(cache) == [0, 1]
    collect(cache.directory, max_bytes=2 * each + 10)
    assert left(cache) == [0, 1]


def test_what_a_build_has_taken_was_used(cache: Cache) -> None:
    entry = cache.find("k", digest(b"4"))
    assert entry is not None
    cache.used(entry)
    collect(cache.directory, max_age=DAY / 2)
    assert left(cache) == [0, 4]


def test_what_was_used_just_now_stays(cache: Cache) -> None:
    """Whatever is asked for: a build may be about to read it."""
    for number in range(5):
        age(cache, number, SPARED / 2)
    collect(cache.directory, max_age=0, max_bytes=0)
    assert left(cache) == [0, 1, 2, 3, 4]


def test_what_was_never_finished_goes(cache: Cache) -> None:
    """After a while: somebody may still be at it. Files that are not the cache's are nobody's business."""
    stranger = cache.directory / "notes.txt"
    stranger.write_text("mine")
    copy, place = cache.directory / f"k_{'d' * 64}.ptx.bak", cache.directory / f"k_{'e' * 64}.ptx"
    copy.write_text("mine")
    place.mkdir()
    old, new = cache.directory / f"k_{'a' * 64}.ptx", cache.directory / f"k_{'b' * 64}.ptx"
    temporary = cache.directory / f".k_{'c' * 64}.json.0123456789ab.tmp"
    for path in (old, new, temporary):
        path.write_text("half")
    then = time.time() - 2 * SPARED
    for path in (old, temporary, copy, place):
        os.utime(path, (then, then))
    result = collect(cache.directory, max_age=99 * DAY)
    assert (result.entries, result.leftovers, result.bytes) == (0, 2, 8)
    assert not old.exists()
    assert not temporary.exists()
    assert new.exists()
    assert stranger.exists()
    assert copy.exists()
    assert place.is_dir()


def test_a_dry_run_touches_nothing(cache: Cache) -> None:
    before = sorted(cache.directory.iterdir())
    dry = collect(cache.directory, max_age=DAY / 2, dry_run=True)
    assert sorted(cache.directory.iterdir()) == before
    assert collect(cache.directory, max_age=DAY / 2) == dry


def test_what_is_counted(built: TestProject) -> None:
    """What builds compiled and what they found; by however many processes, and whatever else is in the file."""
    where = built.directory / "cache"
    # The fixture's own build, of which this is a copy.
    assert counts(where) == Counts(0, 10)
    built.replace("kernels/helpers.py", "return x * factor", "return x / factor")
    once = built.build()
    assert (once["compiled"], counts(where).misses) == (8, 18)
    hits = counts(where).hits
    built.replace("kernels/helpers.py", "return x / factor", "return x * factor")
    again = built.build()
    assert again["compiled"] == 0
    assert counts(where).misses == 18
    assert counts(where).hits >= hits + 8
    forced = counts(where)
    assert built.build("--force")["compiled"] == 10
    assert counts(where) == forced, "nothing was asked for"
    with (where / COUNTS).open("ab") as file:
        file.write(b"3 4\n\n1 2 3\n-1 2\nx\n5\n%s 1\n" % (b"1" * 5000))
    hits = forced.hits + 3
    assert counts(where) == Counts(hits, 22)
    collect(where)
    assert (where / COUNTS).read_text() == f"{hits} 22\n"
    assert (
        built.run("cache").stdout.splitlines()[1] == f"builds found {hits} artifacts there, and compiled 22"
    )
    assert built.run("clean", "--cache").returncode == 0
    assert counts(where) == Counts(0, 0)


def test_a_directory_that_cannot_be_written(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting and noting are advice, and never an error."""
    entry = cache.find("k", digest(b"4"))
    assert entry is not None

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(os, "open", refuse)
    cache.used(entry)
    cache.count(1, 2)


@pytest.mark.parametrize("old", [False, True])
def test_beside_builds(built: TestProject, old: bool) -> None:
    """All that may go is removed again and again while a build runs, of what is new or old when it begins: it ends well, and its package is whole."""
    where = built.directory / "cache"
    shutil.rmtree(built.directory / "build")
    then = time.time() - 2 * SPARED
    if old:
        for path in where.iterdir():
            os.utime(path, (then, then))
    stop = threading.Event()
    removed = 0

    def remove() -> None:
        nonlocal removed
        while not stop.is_set():
            removed += collect(where, max_age=0, max_bytes=0).entries

    # The build looks into the cache about now, or a little later.
    thread = threading.Timer(0.5 if old else 0.0, remove)
    thread.start()
    try:
        report = built.build("-j", "2")
    finally:
        stop.set()
        thread.join()
    assert (report["artifacts"], report["failed"]) == (10, 0)
    if not old:
        assert (report["cached"], removed) == (10, 0)
    assert all(path.is_file() for path in recorded_package(built.directory / "build" / PACKAGE_STAMP))
    assert built.build()["compiled"] == 0


@pytest.mark.parametrize(
    ("said", "bytes_"), [("0", 0), ("500M", 500_000_000), ("1.5g", 1_500_000_000), ("2kb", 2000), ("12", 12)]
)
def test_sizes(built: TestProject, said: str, bytes_: int) -> None:
    done = built.run("gc", "--max-size", said, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["dry_run"]
    assert found["bytes_left"] + found["bytes"] > 0
    assert bytes_ >= 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--max-size", "much"), ("--max-size", ""), ("--max-size", "-1"), ("--max-size", "G"), ("--max-size", "1.2.3"),
        ("--max-age", "-1"), ("--max-age", "soon"), ("--max-age", "nan"), ("--max-age", "inf"),
    ],
)  # fmt: skip
def test_what_is_no_size_and_no_age(built: TestProject, arguments: tuple[str, str]) -> None:
    done = built.run("gc", *arguments)
    assert done.returncode == 2
    assert "is not a" in done.stderr


def test_what_is_said(built: TestProject, tmp_path: Path) -> None:
    lines = built.run("cache").stdout.splitlines()
    assert lines[0].startswith(f"{built.directory / 'cache'}: 10 entries, ")
    assert built.run("gc").stdout.startswith("removed 0 entries and 0 leftover files, 0 B; 10 left, ")
    # A manifest that is named and not there means no other cache.
    done = built.run("gc", "-m", "nowhere.toml")
    assert done.returncode == 1
    assert "there is no manifest nowhere.toml" in done.stderr
    done = built.run("cache", "--cache-dir", "kernels.toml", "--json")
    assert done.stderr == "error: kernels.toml: Not a directory\n"
    assert json.loads(done.stdout)["diagnostics"][0]["message"] == "kernels.toml: Not a directory"
    # Without a manifest, of the cache that is named.
    done = built.run("cache", "-m", "nowhere.toml", "--cache-dir", str(tmp_path / "none"))
    assert done.stdout.splitlines()[0] == f"{tmp_path / 'none'}: 0 entries, 0 B"
