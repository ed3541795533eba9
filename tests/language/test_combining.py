"""Reductions that find places, and reductions by a function of the kernel's own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.run import Array, assert_same_bits, numpy_dtype, run

PLACES = """
@triton.jit
def kernel(x, i, j, v, w, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, OUT: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    t = tl.load(x + m[:, None] * N + n[None, :])
    o = tl.arange(0, OUT)
    largest, where = tl.max(t, AXIS, return_indices=True)
    smallest, there = tl.min(t, AXIS, return_indices=True, keep_dims=True)
    tl.store(v + o, largest)
    tl.store(i + o, where)
    tl.store(w + o, smallest.reshape(OUT))
    tl.store(j + o, there.ravel())
    tl.store(i + OUT + o, tl.argmax(t, axis=AXIS))
    tl.store(j + OUT + o, t.argmin(AXIS, keep_dims=True).ravel())
"""

OWN = """
@triton.jit
def product(a, b):
    return a * b


@triton.jit
def moments(mean_a, square_a, count_a, mean_b, square_b, count_b):
    count = count_a + count_b
    delta = mean_b - mean_a
    mean = mean_a + delta * (count_b / count)
    return mean, square_a + square_b + delta * delta * (count_a * count_b / count), count


@triton.jit
def smaller(a, b):
    return tl.where(a < b, a, b)


@triton.jit
def kernel(x, o, p, q, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    t = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(o + n, tl.reduce(t, 0, product))
    tl.store(o + N, tl.reduce(t, None, smaller))
    ones = tl.full((M, N), 1.0, tl.float32)
    mean, square, count = tl.reduce((t, tl.zeros_like(t), ones), 1, moments, keep_dims=True)
    tl.store(p + m[:, None], mean)
    tl.store(p + M + m[:, None], square / count)
    bits = t.to(tl.int32)
    tl.store(q + m, tl.xor_sum(bits, 1))
    tl.store(q + M + m, tl.reduce_or(bits, axis=1))
    tl.store(q + 2 * M, tl.xor_sum(bits))
"""

SOFTMAX = """
@triton.jit
def kernel(x, o, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    t = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(o + m[:, None] * N + n[None, :], tl.softmax(t, 1, keep_dims=True))
    tl.store(o + M * N + n, tl.softmax(tl.load(x + n)))
"""


def tile(dtype: str, shape: tuple[int, int]) -> Array:
    """Small whole numbers, so that many are equal."""
    low = 0 if dtype[0] == "u" else -4
    return np.random.default_rng().integers(low, 5, shape).astype(numpy_dtype(dtype))


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64", "i32", "i8", "u16", "i64"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("warps", [1, 4])
def test_where_the_extremes_are(dtype: str, axis: int, warps: int) -> None:
    """The first of equal ones, whatever lanes hold them."""
    shape = (16, 64)
    x = tile(dtype, shape)
    out = shape[1 - axis]
    given = np.float32 if dtype == "bf16" else x.dtype
    arguments = {
        "x": x, "i": np.zeros(2 * out, np.int32), "j": np.zeros(2 * out, np.int32), "v": np.zeros(out, given), "w": np.zeros(out, given),
    }  # fmt: skip
    const = {"M": shape[0], "N": shape[1], "AXIS": axis, "OUT": out}
    found = run(PLACES, arguments, const, num_warps=warps)
    wide = x.astype(np.float64)
    assert found["i"].reshape(2, out).tolist() == [wide.argmax(axis).tolist()] * 2
    assert found["j"].reshape(2, out).tolist() == [wide.argmin(axis).tolist()] * 2
    assert_same_bits(found["v"], wide.max(axis).astype(given))
    assert_same_bits(found["w"], wide.min(axis).astype(given))


@pytest.mark.parametrize("warps", [1, 2, 8])
def test_functions_of_the_kernels_own(warps: int) -> None:
    x = np.random.default_rng().uniform(0.5, 1.5, (16, 32)).astype(np.float32)
    x = np.round(x * 64) / 64
    arguments = {
        "x": x,
        "o": np.zeros(33, np.float32),
        "p": np.zeros(32, np.float32),
        "q": np.zeros(33, np.int32),
    }
    found = run(OWN, arguments, {"M": 16, "N": 32}, num_warps=warps)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(found["o"][:32], wide.prod(0), rtol=2e-6)
    assert found["o"][32] == x.min()
    np.testing.assert_allclose(found["p"], np.concatenate([wide.mean(1), wide.var(1)]), rtol=2e-6)
    bits = x.astype(np.int32)
    wanted = [
        *np.bitwise_xor.reduce(bits, 1),
        *np.bitwise_or.reduce(bits, 1),
        np.bitwise_xor.reduce(bits, None),
    ]
    assert found["q"].tolist() == wanted


def test_softmax() -> None:
    x = np.random.default_rng().standard_normal((8, 64)).astype(np.float32) * 5
    found = run(SOFTMAX, {"x": x, "o": np.zeros(9 * 64, np.float32)}, {"M": 8, "N": 64})["o"].reshape(9, 64)
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    wanted = powers / powers.sum(1, keepdims=True)
    np.testing.assert_allclose(found, [*wanted, wanted[0]], rtol=1e-6, atol=1e-12)


def test_a_constant_that_the_kernel_has_too() -> None:
    """What is known outside a combining function is not what stands in it."""
    source = """
@triton.jit
def positive(a, b):
    return tl.where(a > 0, a, 0) + tl.where(b > 0, b, 0)


@triton.jit
def kernel(x, o, n):
    t = tl.load(x + tl.arange(0, 32))
    if n > 0:
        for i in range(0, n):
            tl.store(o + i, tl.reduce(t, 0, positive) + 0 * i)
"""
    x = np.random.default_rng().integers(-9, 9, 32).astype(np.int32)
    found = run(source, {"x": x, "o": np.zeros(2, np.int32), "n": 2})
    np.testing.assert_array_equal(found["o"], np.maximum(x, 0).sum())
