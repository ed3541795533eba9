"""Functions of scalars over tiles, and the order in which programs take up a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.run import assert_same_bits, run

MAP = """
@triton.jit
def selu(x, alpha):
    if x > 0:
        return x
    if x < -8:
        return -alpha
    y = x * alpha
    if x < -4:
        y = y - 1.0
    else:
        y = y * 0.5
    return y


@triton.jit
def divided(a, b):
    if b == 0:
        return a * 0, a
    return a // b, a % b


@triton.jit
def kernel(x, i, o, p, N: tl.constexpr):
    n = tl.arange(0, N)
    t, a, b = tl.load(x + n), tl.load(i + n), tl.load(i + N + n)
    tl.store(o + n, tl.map_elementwise(selu, t, 2.0))
    grid = tl.map_elementwise(selu, t[:, None], tl.load(x + tl.arange(0, 4))[None, :])
    tl.store(o + N + n[:, None] * 4 + tl.arange(0, 4)[None, :], grid)
    quotient, rest = tl.map_elementwise(divided, a, b)
    tl.store(p + n, quotient)
    tl.store(p + N + n, rest)
"""

PACKED = """
@triton.jit
def turned(a, b, c, d, e, f, g, h):
    return b, c, d, a, e - f, f - g, g - h, h - e


@triton.jit
def sorted_pair(a, b):
    if a > b:
        return b, a
    return a, b


@triton.jit
def kernel(x, y, o, p, q, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(x + at), tl.load(y + at)
    first, second = tl.map_elementwise(turned, a, b, pack=4)
    tl.store(o + at, first)
    tl.store(p + at, second)
    pair, = tl.map_elementwise(sorted_pair, a, pack=2)
    tl.store(q + at, pair)
"""

SWIZZLE = """
@triton.jit
def kernel(o, p, I: tl.constexpr, J: tl.constexpr, G: tl.constexpr, rows, columns):
    i, j = tl.program_id(0), tl.program_id(1)
    row, column = tl.swizzle2d(i, j, I, J, G)
    tl.store(o + row * J + column, i * J + j)
    if (i == 0) & (j == 0):
        r, c = tl.swizzle2d(tl.arange(0, 8)[:, None], tl.arange(0, 8)[None, :], rows, columns, G)
        at = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]
        tl.store(p + at, r * 100 + c)
"""


@pytest.mark.parametrize(("size", "warps"), [(1, 1), (64, 1), (256, 4)])
def test_branches_for_every_element(size: int, warps: int) -> None:
    generator = np.random.default_rng()
    x = (np.round(generator.standard_normal(size) * 50) / 8).astype(np.float32)
    x = np.resize(x, max(size, 4))[: max(size, 4)]
    i = generator.integers(-9, 10, 2 * size).astype(np.int32)
    arguments = {"x": x, "i": i, "o": np.zeros(5 * size, np.float32), "p": np.zeros(2 * size, np.int32)}
    found = run(MAP, arguments, {"N": size}, num_warps=warps)

    def selu(v: float, alpha: float) -> float:
        if v > 0:
            return v
        if v < -8:
            return 0.0 - alpha
        return v * alpha - 1 if v < -4 else v * alpha * 0.5

    values = x[:size].tolist()
    wanted = [selu(v, 2.0) for v in values] + [selu(v, w) for v in values for w in x[:4].tolist()]
    assert_same_bits(found["o"], np.array(wanted, np.float32))
    a, b = (v.tolist() for v in np.split(i, 2))
    quotients = [int(p / q) if q else 0 for p, q in zip(a, b, strict=True)]
    rests = [p - t * q if q else p for p, q, t in zip(a, b, quotients, strict=True)]
    assert found["p"].tolist() == quotients + rests


@pytest.mark.parametrize("shape", [(1, 4), (8, 16), (64, 8)])
@pytest.mark.parametrize("warps", [1, 4])
def test_several_elements_at_once(shape: tuple[int, int], warps: int) -> None:
    x, y = (np.random.default_rng(s).integers(-99, 99, shape).astype(np.int32) for s in range(2))
    out = {name: np.zeros_like(x) for name in "opq"}
    found = run(PACKED, {"x": x, "y": y, **out}, {"M": shape[0], "N": shape[1]}, num_warps=warps)
    fours, others = x.reshape(-1, 4), y.reshape(-1, 4)
    assert_same_bits(found["o"].reshape(-1, 4), np.roll(fours, -1, 1))
    assert_same_bits(found["p"].reshape(-1, 4), others - np.roll(others, -1, 1))
    assert_same_bits(found["q"].reshape(-1, 2), np.sort(x.reshape(-1, 2), 1))


@pytest.mark.parametrize(("rows", "columns", "group"), [(4, 4, 2), (7, 3, 2), (5, 5, 8), (6, 4, 4)])
def test_swizzled_programs(rows: int, columns: int, group: int) -> None:
    def swizzled(i: int, j: int, height: int, width: int) -> tuple[int, int]:
        first = (i * width + j) // (group * width) * group
        tall = min(height - first, group)
        at = (i * width + j) % (group * width)
        return first + at % tall, at // tall

    arguments = {
        "o": np.full((rows, columns), -1, np.int32),
        "p": np.zeros((8, 8), np.int32),
        "rows": 8,
        "columns": 8,
    }
    found = run(SWIZZLE, arguments, {"I": rows, "J": columns, "G": group}, (rows, columns))
    wanted = np.full((rows, columns), -1)
    for i, j in np.ndindex(rows, columns):
        wanted[swizzled(i, j, rows, columns)] = i * columns + j
    np.testing.assert_array_equal(found["o"], wanted)
    tile = [[swizzled(i, j, 8, 8) for j in range(8)] for i in range(8)]
    assert found["p"].tolist() == [[r * 100 + c for r, c in line] for line in tile]
