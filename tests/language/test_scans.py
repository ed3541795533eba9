"""Scans: running sums and products, and running anything that is associative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.run import Array, assert_same_bits, numpy_dtype, run

RUNNING = """
@triton.jit
def kernel(x, o, p, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    t = tl.load(x + at)
    tl.store(o + at, tl.cumsum(t, AXIS, REVERSE))
    tl.store(p + at, t.cumprod(AXIS, reverse=REVERSE))
"""

#: y[t] = a[t] * y[t-1] + b[t], as the scan of a function that does not commute.
RECURRENCE = """
@triton.jit
def then(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def kernel(a, b, o, p, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    product, state = tl.associative_scan((tl.load(a + at), tl.load(b + at)), AXIS, then, reverse=REVERSE)
    tl.store(o + at, state)
    tl.store(p + at, product)
"""

CHUNKS = """
@triton.jit
def latest(a, b):
    return tl.where(b >= 0, b, a)


@triton.jit
def kernel(x, o, p, q, n, B: tl.constexpr):
    offs = tl.arange(0, B)
    before = 0
    for start in range(0, n, B):
        mask = start + offs < n
        t = tl.load(x + start + offs, mask=mask, other=0)
        sums = tl.cumsum(t, 0) + before
        tl.store(o + start + offs, sums, mask=mask)
        before = tl.max(sums)
    tl.store(p + offs, tl.cumsum(offs, 0))
    places = tl.where(tl.load(x + offs) > 3, offs, -1)
    tl.store(q + offs, tl.associative_scan(places, 0, latest))
"""

TURNED = """
@triton.jit
def kernel(x, o, p, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    t = tl.load(x + at)
    tl.store(o + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], tl.cumsum(t.trans(), 1))
    tl.store(p + tl.arange(0, N), tl.sum(tl.cumsum(t, 0), 0))
"""

SHAPES = [(1, 64), (16, 16), (64, 4), (2, 512), (256, 1), (32, 64)]


def sklansky(x: Array, axis: int, reverse: bool, combine: Callable[[Array, Array], Array]) -> Array:
    """The tree that scans follow on every target, written without bits of lanes."""
    found = np.moveaxis(np.flip(x, axis) if reverse else x, axis, 0).copy()
    half = 1
    while half < len(found):
        for first in range(half, len(found), 2 * half):
            found[first : first + half] = combine(
                np.broadcast_to(found[first - 1], found[first : first + half].shape),
                found[first : first + half],
            )
        half *= 2
    found = np.moveaxis(found, 0, axis)
    return np.flip(found, axis) if reverse else found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("warps", [1, 4])
def test_running_sums_and_products(shape: tuple[int, int], axis: int, reverse: bool, warps: int) -> None:
    generator = np.random.default_rng()
    x = generator.standard_normal(shape).astype(np.float32)
    const = {"M": shape[0], "N": shape[1], "AXIS": axis, "REVERSE": reverse}
    poison = np.full(shape, np.nan, np.float32)
    found = run(RUNNING, {"x": x, "o": poison, "p": poison}, const, num_warps=warps)
    assert_same_bits(found["o"], sklansky(x, axis, reverse, np.add), "cumsum")
    assert_same_bits(found["p"], sklansky(x, axis, reverse, np.multiply), "cumprod")
    exact = np.flip(np.cumsum(np.flip(x.astype(np.float64), axis), axis), axis) if reverse else np.cumsum(
        x.astype(np.float64), axis
    )  # fmt: skip
    np.testing.assert_allclose(found["o"], exact, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("dtype", "sums", "products"),
    [
        ("i1", "i32", "i1"), ("i8", "i32", "i8"), ("u8", "u32", "u8"), ("i16", "i32", "i16"), ("i32", "i32", "i32"),
        ("u32", "u32", "u32"), ("i64", "i64", "i64"), ("f16", "f16", "f16"), ("bf16", "f32", "f32"), ("f64", "f64", "f64"),
    ],
)  # fmt: skip
def test_dtypes(dtype: str, sums: str, products: str) -> None:
    """Narrow integers are added up as 32 bits, bf16 goes through f32; products of integers wrap."""
    low, high = (0, 2) if dtype == "i1" else (1, 4)
    x = np.random.default_rng().integers(low, high, (4, 32)).astype(numpy_dtype(dtype))
    const = {"M": 4, "N": 32, "AXIS": 1, "REVERSE": False}
    if dtype == "i1":
        source = RUNNING.replace("    tl.store(p + at, t.cumprod(AXIS, reverse=REVERSE))\n", "")
    else:
        source = RUNNING
    out = {"o": np.zeros(x.shape, numpy_dtype(sums)), "p": np.zeros(x.shape, numpy_dtype(products))}
    found = run(source, {"x": x, **out}, const)
    with np.errstate(all="ignore"):
        wide = numpy_dtype(sums)
        assert_same_bits(found["o"], sklansky(x.astype(wide), 1, False, np.add))
        if dtype != "i1":
            assert_same_bits(found["p"], sklansky(x.astype(numpy_dtype(products)), 1, False, np.multiply))


@pytest.mark.parametrize("shape", [(1, 128), (16, 32), (64, 2)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_function_that_does_not_commute(shape: tuple[int, int], axis: int, reverse: bool) -> None:
    generator = np.random.default_rng()
    a = generator.uniform(-1, 1, shape).astype(np.float32)
    b = generator.standard_normal(shape).astype(np.float32)
    poison = np.full(shape, np.nan, np.float32)
    const = {"M": shape[0], "N": shape[1], "AXIS": axis, "REVERSE": reverse}
    found = run(RECURRENCE, {"a": a, "b": b, "o": poison, "p": poison}, const)
    rows_a, rows_b = (
        np.moveaxis(np.flip(v, axis) if reverse else v, axis, 0).astype(np.float64) for v in (a, b)
    )
    state, wanted = np.zeros(rows_a.shape[1:]), np.empty_like(rows_a)
    for t, (factor, term) in enumerate(zip(rows_a, rows_b, strict=True)):
        state = wanted[t] = factor * state + term
    wanted = np.moveaxis(wanted, 0, axis)
    np.testing.assert_allclose(found["o"], np.flip(wanted, axis) if reverse else wanted, rtol=1e-4, atol=1e-5)
    products = np.cumprod(rows_a, 0)
    products = np.moveaxis(products, 0, axis)
    np.testing.assert_allclose(
        found["p"], np.flip(products, axis) if reverse else products, rtol=1e-4, atol=1e-12
    )


@pytest.mark.parametrize("warps", [1, 2, 8])
def test_chunks_one_after_the_other(warps: int) -> None:
    """In a loop, with a mask; of a range; and the place of the last element that was large."""
    n, block = 1000, 64
    x = np.random.default_rng().integers(0, 9, n).astype(np.int32)
    out = {"o": np.zeros(n, np.int32), "p": np.zeros(block, np.int32), "q": np.zeros(block, np.int32)}
    found = run(CHUNKS, {"x": x, **out, "n": n}, {"B": block}, num_warps=warps)
    np.testing.assert_array_equal(found["o"], np.cumsum(x))
    np.testing.assert_array_equal(found["p"], np.cumsum(np.arange(block)))
    places = np.where(x[:block] > 3, np.arange(block), -1)
    np.testing.assert_array_equal(found["q"], np.maximum.accumulate(places))


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("shape", [(16, 32), (128, 8), (4, 4)])
def test_of_a_transposed_tile_and_reduced(shape: tuple[int, int], warps: int) -> None:
    x = np.random.default_rng().integers(-9, 9, shape).astype(np.float32)
    out = {"o": np.zeros(shape[::-1], np.float32), "p": np.zeros(shape[1], np.float32)}
    found = run(TURNED, {"x": x, **out}, {"M": shape[0], "N": shape[1]}, num_warps=warps)
    np.testing.assert_array_equal(found["o"], np.cumsum(x.T, 1))
    np.testing.assert_array_equal(found["p"], np.cumsum(x, 0).sum(0))


def test_infinities_and_nan_stay_behind_where_they_were() -> None:
    x = np.ones((2, 64), np.float32)
    x[0, 40], x[1, 10] = np.inf, np.nan
    poison = np.full(x.shape, 7, np.float32)
    const = {"M": 2, "N": 64, "AXIS": 1, "REVERSE": False}
    found = run(RUNNING, {"x": x, "o": poison, "p": poison}, const)
    np.testing.assert_array_equal(found["o"], np.cumsum(x, 1))
    np.testing.assert_array_equal(found["p"], np.cumprod(x, 1))
