"""Builds of kernels whose sources are imported: allowed or refused, rebuilt exactly when what was imported differs, the same as by reading."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.build.project import TestProject

MANIFEST = """edition = 1

[build]
targets = ["cpu"]
cache = "cache"

[kernel.scale]
source = "scale.py"
args = { x = "*f32", out = "*f32", n = "i32" }
configs = "autotune"
grid = ["cdiv(n, BLOCK)"]
outputs = ["out"]
import = true
"""

KERNEL = """import json
import os
import pathlib

import triton
import triton.language as tl

HERE = pathlib.Path(__file__).parent
SIZES = json.loads((HERE.parent / "tuning" / "sizes.json").read_text())
FACTOR = float(os.environ.get("TEENYBUILD_TEST_FACTOR", "2.0"))
ALSO = len(list((HERE.parent / "kernels").iterdir())) * 0


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=1) for b in SIZES], key=["n"])
@triton.heuristics({"MANY": lambda args: args["BLOCK"] >= SIZES[1]})
@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr, MANY: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n) * FACTOR
    if MANY:
        value += 100
    tl.store(out + offsets, value, mask=offsets < n)
"""


@pytest.fixture
def project(tmp_path: Path) -> TestProject:
    found = TestProject(tmp_path / "project", MANIFEST)
    found.write("kernels/scale.py", KERNEL)
    found.write("tuning/sizes.json", "[64, 128]")
    return found


def test_nothing_is_run_unless_that_is_allowed(project: TestProject) -> None:
    project.write("kernels/scale.py", "open('ran', 'w')\n" + KERNEL)
    for command in (["build"], ["check"], ["list"]):
        done = project.run(*command)
        assert done.returncode == 1
        assert (
            "kernels.toml:13:10: error: import = true runs scale.py, and this build may not run sources"
            in done.stderr
        )
        assert "hint: allow it: --allow-import" in done.stderr
    assert not list(project.directory.rglob("ran"))
    project.replace("kernels.toml", "import = true\n", "")
    assert project.run("build", "--allow-import").returncode == 1  # allowed, and not asked for
    assert not list(project.directory.rglob("ran"))


def test_what_is_built_is_what_the_import_says(project: TestProject) -> None:
    report = project.build("--allow-import")
    assert report["compiled"] == 2
    assert {id_ for id_, _ in project.entry_keys()} == {"scale__64__w1", "scale__128__w1"}
    program = (
        "import numpy as np\nfrom teeny_kernels import scale\nx = np.arange(5, dtype=np.float32)\nout = np.zeros(5, np.float32)\n"
        "scale(x, out, 5)\nprint(out.tolist())\nscale(x, out, 5, BLOCK=128)\nprint(out.tolist())\n"
    )
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project.build_dir, capture_output=True, text=True, check=False
    )
    x = np.arange(5, dtype=np.float32)
    assert done.stdout.splitlines() == [str((x * 2).tolist()), str((x * 2 + 100).tolist())], done.stderr


def test_what_was_read_when_it_ran_rebuilds(project: TestProject) -> None:
    project.build("--allow-import")
    before = project.entry_keys()
    assert project.build("--allow-import")["compiled"] == 0
    project.write("tuning/sizes.json", "[64, 128, 256]")
    assert project.build("--allow-import")["compiled"] == 1
    assert {name: project.entry_keys()[name] for name in before} == before
    project.write("tuning/sizes.json", "[64, 256, 128]")
    # 128 no longer counts as many: only its constant changes.
    assert project.build("--allow-import")["compiled"] == 1
    changed = {id_ for (id_, _), key in before.items() if project.entry_keys()[id_, "cpu"] != key}
    assert changed == {"scale__128__w1"}
    project.write("tuning/sizes.json", "[64, 128]")
    assert project.build("--allow-import")["compiled"] == 0
    assert project.entry_keys() == before


def test_bare_ninja_sees_it_too(project: TestProject) -> None:
    project.build("--allow-import")
    assert project.ninja().stdout.splitlines()[-1] == "ninja: no work to do."
    project.write("tuning/sizes.json", "[32, 128]")
    assert project.ninja().returncode == 0
    assert {id_ for id_, _ in project.entry_keys()} == {"scale__32__w1", "scale__128__w1"}
    assert project.ninja().stdout.splitlines()[-1] == "ninja: no work to do."


def test_a_constant_that_was_imported_is_in_the_key(project: TestProject) -> None:
    project.build("--allow-import")
    before = project.entry_keys()
    project.replace("kernels/scale.py", '"2.0"', '"3.0"')
    assert project.build("--allow-import")["compiled"] == 2
    assert not set(before.values()) & set(project.entry_keys().values())


def test_the_environment_and_the_place_do_not_matter(project: TestProject, tmp_path: Path) -> None:
    project.build("--allow-import", env={"TEENYBUILD_TEST_FACTOR": "5.0"})
    before = project.entry_keys()
    moved = project.directory.rename(tmp_path / "elsewhere")
    project = TestProject.at(moved)
    assert project.build("--allow-import", env={"TEENYBUILD_TEST_FACTOR": "7.0"})["compiled"] == 0
    assert project.entry_keys() == before


def test_keys_are_those_of_reading_where_both_work(project: TestProject) -> None:
    text = KERNEL.replace('json.loads((HERE.parent / "tuning" / "sizes.json").read_text())', "[64, 128]")
    text = text.replace('float(os.environ.get("TEENYBUILD_TEST_FACTOR", "2.0"))', "2.0")
    project.build("--allow-import")
    before = project.entry_keys()
    project.write("kernels/scale.py", text)
    assert project.build("--allow-import")["compiled"] == 0
    assert project.entry_keys() == before
    project.replace("kernels.toml", "import = true\n", "")
    assert project.build()["compiled"] == 0
    assert project.entry_keys() == before


def test_an_import_that_fails_is_said_and_mended(project: TestProject) -> None:
    project.write("tuning/sizes.json", "[64,")
    done = project.run("build", "--allow-import", "--json")
    assert done.returncode == 1
    [found] = json.loads(done.stdout)["diagnostics"]
    assert (found["file"], found["line"], found["column"]) == ("kernels.toml", 13, 10)
    assert found["message"].startswith("importing scale.py failed: JSONDecodeError: ")
    assert (found["notes"][0]["file"], found["notes"][0]["line"]) == ("kernels/scale.py", 9)
    project.write("tuning/sizes.json", "[64, 128]")
    assert project.build("--allow-import")["compiled"] == 2


def test_an_unchanged_source_is_imported_once(project: TestProject) -> None:
    log = project.directory.parent / "log"
    project.write("kernels/scale.py", f"with open({str(log)!r}, 'a') as log:\n    log.write('x')\n{KERNEL}")
    project.build("--allow-import")  # to read the manifest, and for the package
    assert log.read_text() == "x"
    project.replace("kernels.toml", 'outputs = ["out"]\n', "")
    project.build("--allow-import")
    assert log.read_text() == "x"
    assert project.run("clean").returncode == 0
    assert not project.build_dir.exists()
