"""Whether there is anything to do: by content, whatever the times say."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from teenybuild import state

SETTINGS = {"manifest": "kernels.toml"}
SUMMARY = {"specialisations": 1}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = [tmp_path / "a.py", tmp_path / "b.json"]
    for path in found:
        path.write_text(path.name)
    (tmp_path / "more").mkdir()
    (tmp_path / "more/x.toml").write_text("x")
    record(tmp_path, found, started_ns=time.time_ns() + 10**9)
    return found


def record(directory: Path, files: list[Path], started_ns: int) -> None:
    inputs = [files[0], directory / "more"]
    state.record(directory, SETTINGS, SUMMARY, inputs, [files[1]], started_ns=started_ns)


def test_nothing_has_changed(tmp_path: Path, files: list[Path]) -> None:
    assert state.unchanged(tmp_path, SETTINGS) == SUMMARY


@pytest.mark.parametrize("when", [0, 1, 10**9, 4 * 10**9])
def test_other_times_alone_change_nothing_and_are_learned(
    tmp_path: Path, files: list[Path], when: int
) -> None:
    os.utime(files[0], (when, when))
    assert state.unchanged(tmp_path, SETTINGS) == SUMMARY
    assert str(when * 10**9) in (tmp_path / state.STATE).read_text()


def test_an_older_file_with_other_content_is_a_change(tmp_path: Path, files: list[Path]) -> None:
    files[0].write_text("b.py")
    os.utime(files[0], (1, 1))
    assert state.unchanged(tmp_path, SETTINGS) is None


def test_the_same_size_and_time_in_another_inode_is_looked_at(tmp_path: Path, files: list[Path]) -> None:
    before = files[0].stat()
    (tmp_path / "new").write_text("A.py")
    (tmp_path / "new").replace(files[0])
    os.utime(files[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert files[0].stat().st_size == before.st_size
    assert state.unchanged(tmp_path, SETTINGS) is None


def test_a_file_that_is_gone_is_a_change(tmp_path: Path, files: list[Path]) -> None:
    files[1].unlink()
    assert state.unchanged(tmp_path, SETTINGS) is None


def test_a_new_file_in_a_watched_directory_is_a_change(tmp_path: Path, files: list[Path]) -> None:
    (tmp_path / "more/y.toml").write_text("y")
    assert state.unchanged(tmp_path, SETTINGS) is None


def test_an_input_that_changed_while_the_build_ran_is_a_change(tmp_path: Path, files: list[Path]) -> None:
    started = time.time_ns()
    files[0].write_text("edited after it was read")
    os.utime(files[0], (1, 1))
    record(tmp_path, files, started)
    assert state.unchanged(tmp_path, SETTINGS) is None


def test_other_settings_are_a_change(tmp_path: Path, files: list[Path]) -> None:
    assert state.unchanged(tmp_path, {"manifest": "other.toml"}) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"state_version": 0}', '{"state_version": 1, "settings": {}}']
)
def test_a_damaged_state_is_no_state(tmp_path: Path, files: list[Path], text: str) -> None:
    (tmp_path / state.STATE).write_text(text)
    assert state.unchanged(tmp_path, SETTINGS) is None


def test_outputs_that_were_changed_are_found(tmp_path: Path, files: list[Path]) -> None:
    assert state.damaged_outputs(tmp_path, files) == []
    files[1].write_text("other")
    assert state.damaged_outputs(tmp_path, files) == [files[1]]
    files[1].unlink()
    assert state.damaged_outputs(tmp_path, files) == []  # ninja sees that by itself
