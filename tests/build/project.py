"""A small project in a temporary directory, and the command line run in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

KERNEL = '''"""Kernels of a test project."""

import triton
import triton.language as tl

from helpers import scaled

FACTOR: tl.constexpr = 2.0


@triton.jit
def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, scaled(x, FACTOR), mask=mask)


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr, tl.sum(x, axis=0))
'''

HELPERS = '''"""A helper in a file of its own."""

import triton
import triton.language as tl


@triton.jit
def scaled(x, factor):
    return x * factor


@triton.jit
def unrelated(x):
    return x + 1
'''

MANIFEST = """edition = 1

[build]
targets = ["cpu", "sm_90a"]
cache = "cache"

[kernel.scale]
source = "scale.py"
args = { x_ptr = "*D", out_ptr = "*D", n = "i32" }
dtypes = { D = ["f32", "f16"] }
const = { BLOCK = [128, 1024] }
grid = ["cdiv(n, BLOCK)"]
outputs = ["out_ptr"]

[kernel.total]
source = "scale.py"
args = { x_ptr = "*f32", out_ptr = "*f32", n = "i32" }
const = { BLOCK = 256 }
grid = ["1"]
"""


class TestProject:
    """Files under ``directory``, edited and built as a user would."""

    __test__ = False

    def __init__(self, directory: Path, manifest: str = MANIFEST) -> None:
        self.directory = directory
        self.write("kernels.toml", manifest)
        self.write("kernels/scale.py", KERNEL)
        self.write("kernels/helpers.py", HELPERS)

    @classmethod
    def at(cls, directory: Path) -> TestProject:
        """The project that is there already."""
        project = cls.__new__(cls)
        project.directory = directory
        return project

    @property
    def build_dir(self) -> Path:
        return self.directory / "build"

    def write(self, name: str, text: str) -> None:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.directory / name).read_text(encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        text = self.read(name)
        assert old in text
        self.write(name, text.replace(old, new))

    def run(self, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """One run of the command line, as a process of its own."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TEENYBUILD_")} | (env or {})
        command = [sys.executable, "-m", "teenybuild", *arguments]
        return subprocess.run(
            command,
            cwd=self.directory,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            env=environment,
            check=False,
        )

    def build(self, *arguments: str, env: dict[str, str] | None = None) -> dict[str, Any]:
        """A build that must succeed; its JSON."""
        done = self.run("build", "--json", *arguments, env=env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def entry_keys(self) -> dict[tuple[str, str], str]:
        """(id, target) → key, from the stamps."""
        found: dict[tuple[str, str], str] = {}
        for path in (self.build_dir / "stamps").glob("*/*.json"):
            stamp = json.loads(path.read_bytes())
            for id_, member in stamp["members"].items():
                found[id_, stamp["target"]] = member["key"]
        return found

    def ninja(self) -> subprocess.CompletedProcess[str]:
        """Bare ninja in the build directory."""
        from teenybuild.build import ninja_binary

        return subprocess.run(
            [ninja_binary()], cwd=self.build_dir, capture_output=True, text=True, check=False
        )
