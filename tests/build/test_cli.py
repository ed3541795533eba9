"""Every command as a user runs it: what it prints, where, and its exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import teenybuild
from teenybuild import build, cli
from teenybuild.diagnostics import BugError
from tests.build.project import TestProject

SCHEMA = json.loads(
    (Path(teenybuild.__file__).parent / "schemas/cli.schema.json").read_text(encoding="utf-8")
)


def parsed(stdout: str) -> dict[str, Any]:
    """The one object of ``--json``, checked against the schema."""
    found = json.loads(stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert found["version"] == teenybuild.__version__
    return found


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "arguments",
    [
        ("build",),
        ("check",),
        ("list",),
        ("show", "total__256"),
        ("explain", "total__256"),
        ("lock",),
        ("doctor",),
        ("cache",),
        ("gc",),
        ("clean",),
        ("clean", "--cache"),
    ],
    ids=" ".join,
)
def test_json_of_every_command_that_goes_well(built: TestProject, arguments: tuple[str, ...]) -> None:
    done = built.run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    found = parsed(done.stdout)
    assert found["ok"]
    assert found["command"] == arguments[0]


@pytest.mark.parametrize(
    "command",
    [("build",), ("check",), ("list",), ("show", "total__256"), ("explain", "total__256")],
    ids=" ".join,
)
def test_json_of_every_command_that_goes_wrong(built: TestProject, command: tuple[str, ...]) -> None:
    built.replace("kernels.toml", 'n = "i32"', 'n = "i33"')
    done = built.run(*command, "--json")
    assert done.returncode == 1
    found = parsed(done.stdout)
    assert not found["ok"]
    assert found["command"] == command[0]
    assert {(d["file"], "i33" in d["message"]) for d in found["diagnostics"]} == {("kernels.toml", True)}


def test_json_of_a_build_with_a_wrong_kernel(built: TestProject) -> None:
    built.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.summ(x, axis=0)")
    done = built.run("build", "--json")
    assert done.returncode == 1
    found = parsed(done.stdout)
    assert (found["compiled"], found["cached"], found["failed"]) == (0, 8, 2)
    (diagnostic,) = found["diagnostics"]
    assert diagnostic["file"] == "kernels/scale.py"
    assert (
        built.read("kernels/scale.py")
        .splitlines()[diagnostic["line"] - 1][diagnostic["column"] - 1 :]
        .startswith("tl.summ")
    )


# What a person reads ------------------------------------------------------------------------------------------


def test_what_builds_say(fresh: TestProject) -> None:
    first, second = fresh.run("build"), fresh.run("build")
    assert first.stdout.startswith(
        "built 10 artifacts (5 specialisations for cpu, sm_90a): 10 compiled, 0 cached, in "
    )
    assert first.stdout.rstrip().endswith(str(Path("build", "teeny_kernels")))
    assert second.stdout == "nothing to do: 10 artifacts (5 specialisations for cpu, sm_90a) up to date\n"
    assert first.stderr == second.stderr == ""
    assert fresh.run("build", "--quiet", "--force").stdout == ""
    fresh.replace("kernels/scale.py", "def total(", "# a comment\ndef total(")
    third = fresh.run("build").stdout
    assert third.startswith(
        "nothing to compile: 10 artifacts (5 specialisations for cpu, sm_90a) cached, in "
    )


def test_list_shows_what_is_cached(fresh: TestProject) -> None:
    before = fresh.run("list").stdout.splitlines()
    assert before[0].split() == ["id", "target", "key", "state"]
    assert len(before) == 11
    assert all(line.endswith("missing") for line in before[1:])
    fresh.build("--target", "cpu")
    rows = [line.split() for line in fresh.run("list").stdout.splitlines()[1:]]
    assert {(target, state) for _, target, _, state in rows} == {("cpu", "cached"), ("sm_90a", "missing")}
    assert {(i, t): k for (i, t), k in fresh.entry_keys().items() if t == "cpu"} == {
        (row["id"], row["target"]): row["key"]
        for row in parsed(fresh.run("list", "--json").stdout)["specialisations"]
        if row["target"] == "cpu"
    }


@pytest.mark.parametrize(
    ("stage", "part"),
    [
        ("ptx", ".visible .entry total"),
        ("llvm", "define"),
        ("mlir", "tt.func"),
        ("source", "def total(x_ptr, out_ptr, n, BLOCK"),
        ("abi", '"abi_version": 2'),
    ],
)
def test_show_every_stage(built: TestProject, stage: str, part: str) -> None:
    done = built.run("show", "total__256", "--stage", stage, "--target", "sm_90a")
    assert done.returncode == 0, done.stderr
    assert part in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "total__265"), "there is no specialisation total__265"),
        (("show", "total__256", "--target", "cpu"), "total__256 for cpu has no PTX"),
        (("show", "total__256", "--target", "sm_9a"), "--target sm_9a: "),
        (("build", "-m", "missing.toml"), "there is no manifest missing.toml"),
        (("build", "--build-dir", "."), "the build directory is the manifest's own directory"),
        (("build", "--target", "sm_60"), "--target sm_60: "),
    ],
    ids=lambda a: a if isinstance(a, str) else " ".join(a),
)
def test_what_is_asked_for_wrongly(built: TestProject, arguments: tuple[str, ...], message: str) -> None:
    done = built.run(*arguments)
    assert done.returncode == 1
    assert f"error: {message}" in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_files_where_directories_should_be_and_the_other_way_round(fresh: TestProject) -> None:
    """Each is an error of one line, exit code 1, and nothing is left behind."""
    fresh.write("file", "")
    os.mkfifo(fresh.directory / "pipe.toml")
    (fresh.directory / "loop.toml").symlink_to("loop.toml")
    kernel = fresh.directory / "kernels/scale.py"
    text = kernel.read_text()
    cases: list[tuple[tuple[str, ...], str]] = [
        (("build", "--build-dir", "file"), "cannot be made: "),
        (("clean", "--build-dir", "file"), "cannot be made: "),
        (("build", "--loader-dir", "file/under"), "the directory of the package, "),
        (("build", "--build-dir", "two\nlines"), "has a line break in its name"),
        (("build", "-m", "pipe.toml"), "the manifest pipe.toml is not a regular file"),
        (("build", "-m", "loop.toml"), "the manifest loop.toml is not a regular file"),
    ]
    for arguments, message in cases:
        done = fresh.run(*arguments)
        assert (done.returncode, done.stdout) == (1, ""), arguments
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    for make in (lambda: os.mkfifo(kernel), lambda: kernel.symlink_to("scale.py"), kernel.mkdir):
        kernel.unlink()
        make()
        done = fresh.run("build")
        assert done.returncode == 1
        assert "kernels.toml:" in done.stderr
        assert "kernels/scale.py" in done.stderr
        assert "Traceback" not in done.stderr
        if kernel.is_dir():
            kernel.rmdir()
            kernel.write_text(text)
    assert not fresh.build_dir.exists()
    fresh.replace("kernels.toml", "[build]\n", '[build]\ninclude = ["l*.toml"]\n')
    done = fresh.run("check")
    assert done.returncode == 1
    assert "the included file cannot be read" in done.stderr


def test_a_package_that_is_somebody_elses_is_no_bug_of_ours(fresh: TestProject) -> None:
    fresh.write("other/teeny_kernels/__init__.py", "# mine\n")
    done = fresh.run("build", "--loader-dir", "other")
    assert done.returncode == 1, done.stderr
    assert "teeny_kernels" in done.stderr
    assert "bug" not in done.stderr
    assert fresh.read("other/teeny_kernels/__init__.py") == "# mine\n"


def test_a_near_name_is_offered(built: TestProject) -> None:
    assert "total__256" in built.run("show", "total__265").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("bild",),
        ("build", "--job", "2"),
        ("build", "-j", "0"),
        ("build", "-j", "x"),
        ("show",),
        ("show", "a", "--stage", "assembly"),
    ],
    ids=" ".join,
)
def test_usage_is_exit_code_2(built: TestProject, arguments: tuple[str, ...]) -> None:
    done = built.run(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: teenybuild")


def test_version_and_help(built: TestProject) -> None:
    assert built.run("--version").stdout == f"teenybuild {teenybuild.__version__}\n"
    text = built.run("--help").stdout
    assert all(
        f"    {command}" in text for command in ("init", "build", "check", "list", "show", "clean", "doctor")
    )
    assert "_chunk" not in text


def test_a_value_for_a_name_that_nothing_mentions_is_misspelled(built: TestProject) -> None:
    built.replace("kernels.toml", "[kernel.total]\n", "[kernel.total]\nglobals = { FACTO = 3.0 }\n")
    done = built.run("check")
    assert done.returncode == 1
    assert "kernels.toml:" in done.stderr
    assert "globals names FACTO, which scale.py and what it imports do not mention" in done.stderr
    assert "hint: did you mean FACTOR?" in done.stderr


# check, init, clean, doctor -----------------------------------------------------------------------------------


def test_check_finds_every_wrong_kernel_and_compiles_nothing(fresh: TestProject) -> None:
    assert fresh.run("check").stdout == "ok: 2 kernels, 5 specialisations\n"
    fresh.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.summ(x, axis=0)")
    fresh.replace("kernels/helpers.py", "x * factor", "x * faktor")
    done = fresh.run("check")
    assert done.returncode == 1
    assert "summ" in done.stderr
    assert "faktor" in done.stderr
    assert not (fresh.directory / "cache").exists()
    assert not fresh.build_dir.exists()


def test_check_finds_wrong_outputs(fresh: TestProject) -> None:
    fresh.replace("kernels.toml", 'outputs = ["out_ptr"]', 'outputs = ["x_ptr"]')
    done = fresh.run("check")
    assert done.returncode == 1
    assert "scale writes out_ptr" in done.stderr


def test_init_makes_something_that_builds_and_never_overwrites(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "teenybuild", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    done = run("init", "new")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "next: teenybuild build -m new/kernels.toml"
    done = run("build", "-m", "new/kernels.toml", "--cache-dir", "cache")
    assert done.returncode == 0, done.stderr
    (tmp_path / "new/kernels/vector_add.py").write_text("mine")
    assert run("init", "new").returncode == 1
    assert (tmp_path / "new/kernels/vector_add.py").read_text() == "mine"


def test_clean_removes_what_was_built_and_nothing_else(built: TestProject) -> None:
    built.write("build/mine.txt", "mine")
    built.write("build/teeny_kernels/mine.txt", "mine")
    built.build("--loader-dir", "elsewhere")
    assert (built.directory / "elsewhere/teeny_kernels/__init__.py").is_file()
    assert built.run("clean").returncode == 0
    assert not (built.directory / "elsewhere/teeny_kernels").exists()
    left = sorted(p.name for p in built.build_dir.rglob("*") if p.is_file() and p.suffix != ".py")
    assert "mine.txt" in left
    assert "build.ninja" not in left
    assert len(list((built.directory / "cache").iterdir())) > 0
    assert built.build()["compiled"] == 0
    assert built.run("clean", "--cache").returncode == 0
    assert list((built.directory / "cache").iterdir()) == []
    assert built.read("kernels/scale.py")


def test_doctor_says_what_is_here(built: TestProject) -> None:
    done = built.run("doctor")
    assert done.returncode == 0, done.stdout
    for what in ("python", "llvmlite", "ninja binary", "LLVM", "cache", "manifest: kernels.toml", "GPU"):
        assert f"ok  {what}" in done.stdout


# The environment ----------------------------------------------------------------------------------------------


def test_the_environment_names_a_cache_and_the_command_line_wins(fresh: TestProject) -> None:
    fresh.replace("kernels.toml", 'cache = "cache"\n', "")
    fresh.build(env={"TEENYBUILD_CACHE_DIR": "from-environment"})
    assert any((fresh.directory / "from-environment").iterdir())
    report = fresh.build("--cache-dir", "said", env={"TEENYBUILD_CACHE_DIR": "from-environment"})
    assert report["compiled"] == 10
    assert any((fresh.directory / "said").iterdir())


def test_a_cache_that_is_a_file_is_an_error(fresh: TestProject) -> None:
    fresh.write("cache", "a file")
    done = fresh.run("build")
    assert done.returncode == 1
    assert f"{fresh.directory / 'cache'}" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_leaves_a_directory_that_the_next_build_finishes(fresh: TestProject) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "teenybuild", "build", "-j", "1"],
        cwd=fresh.directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list((fresh.directory / "cache").glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode in (0, 130), stderr
    assert "Traceback" not in stderr
    report = fresh.build()
    assert report["compiled"] + report["cached"] == 10
    assert not list((fresh.directory / "cache").glob("*.tmp"))


def test_an_interrupt_of_ninja_alone_is_an_interrupt(
    fresh: TestProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ninja = tmp_path / "ninja"
    ninja.write_text("#!/bin/sh\nexit 130\n")
    ninja.chmod(0o755)
    monkeypatch.setattr(build, "ninja_binary", lambda: str(ninja))
    monkeypatch.chdir(fresh.directory)
    assert cli.main(["build"]) == 130


def test_a_bug_of_ours_is_exit_code_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> int:
        raise BugError("this cannot happen")

    def broken_worse(_: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setitem(cli._COMMANDS, "doctor", broken)  # pyright: ignore[reportPrivateUsage]
    assert cli.main(["doctor"]) == 70
    assert "bug: this cannot happen" in capsys.readouterr().err
    monkeypatch.setitem(cli._COMMANDS, "doctor", broken_worse)  # pyright: ignore[reportPrivateUsage]
    assert cli.main(["doctor"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err
