"""Whether there is anything to do: by content, whatever the times say."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from teenybuild import state
from teenybuild.unchanged import STATE, nothing_to_do, unchanged
from tests.build.project import TestProject

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
    assert unchanged(str(tmp_path), SETTINGS) == SUMMARY


@pytest.mark.parametrize("when", [0, 1, 10**9, 4 * 10**9])
def test_other_times_alone_change_nothing_and_are_learned(
    tmp_path: Path, files: list[Path], when: int
) -> None:
    os.utime(files[0], (when, when))
    assert unchanged(str(tmp_path), SETTINGS) == SUMMARY
    assert str(when * 10**9) in (tmp_path / STATE).read_text()


def test_an_older_file_with_other_content_is_a_change(tmp_path: Path, files: list[Path]) -> None:
    files[0].write_text("b.py")
    os.utime(files[0], (1, 1))
    assert unchanged(str(tmp_path), SETTINGS) is None


def test_the_same_size_and_time_in_another_inode_is_looked_at(tmp_path: Path, files: list[Path]) -> None:
    before = files[0].stat()
    (tmp_path / "new").write_text("A.py")
    (tmp_path / "new").replace(files[0])
    os.utime(files[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert files[0].stat().st_size == before.st_size
    assert unchanged(str(tmp_path), SETTINGS) is None


def test_a_file_that_is_gone_is_a_change(tmp_path: Path, files: list[Path]) -> None:
    files[1].unlink()
    assert unchanged(str(tmp_path), SETTINGS) is None


def test_a_new_file_in_a_watched_directory_is_a_change(tmp_path: Path, files: list[Path]) -> None:
    (tmp_path / "more/y.toml").write_text("y")
    assert unchanged(str(tmp_path), SETTINGS) is None


def test_an_input_that_changed_while_the_build_ran_is_a_change(tmp_path: Path, files: list[Path]) -> None:
    started = time.time_ns()
    files[0].write_text("edited after it was read")
    os.utime(files[0], (1, 1))
    record(tmp_path, files, started)
    assert unchanged(str(tmp_path), SETTINGS) is None


def test_other_settings_are_a_change(tmp_path: Path, files: list[Path]) -> None:
    assert unchanged(str(tmp_path), {"manifest": "other.toml"}) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"state_version": 0}', '{"state_version": 1, "settings": {}}']
)
def test_a_damaged_state_is_no_state(tmp_path: Path, files: list[Path], text: str) -> None:
    (tmp_path / STATE).write_text(text)
    assert unchanged(str(tmp_path), SETTINGS) is None


def test_outputs_that_were_changed_are_found(tmp_path: Path, files: list[Path]) -> None:
    assert state.damaged_outputs(tmp_path, files) == []
    files[1].write_text("other")
    assert state.damaged_outputs(tmp_path, files) == [files[1]]
    files[1].unlink()
    assert state.damaged_outputs(tmp_path, files) == []  # ninja sees that by itself


PLAIN = """
import sys
sys.argv = ["teenybuild", "build", *{more!r}]
from teenybuild.__main__ import main
assert main() == 0
print(sorted({{"argparse", "dataclasses", "pathlib", "typing", "hashlib", "teenybuild.cli", "teenybuild.state"}} & sys.modules.keys()), file=sys.stderr)
"""


def plain(project: TestProject, *more: str, env: dict[str, str] | None = None) -> tuple[str, str]:
    """What a build says, and what of all that it might need it has loaded."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TEENYBUILD_")} | (env or {})
    # -S: what packages of a test environment have Python load at its start is not ours.
    packages = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-S", "-c", PLAIN.format(more=more)],
        cwd=project.directory,
        env=environment | {"PYTHONPATH": packages},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, done.stderr.strip()


def test_nothing_to_do_is_told_before_anything_is_loaded(built: TestProject) -> None:
    """By the settings that the command line's own reading would have given."""
    built.build()
    assert plain(built) == (built.run("build").stdout, "[]")
    assert plain(built, "-q") == ("", "[]")


def test_what_has_changed_is_left_to_the_whole_of_it(built: TestProject) -> None:
    built.replace("kernels/helpers.py", "return x * factor", "return factor * x")
    said, loaded = plain(built)
    assert said.startswith("built 2 artifacts") or "compiled" in said
    assert "teenybuild.cli" in loaded
    elsewhere = {"TEENYBUILD_CACHE_DIR": str(built.directory / "elsewhere")}
    assert "teenybuild.cli" in plain(built, env=elsewhere)[1]
    # The last build had that cache; so has this one.
    assert plain(built, env=elsewhere)[1] == "[]"
    assert "teenybuild.cli" in plain(built)[1]


@pytest.mark.parametrize(
    "arguments", [[], ["check"], ["build", "--json"], ["build", "-j", "2"], ["build", "--force"], ["-q"]]
)
def test_nothing_else_is_taken_for_a_plain_build(
    built: TestProject, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    built.build()
    monkeypatch.chdir(built.directory)
    assert nothing_to_do(["build"]) == built.run("build").stdout.rstrip("\n")
    assert nothing_to_do(arguments) is None
