"""Tensor descriptors: blocks by their offsets, and what lies outside of the array."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.run import run

DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.int64, np.uint8)

COPY = """
@triton.jit
def kernel(x, o, m, n, row, col, M: tl.constexpr, N: tl.constexpr, PAD: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[M, N], padding_option=PAD)
    tl.static_assert(source.block_shape == (M, N))
    tile = source.load([row, col])
    tl.store(o + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tile)
"""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("row", "col"), [(0, 0), (8, 16), (-3, 5), (30, -7), (40, 0), (0, 200), (29, 44)])
def test_loads_see_padding_outside(row: int, col: int, dtype: Any) -> None:
    m, n, block = 33, 47, (16, 32)
    x = np.random.default_rng().integers(1, 100, (m, n)).astype(dtype)
    around = np.zeros((m + 400, n + 400), dtype)
    around[200 : 200 + m, 200 : 200 + n] = x
    expected = around[200 + row : 200 + row + 16, 200 + col : 200 + col + 32]
    arguments = {"x": x, "o": np.full(block, 77, dtype), "m": m, "n": n, "row": row, "col": col}
    found = run(COPY, arguments, {"M": 16, "N": 32, "PAD": "zero"})["o"]
    np.testing.assert_array_equal(found, expected)


def test_padding_with_nan() -> None:
    x = np.ones((5, 6), np.float32)
    arguments = {"x": x, "o": np.zeros((8, 8), np.float32), "m": 5, "n": 6, "row": 2, "col": 3}
    found = run(COPY, arguments, {"M": 8, "N": 8, "PAD": "nan"})["o"]
    expected = np.full((8, 8), np.nan)
    expected[:3, :3] = 1
    np.testing.assert_array_equal(found, expected)


TRANSPOSE_SUM = """
@triton.jit
def kernel(x, o, m, n, M: tl.constexpr, N: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [M, N])
    b = tl.make_tensor_descriptor(o, [n, m], [m, 1], [N, M])
    i = tl.program_id(0) * M
    for j in range(0, n, N):
        tile = tl.load_tensor_descriptor(a, [i, j])
        tl.store_tensor_descriptor(b, [j, i], tl.trans(tile) * 2)
"""


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_stores_leave_the_outside_alone(dtype: Any, num_warps: int) -> None:
    m, n = 37, 52
    x = np.random.default_rng().integers(0, 60, (m, n)).astype(dtype)
    found = run(
        TRANSPOSE_SUM, {"x": x, "o": np.zeros((n, m), dtype), "m": m, "n": n}, {"M": 16, "N": 16}, (3,), num_warps=num_warps
    )["o"]  # fmt: skip
    np.testing.assert_array_equal(found, (x.T * np.array(2, dtype)).astype(dtype))


ONE_AND_THREE_AXES = """
@triton.jit
def kernel(x, y, o, p, n, a, b, c, N: tl.constexpr):
    one = tl.make_tensor_descriptor(x, [n], [1], [N])
    one.store([16], one.load([8]) + one.load([n - 4]))
    three = tl.make_tensor_descriptor(y, [a, b, c], [b * c, c, 1], [2, 4, 8])
    out = tl.make_tensor_descriptor(o, [a, b, c], [b * c, c, 1], [2, 4, 8])
    for i in range(0, a, 2):
        for j in range(0, b, 4):
            for k in range(0, c, 8):
                out.store([i, j, k], three.load([i, j, k]) + 1)
    tl.store(p, three.shape[0] * 10000 + three.shape[1] * 100 + three.shape[2])
    tl.store(p + 1, three.strides[0])
"""


def test_one_and_three_axes() -> None:
    rng = np.random.default_rng()
    a, b, c = 3, 5, 11
    x, y = rng.standard_normal(32).astype(np.float32), rng.standard_normal((a, b, c)).astype(np.float32)
    arguments = {
        "x": x,
        "y": y,
        "o": np.zeros_like(y),
        "p": np.zeros(2, np.int64),
        "n": 32,
        "a": a,
        "b": b,
        "c": c,
    }
    found = run(ONE_AND_THREE_AXES, arguments, {"N": 8})
    expected = x.copy()
    expected[16:24] = x[8:16] + np.pad(x[28:], (0, 4))
    np.testing.assert_array_equal(found["x"], expected)
    np.testing.assert_array_equal(found["o"], y + np.float32(1))
    assert found["p"].tolist() == [a * 10000 + b * 100 + c, b * c]


ATOMICS = """
@triton.jit
def kernel(o, m, n, M: tl.constexpr, N: tl.constexpr):
    d = tl.make_tensor_descriptor(o, [m, n], [n, 1], [M, N])
    v = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :] + tl.program_id(0)
    d.{name}([tl.program_id(0), 2], v)
"""
STEPS: dict[str, np.ufunc] = {
    "atomic_add": np.add, "atomic_max": np.maximum, "atomic_min": np.minimum,
    "atomic_and": np.bitwise_and, "atomic_or": np.bitwise_or, "atomic_xor": np.bitwise_xor,
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@pytest.mark.parametrize("name", STEPS)
def test_atomic_blocks(name: str, dtype: Any) -> None:
    """Programs meet on the same elements, each once on every element inside the array."""
    o = np.random.default_rng().integers(0, 64, (6, 7)).astype(dtype)
    found = run(ATOMICS.format(name=name), {"o": o, "m": 6, "n": 7}, {"M": 4, "N": 8}, (7,))["o"]
    expected = o.copy()
    for program in range(6):
        block = expected[program : program + 4, 2:]
        v = np.arange(32).reshape(4, 8)[: len(block), :5] + program
        STEPS[name](block, v.astype(dtype), out=block)
    assert found.tolist() == expected.tolist()


GATHER = """
@triton.jit
def kernel(x, rows, o, m, n, R: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [1, N])
    target = tl.make_tensor_descriptor(o, [m, n], [n, 1], [1, N])
    at = tl.load(rows + tl.arange(0, R))
    tile = source.gather(at, 4)
    target.scatter(tile * 2, m - 1 - at, 4)
"""


def test_rows_by_their_numbers() -> None:
    rng = np.random.default_rng()
    m, n = 40, 30
    x = rng.standard_normal((m, n)).astype(np.float32)
    rows = rng.permutation(m)[:16].astype(np.int32)
    rows[3], rows[5] = -1, m
    arguments = {"x": x, "rows": rows, "o": np.zeros_like(x), "m": m, "n": n}
    found = run(GATHER, arguments, {"R": 16, "N": 32})["o"]
    expected = np.zeros_like(x)
    for row in rows:
        if 0 <= row < m:
            expected[m - 1 - row, 4:] = 2 * x[row, 4:]
    np.testing.assert_array_equal(found, expected)
