"""The cache: whole entries or none, verified when used."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from teenybuild.cache import Cache, is_ours, write_atomically, write_if_changed
from teenybuild.diagnostics import UserError
from teenybuild.keys import digest

KEY = digest(b"key")
FILES = {"ptx": b".version 8.0\n", "py": b"import triton\n"}


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_what_is_stored_is_found(cache: Cache) -> None:
    cache.store("k", KEY, FILES, {"abi_version": 1})
    entry = cache.find("k", KEY)
    assert entry is not None
    assert entry.files == FILES
    assert entry.description["abi_version"] == 1
    assert entry.digests == {ext: digest(data) for ext, data in FILES.items()}
    assert not cache.damaged


def test_nothing_is_found_where_nothing_is(cache: Cache) -> None:
    assert cache.find("k", KEY) is None
    assert not cache.damaged


def test_files_are_read_only_when_wanted(cache: Cache) -> None:
    cache.store("k", KEY, FILES, {})
    cache.path("k", KEY, "py").unlink()
    entry = cache.find("k", KEY, ("ptx",))
    assert entry is not None
    assert set(entry.files) == {"ptx"}
    assert cache.find("k", KEY) is None


@pytest.mark.parametrize("extension", ["ptx", "py"])
@pytest.mark.parametrize("damage", ["truncate", "flip", "remove", "empty"])
def test_a_damaged_file_is_no_entry_and_is_said(cache: Cache, extension: str, damage: str) -> None:
    cache.store("k", KEY, FILES, {})
    path = cache.path("k", KEY, extension)
    data = path.read_bytes()
    match damage:
        case "truncate":
            path.write_bytes(data[:-1])
        case "flip":
            path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
        case "empty":
            path.write_bytes(b"")
        case _:
            path.unlink()
    assert cache.find("k", KEY) is None
    assert [d.path for d in cache.damaged] == [path]
    cache.store("k", KEY, FILES, {})
    assert cache.find("k", KEY) is not None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"key": "other", "files": {}}', "null"])
def test_a_damaged_description_is_no_entry(cache: Cache, text: str) -> None:
    cache.store("k", KEY, FILES, {})
    cache.path("k", KEY, "json").write_text(text)
    assert cache.find("k", KEY) is None
    assert len(cache.damaged) == 1


def test_an_entry_without_its_description_does_not_exist(cache: Cache) -> None:
    cache.store("k", KEY, FILES, {})
    cache.path("k", KEY, "json").unlink()
    assert cache.find("k", KEY) is None
    assert not cache.damaged


def test_writers_of_one_key_do_not_disturb_each_other(cache: Cache) -> None:
    def work(_: int) -> bool:
        mine = Cache(cache.directory)
        for _ in range(20):
            mine.store("k", KEY, FILES, {"abi_version": 1})
            if mine.find("k", KEY) is None:
                return False
        return not mine.damaged

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    assert sorted(p.suffix for p in cache.directory.iterdir()) == [".json", ".ptx", ".py"]


def test_what_a_dead_writer_left_is_replaced(cache: Cache) -> None:
    """Files without a description are no entry; half of one gives way to a whole one."""
    cache.store("k", KEY, FILES, {"abi_version": 1})
    cache.path("k", KEY, "json").unlink()
    whole = cache.path("k", KEY, "ptx").read_bytes()
    cache.path("k", KEY, "ptx").write_bytes(whole[:3])
    assert cache.find("k", KEY) is None
    cache.store("k", KEY, FILES, {"abi_version": 1})
    assert cache.find("k", KEY) is not None
    assert cache.path("k", KEY, "ptx").read_bytes() == whole
    assert not cache.damaged


def test_a_full_disk_leaves_no_part_of_a_file(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write

    def half(file: int, data: memoryview) -> int:
        if len(data) > 3:
            return real(file, data[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", half)
    with pytest.raises(UserError, match="free some space"):
        cache.store("k", KEY, FILES, {"abi_version": 1})
    assert list(cache.directory.iterdir()) == []


def test_the_description_is_the_same_bytes_every_time(cache: Cache) -> None:
    cache.store("k", KEY, FILES, {"b": 1, "a": "é"})
    first = cache.path("k", KEY, "json").read_bytes()
    cache.store("k", KEY, FILES, {"b": 1, "a": "é"})
    assert cache.path("k", KEY, "json").read_bytes() == first
    assert json.loads(first)["key"] == KEY
    assert first.isascii()


def test_a_directory_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError) as caught:
        Cache(tmp_path / "file" / "cache").store("k", KEY, FILES, {})
    assert "cannot write to the cache" in str(caught.value)
    assert "--cache-dir" in str(caught.value)


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "x", b"data")
    assert list(tmp_path.iterdir()) == []


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x"
    assert write_if_changed(path, b"1")
    os.utime(path, (1, 1))
    assert not write_if_changed(path, b"1")
    assert path.stat().st_mtime == 1
    assert write_if_changed(path, b"2")
    assert path.read_bytes() == b"2"


def test_clear_removes_our_files_and_no_others(cache: Cache) -> None:
    cache.store("k", KEY, FILES, {})
    (cache.directory / "notes.txt").write_text("mine")
    (cache.directory / f".k_{KEY}.ptx.abc.tmp").write_text("left by a kill")
    assert cache.clear() == 4
    assert [p.name for p in cache.directory.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        (f"k_{KEY}.ptx", True),
        (f"a_b_{KEY}.json", True),
        (f".k_{KEY}.so.12ab.tmp", True),
        ("k_123.ptx", False),
        (".teenybuild.counts.12ab.tmp", True),
        (f"k_{KEY}.txt", False),
        (f"k_{KEY}.ptx.bak", False),
        (f".k_{KEY}.ptx", False),
        (f"my notes_{KEY}.ptx", False),
        ("README.md", False),
    ],
)
def test_names_the_cache_gives(name: str, ours: bool) -> None:
    assert is_ours(name) is ours
