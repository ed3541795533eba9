"""Machine code at build time, by a real assembler: entries of their own, what they take, what is refused."""

from __future__ import annotations

import json
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from teenybuild.assembler import REGISTERS, Assembler, Resources, assemble, find_assembler
from teenybuild.diagnostics import UserError
from tests.build.project import TestProject as Project

pytestmark = pytest.mark.peer

pytest.importorskip("cuda.bindings.nvjitlink")
pytest.importorskip("cuda.pathfinder").load_nvidia_dynamic_lib("nvJitLink")

BOTH = 'emit = ["ptx", "cubin"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.replace("kernels.toml", "[build]\n", "[build]\n" + BOTH)
    return made


def entries(project: Project) -> dict[str, dict[str, Any]]:
    """Of each cubin in the cache: its path, and what its json says."""
    return {
        str(path): json.loads(path.with_suffix(".json").read_bytes())
        for path in sorted((project.directory / "cache").glob("*.cubin"))
    }


def program(name: str) -> str:
    """A program of the CUDA toolkit: triton brings some."""
    triton = find_spec("triton")
    assert triton is not None
    assert triton.origin is not None
    path = Path(triton.origin).parent / "backends/nvidia/bin" / name
    assert path.is_file()
    return str(path)


def test_a_build_makes_both(project: Project) -> None:
    done = project.run("build")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0][:6] == ["id", "target", "registers", "spills", "shared", "memory"]
    found = entries(project)
    listed = json.loads(project.run("list", "--json").stdout)["specialisations"]
    on_gpu = [row for row in listed if row["target"] == "sm_90a"]
    assert len(found) == len(on_gpu) == len(rows) - 2
    for row in on_gpu:
        taken = Resources(**row["resources"])
        assert 8 <= taken.registers <= 255
        assert taken.code >= 128
        assert taken.code % 128 == 0
        assert any(line[:3] == [row["id"], "sm_90a", str(taken.registers)] for line in rows)
    assert all(row["resources"] is None for row in listed if row["target"] == "cpu")
    for path, said in found.items():
        assert Path(path).read_bytes()[:4] == b"\x7fELF"
        assert said["versions"]["assembler"] == find_assembler("nvjitlink").identity
    package = project.directory / "build/teeny_kernels/_artifacts/sm_90a"
    names = {path.name for path in package.iterdir()}
    assert names == {f"{row['id']}.{extension}" for row in on_gpu for extension in ("ptx", "cubin")}


def test_what_is_there_is_not_made_again(project: Project) -> None:
    project.build()
    before = {path: Path(path).stat().st_mtime_ns for path in entries(project)}
    assert "nothing to do" in project.run("build").stdout
    shutil.rmtree(project.directory / "build")
    assert project.build()["compiled"] == 0
    assert {path: Path(path).stat().st_mtime_ns for path in entries(project)} == before


def test_cubins_are_made_of_ptx_that_is_there(tmp_path: Path) -> None:
    """And one alone is all that the package has, if that is asked for."""
    project = Project(tmp_path)
    project.build()
    ptx = {path: path.read_bytes() for path in (tmp_path / "cache").glob("*.ptx")}
    project.replace("kernels.toml", "[build]\n", '[build]\nemit = ["cubin"]\n')
    said = project.build()
    assert said["compiled"] == len(ptx) == len(entries(project))
    assert {path: path.read_bytes() for path in (tmp_path / "cache").glob("*.ptx")} == ptx
    package = tmp_path / "build/teeny_kernels/_artifacts/sm_90a"
    assert {path.suffix for path in package.iterdir()} == {".cubin"}


def test_a_damaged_cubin_is_made_again(project: Project) -> None:
    project.build()
    path = Path(next(iter(entries(project))))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    shutil.rmtree(project.directory / "build")
    done = project.run("build")
    assert f"{path.name}: its contents do not match its digest" in done.stderr
    assert path.read_bytes() == whole


def test_the_lock_has_them(project: Project) -> None:
    assert project.run("lock").returncode == 0
    lock = project.directory / "kernels.lock"
    assert lock.read_text().count('cubin = "') == len(entries(project))
    assert project.run("build", "--locked").returncode == 0
    text = re.sub(r'cubin = "[0-9a-f]{64}"', f'cubin = "{"0" * 64}"', lock.read_text(), count=1)
    lock.write_text(text)
    done = project.run("build", "--locked")
    assert done.returncode == 1
    assert "its cubin came out as" in done.stderr
    assert "not 000000000000" in done.stderr


@pytest.mark.parametrize("name", ["nvjitlink", "ptxas"])
def test_both_assemblers(project: Project, name: str) -> None:
    if name == "ptxas":
        project.replace("kernels.toml", BOTH, BOTH + 'assembler = "ptxas"\n')
    project.build(env={"TEENYBUILD_PTXAS": program("ptxas")})
    assert entries(project)
    for said in entries(project).values():
        assert said["versions"]["assembler"].startswith({"nvjitlink": "nvJitLink ", "ptxas": "ptxas "}[name])
        assert said["resources"]["registers"] >= 8
        assert said["resources"]["code"] >= 128


def test_more_registers_than_there_are(tmp_path: Path) -> None:
    """Whatever an assembler makes of it, no launch of it could succeed."""
    taken = Resources(registers=72, spill_stores=0, spill_loads=0, stack=0, shared=0, code=128)
    assert taken.problem(threads=1024) == (
        "a program needs 73,728 registers (72 for each of 1024 threads), and there are 65,536 for one"
    )
    assert Resources(64, 0, 0, 0, 0, 128).problem(threads=1024) is None
    assert Resources(65, 0, 0, 0, 0, 128).problem(threads=928) is not None
    assert Resources(255, 0, 0, 0, 0, 128).problem(threads=256) is None
    assert REGISTERS == 64 << 10


GREEDY = """
import triton
import triton.language as tl

@triton.jit
def greedy(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x, y, z = tl.load(x_ptr + at), tl.load(x_ptr + BLOCK + at), tl.load(x_ptr + 2 * BLOCK + at)
    for _ in range(10):
        x = tl.cumsum(x + y, 0)
        y = y * x + z
        z = z + x * y
    tl.store(out_ptr + at, x + y + z)
"""


def test_a_build_that_could_not_run(project: Project) -> None:
    """The assembler may do as it is told; the build says what comes of it."""
    project.write("kernels/greedy.py", GREEDY)
    more = """
[kernel.greedy]
source = "greedy.py"
args = { x_ptr = "*f32", out_ptr = "*f32" }
const = { BLOCK = 32768 }
options = { num_warps = 32, maxnreg = 255 }
grid = [1]
targets = ["sm_90a"]
"""
    project.write("kernels.toml", project.read("kernels.toml") + more)
    done = project.run("build")
    assert done.returncode == 1
    assert re.search(
        r"greedy\.py:6:\d+: error: a program needs [\d,]+ registers \(\d+ for each of 1024 threads\), and there are 65,536 for one",
        done.stderr,
    )
    assert "hint: lower num_warps (here 32), or maxnreg (here 255)" in done.stderr
    # The others are kept.
    assert entries(project)


def ptx_of(project: Project) -> bytes:
    project.build()
    return next(iter(sorted((project.directory / "cache").glob("scale_*.ptx")))).read_bytes()


def test_ptx_that_is_too_new(tmp_path: Path) -> None:
    ptx = re.sub(rb"\.version \S+", b".version 99.1", ptx_of(Project(tmp_path)))
    with pytest.raises(UserError) as wrong:
        assemble(find_assembler("nvjitlink"), ptx, "sm_90a", "scale_entry_point", 0, lineinfo=False)
    [said] = wrong.value.diagnostics
    assert re.match(r"nvJitLink [\d.]+ reads PTX up to \d+\.\d+, and this is PTX 99\.1", said.message)
    assert said.hint is not None
    assert re.match(r'build with ptx = "\d+\.\d+" under \[build\] \(or TEENYBUILD_PTX_VERSION=', said.hint)


def test_what_is_no_ptx(tmp_path: Path) -> None:
    ptx = ptx_of(Project(tmp_path)).replace(b"ret;", b"rte;")
    with pytest.raises(UserError, match=r"makes no code for sm_90a of this:\n(.|\n)*rte"):
        assemble(find_assembler("nvjitlink"), ptx, "sm_90a", "scale_entry_point", 0, lineinfo=False)


def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    ptx = ptx_of(Project(tmp_path))
    assemblers: list[Assembler] = [find_assembler("nvjitlink") for _ in range(2)]
    first, second = (
        assemble(each, ptx, "sm_90a", "scale_entry_point", 0, lineinfo=True) for each in assemblers
    )
    assert first == second


def test_machine_code_beside_its_source(project: Project) -> None:
    project.build()
    env = {"TEENYBUILD_NVDISASM": program("nvdisasm")}
    done = project.run("show", "scale__f32__128", "--stage", "side", "--sass", "--target", "sm_90a", env=env)
    assert done.returncode == 0, done.stderr
    below: dict[str, list[str]] = {}
    line = ""
    for text in done.stdout.splitlines():
        margin, _, rest = text.partition("|")
        if margin.strip():
            line = rest.strip()
        else:
            below.setdefault(line, []).append(rest.strip())
    load = below["x = tl.load(x_ptr + offsets, mask=mask)"]
    assert any("tt.load" in each for each in load)
    assert any("ld.global" in each for each in load)
    assert any(re.match(r"[0-9a-f]{4}: .*LDG", each) for each in load)
    # Operations, then PTX, then machine code.
    kinds = [bool(re.match(r"[0-9a-f]{4}: ", each)) for each in load]
    assert kinds == sorted(kinds)
    whole = project.run("show", "scale__f32__128", "--stage", "sass", "--target", "sm_90a", env=env)
    assert ".text.scale_entry_point:" in whole.stdout
    assert "LDG" in whole.stdout
    host = project.run("show", "scale__f32__128", "--stage", "sass", "--target", "cpu", env=env)
    assert "scale__f32__128 for cpu has no SASS" in host.stderr
