"""Sorting, the largest few, merging: every dtype, both ways, along axes that lie in registers, lanes and warps."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.elementwise import language_dtype
from tests.support.run import Array, assert_same_bits, numpy_dtype, run

from . import oracle

SORT = """
@triton.jit
def kernel(x, o, p, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    t = tl.load(x + at)
    up = tl.sort(t, DIM)
    tl.static_assert(up.dtype == t.dtype)
    tl.store(o + at, up)
    tl.store(p + at, tl.sort(t, dim=DIM, descending=True))
"""

LINE = """
@triton.jit
def kernel(x, o, n, N: tl.constexpr, DOWN: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.sort(tl.load(x + i, mask=i < n, other=float("inf")), descending=DOWN), mask=i < n)
"""

TOPK = """
@triton.jit
def kernel(x, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DIM: tl.constexpr):
    m = tl.arange(0, M)
    t = tl.load(x + m[:, None] * N + tl.arange(0, N)[None, :])
    if DIM == 0:
        t = t.T
    top = tl.topk(t, K, DIM)
    tl.static_assert(top.dtype == {out})
    if DIM == 0:
        top = top.T
    tl.store(o + m[:, None] * K + tl.arange(0, K)[None, :], top)
"""

MERGE = """
@triton.jit
def kernel(x, o, p, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    t = tl.load(x + at)
    tl.store(o + at, tl.bitonic_merge(t))
    tl.store(p + at, tl.bitonic_merge(t, 1, descending=True))
"""

STREAM = """
@triton.jit
def kernel(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    best = tl.full((8,), -float("inf"), tl.float32)
    for start in range(0, n, B):
        t = tl.load(x + start + i, mask=start + i < n, other=-float("inf"))
        best = tl.topk(tl.cat(best, tl.topk(t, 8)), 8)
    tl.store(o + tl.arange(0, 8), best)
"""


def in_order(x: Array, axis: int) -> Array:
    """NumPy's order, with -0.0 before 0.0."""
    if oracle.name_of(x) not in oracle.FLOATS:
        return np.sort(x, axis)
    wide = x.astype(np.float64)
    nan = np.isnan(wide)
    order = np.lexsort((~np.signbit(wide), np.where(nan, 0, wide), nan), axis)
    return np.take_along_axis(x, order, axis)


def odd(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Edges, ties, NaN, infinities and zeros of both signs, in any order."""
    count = int(np.prod(shape))
    generator = np.random.default_rng([seed, count])
    pool = np.concatenate(
        [oracle.values(dtype, 32, seed), oracle.values(dtype, max(32, count // 2), seed + 1)]
    )
    found = generator.choice(pool, count)
    if dtype in oracle.FLOATS and count >= 8:
        found[generator.choice(count, 4, replace=False)] = np.array([np.nan, 0.0, -0.0, -np.nan], found.dtype)
    return found.reshape(shape)


def check(x: Array, axis: int, warps: int) -> None:
    arguments = {"x": x, "o": np.zeros_like(x), "p": np.zeros_like(x)}
    found = run(SORT, arguments, {"M": x.shape[0], "N": x.shape[1], "DIM": axis}, num_warps=warps)
    wanted = in_order(x, axis)
    assert_same_bits(found["o"], wanted)
    assert_same_bits(found["p"], np.ascontiguousarray(np.flip(wanted, axis)))


@pytest.mark.parametrize("dtype", oracle.ALL)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("warps", [1, 4])
def test_every_dtype(dtype: str, axis: int, warps: int) -> None:
    check(odd(dtype, (16, 32)), axis, warps)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (4, 1), (1, 256), (256, 1), (2, 128), (64, 8)])
@pytest.mark.parametrize("warps", [1, 2, 8])
def test_shapes(shape: tuple[int, int], warps: int) -> None:
    for axis in (0, 1):
        check(odd("f32", shape, 5), axis, warps)


@pytest.mark.parametrize("size", [2, 64, 1024])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_a_line_with_a_ragged_end(size: int, warps: int) -> None:
    n = size - size // 3
    x = np.random.default_rng().standard_normal(n).astype(np.float32)
    found = run(LINE, {"x": x, "o": np.zeros_like(x), "n": n}, {"N": size, "DOWN": False}, num_warps=warps)
    assert_same_bits(found["o"], np.sort(x))


def test_no_element_is_lost() -> None:
    """Nor its bits: NaNs keep their signs and payloads."""
    x = np.random.default_rng().integers(0, 1 << 32, 256, np.uint32)
    x[::3] |= 0x7F800000
    arguments = {"x": x.view(np.float32), "o": np.zeros(256, np.float32), "n": 256}
    found = run(LINE, arguments, {"N": 256, "DOWN": True})
    assert sorted(found["o"].view(np.uint32).tolist()) == sorted(x.tolist())


NARROW = {"f16": "f32", "bf16": "f32", "i1": "i32", "i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32"}


@pytest.mark.parametrize("dtype", oracle.ALL)
@pytest.mark.parametrize(("k", "axis", "warps"), [(1, 1, 4), (8, 1, 1), (32, 1, 4), (4, 0, 2)])
def test_the_largest(dtype: str, k: int, axis: int, warps: int) -> None:
    x = odd(dtype, (8, 32), 7)
    given = dtype if k == 32 else NARROW.get(dtype, dtype)
    source, out = TOPK.replace("{out}", language_dtype(given)), np.zeros((8, k), numpy_dtype(given))
    found = run(source, {"x": x, "o": out}, {"M": 8, "N": 32, "K": k, "DIM": axis}, num_warps=warps)
    wanted = np.flip(in_order(x, 1), 1)[:, :k].astype(numpy_dtype(given))
    assert_same_bits(found["o"], np.ascontiguousarray(wanted))


@pytest.mark.parametrize("size", [1, 2, 64, 512])
@pytest.mark.parametrize("warps", [1, 4])
def test_merging_what_rises_and_falls(size: int, warps: int) -> None:
    rows = [np.sort(odd("i32", (size,), seed)) for seed in range(4)]
    x = np.stack([np.concatenate([r[::2], r[1::2][::-1]]) for r in rows])
    x[1::2] = np.roll(x[1::2], size // 4, 1)
    found = run(
        MERGE, {"x": x, "o": np.zeros_like(x), "p": np.zeros_like(x)}, {"M": 4, "N": size}, num_warps=warps
    )
    assert_same_bits(found["o"], np.sort(x, 1))
    assert_same_bits(found["p"], np.ascontiguousarray(np.sort(x, 1)[:, ::-1]))


@pytest.mark.parametrize("warps", [1, 4])
def test_the_largest_of_a_stream(warps: int) -> None:
    x = np.random.default_rng().standard_normal(1000).astype(np.float32)
    found = run(STREAM, {"x": x, "o": np.zeros(8, np.float32), "n": 1000}, {"B": 128}, num_warps=warps)
    assert_same_bits(found["o"], np.sort(x)[::-1][:8].copy())
