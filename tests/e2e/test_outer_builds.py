"""The example project built by CMake and by Meson: what is rebuilt, and what is not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/project"
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@dataclass(frozen=True, slots=True)
class Outer:
    """A build system as its users call it, from a project's directory."""

    configure: tuple[str, ...]
    build: tuple[str, ...]
    test: tuple[str, ...]
    #: What it prints where teenybuild is run.
    runs: str
    #: Whether it sees that a step has changed nothing.
    restat: bool = True


_CMAKE = ("cmake", "-S", ".", "-B", "out", f"-DPython_EXECUTABLE={sys.executable}", "-G")
OUTER = {
    "cmake-ninja": Outer(
        (*_CMAKE, "Ninja"), ("cmake", "--build", "out"), ("ctest", "--test-dir", "out", "-V"), "Building kernels"
    ),
    "cmake-make": Outer(
        (*_CMAKE, "Unix Makefiles"), ("cmake", "--build", "out"), ("ctest", "--test-dir", "out", "-V"), "Building kernels", restat=False
    ),
    "meson": Outer(
        ("meson", "setup", "out"), ("meson", "compile", "-C", "out"), ("meson", "test", "-C", "out", "-v"), "Generating kernels.stamp"
    ),
}  # fmt: skip
EACH = [pytest.param(name, marks=needs_make if name == "cmake-make" else ()) for name in OUTER]


class Example:
    """A copy of the example in the hands of one build system."""

    def __init__(self, directory: Path, outer: Outer, cache: Path) -> None:
        self.directory = shutil.copytree(EXAMPLE, directory)
        self.out = directory / "out"
        self.outer = outer
        # What is installed beside this interpreter comes first, and builds compile each version of the example once.
        tools = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ.get('PATH', '')}"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("TEENYBUILD_")} | {
            "PATH": tools,
            "PYTHONPATH": str(ROOT),
            "TEENYBUILD_CACHE_DIR": str(cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def call(self, command: tuple[str, ...]) -> str:
        done = subprocess.run(
            command, cwd=self.directory, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fails(self, *command: str) -> str:
        """Runs what must fail; what it prints."""
        done = subprocess.run(
            command, cwd=self.directory, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )  # fmt: skip
        assert done.returncode != 0, done.stdout
        return done.stdout

    def build(self) -> bool:
        """Builds; whether that called teenybuild."""
        return self.outer.runs in self.call(self.outer.build)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.directory / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def times(self) -> dict[str, int]:
        """When each file of the package, and the stamp, was written."""
        package = self.out / "kernels/teeny_kernels"
        files = [p for p in package.rglob("*") if p.is_file()]
        assert package / "__init__.py" in files
        return {p.name: p.stat().st_mtime_ns for p in (*files, self.out / "kernels.stamp")}


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of all builds of the example."""
    return tmp_path_factory.mktemp("compiled")


@pytest.mark.parametrize("name", EACH)
def test_what_is_rebuilt(name: str, tmp_path: Path, compiled: Path) -> None:
    example = Example(tmp_path / "project", OUTER[name], compiled)
    (example.directory / "kernels/unused.py").write_text("x")
    example.call(example.outer.configure)
    assert example.build()
    example.call(example.outer.test)
    assert not example.build()

    # A source with what depfiles must escape, and the same package. CMake's Makefiles have no way to write a colon.
    source = "smooth #1 $x" + (":a.py" if example.outer.restat else ".py")
    (example.directory / "kernels/smooth.py").rename(example.directory / "kernels" / source)
    example.edit("kernels.toml", "smooth.py", source)
    assert example.build()
    assert example.build() != example.outer.restat
    assert not example.build()
    first = example.times()

    # Files that no kernel reads.
    (example.directory / "kernels/unused.py").write_text("y")
    (example.directory / "notes.md").write_text("x")
    assert not example.build()

    # Nothing that a kernel means: the package is the same, and so are its files.
    example.edit(f"kernels/{source}", "@teenybuild.jit", "# A comment.\n@teenybuild.jit")
    assert example.build()
    assert example.times() == first
    if not example.outer.restat:
        # make has times and nothing else: it asks once more, and gets a stamp of today.
        assert example.build()
        again = example.times()
        assert {file for file, time in again.items() if time != first[file]} == {"kernels.stamp"}
    assert not example.build()

    # A helper behind a helper behind the kernel: another package, whose numbers are not those that are checked.
    example.edit("kernels/shared/weights.py", "= 0.25", "= 0.125")
    assert example.build()
    assert example.times()["kernels.stamp"] > first["kernels.stamp"]
    found = example.fails(*example.outer.test)
    assert "AssertionError: " in found, found
    assert not example.build()


def test_errors_end_the_build_and_what_is_removed_comes_back(tmp_path: Path, compiled: Path) -> None:
    example = Example(tmp_path / "project", OUTER["cmake-ninja"], compiled)
    example.call(example.outer.configure)
    example.build()
    example.edit("kernels/shared/edges.py", "tl.minimum", "tl.minimun")
    before = example.times()
    assert "did you mean tl.minimum?" in example.fails(*example.outer.build)
    assert example.times() == before
    example.edit("kernels/shared/edges.py", "tl.minimun", "tl.minimum")
    example.call(("cmake", "--build", "out", "--target", "clean"))
    assert not (example.out / "kernels/teeny_kernels/__init__.py").exists()
    assert example.build()
    example.call(example.outer.test)
    assert not example.build()


@pytest.mark.parametrize("name", ["CMakeLists.txt", "meson.build"])
def test_the_page_has_the_example(name: str) -> None:
    page = (ROOT / "docs/cmake-and-meson.md").read_text(encoding="utf-8")
    assert (EXAMPLE / name).read_text() in re.findall(r"```\w+\n(.*?)```", page, re.S)
