"""What NVIDIA's assembler makes of products on tensor cores: no registers spilled, and none of its remarks that it runs products one by one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from teenybuild.api import Artifact, compile
from tests.kernels import sources
from tests.support.run import workspace

pytestmark = pytest.mark.peer
nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink")
pytest.importorskip("cuda.pathfinder").load_nvidia_dynamic_lib("nvJitLink")

SOURCES = Path(sources.__file__).parent
BLOCKS = ("BLOCK_M", "BLOCK_N", "BLOCK_K")
STRIDES = ("stride_am", "stride_ak", "stride_bk", "stride_bn", "stride_cm", "stride_cn")
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


def check(artifact: Artifact) -> None:
    log = log_of(artifact)
    spilled = [int(n) for n in re.findall(r"(\d+) bytes spill", log)]
    assert spilled, log
    assert not any(spilled), log
    assert not re.search(r"C75\d\d", log), log


def pointers(
    function: str, dtype: str, out: str, tile: tuple[int, ...], *, turned: bool, **const: Any
) -> Artifact:
    """A product of pointer tiles, rows or columns of B next to each other."""
    m, n, k, stages, warps = tile
    ones = {"stride_ak", "stride_cn", "stride_bk" if turned else "stride_bn"}
    types = {"a_ptr": f"*{dtype}", "b_ptr": f"*{dtype}", "c_ptr": f"*{out}"}
    types |= dict.fromkeys(("M", "N", "K", *STRIDES), "i32")
    assume = {name: {"eq": 1} if name in ones else {"div": 16} for name in types}
    values = {**dict(zip(BLOCKS, (m, n, k), strict=True)), "GROUP_M": 8, **const}
    options: dict[str, Any] = {"num_warps": warps, "num_stages": stages, "cache_dir": workspace() / "cache"}
    return compile(f"{SOURCES / 'products.py'}:{function}", "sm_90a", types, values, assume=assume, **options)


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("function", ["product_pointers", "product_blocks", "product_persistent"])
def test_products_of_bf16(function: str, tile: tuple[int, ...]) -> None:
    const = {
        "product_pointers": {"SUM": "tl.float32"}, "product_blocks": {}, "product_persistent": {"PROGRAMS": 132},
    }  # fmt: skip
    check(pointers(function, "bf16", "bf16", tile, turned=False, **const[function]))


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
    check(pointers("product_pointers", dtype, out, (m, n, deep, stages, warps), turned=turned, SUM=total))


@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("function", ["product_described", "product_persistent_described"])
def test_products_of_descriptors(function: str, tile: tuple[int, ...]) -> None:
    m, n, k, stages, warps = tile
    types = {
        "a_desc": f"desc<bf16[{m}, {k}]>",
        "b_desc": f"desc<bf16[{k}, {n}]>",
        "c_desc": f"desc<bf16[{m}, {n}]>",
    }
    types |= dict.fromkeys("MNK", "i32")
    const = {**dict(zip(BLOCKS, (m, n, k), strict=True)), "GROUP_M": 8}
    if "persistent" in function:
        const["PROGRAMS"] = 132
    options: dict[str, Any] = {"num_warps": warps, "num_stages": stages, "cache_dir": workspace() / "cache"}
    check(compile(f"{SOURCES / 'products.py'}:{function}", "sm_90a", types, const, **options))


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("rows", "columns", "width", "stages", "warps"),
    [(128, 64, 64, 3, 8), (128, 128, 128, 3, 8)],
)
def test_attention(rows: int, columns: int, width: int, stages: int, warps: int, causal: bool) -> None:
    arrays = ("q_ptr", "k_ptr", "v_ptr", "o_ptr")
    strides = tuple(
        f"stride_{array}{axis}"
        for array, axes in (("q", "hm"), ("k", "hn"), ("v", "hn"), ("o", "hm"))
        for axis in axes
    )
    types = {
        **dict.fromkeys(arrays, "*bf16"),
        "lse_ptr": "*f32",
        "scale": "f32",
        **dict.fromkeys(("length", *strides), "i32"),
    }
    const = {"HEAD_DIM": width, "BLOCK_M": rows, "BLOCK_N": columns, "CAUSAL": causal, "RAGGED": False}
    assume = {name: {"div": 16} for name in types if name != "scale"}
    options: dict[str, Any] = {"num_warps": warps, "num_stages": stages, "cache_dir": workspace() / "cache"}
    check(
        compile(
            f"{SOURCES / 'flash_attention.py'}:flash_forward",
            "sm_90a",
            types,
            const,
            assume=assume,
            **options,
        )
    )
