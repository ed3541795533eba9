"""``teenybuild lock``, ``build --locked`` and ``build --check-reproducible``: what a build gives, held to and compared."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from teenybuild import reproducible
from teenybuild.diagnostics import UserError
from teenybuild.keys import fingerprint
from teenybuild.project import open_project
from tests.build.project import TestProject


@pytest.fixture
def locked(built: TestProject) -> TestProject:
    """A project with a lock of what was built."""
    done = built.run("lock")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "locked: 10 artifacts in kernels.lock\n"
    return built


def test_what_is_in_it(locked: TestProject) -> None:
    text = locked.read("kernels.lock")
    assert text.splitlines()[1:3] == ["lock_version = 1", f'compiler = "{fingerprint()}"']
    stamps = (locked.directory / "build/stamps/sm_90a").glob("*.json")
    for stamp in stamps:
        for id_, member in json.loads(stamp.read_bytes())["members"].items():
            key, digest = member["key"], member["files"]["ptx"]
            assert f'{id_} = {{ key = "{key}", ptx = "{digest}" }}' in text
    assert text.count("ptx = ") == text.count("so = ") == 5


def test_it_stays_as_it_is(locked: TestProject) -> None:
    """Wherever and however often it is written; it builds what is missing."""
    text = locked.read("kernels.lock")
    assert locked.run("lock").stdout == "locked already: 10 artifacts in kernels.lock\n"
    for name in ("build", "cache", "kernels.lock"):
        path = locked.directory / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert locked.run("lock", "-j", "1").returncode == 0
    assert locked.read("kernels.lock") == text


def test_a_build_that_fails_locks_nothing(locked: TestProject) -> None:
    text = locked.read("kernels.lock")
    locked.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.summ(x, axis=0)")
    done = locked.run("lock")
    assert done.returncode == 1
    assert "tl.summ is not part of the language" in done.stderr
    assert locked.read("kernels.lock") == text


def test_a_build_that_is_held_to(locked: TestProject) -> None:
    assert locked.run("build", "--locked").returncode == 0
    locked.replace("kernels/helpers.py", "return x + 1", "return x + 2  # nobody calls it")
    assert locked.run("build", "--locked").returncode == 0
    assert locked.run("build", "--locked", "--target", "cpu").returncode == 0


def test_what_differs_is_said(locked: TestProject) -> None:
    """A kernel that has changed, one that has gone, one that is new: each with its keys, and one way out."""
    locked.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.max(x, axis=0)")
    locked.replace("kernels.toml", 'D = ["f32", "f16"]', 'D = ["f32", "bf16"]')
    done = locked.run("build", "--locked", "--target", "sm_90a")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert len(lines) == 6
    for dtype, what in (
        ("bf16", "is not in kernels.lock"),
        ("f16", "is in kernels.lock, but no longer built"),
    ):
        for block in (128, 1024):
            assert f"error: scale__{dtype}__{block} for sm_90a {what}" in lines
    assert any(line.startswith("error: total__256 for sm_90a is made from something else") for line in lines)
    assert lines[-1].startswith("hint: teenybuild lock records what there is now")
    # Again, with nothing to do.
    assert locked.run("build", "--locked", "--target", "sm_90a").returncode == 1
    assert locked.run("build", "--target", "sm_90a").returncode == 0
    done = locked.run("build", "--locked", "--json")
    assert not json.loads(done.stdout)["ok"]
    assert locked.run("lock").returncode == 0
    assert locked.run("build", "--locked").returncode == 0


def test_other_bytes_from_the_same_key(locked: TestProject) -> None:
    text = locked.read("kernels.lock")
    line = next(line for line in text.splitlines() if "ptx = " in line)
    digest = line.split('"')[3]
    locked.replace("kernels.lock", digest, "0" * 64)
    done = locked.run("build", "--locked")
    assert done.returncode == 1
    assert f"came out as {digest[:12]}, not 000000000000" in done.stderr


def test_a_lock_of_another_compiler(locked: TestProject) -> None:
    locked.replace("kernels.lock", fingerprint(), "f" * 64)
    assert locked.run("build", "--locked").returncode == 0, "all bytes are the same"
    locked.replace("kernels/helpers.py", "return x * factor", "return x / factor")
    done = locked.run("build", "--locked")
    assert f"the lock is of another compiler, ffffffffffff; this one is {fingerprint()[:12]}" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no kernels.lock"),
        ("lock_version = 2\n", "kernels.lock is of version 2"),
        ("lock_version", "kernels.lock cannot be read"),
        ("lock_version = 1\n", "kernels.lock cannot be read"),
        ('lock_version = 1\ncompiler = ""\n[cpu]\nx = { key = "" }\n', "kernels.lock cannot be read"),
        ('lock_version = 1\ncompiler = ""\n[cpu]\nx = 3\n', "kernels.lock cannot be read"),
        ("lock_version = 1\ncompiler = 3\n", "kernels.lock cannot be read: compiler is not a string"),
        ('lock_version = 1\ncompiler = ""\n[cpu]\nx = { key = 3, so = "" }\n', "kernels.lock cannot be read"),
        (
            'lock_version = 1\ncompiler = ""\n[cpu]\nx = { key = "", so = [] }\n',
            "kernels.lock cannot be read",
        ),
        ("x = " + "[" * 3000, "kernels.lock cannot be read"),
    ],
)
def test_a_lock_that_is_none(built: TestProject, text: str | None, said: str) -> None:
    if text is not None:
        (built.directory / "kernels.lock").write_text(text, encoding="utf-8")
    done = built.run("build", "--locked")
    assert done.returncode == 1
    assert f"error: {said}" in done.stderr
    assert "hint: teenybuild lock writes it" in done.stderr


def test_a_lock_that_cannot_be_written(built: TestProject) -> None:
    (built.directory / "kernels.lock").mkdir()
    done = built.run("lock", "--json")
    assert done.returncode == 1
    assert done.stderr == "error: cannot write kernels.lock: Is a directory\n"
    assert not json.loads(done.stdout)["ok"]


def test_a_manifest_that_is_called_as_its_lock(built: TestProject) -> None:
    text = built.read("kernels.toml")
    built.write("my.lock", text)
    done = built.run("lock", "-m", "my.lock")
    assert done.returncode == 1
    assert "the lock of my.lock would be my.lock itself" in done.stderr
    assert built.read("my.lock") == text


@pytest.mark.parametrize(
    "text", ["null", "x", "{}", '{"target": 3, "members": {}}', '{"target": "cpu", "members": {"x": {}}}']
)
def test_stamps_that_are_damaged(locked: TestProject, text: str) -> None:
    """They are built again, also where nothing is known of the last build."""
    (locked.build_dir / "stamps/cpu/scale.0.json").write_text(text)
    (locked.build_dir / "state.json").unlink()
    done = locked.run("build", "--locked")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_builds_come_out_alike(built: TestProject) -> None:
    done = built.run("build", "--check-reproducible")
    assert done.returncode == 0, done.stderr
    assert "reproducible: " in done.stdout
    assert " files came out of two builds alike" in done.stdout


def test_builds_apart_that_are_started_anywhere(built: TestProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """With files there that Python would take for its own, and a manifest that looks like an option."""
    built.write("json.py", "raise RuntimeError")
    built.write("-x.toml", built.read("kernels.toml"))
    monkeypatch.chdir(built.directory)
    compared = reproducible.compare(open_project("-x.toml"))
    assert (compared.files > 50, compared.differences) == (True, ())


def test_builds_apart_that_are_interrupted(built: TestProject, tmp_path: Path) -> None:
    """By a signal that only the first process has: nothing is left behind."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "teenybuild", "build", "--check-reproducible"],
        cwd=built.directory,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(temporary.glob("*/*/cache/*")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1] == "teenybuild: interrupted\n"
    assert process.returncode == 130
    assert not list(temporary.iterdir())


def test_builds_that_do_not(built: TestProject) -> None:
    """A kernel file that is run may look at whatever it likes."""
    line = "FACTOR: tl.constexpr = 2.0"
    built.replace("kernels/scale.py", line, "import time\nFACTOR: tl.constexpr = float(time.time_ns())")
    built.replace("kernels.toml", 'source = "scale.py"', 'source = "scale.py"\nimport = true')
    done = built.run("build", "--check-reproducible", "--allow-import")
    assert done.returncode == 1
    assert re.search(r"error: cache/scale_[0-9a-f]{64}\.ptx came out of one of two builds only", done.stderr)
    assert re.search(r"error: and \d+ more files differ", done.stderr)


def test_where_files_differ() -> None:
    """By line, or by byte where there are no lines."""
    said = reproducible._difference("x.ptx", b"one\n two\n", b"one\n 2\n")
    assert said == "x.ptx came out of two builds in two ways, from line 2 on: 'two' and '2'"
    assert "from line 2 on: '' and 'more'" in reproducible._difference("x.ptx", b"one\n", b"one\nmore\n")
    assert "from byte 2 on" in reproducible._difference("x.so", b"\xff\xfe\x00", b"\xff\xfe\x01")


def test_a_build_apart_that_fails(built: TestProject) -> None:
    built.replace("kernels/scale.py", "tl.sum(x, axis=0)", "tl.summ(x, axis=0)")
    project = open_project(str(built.directory / "kernels.toml"))
    with pytest.raises(UserError, match=r"one of two builds to compare failed \(exit status 1\)") as raised:
        reproducible.compare(project)
    assert "tl.summ is not part of the language" in str(raised.value)
