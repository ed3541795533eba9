"""Two tiles as one and one as two: join, split, interleave, cat, in layouts that hold the new axis in registers, lanes and warps."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.run import Array, assert_same_bits, numpy_dtype, run

from . import oracle

JOIN = """
@triton.jit
def kernel(x, y, o, p, q, r, M: tl.constexpr, N: tl.constexpr):
    m, n, two = tl.arange(0, M), tl.arange(0, N), tl.arange(0, 2)
    at = m[:, None] * N + n[None, :]
    a, b = tl.load(x + at), tl.load(y + at)
    both = tl.join(a, b)
    tl.static_assert(both.shape == (M, N, 2))
    tl.store(o + at[:, :, None] * 2 + two, both)
    tl.store(p + m[:, None] * 2 * N + tl.arange(0, 2 * N)[None, :], tl.interleave(a, b))
    first, second = both.split()
    tl.store(q + at, first)
    tl.store(r + at, second)
"""

#: A tile that comes with its last axis of two wherever the strides put it; what is split meets again.
SPLIT = """
@triton.jit
def kernel(x, o, p, N: tl.constexpr, S: tl.constexpr, T: tl.constexpr):
    n, two = tl.arange(0, N), tl.arange(0, 2)
    t = tl.load(x + n[:, None] * S + two[None, :] * T)
    a, b = tl.split(t)
    tl.store(o + n, a)
    tl.store(o + N + n, b)
    tl.store(p + n[:, None] * S + two[None, :] * T, tl.join(b, a))
"""

CAT = """
@triton.jit
def kernel(x, y, o, p, N: tl.constexpr):
    n = tl.arange(0, N)
    a, b = tl.load(x + n), tl.load(y + n)
    tl.store(o + tl.arange(0, 2 * N), tl.cat(a, b, can_reorder=True))
    tl.store(p + tl.arange(0, 2 * N), tl.cat(b, tl.cat(a, a, can_reorder=True).reshape(2, N).T.split()[1]))
"""

MIXED = """
@triton.jit
def kernel(x, o, p, n):
    first, second = tl.load(x), tl.load(x + 1)
    pair = tl.join(first, second)
    tl.store(o + tl.arange(0, 2), pair)
    tl.store(o + 2 + tl.arange(0, 2), tl.interleave(second, first))
    a, b = pair.split()
    tl.store(o + 4, a - b)
    if a > b:
        tl.store(o + 5, a)
    i = tl.arange(0, 8)
    t = tl.load(x + i)
    wide = tl.join(t[:, None], t[None, :])
    tl.store(p + tl.arange(0, 128).reshape(8, 8, 2), wide)
    pointers = tl.join(x + i, x + 7 - i)
    tl.store(p + 128 + tl.arange(0, 16).reshape(8, 2), tl.load(pointers))
    low, high = tl.split(pointers)
    tl.store(p + 144 + i, tl.load(low) - tl.load(high))
    mask = tl.join(i < n, i >= n)
    tl.store(p + 152 + tl.arange(0, 16).reshape(8, 2), tl.where(mask, 1.0, 0.0))
    known, _ = tl.split(tl.join(i, i * 2))
    tl.store(p + 168 + known, t)
"""


def pair(dtype: str, shape: tuple[int, ...], seed: int = 0) -> tuple[Array, Array]:
    count = int(np.prod(shape))
    x, y = oracle.values(dtype, max(count, 32), seed)[-count:], oracle.values(dtype, max(count, 32), seed + 1)
    return x.reshape(shape), y[-count:].reshape(shape)


@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("warps", [1, 4])
def test_eight_bits_are_moved_as_they_are(dtype: str, warps: int) -> None:
    x, y = (
        np.random.default_rng(s).integers(0, 256, (8, 32), np.uint8).view(numpy_dtype(dtype))
        for s in range(2)
    )
    joined(x, y, warps)
    source = """
@triton.jit
def kernel(x, o):
    at = tl.arange(0, 8)[:, None] * 32 + tl.arange(0, 32)[None, :]
    t = tl.load(x + at)
    tl.store(o + at, tl.gather(t.flip(0), (at * 5) % 32, 1))
"""
    found = run(source, {"x": x, "o": np.zeros_like(x)}, num_warps=warps)
    wanted = np.take_along_axis(x.view(np.uint8)[::-1], np.arange(256).reshape(8, 32) * 5 % 32, 1)
    assert found["o"].tobytes() == wanted.tobytes()


def joined(x: Array, y: Array, warps: int) -> None:
    rows, columns = x.shape
    out = {"o": np.zeros((*x.shape, 2), x.dtype), "p": np.zeros((rows, 2 * columns), x.dtype)}
    out |= {"q": np.zeros_like(x), "r": np.zeros_like(x)}
    found = run(JOIN, {"x": x, "y": y, **out}, {"M": rows, "N": columns}, num_warps=warps)
    both = np.stack([x, y], -1)
    assert_same_bits(found["o"], both)
    assert_same_bits(found["p"], both.reshape(rows, 2 * columns))
    assert_same_bits(found["q"], x)
    assert_same_bits(found["r"], y)


@pytest.mark.parametrize("dtype", oracle.ALL)
@pytest.mark.parametrize("warps", [1, 4])
def test_join_and_interleave(dtype: str, warps: int) -> None:
    joined(*pair(dtype, (8, 32)), warps)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (4, 4), (64, 1), (2, 128), (32, 64)])
@pytest.mark.parametrize("warps", [1, 2, 8])
def test_shapes_that_are_joined(shape: tuple[int, int], warps: int) -> None:
    joined(*pair("f32", shape, 3), warps)


@pytest.mark.parametrize("size", [1, 4, 64, 1024])
@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("warps", [1, 2, 4, 8])
def test_split_of_an_axis_anywhere(size: int, columns: bool, warps: int) -> None:
    """Pairs side by side, in one lane; or one half after the other, in other lanes or warps."""
    x = np.random.default_rng().integers(-99, 99, 2 * size).astype(np.int32)
    strides = {"S": 1, "T": size} if columns else {"S": 2, "T": 1}
    found = run(
        SPLIT, {"x": x, "o": np.zeros_like(x), "p": np.zeros_like(x)}, {"N": size, **strides}, num_warps=warps
    )
    halves = x.reshape(2, size) if columns else x.reshape(size, 2).T
    assert_same_bits(found["o"], np.ascontiguousarray(halves).reshape(-1))
    swapped = halves[::-1] if columns else halves[::-1].T
    assert_same_bits(found["p"], np.ascontiguousarray(swapped).reshape(-1))


@pytest.mark.parametrize("dtype", oracle.ALL)
@pytest.mark.parametrize(("size", "warps"), [(1, 1), (16, 2), (256, 4)])
def test_cat_keeps_the_order(dtype: str, size: int, warps: int) -> None:
    x, y = pair(dtype, (size,))
    out = np.zeros(2 * size, numpy_dtype(dtype))
    found = run(CAT, {"x": x, "y": y, "o": out, "p": out}, {"N": size}, num_warps=warps)
    assert_same_bits(found["o"], np.concatenate([x, y]))
    assert_same_bits(found["p"], np.concatenate([y, x]))


@pytest.mark.parametrize("warps", [1, 4])
def test_scalars_pointers_masks_and_what_is_cheap(warps: int) -> None:
    x = np.random.default_rng().permutation(8).astype(np.float32)
    x[:2] = 7, 3
    found = run(
        MIXED, {"x": x, "o": np.zeros(6, np.float32), "p": np.zeros(176, np.float32), "n": 3}, num_warps=warps
    )
    assert found["o"].tolist() == [7, 3, 3, 7, 4, 7]
    grid = np.stack(np.broadcast_arrays(x[:, None], x[None, :]), -1)
    held = np.arange(8) < 3
    wanted = [
        grid.ravel(),
        np.stack([x, x[::-1]], -1).ravel(),
        x - x[::-1],
        np.stack([held, ~held], -1).ravel(),
        x,
    ]
    assert_same_bits(found["p"], np.concatenate(wanted).astype(np.float32))
