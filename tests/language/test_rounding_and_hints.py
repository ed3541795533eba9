"""Functions that are rounded correctly on every target, and hints, which change no value but how memory is accessed."""

from __future__ import annotations

import numpy as np
import pytest

from teenybuild.api import compile
from tests.support.run import assert_same_bits, run, workspace, write_source

from . import oracle

ROUNDED = """
@triton.jit
def kernel(x, y, o, p, q, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, tl.floor(a))
    tl.store(o + B + i, a.ceil())
    tl.store(o + 2 * B + i, tl.sqrt_rn(a))
    tl.store(o + 3 * B + i, tl.div_rn(a, b))
    c, d = a.to(tl.uint32, bitcast=True), b.to(tl.uint32, bitcast=True)
    tl.store(p + i, tl.umulhi(c, d))
    e = c.to(tl.uint64) * 0x9E3779B97F4A7C15
    tl.store(q + i, tl.umulhi(e, e))
"""

CURVES = """
@triton.jit
def kernel(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.store(o + i, tl.sigmoid(a))
    tl.store(o + B + i, tl.fdiv(a, 3.0) + tl.math.floor(a))
"""

HINTED = """
@triton.jit
def kernel(x, o, n, shift, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.max_contiguous(tl.multiple_of((i + shift) % n, 8), 8)
    k = tl.multiple_of(shift, 16) + tl.max_constancy(i // 8, 8)
    tl.assume(n > 0)
    tl.store(o + i, tl.load(tl.multiple_of(x, 16) + at) + k.to(tl.float32))
"""

BARRIER = """
@triton.jit
def kernel(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i))
    tl.debug_barrier()
    tl.store(x + i, tl.load(o + (B - 1 - i)))
"""


def test_rounded_correctly() -> None:
    x, y = oracle.pairs("f32", "f32", 512)
    size = len(x)
    arguments = {
        "x": x,
        "y": y,
        "o": np.zeros(4 * size, np.float32),
        "p": np.zeros(size, np.uint32),
        "q": np.zeros(size, np.uint64),
    }
    found = run(ROUNDED, arguments, {"B": size})
    wanted = np.concatenate([np.floor(x), np.ceil(x), np.sqrt(x), x / y])
    assert_same_bits(found["o"], np.where(np.isnan(wanted), np.float32(np.nan), wanted))
    c, d = x.view(np.uint32).tolist(), y.view(np.uint32).tolist()
    assert found["p"].tolist() == [(a * b) >> 32 for a, b in zip(c, d, strict=True)]
    e = [a * 0x9E3779B97F4A7C15 % 2**64 for a in c]
    assert found["q"].tolist() == [(a * a) >> 64 for a in e]


def test_curves() -> None:
    x = np.linspace(-20, 20, 256).astype(np.float32)
    found = run(CURVES, {"x": x, "o": np.zeros(512, np.float32)}, {"B": 256})["o"]
    wide = x.astype(np.float64)
    np.testing.assert_allclose(found[:256], 1 / (1 + np.exp(-wide)), rtol=3e-7)
    np.testing.assert_allclose(found[256:], wide / 3 + np.floor(wide), rtol=3e-7)


@pytest.mark.parametrize("shift", [0, 16, 48])
def test_hints_change_no_value(shift: int) -> None:
    x = np.random.default_rng().standard_normal(64).astype(np.float32)
    found = run(HINTED, {"x": x, "o": np.zeros(128, np.float32), "n": 64, "shift": shift}, {"B": 128})["o"]
    i = np.arange(128)
    assert_same_bits(found, x[(i + shift) % 64] + (shift + i // 8).astype(np.float32))


def test_hints_widen_accesses() -> None:
    types = {"x": "*f32", "o": "*f32", "n": "i32", "shift": "i32"}
    ptx = compile(
        f"{write_source(HINTED)}:kernel", "sm_90a", types, {"B": 128}, cache_dir=workspace(), num_warps=1
    ).ptx
    assert ptx is not None
    assert "ld.global.v4" in ptx
    plain = HINTED.replace("tl.max_contiguous(tl.multiple_of((i + shift) % n, 8), 8)", "(i + shift) % n")
    ptx = compile(
        f"{write_source(plain)}:kernel", "sm_90a", types, {"B": 128}, cache_dir=workspace(), num_warps=1
    ).ptx
    assert ptx is not None
    assert "ld.global.v4" not in ptx


def test_lanes_see_what_was_stored_before_a_barrier() -> None:
    x = np.random.default_rng().standard_normal(256).astype(np.float32)
    found = run(BARRIER, {"x": x, "o": np.zeros_like(x)}, {"B": 256})
    assert_same_bits(found["x"], x[::-1].copy())
    types = {"x": "*f32", "o": "*f32"}
    ptx = compile(f"{write_source(BARRIER)}:kernel", "sm_90a", types, {"B": 256}, cache_dir=workspace()).ptx
    assert ptx is not None
    assert ptx.count("bar.sync") + ptx.count("barrier.sync") == 1


QUOTIENTS = """
@triton.jit
def kernel(a, b, o, B: tl.constexpr):
    i = tl.arange(0, B)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.static_assert(tl.fdiv(x, y).dtype == x.dtype)
    tl.static_assert((x / y).dtype == tl.float32)
    tl.store(o + i, tl.fdiv(x, y))
"""


def test_quotients_of_halves() -> None:
    """``tl.fdiv`` stays in f16, which rounds the exact quotient once; ``/`` is in f32."""
    rng = np.random.default_rng()
    a, b = (rng.standard_normal(64).astype(np.float16) for _ in range(2))
    found = run(QUOTIENTS, {"a": a, "b": b, "o": np.zeros(64, np.float16)}, {"B": 64})
    np.testing.assert_array_equal(found["o"], (a.astype(np.float64) / b).astype(np.float16))
