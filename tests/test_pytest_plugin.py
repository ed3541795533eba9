"""``kernel_snapshot``, in runs of pytest as users have them: what passes, fails, is written, and is told at the end."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from teenybuild.pytest_plugin import slug
from tests.build.project import TestProject

ROOT = Path(__file__).parents[1]
UPDATE = "--kernel-snapshot-update"
KEPT = "tests/__kernel_snapshots__"

TESTS = """
import pytest


def test_scale(kernel_snapshot):
    kernel_snapshot("scale__f32__128", stage="mlir")


@pytest.mark.parametrize("stage", ["source", "abi"])
def test_total(kernel_snapshot, stage):
    kernel_snapshot("total__256", stage=stage)
"""


class Project(TestProject):
    """A project with kernels, tests of them in ``tests/``, and pytest run in it."""

    def __init__(self, directory: Path, tests: str = TESTS) -> None:
        super().__init__(directory)
        self.write("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider\n")
        self.write("tests/test_kernels.py", tests)

    def pytest(self, *arguments: str, fails: int = 0, **env: str) -> str:
        """What pytest prints, with this plugin and no others but those that are named."""
        passed_on = {
            k: v for k, v in os.environ.items() if k != "CI" and not k.startswith(("PYTEST", "TEENYBUILD"))
        }
        environment = passed_on | {
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "TEENYBUILD_CACHE_DIR": str(self.directory / "cache"),
            **env,
        }
        command = [sys.executable, "-m", "pytest", "-p", "teenybuild.pytest_plugin", *arguments]
        done = subprocess.run(
            command, cwd=self.directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )  # fmt: skip
        assert done.returncode == fails, done.stdout
        return done.stdout

    def kept(self) -> dict[str, bytes]:
        """The snapshots there are."""
        below = self.directory / KEPT
        return {
            p.relative_to(below).as_posix(): p.read_bytes() for p in sorted(below.rglob("*")) if p.is_file()
        }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def test_written_kept_and_held_against(project: Project) -> None:
    missing = project.pytest(fails=1)
    assert f"there is no snapshot {KEPT}/test_kernels/test_scale.scale__f32__128.mlir" in missing
    assert f"pytest {UPDATE} writes it" in missing
    assert "3 failed" in missing
    assert project.kept() == {}

    written = project.pytest(UPDATE)
    kept = project.kept()
    assert list(kept) == [
        "test_kernels/test_scale.scale__f32__128.mlir",
        "test_kernels/test_total-abi.total__256.cpu.abi",
        "test_kernels/test_total-source.total__256.source",
    ]
    assert all(f"  {KEPT}/{name}" in written for name in kept)
    assert b"arith.mulf" in kept["test_kernels/test_scale.scale__f32__128.mlir"]
    assert "kernel snapshots" not in project.pytest()

    # A comment is no difference, a helper is one, and it reads as one.
    project.replace("kernels/helpers.py", "return x * factor", "return x + factor  # a comment")
    failed = project.pytest(fails=1)
    assert "1 failed, 2 passed" in failed
    told = [line.removeprefix("E").strip() for line in failed.splitlines() if line.startswith("E")]
    place = f"{KEPT}/test_kernels/test_scale.scale__f32__128.mlir"
    assert told[0] == f"AssertionError: the kernel is not what {place} says"
    assert told[1:3] == [f"--- {place}", "+++ what it is now"]
    changed = [line.split()[:3] for line in told[3:] if line[0] in "+-"]
    assert [(line[0], line[-1]) for line in changed] == [("-", "="), ("+", "=")]
    assert [w for line in told[3:] if line[0] in "+-" for w in line.split() if w.startswith("arith")] == [
        "arith.mulf",
        "arith.addf",
    ]
    assert "pytest_plugin.py" not in failed, "what is shown is the test, and not how it is carried out"
    assert project.kept() == kept

    project.pytest(UPDATE)
    now = project.kept()
    assert {name for name in kept if now[name] != kept[name]} == {
        "test_kernels/test_scale.scale__f32__128.mlir"
    }
    project.pytest()


def test_ci_writes_nothing(project: Project) -> None:
    assert "not in CI" in project.pytest(UPDATE, fails=4, CI="1")
    assert "there is no snapshot" in project.pytest(fails=1, CI="1")
    assert project.kept() == {}


def test_what_no_test_asks_for(project: Project) -> None:
    project.write("tests/test_others.py", TESTS.replace("test_scale", "test_again"))
    project.pytest(UPDATE)
    assert len(project.kept()) == 6
    # A test that asks for something else, one with another name, a parameter that is gone, a file that is gone.
    project.replace("tests/test_kernels.py", "scale__f32__128", "scale__f16__128")
    project.replace("tests/test_kernels.py", '"source", "abi"', '"source"')
    (project.directory / "tests/test_others.py").rename(project.directory / "tests/test_renamed.py")
    project.write(f"{KEPT}/test_kernels/test_unheard_of.x.mlir", "x")
    gone = [
        "test_kernels/test_scale.scale__f32__128.mlir",
        "test_kernels/test_total-abi.total__256.cpu.abi",
        "test_kernels/test_unheard_of.x.mlir",
        *(name for name in project.kept() if name.startswith("test_others")),
    ]

    def told(output: str, what: str) -> list[str]:
        _, found, after = output.partition(f"{what}: no test asks for them")
        lines = [line.strip() for line in after.splitlines()[1:] if line.startswith(f"  {KEPT}")]
        return [line.removeprefix(f"{KEPT}/") for line in lines] if found else []

    # Part of a run, or a test that failed, says nothing of what others would have asked for.
    alone = project.pytest("tests/test_kernels.py::test_total", "-q")
    assert told(alone, "stale") == gone[3:]
    failed = project.pytest("tests/test_kernels.py", fails=1)
    assert told(failed, "stale") == gone[1:]
    chosen = project.pytest("tests/test_kernels.py", "-k", "total", "-q")
    assert told(chosen, "stale") == gone[1:]

    updated = project.pytest(UPDATE)
    assert told(updated, "removed") == gone
    assert set(project.kept()) == {
        "test_kernels/test_scale.scale__f16__128.mlir",
        "test_kernels/test_total-source.total__256.source",
        "test_renamed/test_again.scale__f32__128.mlir",
        "test_renamed/test_total-abi.total__256.cpu.abi",
        "test_renamed/test_total-source.total__256.source",
    }
    assert "kernel snapshots" not in project.pytest()


def test_workers_of_xdist(project: Project) -> None:
    many = ("-p", "xdist.plugin", "-n", "2")
    written = project.pytest(*many, UPDATE)
    assert len(project.kept()) == 3
    assert all(f"  {KEPT}/{name}" in written for name in project.kept())
    project.write(f"{KEPT}/test_kernels/test_scale.another.mlir", "x")
    project.write(f"{KEPT}/test_kernels/test_gone.another.mlir", "x")
    stale = project.pytest(*many)
    assert (
        f"  {KEPT}/test_kernels/test_gone.another.mlir\n  {KEPT}/test_kernels/test_scale.another.mlir\n"
        in stale
    )
    project.pytest(*many, UPDATE)
    assert len(project.kept()) == 3


EVERYTHING = """
from pathlib import Path

import pytest
import teenybuild

KERNEL = str(Path(__file__).parents[1] / "kernels/scale.py") + ":scale"
TYPES = {"x_ptr": "*f32", "out_ptr": "*f32", "n": "i32"}


@pytest.mark.parametrize("stage", ["source", "mlir", "llvm", "ptx", "abi"])
def test_all(kernel_snapshot, stage):
    kernel_snapshot("total__256", stage=stage)
    kernel_snapshot(KERNEL, TYPES, {"BLOCK": 64}, stage=stage, target="sm_90a", lineinfo=True)
    kernel_snapshot(teenybuild.compile(KERNEL, "sm_80", TYPES, {"BLOCK": 64}, ptx="8.0"), stage=stage, name="artifact")


def test_target(kernel_snapshot):
    kernel_snapshot("total__256", stage="llvm", target="sm_90a")
    kernel_snapshot("total__256", stage="llvm", target="cpu")
"""


def test_the_same_bytes_on_two_machines(tmp_path: Path) -> None:
    one = Project(tmp_path / "one", EVERYTHING)
    other = Project(tmp_path / "another place/of another length", EVERYTHING)
    one.pytest(UPDATE, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C.UTF-8")
    other.pytest(UPDATE, PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C", TEENYBUILD_PTX_VERSION="8.6")
    kept = one.kept()
    assert len(kept) == 17
    assert other.kept() == kept
    for name, data in kept.items():
        assert data.endswith(b"\n"), name
        assert str(tmp_path).encode() not in data, name
        assert b"compiler" not in data or name.endswith(".source"), name
    # What the cache of one machine has is what the other compares with.
    other.pytest(PYTHONHASHSEED="3")


WRONG = """
import pytest


def test_twice(kernel_snapshot):
    kernel_snapshot("total__256")
    kernel_snapshot("total__256")


def test_no_such_id(kernel_snapshot):
    kernel_snapshot("totl__256")


def test_no_such_stage(kernel_snapshot):
    kernel_snapshot("total__256", stage="mlirr")


def test_no_such_target(kernel_snapshot):
    kernel_snapshot("total__256", stage="ptx", target="sm_90")


def test_said_twice(kernel_snapshot):
    kernel_snapshot("total__256", num_warps=8)


def test_no_target(kernel_snapshot):
    kernel_snapshot("kernels/scale.py:total", {"x_ptr": "*f32", "out_ptr": "*f32", "n": "i32"}, {"BLOCK": 64}, stage="ptx")


def test_no_ptx(kernel_snapshot):
    kernel_snapshot("total__256", stage="ptx", target="cpu")


def test_no_manifest(kernel_snapshot):
    kernel_snapshot("total__256", manifest="elsewhere.toml")


def test_wrong_kernel(kernel_snapshot):
    kernel_snapshot("scale__f32__128")
"""


def test_every_way_to_be_wrong_has_its_words(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", WRONG)
    project.replace("kernels/helpers.py", "return x * factor", "return tl.expp(x)")
    said = project.pytest(UPDATE, fails=1)
    for words in (
        "has asked for tests/__kernel_snapshots__/test_kernels/test_twice.total__256.mlir before: give one of them a name=",
        "did you mean total__256?",
        "did you mean mlir?",
        "total__256 is not built for sm_90",
        "did you mean sm_90a?",
        "total__256 is an id, of which the manifest says everything, and not num_warps",
        'say which: target="sm_90a"',
        "total for cpu:x86_64 has no PTX",
        "there is no manifest elsewhere.toml",
        "kernels/helpers.py:9:12: error: tl.expp is not part of the language",
    ):
        assert words in said, words
    assert "9 failed" in said
    assert "teenybuild/" not in said, "what is shown is the test, and not the way through the compiler"


def test_a_run_that_does_not_use_it_pays_nothing(tmp_path: Path) -> None:
    """Loaded by its entry point, as pytest loads it where teenybuild is installed."""
    project = Project(
        tmp_path / "project",
        "import sys\n\n\n"
        "def test_it():\n"
        "    assert 'teenybuild.pytest_plugin' in sys.modules\n"
        "    ours = {n for n in sys.modules if n.startswith('teenybuild')}\n"
        "    assert ours == {'teenybuild', 'teenybuild.pytest_plugin'}\n"
        "    assert not {'numpy', 'llvmlite', 'tomlkit', 'rich', 'ninja'} & set(sys.modules)\n",
    )
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    points = declared["project"]["entry-points"]["pytest11"]
    text = "".join(f"{name} = {module}\n" for name, module in points.items())
    project.write("installed/teenybuild_installed-1.dist-info/entry_points.txt", f"[pytest11]\n{text}")
    project.write(
        "installed/teenybuild_installed-1.dist-info/METADATA", "Name: teenybuild-installed\nVersion: 1\n"
    )
    path = os.pathsep.join([str(ROOT), str(project.directory / "installed")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:hypothesispytest"],
        cwd=project.directory,
        env={"PATH": "", "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "kernel snapshots" not in done.stdout


def test_names_of_files() -> None:
    assert slug("test_a") == "test_a"
    assert slug("TestX::test_a[f32-128]") == "TestX-test_a-f32-128"
    odd = [slug(f"test_a[{text}]") for text in ("a/b", "a b", "a:b", "a.b", "x" * 300, "x" * 301)]
    assert len(set(odd)) == len(odd)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz_-0123456789") and len(name) < 140 for name in odd)
