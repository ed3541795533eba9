"""What NVIDIA's assembler makes of products on tensor cores: no registers spilled, and none of its remarks that it runs products one by one."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from teenybuild.api import Artifact, compile
from tests.kernels import sources
from tests.support.multiplying import assumed, attention, descriptors, ones, pointers
from tests.support.run import workspace

pytestmark = pytest.mark.peer
nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink")
pytest.importorskip("cuda.pathfinder").load_nvidia_dynamic_lib("nvJitLink")

SOURCES = Path(sources.__file__).parent
BLOCKS = ("BLOCK_M", "BLOCK_N", "BLOCK_K")
#: Sides of a tile, stages, warps; elements of 16 bits.
TILES = (
    (128, 256, 64, 3, 8),
    (128, 256, 64, 4, 8),
    (256, 128, 64, 3, 8),
    (128, 128, 64, 4, 4),
    (64, 64, 64, 4, 4),
)


def log_of(artifact: Artifact) -> str:
    """What the assembler says."""
    assert artifact.ptx is not None
    handle = nvjitlink.create(2, ["-arch=sm_90a", "-verbose"])
    data = artifact.ptx.encode()
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "kernel.ptx")
        nvjitlink.complete(handle)
        found = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, found)
        return found.decode(errors="replace")
    finally:
        nvjitlink.destroy(handle)


def check(artifact: Artifact, spilled: int = 0) -> None:
    """No more than ``spilled`` bytes, stored and loaded together."""
    log = log_of(artifact)
    found = [int(n) for n in re.findall(r"(\d+) bytes spill", log)]
    assert found, log
    assert sum(found) <= spilled, log
    assert not re.search(r"C75\d\d", log), log


def built(
    source: str,
    types: dict[str, str],
    const: dict[str, Any],
    stages: int,
    warps: int,
    ones: Collection[str] = (),
) -> Artifact:
    return compile(
        f"{SOURCES / source}", "sm_90a", types, const, assume=assumed(types, ones), num_stages=stages, num_warps=warps,
        cache_dir=workspace() / "cache",
    )  # fmt: skip


def of_pointers(
    function: str, dtype: str, out: str, tile: tuple[int, ...], *, turned: bool, **const: Any
) -> Artifact:
    """A product of pointer tiles, rows or columns of B next to each other."""
    *sides, stages, warps = tile
    values = {**dict(zip(BLOCKS, sides, strict=True)), "GROUP_M": 8, **const}
    return built(f"products.py:{function}", pointers(dtype, out), values, stages, warps, ones(turned))


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("function", ["product_pointers", "product_blocks", "product_persistent"])
def test_products_of_bf16(function: str, tile: tuple[int, ...]) -> None:
    const = {
        "product_pointers": {"SUM": "tl.float32"}, "product_blocks": {}, "product_persistent": {"PROGRAMS": 132},
    }  # fmt: skip
    check(of_pointers(function, "bf16", "bf16", tile, turned=False, **const[function]))


@pytest.mark.parametrize(
    ("dtype", "out", "total", "turned"),
    [
        ("f8e4m3", "bf16", "tl.float32", True),
        ("i8", "i32", "tl.int32", True),
        ("f32", "f32", "tl.float32", True),
        ("f32", "f32", "tl.float32", False),
    ],
)
@pytest.mark.parametrize("tile", TILES[::2], ids=str)
def test_products_of_other_dtypes(
    dtype: str, out: str, total: str, turned: bool, tile: tuple[int, ...]
) -> None:
    m, n, k, stages, warps = tile
    deep = k * 2 // {"f32": 4}.get(dtype, 1)
    check(of_pointers("product_pointers", dtype, out, (m, n, deep, stages, warps), turned=turned, SUM=total))


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("function", ["product_described", "product_persistent_described"])
def test_products_of_descriptors(function: str, tile: tuple[int, ...]) -> None:
    m, n, k, stages, warps = tile
    const = {**dict(zip(BLOCKS, (m, n, k), strict=True)), "GROUP_M": 8}
    if "persistent" in function:
        const["PROGRAMS"] = 132
    check(built(f"products.py:{function}", descriptors(m, n, k), const, stages, warps))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("rows", "columns", "width", "stages", "warps"),
    [(128, 64, 64, 3, 8), (128, 128, 128, 3, 8)],
)
def test_attention(rows: int, columns: int, width: int, stages: int, warps: int, causal: bool) -> None:
    const = {"HEAD_DIM": width, "BLOCK_M": rows, "BLOCK_N": columns, "CAUSAL": causal, "RAGGED": False}
    check(built("flash_attention.py:flash_forward", attention(), const, stages, warps))


#: Bytes that Triton 3.6.0 and the assembler that comes with it spill, stored and loaded together: without and with a causal mask.
BY_TRITON = {False: 164, True: 288}


@pytest.mark.parametrize("causal", BY_TRITON)
def test_attention_of_many_registers(causal: bool) -> None:
    """128 rows by four warps, which is the fastest way to 128 columns: no more spilled than by Triton."""
    const = {"HEAD_DIM": 128, "BLOCK_M": 128, "BLOCK_N": 64, "CAUSAL": causal, "RAGGED": False}
    check(built("flash_attention.py:flash_forward", attention(), const, 2, 4), BY_TRITON[causal])
