"""Elements picked by position, tiles turned round, and counts of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.run import Array, assert_same_bits, run

from . import oracle

GATHER = """
@triton.jit
def kernel(x, i, o, M: tl.constexpr, N: tl.constexpr, P: tl.constexpr, Q: tl.constexpr, AXIS: tl.constexpr):
    t = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    at = tl.arange(0, P)[:, None] * Q + tl.arange(0, Q)[None, :]
    tl.store(o + at, tl.gather(t, tl.load(i + at), AXIS))
"""

#: Patterns that are known when compiling: no index is read for those that flip bits.
PATTERNS = """
@triton.jit
def kernel(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    t = tl.load(x + i)
    tl.store(o + i, t.gather(i ^ (N // 2), 0))
    tl.store(o + N + i, tl.gather(t, N - 1 - i, 0))
    tl.store(o + 8 * N + i, tl.flip(t))
    tl.store(o + 2 * N + i, tl.gather(t, (i ^ 1) ^ (N - 1), axis=-1))
    tl.store(o + 3 * N + i, tl.gather(t, i + 1, 0))
    tl.store(o + 4 * N + i, tl.gather(t, N - 2 - i, 0))
    tl.store(o + 5 * N + i, tl.gather(t, i, 0))
    tl.store(o + 6 * N + i, tl.gather(t, i ^ (2 * N), 0))
    tl.store(o + 7 * N + i, tl.gather(tl.gather(t, i ^ 1, 0), (i.to(tl.int64) ^ 1), 0))
"""

THREE_D = """
@triton.jit
def kernel(x, o, p, q, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    at = (a * B + b) * C + c
    t = tl.load(x + at)
    tl.store(o + at, tl.flip(t, 1))
    tl.store(o + A * B * C + at, t.flip(-3).flip(2))
    around = ((b * 3 + a + c * 0) % B).broadcast_to(A, B, C)
    tl.store(p + at, tl.gather(t, around, 1))
    pointers = tl.gather(x + at, (around + 1) % B, 1)
    tl.store(q + at, tl.load(pointers))
    tl.store(q + A * B * C + at, tl.gather(at, c ^ (C - 1) | (a + b) * 0, 2))
"""

FLIP = """
@triton.jit
def kernel(x, o, p, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    t = tl.load(x + at)
    tl.store(o + at, t.flip(0))
    tl.store(p + at, tl.flip(t, dim=1))
"""

HISTOGRAM = """
@triton.jit
def kernel(x, mask, o, p, n, N: tl.constexpr, BINS: tl.constexpr):
    i, b = tl.arange(0, N), tl.arange(0, BINS)
    t = tl.load(x + i, mask=i < n, other=0)
    tl.store(o + b, t.histogram(BINS))
    counts = tl.histogram(t, BINS, mask=(tl.load(mask + i) != 0) & (i < n))
    tl.static_assert(counts.dtype == tl.int32)
    tl.store(p + b, counts)
"""

BUCKETS = """
@triton.jit
def kernel(x, o, p, n, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, B)
    counts = tl.zeros((BINS,), tl.int32)
    for start in range(0, n, B):
        t = tl.load(x + start + i, mask=start + i < n, other=-1)
        counts += tl.histogram(t, BINS)
        tl.store(p + start + i, tl.gather(tl.cumsum(counts, 0), t, 0), mask=start + i < n)
    tl.store(o + tl.arange(0, BINS), counts)
"""


def gathered(x: Array, index: Array, axis: int, warps: int) -> None:
    const = dict(zip("MNPQ", (*x.shape, *index.shape), strict=True)) | {"AXIS": axis}
    arguments = {"x": x, "i": index, "o": np.zeros(index.shape, x.dtype)}
    found = run(GATHER, arguments, const, num_warps=warps)
    inside = (index.astype(object) % x.shape[axis]).astype(np.int64)
    assert_same_bits(found["o"], np.take_along_axis(x, inside, axis))


@pytest.mark.parametrize("dtype", oracle.ALL)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("warps", [1, 4])
def test_every_dtype(dtype: str, axis: int, warps: int) -> None:
    x = oracle.values(dtype, 16 * 32).reshape(16, 32)
    gathered(x, np.random.default_rng().integers(0, x.shape[axis], (16, 32)).astype(np.int32), axis, warps)


@pytest.mark.parametrize("dtype", ["i1", *oracle.INTEGERS])
def test_any_index_stays_inside(dtype: str) -> None:
    """Whatever its dtype holds: below zero, beyond the side, the extremes."""
    x = np.random.default_rng().standard_normal((4, 512)).astype(np.float32)
    gathered(x, oracle.values(dtype, 2048).reshape(4, 512), 1, 4)
    gathered(x.reshape(128, 16), oracle.values(dtype, 2048, 1).reshape(128, 16), 0, 2)


@pytest.mark.parametrize(("source", "index", "axis"), [
    ((16, 32), (16, 8), 1), ((16, 32), (16, 256), 1), ((64, 4), (2, 4), 0), ((4, 4), (512, 4), 0), ((1, 8), (1, 1), 1), ((8, 1), (8, 1), 1),
])  # fmt: skip
@pytest.mark.parametrize("warps", [1, 2, 8])
def test_shapes(source: tuple[int, int], index: tuple[int, int], axis: int, warps: int) -> None:
    generator = np.random.default_rng()
    x = generator.integers(-99, 99, source).astype(np.int16)
    gathered(x, generator.integers(-5, source[axis] + 5, index), axis, warps)


@pytest.mark.parametrize("size", [4, 32, 256, 2048])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_patterns(size: int, warps: int) -> None:
    x, i = np.random.default_rng().standard_normal(size).astype(np.float32), np.arange(size)
    found = run(PATTERNS, {"x": x, "o": np.zeros((9, size), np.float32)}, {"N": size}, num_warps=warps)["o"]
    wanted = [i ^ size // 2, size - 1 - i, i ^ 1 ^ size - 1, i + 1, size - 2 - i, i, i, i, i[::-1]]
    assert_same_bits(found, np.stack([x[w % size] for w in wanted]))


@pytest.mark.parametrize("warps", [1, 4])
def test_three_axes_and_pointers(warps: int) -> None:
    shape = (4, 8, 16)
    x = np.random.default_rng().integers(0, 512, shape).astype(np.int32)
    arguments = {
        "x": x,
        "o": np.zeros((2, *shape), np.int32),
        "p": np.zeros_like(x),
        "q": np.zeros((2, *shape), np.int32),
    }
    found = run(THREE_D, arguments, dict(zip("ABC", shape, strict=True)), num_warps=warps)
    assert_same_bits(found["o"], np.stack([x[:, ::-1], x[::-1, :, ::-1]]))
    a, b, _ = np.indices(shape)
    assert_same_bits(found["p"], np.take_along_axis(x, (b * 3 + a) % 8, 1))
    flipped = np.arange(512, dtype=np.int32).reshape(shape)[:, :, ::-1]
    assert_same_bits(found["q"], np.stack([np.take_along_axis(x, (b * 3 + a + 1) % 8, 1), flipped]))


@pytest.mark.parametrize("dtype", oracle.ALL)
@pytest.mark.parametrize(
    ("shape", "warps"), [((1, 1), 1), ((8, 64), 1), ((64, 8), 4), ((2, 512), 8), ((256, 2), 2)]
)
def test_flip(dtype: str, shape: tuple[int, int], warps: int) -> None:
    x = oracle.values(dtype, max(32, shape[0] * shape[1]))[-shape[0] * shape[1] :].reshape(shape)
    arguments = {"x": x, "o": np.zeros_like(x), "p": np.zeros_like(x)}
    found = run(FLIP, arguments, {"M": shape[0], "N": shape[1]}, num_warps=warps)
    assert_same_bits(found["o"], x[::-1].copy())
    assert_same_bits(found["p"], x[:, ::-1].copy())


def counts(x: Array, bins: int, held: Array) -> Array:
    inside = [int(v) for v, h in zip(x.tolist(), held.tolist(), strict=True) if h and 0 <= int(v) < bins]
    return np.bincount(np.array(inside, np.int64), minlength=bins).astype(np.int32)


@pytest.mark.parametrize("dtype", ["i1", *oracle.INTEGERS])
@pytest.mark.parametrize(
    ("size", "bins", "warps"), [(64, 8, 1), (512, 64, 4), (32, 256, 2), (1024, 1, 8), (1, 2, 4)]
)
def test_histogram(dtype: str, size: int, bins: int, warps: int) -> None:
    """Numbers at both ends of the dtype, below zero and beyond the last are not counted."""
    generator = np.random.default_rng()
    x = oracle.values(dtype, size)
    near = generator.integers(0, min(bins + 2, int(x.max()) + 1), size).astype(x.dtype)
    x = np.where(generator.random(size) < 0.6, near, x)
    n = size - size // 5
    mask = generator.integers(0, 2, size).astype(np.int8)
    arguments = {"x": x, "mask": mask, "o": np.zeros(bins, np.int32), "p": np.zeros(bins, np.int32), "n": n}
    found = run(HISTOGRAM, arguments, {"N": size, "BINS": bins}, num_warps=warps)
    ragged = np.where(np.arange(size) < n, x, np.zeros((), x.dtype))
    assert_same_bits(found["o"], counts(ragged, bins, np.ones(size, bool)))
    assert_same_bits(found["p"], counts(x, bins, (mask != 0) & (np.arange(size) < n)))


def test_all_in_one_bin() -> None:
    """Every lane counts at one place."""
    x, zeros = np.full(1024, 3, np.int32), np.zeros(16, np.int32)
    arguments = {"x": x, "mask": np.ones(1024, np.int8), "o": zeros, "p": zeros, "n": 1024}
    assert run(HISTOGRAM, arguments, {"N": 1024, "BINS": 16}, num_warps=8)["o"].tolist() == [
        0,
        0,
        0,
        1024,
        *[0] * 12,
    ]


@pytest.mark.parametrize("warps", [1, 4])
def test_counts_in_a_loop(warps: int) -> None:
    x = np.random.default_rng().integers(0, 32, 1000).astype(np.int32)
    arguments = {"x": x, "o": np.zeros(32, np.int32), "p": np.zeros_like(x), "n": 1000}
    found = run(BUCKETS, arguments, {"B": 128, "BINS": 32}, num_warps=warps)
    assert_same_bits(found["o"], np.bincount(x, minlength=32).astype(np.int32))
    sums = [np.cumsum(np.bincount(x[: s + 128], minlength=32))[x[s : s + 128]] for s in range(0, 1000, 128)]
    assert_same_bits(found["p"], np.concatenate(sums).astype(np.int32))
