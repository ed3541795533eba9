"""Tensor descriptors that the launch makes: the same blocks as those of descriptors made in the kernel."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.run import Described, build, compiled, described, run

DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.int64, np.uint8)

COPY = """
@triton.jit
def kernel(source, o, row, col, M: tl.constexpr, N: tl.constexpr):
    tl.static_assert(source.block_shape == (M, N))
    tile = source.load([row, col])
    tl.static_assert(tile.dtype == source.dtype)
    tl.store(o + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tile)
"""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("row", "col"), [(0, 0), (8, 16), (-3, 5), (30, -7), (40, 0), (0, 200), (29, 44)])
def test_loads_see_padding_outside(row: int, col: int, dtype: Any) -> None:
    m, n, block = 33, 48, (16, 32)
    x = np.random.default_rng().integers(1, 100, (m, n)).astype(dtype)
    around = np.zeros((m + 400, n + 400), dtype)
    around[200 : 200 + m, 200 : 200 + n] = x
    expected = around[200 + row : 200 + row + 16, 200 + col : 200 + col + 32]
    arguments = {"source": described(x, block), "o": np.full(block, 77, dtype), "row": row, "col": col}
    found = run(COPY, arguments, {"M": 16, "N": 32})["o"]
    np.testing.assert_array_equal(found, expected)


FLOATS = (
    np.float64,
    np.float32,
    np.float16,
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
)


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_stands_outside_is_said_at_launch(dtype: Any) -> None:
    x = np.ones((5, 16), dtype)
    rest = {"o": np.zeros((8, 16), dtype), "row": 2, "col": 3}
    program = build(COPY, {"source": described(x, (8, 16)), **rest}, {"M": 8, "N": 16})
    for padding, outside in (("zero", 0), ("nan", np.nan)):
        expected = np.full((8, 16), outside)
        expected[:3, :13] = 1
        arguments = {"source": described(x, (8, 16), padding), **rest}
        found = run(COPY, arguments, {"M": 8, "N": 16})["o"].astype(np.float64)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(program(arguments)["o"].astype(np.float64), expected)


TRANSPOSE = """
@triton.jit
def kernel(a, b, M: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * M
    for j in range(0, a.shape[1], N):
        tile = tl.load_tensor_descriptor(a, [i, j])
        tl.store_tensor_descriptor(b, [j, i], tl.trans(tile) * 2)
"""


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_stores_leave_the_outside_alone(dtype: Any, num_warps: int) -> None:
    """Rows further apart than they are long: what is between them is neither read nor written."""
    m, n, wide, step = 37, 52, 64, 48
    x = np.random.default_rng().integers(0, 60, (m, wide)).astype(dtype)
    o = np.full((n, step), 99, dtype)
    arguments = {
        "a": Described(x, (m, n), (wide, 1), (16, 16)),
        "b": Described(o, (n, m), (step, 1), (16, 16)),
    }
    found = run(TRANSPOSE, arguments, {"M": 16, "N": 16}, (3,), num_warps=num_warps)["b"]
    expected = o.copy()
    expected[:, :m] = (x[:, :n].T * np.array(2, dtype)).astype(dtype)
    np.testing.assert_array_equal(found, expected)


AXES = """
@triton.jit
def kernel(one, three, out, five, p):
    one.store([16], one.load([8]) + one.load([one.shape[0] - 4]))
    for i in range(0, three.shape[0], 2):
        for j in range(0, three.shape[1], 4):
            for k in range(0, three.shape[2], 8):
                out.store([i, j, k], three.load([i, j, k]) + 1)
    five.store([1, 0, 1, 0, 4], five.load([0, 1, 0, 1, 0]) * 3)
    tl.store(p, three.shape[0] * 10000 + three.shape[1] * 100 + three.shape[2])
    tl.store(p + 1, three.strides[0] * 100 + three.strides[1] * 10 + three.strides[2])
    tl.static_assert(three.shape[0].dtype == tl.int32)
    tl.static_assert(three.strides[0].dtype == tl.int64)
"""


def test_one_three_and_five_axes() -> None:
    rng = np.random.default_rng()
    x, y = rng.standard_normal(32).astype(np.float32), rng.standard_normal((3, 5, 12)).astype(np.float32)
    z = rng.standard_normal((2, 2, 2, 2, 8)).astype(np.float32)
    arguments = {
        "one": described(x, (8,)), "three": described(y, (2, 4, 8)), "out": described(np.zeros_like(y), (2, 4, 8)),
        "five": described(z, (1, 1, 2, 1, 4)), "p": np.zeros(2, np.int64),
    }  # fmt: skip
    found = run(AXES, arguments)
    expected = x.copy()
    expected[16:24] = x[8:16] + np.pad(x[28:], (0, 4))
    np.testing.assert_array_equal(found["one"], expected)
    np.testing.assert_array_equal(found["out"], y + np.float32(1))
    boxes = z.copy()
    boxes[1, 0, 1, 0, 4:] = z[0, 1, 0, 1, :4] * 3
    np.testing.assert_array_equal(found["five"], boxes)
    assert found["p"].tolist() == [30512, 6000 + 120 + 1]


IN_TUPLES = """
@triton.jit
def kernel(descs, scales, M: tl.constexpr, N: tl.constexpr):
    total = tl.zeros([M, N], tl.float32)
    for i in tl.static_range(len(descs) - 1):
        total += descs[i].load([tl.program_id(0) * M, 0]) * scales[i]
    descs[len(descs) - 1].store([tl.program_id(0) * M, 0], total)
"""


def test_descriptors_in_tuples() -> None:
    rng = np.random.default_rng()
    x, y = (rng.integers(-9, 9, (21, 12)).astype(np.float32) for _ in range(2))
    descs = tuple(described(each, (8, 16)) for each in (x, y, np.zeros_like(x)))
    found = run(IN_TUPLES, {"descs": descs, "scales": (2.0, -3.0)}, {"M": 8, "N": 16}, (3,))
    np.testing.assert_array_equal(found["descs[2]"], 2 * x - 3 * y)


ATOMICS = """
@triton.jit
def kernel(d, M: tl.constexpr, N: tl.constexpr):
    v = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :] + tl.program_id(0)
    d.atomic_add([tl.program_id(0), 2], v)
"""


def test_atomic_blocks() -> None:
    o = np.random.default_rng().integers(0, 64, (6, 8)).astype(np.int32)
    found = run(ATOMICS, {"d": described(o, (4, 8))}, {"M": 4, "N": 8}, (7,))["d"]
    expected = o.copy()
    for program in range(6):
        block = expected[program : program + 4, 2:]
        block += (np.arange(32).reshape(4, 8)[: len(block), :6] + program).astype(np.int32)
    assert found.tolist() == expected.tolist()


ROWS = """
@triton.jit
def kernel(source, target, rows, R: tl.constexpr, N: tl.constexpr):
    at = tl.load(rows + tl.arange(0, R))
    target.scatter(source.gather(at, 4) * 2, source.shape[0] - 1 - at, 4)
"""


def test_rows_by_their_numbers() -> None:
    rng = np.random.default_rng()
    m, n = 40, 32
    x = rng.standard_normal((m, n)).astype(np.float32)
    rows = rng.permutation(m)[:16].astype(np.int32)
    rows[3], rows[5] = -1, m
    arguments = {
        "source": described(x, (1, 32)),
        "target": described(np.zeros_like(x), (1, 32)),
        "rows": rows,
    }
    found = run(ROWS, arguments, {"R": 16, "N": 32})["target"]
    expected = np.zeros_like(x)
    for row in rows:
        if 0 <= row < m:
            expected[m - 1 - row, 4:] = 2 * x[row, 4:]
    np.testing.assert_array_equal(found, expected)


SCALE = """
@triton.jit
def kernel(a, b, M: tl.constexpr, N: tl.constexpr):
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    b.store(at, a.load(at) * 2)
"""


def test_accesses_are_as_wide_as_rows_are_aligned() -> None:
    """The address and the strides are multiples of 16 bytes in any case; an extent that is one too lets whole vectors go at once."""
    x = np.zeros((64, 64), np.float16)
    arguments = {"a": described(x, (16, 64)), "b": described(x, (16, 64))}

    def ptx(**assume: Any) -> str:
        text = compiled(SCALE, arguments, {"M": 16, "N": 64}, "sm_90a", **assume).ptx
        assert text is not None
        return text

    whole = {"a.shape[1]": {"div": 8}}
    assert "ld.global.v4.b32" in ptx(assume=whole)
    assert "ld.global.v4.b32" not in ptx()
