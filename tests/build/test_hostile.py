"""Names, paths and values that mean something to a shell, to ninja, to Python or to a terminal: they are names, paths and values here too.

Whatever they are, nothing is run but what whoever builds has asked for, and nothing is written outside the build and the cache directory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from teenybuild import ninja
from teenybuild.build import ninja_binary
from teenybuild.manifest.toml import LARGEST
from tests.build.project import HELPERS, TestProject

#: The file that something would have made if it had been run.
PWNED = "PWNED"
RUN = f"$(touch {PWNED});`touch {PWNED}`"
MANIFEST = """edition = 1

[build]
kernels = "kernels"
cache = "cache"

[kernel.scale]
source = "scale.py"
args = { x_ptr = "*f32", out_ptr = "*f32", n = "i32" }
const = { BLOCK = 128 }
grid = ["cdiv(n, BLOCK)"]
"""


def everything(directory: Path) -> set[Path]:
    """All there is below a directory, the build and the cache directory of a project aside."""
    found: set[Path] = set()
    for path, directories, files in os.walk(directory):
        directories[:] = [d for d in directories if d not in ("build", "cache")]
        found |= {Path(path) / name for name in (*directories, *files)}
    return found


def run_ninja(build: Path) -> str:
    done = subprocess.run([ninja_binary()], cwd=build, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.decode(errors="surrogateescape")


# Where a project stands ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        f"a b$HOME:c|d'e\"f&g<h>i*j?k[l]m#n\\o %s {{x}} !~=,\t\r\x1b[31m é😀\N{LINE SEPARATOR}{RUN}/-rf \udcff\\",
        f"{'x' * 250}/{'y' * 250}/{'é' * 120}",
    ],
    ids=["strange", "long"],
)
def test_a_project_may_stand_anywhere(tmp_path: Path, name: str) -> None:
    """And its build directory elsewhere, behind a link: what ninja is told of lies where it is, not where it is said to."""
    linked = len(name) > 300
    project = TestProject(tmp_path / name, MANIFEST)
    project.write("kernels/helpers.py", f"import os\nos.system('touch {PWNED}')\n{HELPERS}")
    away = tmp_path / "far/build" if linked else project.build_dir
    if linked:
        away.mkdir(parents=True)
        project.build_dir.symlink_to(away)
    before = everything(tmp_path)
    assert project.build(env={"PYTHONIOENCODING": "ascii:strict"})["compiled"] == 1
    assert run_ninja(away) == "ninja: no work to do.\n"
    project.replace("kernels/helpers.py", "x * factor", "x * factor + 1")
    assert "compile scale.0" in run_ninja(away)
    assert everything(tmp_path) == before
    done = project.run("build", env={"PYTHONIOENCODING": "ascii:strict"})
    assert (done.returncode, done.stderr) == (0, "")


def test_a_line_break_in_a_path(tmp_path: Path) -> None:
    """No depfile can say such names: it is an error, and not one of ours."""
    TestProject(tmp_path / "two\nlines", MANIFEST)
    said = ["two\nlines/kernels.toml", "--build-dir", "build"]
    command = [sys.executable, "-m", "teenybuild", "build", "-m", *said]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "no way to write a path with a line break: '" in done.stderr
    other = TestProject(
        tmp_path / "other", MANIFEST.replace('cache = "cache"', 'cache = "cache"\ninclude = ["*.more"]')
    )
    other.write("a\nb.more", "")
    done = other.run("build")
    assert done.returncode == 1, done.stderr
    assert "no way to write a path with a line break: '" in done.stderr


# What it is made of ---------------------------------------------------------------------------------------------------


def test_sources_and_included_files_of_any_name(tmp_path: Path) -> None:
    directory, source = f"k {RUN}", "é |'x\"&.py"
    build, kernel = MANIFEST.split("\n\n[kernel.scale]")
    build = build.replace('"kernels"', json.dumps(directory)) + '\ninclude = ["more */**/*.toml"]\n'
    project = TestProject(tmp_path / "project", build)
    text = "[kernel.scale]" + kernel.replace('"scale.py"', json.dumps(source, ensure_ascii=False))
    project.write("more $x/a\rb.toml", text)
    project.write(f"{directory}/{source}", project.read("kernels/scale.py"))
    project.write(f"{directory}/helpers.py", HELPERS)
    before = everything(tmp_path)
    project.build()
    project.replace(f"{directory}/{source}", "FACTOR: tl.constexpr = 2.0", "FACTOR: tl.constexpr = 3.0")
    project.write("more $x/c\td.toml", text.replace("[kernel.scale]", "[kernel.other]\nfunction = 'scale'"))
    said = run_ninja(project.build_dir)
    assert "compile scale.0" in said
    assert "compile other.0" in said
    project.write("more $x/c\td.toml", "[kernel.\x1b")
    done = project.run("check")
    assert done.returncode == 1
    assert "\x1b" not in done.stderr
    assert everything(tmp_path) == before | {tmp_path / "project/more $x/c\td.toml"}


#: What a constant may be, and no name.
TEXTS = [RUN, "a b", "a:b|c", "'", '"', "\\", "\n", "\0é", "../x", "x" * 300, "@EDGES@", ""]
#: Names that a generated package needs for itself, or that mean something elsewhere.
NAMES = ["int", "str", "self", "typing", "numpy", "print", "load"]


def test_constants_and_names_of_any_kind(tmp_path: Path) -> None:
    """Texts go to the kernel as they are, and into no id, file or command; the package's own names stand in nobody's way."""
    functions, kernels = "", ""
    for place, name in enumerate(NAMES):
        pointer = NAMES[place - 1]
        functions += f"\n\n@triton.jit\ndef {name}({pointer}, n, MODE: tl.constexpr):\n    if MODE == {RUN!r}:\n        n += 1\n    tl.store({pointer}, n)\n"
        texts = TEXTS if not place else TEXTS[:1]
        kernels += f'\n[kernel.{name}]\nsource = "all.py"\nargs = {{ {pointer} = "*i32", n = "i32" }}\nconst.MODE = {json.dumps(texts)}\n'
    project = TestProject(tmp_path / "project", MANIFEST.partition("[kernel")[0] + kernels)
    header = "import triton\nimport triton.language as tl\n"
    project.write("kernels/all.py", header + functions)
    before = everything(tmp_path)
    project.build()
    assert everything(tmp_path) == before
    assert "touch" not in project.read("build/build.ninja")
    for path in (*project.build_dir.rglob("*"), *(project.directory / "cache").rglob("*")):
        assert (
            path.name.replace("-", "_").replace(".", "_").isidentifier() or path.name[0] in ".0123456789"
        ), path
    code = f"""
import sys
sys.path.insert(0, "build")
import numpy, teeny_kernels
for name in {NAMES!r}:
    for text in {TEXTS!r} if name == {NAMES[0]!r} else {TEXTS[:1]!r}:
        out = numpy.zeros(1, numpy.int32)
        getattr(teeny_kernels, name)(out, 7, MODE=text, grid=(1,))
        assert out[0] == (8 if text == {RUN!r} else 7), (name, text)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# How much of it there is -------------------------------------------------------------------------------------------------


def test_a_manifest_of_a_hundred_megabytes(tmp_path: Path) -> None:
    """Its size is enough to refuse it."""
    project = TestProject(tmp_path / "project", MANIFEST)
    os.truncate(project.directory / "kernels.toml", 100_000_000)
    code = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (5, 5))\nfrom teenybuild.cli import main\nsys.exit(main(['check']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.directory, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert f"has 100000000 bytes; at most {LARGEST} are read" in done.stderr


def test_a_thousand_million_specialisations(tmp_path: Path) -> None:
    values = list(range(1000))
    manifest = MANIFEST.replace("BLOCK = 128", f"A = {values}, B = {values}, BLOCK = {values}")
    done = TestProject(tmp_path / "project", manifest).run("build")
    assert done.returncode == 1
    assert "1,000,000,000 specialisations" in done.stderr


# Depfiles ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a\\ b", "a\\\\ b", "a\\#b", "a\\:b", "a: b", "a:\\b", "a $b", "\\a", "\udcff", "a:#", "-", "%", "*", "a\rb", "a\\", "a:", "a\\$b", "a;b", "\x1b"])  # fmt: skip
def test_a_depfile_names_it_or_has_ninja_look_again(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    (tmp_path / "out.d").write_bytes(ninja.depfile("out", [name]).encode("utf-8", "surrogateescape"))
    rule = "rule touch\n  command = touch $out\n  depfile = out.d\nbuild out: touch\n"
    (tmp_path / "build.ninja").write_text(rule)
    run_ninja(tmp_path)
    said = ninja.UNSAID not in (tmp_path / "out.d").read_text(errors="replace")
    assert ("no work to do" in run_ninja(tmp_path)) == said
    (tmp_path / name).unlink()
    assert "touch out" in run_ninja(tmp_path)
