"""What a streaming kernel has under way, and how many of its programs should run at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from teenybuild.api import compile
from teenybuild.compiler.passes.streams import Streams
from teenybuild.compiler.targets.residency import residency
from teenybuild.targets import ARCHITECTURES

PREAMBLE = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
ARGUMENTS = "def kernel(x_ptr, y_ptr, out_ptr, stride, n, m, BLOCK: tl.constexpr):\n    row = tl.program_id(0)\n    i = tl.arange(0, BLOCK)\n"
STREAM = f"{ARGUMENTS}    x = tl.load(x_ptr + row * BLOCK + i, mask=row * BLOCK + i < n)\n"
ROW = f"{ARGUMENTS}    x = tl.load(x_ptr + row * stride + i, mask=i < n, other=0.0)\n"
STORE = "    tl.store(out_ptr + row * stride + i, x, mask=i < n)\n"


def said(
    tmp_path: Path, body: str, target: str = "sm_90a", dtype: str = "f32", block: int = 4096
) -> dict[str, object] | None:
    """``launch.residency`` of a kernel."""
    path = tmp_path / "kernel.py"
    path.write_text(PREAMBLE + body)
    types = {
        "x_ptr": f"*{dtype}",
        "y_ptr": f"*{dtype}",
        "out_ptr": f"*{dtype}",
        "stride": "i32",
        "n": "i32",
        "m": "i32",
    }
    artifact = compile(f"{path}:kernel", target, types, {"BLOCK": block}, cache_dir=tmp_path / "cache")
    return artifact.abi["launch"]["residency"]


@pytest.mark.parametrize(
    ("body", "bytes_", "argument", "wanted"),
    [
        (STREAM + STORE, 16384, None, 48 << 10),
        (STREAM + "    x += tl.load(y_ptr + row * BLOCK + i)\n" + STORE, 32768, None, 48 << 10),
        # Several arrays: so much of each.
        (STREAM + "    x += tl.load(y_ptr + row * BLOCK + i)\n    x += tl.load(out_ptr + row * BLOCK + i)\n" + STORE, 49152, None, 63 << 10),
        (ROW + STORE, 16384, "n", 48 << 10),
        (ROW + "    x -= tl.max(x, axis=0)\n" + STORE, 16384, "n", 64 << 10),
        # What every program reads is in the caches after the first.
        (ROW + "    x += tl.load(y_ptr + i, mask=i < n)\n" + STORE, 16384, "n", 48 << 10),
        (f"{ARGUMENTS}    x = tl.load(x_ptr + row * stride + i, mask=(i < n) & (row < m))\n" + STORE, 16384, "n", 48 << 10),
    ],
    ids=["own blocks", "two of them", "three of them", "rows", "rows with a reduction", "shared by all", "and the last programs"],
)  # fmt: skip
def test_streams(tmp_path: Path, body: str, bytes_: int, argument: str | None, wanted: int) -> None:
    found = said(tmp_path, body)
    assert found is not None
    assert (found["bytes"], found["argument"], found["wanted"]) == (bytes_, argument, wanted)
    assert found["of"] == (4096 if argument else 1)


@pytest.mark.parametrize(
    "body",
    [
        f"{ARGUMENTS}    x = tl.load(x_ptr + i, mask=i < n)\n" + STORE,
        f"{ARGUMENTS}    x = i\n" + STORE,
        f"{ARGUMENTS}    x = tl.load(x_ptr + row * stride + i, mask=i < n - 1)\n" + STORE,
        f"{ARGUMENTS}    x = tl.load(x_ptr + row * stride + i, mask=i <= n)\n" + STORE,
        f"{ARGUMENTS}    x = tl.load(x_ptr + row * stride + i, mask=(i < n) & (i < m))\n" + STORE,
        ROW + "    x += tl.load(y_ptr + row * stride + i, mask=i < m)\n" + STORE,
        ROW + "    if n > 7:\n        x += tl.load(y_ptr + row * stride + i)\n" + STORE,
        ROW + "    for k in range(0, m):\n        x += tl.load(y_ptr + (row + k) * stride + i)\n" + STORE,
    ],
    ids=["nothing of its own", "no loads", "not an argument", "another comparison", "two bounds", "loads of two bounds", "in a branch", "in a loop"],
)  # fmt: skip
def test_what_is_not_known_is_left_to_the_driver(tmp_path: Path, body: str) -> None:
    assert said(tmp_path, body) is None


def test_small_programs_and_other_machines_are_left_to_the_driver(tmp_path: Path) -> None:
    assert said(tmp_path, STREAM + STORE, block=1024) is None
    assert said(tmp_path, STREAM + STORE, dtype="f64", block=1024) is not None
    for target in ("sm_80", "sm_100", "cpu"):
        assert said(tmp_path, STREAM + STORE, target=target) is None


@pytest.mark.parametrize("shared", [0, 64, 600, 1200])
def test_shared_memory_holds_to_as_many_programs_as_it_says(shared: int) -> None:
    """And to no number that the program's own shared memory does not leave room for."""
    found = residency(ARCHITECTURES["sm_90a"], Streams(32768, 1, True), shared)
    assert found is not None
    for programs, size in enumerate(found.shared, 1):
        assert size >= shared
        assert 8192 // (1024 + -(-size // 128) * 128) == programs
    assert len(found.shared) == {0: 7, 64: 7, 600: 4, 1200: 3}[shared]


def test_programs_that_need_much_shared_memory_are_left_alone() -> None:
    """Under the smallest carve-out, only one of them would run at once."""
    assert residency(ARCHITECTURES["sm_90a"], Streams(16384, 1, True), 16384) is None


LOOP = "    total = tl.zeros((BLOCK,), tl.float32)\n    for k in range(n):\n"


@pytest.mark.parametrize(
    ("body", "warps", "blocks"),
    [
        (ROW + STORE, 16, 4),
        (ROW + STORE, 32, 2),
        (ROW + STORE, 8, None),
        (ROW + "    x -= tl.max(x, axis=0)\n" + STORE, 16, None),
        (ARGUMENTS + LOOP + "        total += tl.load(x_ptr + k * stride + i)\n    tl.store(out_ptr + i, total)\n", 16, None),
        (ARGUMENTS + LOOP + "        total += tl.cumsum(tl.load(x_ptr + k * stride + i))\n    tl.store(out_ptr + i, total)\n", 4, 1),
    ],
    ids=["large blocks", "the largest", "small blocks", "a reduction", "a loop", "a loop that scans"],
)  # fmt: skip
def test_blocks_that_there_should_be_room_for(
    tmp_path: Path, body: str, warps: int, blocks: int | None
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(PREAMBLE + body)
    types = {**dict.fromkeys(("x_ptr", "y_ptr", "out_ptr"), "*f32"), "stride": "i32", "n": "i32", "m": "i32"}
    for block, wanted in ((4096, blocks), (65536, None)):
        if block == 65536 and warps < 16:
            continue  # what such blocks hold is nothing for this rule
        artifact = compile(
            f"{path}:kernel", "sm_90a", types, {"BLOCK": block}, num_warps=warps, cache_dir=tmp_path / "cache"
        )
        said = re.search(r"\.minnctapersm (\d+)", artifact.path.read_text())
        assert (int(said[1]) if said else None) == wanted
