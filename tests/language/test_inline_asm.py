"""Inline assembly: what PTX it becomes, and that the host says so where it has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from teenybuild import UserError, compile

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, o, p, n):
    i = tl.arange(0, 256)
    v = tl.load(x + i)
    w = tl.load(y + i)
    a, b = tl.inline_asm_elementwise(
        "{ shf.l.wrap.b32 $0, $2, $3, 3;\\n mov.b32 $1, $2; }", "=r,=r,r,r", [v, 7],
        dtype=(tl.int32, tl.int32), is_pure=True, pack=1,
    )
    c = tl.inline_asm_elementwise("and.b32 $0, $1, 0x0F0F0F0F;", "=r,r", [w], dtype=tl.int8, is_pure=False, pack=4)
    d = tl.inline_asm_elementwise("add.s32 $0, $1, 1;", "=r,r", [n], dtype=tl.int32, is_pure=True, pack=1)
    unused = tl.inline_asm_elementwise("mul.lo.s32 $0, $1, 77;", "=r,r", [n], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(o + i, a + b + d)
    tl.store(p + i, c)
"""
TYPES = {"x": "*i32", "y": "*i8", "o": "*i32", "p": "*i8", "n": "i32"}


def test_ptx(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL)
    found = compile(f"{path}:kernel", "sm_90a", TYPES, cache_dir=tmp_path)
    assert found.ptx is not None
    counts = {
        p: len(re.findall(p, found.ptx))
        for p in ("shf.l.wrap", r"and\.b32 .*(0x0F0F0F0F|252645135)", r"mul\.lo", r"add\.s32 .*, 1;")
    }
    # 256 elements in 128 threads: two each; of bytes four at a time, the two there are with the last again.
    assert counts == {
        "shf.l.wrap": 2,
        r"and\.b32 .*(0x0F0F0F0F|252645135)": 1,
        r"mul\.lo": 0,
        r"add\.s32 .*, 1;": 1,
    }
    assert (
        'tt.elementwise_inline_asm "and.b32 $0, $1, 0x0F0F0F0F;" {constraints = "=r,r", packed_element = 4 : i32, pure = false}'
        in found.mlir
    )


@pytest.mark.parametrize("target", ["cpu", "cpu:sm_90a"])
def test_the_host_has_none(target: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL)
    with pytest.raises(UserError) as caught:
        compile(f"{path}:kernel", target, TYPES, cache_dir=tmp_path)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.message == "inline assembly is PTX, which only GPUs run"
    assert diagnostic.span is not None
    assert diagnostic.span.line == 11
