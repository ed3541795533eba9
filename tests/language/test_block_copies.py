"""Products in loops over blocks of described arrays: what hardware copies by itself, a turn or several ahead, and the signals it arrives at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.run import Array, Described, assert_same_bits, build, numpy_dtype, run

DESCRIBED = """
@triton.jit
def kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TA: tl.constexpr, TB: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.trans(a.load([k, m])) if TA else a.load([m, k])
        y = tl.trans(b.load([n, k])) if TB else b.load([k, n])
        total = tl.dot(x, y, total)
    c.store([m, n], total)
"""

#: A GPU whose blocks are multiplied by one warp at a time.
OTHERS = ("cpu:sm_80", "cpu:sm_90", "cpu:sm_120")


def random(rng: np.random.Generator, name: str, *shape: int) -> Array:
    """Whole numbers: sums are exact in any order."""
    return rng.integers(-4, 5, shape).astype(numpy_dtype(name))


def within(array: Array, block: tuple[int, ...], padding: str = "zero") -> Described:
    """A descriptor of an array whose rows end at a multiple of 16 bytes, with NaN between, which nothing may read."""
    *most, last = array.shape
    step = 16 // array.itemsize
    wide = np.full((*most, -(-last // step) * step), np.nan, array.dtype)
    wide[..., :last] = array
    return Described(wide, array.shape, [s // array.itemsize for s in wide.strides], block, padding)


def matmul(
    m: int,
    n: int,
    k: int,
    tile: tuple[int, int, int],
    *,
    dtype: str = "bf16",
    turned: tuple[bool, bool] = (False, False),
    **options: Any,
) -> None:
    """Runs the kernel on every target, and holds it against NumPy."""
    rng = np.random.default_rng(m * n + k)
    a = random(rng, dtype, *((k, m) if turned[0] else (m, k)))
    b = random(rng, dtype, *((n, k) if turned[1] else (k, n)))
    left, right = a.T if turned[0] else a, b.T if turned[1] else b
    wanted = (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)
    bm, bn, bk = tile
    arguments: dict[str, object] = {
        "a": within(a, (bk, bm) if turned[0] else (bm, bk)),
        "b": within(b, (bn, bk) if turned[1] else (bk, bn)),
        "c": within(np.full((m, n), np.nan, np.float32), (bm, bn)),
        "K": k,
    }
    const = {"BM": bm, "BN": bn, "BK": bk, "TA": turned[0], "TB": turned[1]}
    grid = (-(-m // bm), -(-n // bn))
    made = run(DESCRIBED, arguments, const, grid, **options)
    assert_same_bits(made["c"][:, :n], wanted)
    for target in OTHERS:
        made = build(DESCRIBED, arguments, const, target=target, **options)(arguments, grid)
        assert_same_bits(made["c"][:, :n], wanted, target)


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("k", [8, 32, 40, 96, 160])
def test_every_number_of_turns(stages: int, k: int) -> None:
    """Fewer turns than stages, as many, more; the last block reaches beyond the array."""
    matmul(64, 32, k, (64, 32, 32), num_stages=stages)


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_operands_along_either_axis(dtype: str, turned: tuple[bool, bool]) -> None:
    matmul(128, 64, 64, (64, 64, 32), dtype=dtype, turned=turned)


@pytest.mark.parametrize(
    ("tile", "warps"),
    [
        ((64, 16, 16), 4),
        ((64, 256, 16), 8),
        ((128, 32, 16), 4),
        ((128, 128, 64), 8),
        ((256, 16, 128), 4),
        ((16, 64, 32), 4),
        ((64, 64, 32), 1),
    ],
)
def test_tiles_and_warps(tile: tuple[int, int, int], warps: int) -> None:
    """One box or several of each block, and tiles that are for single warps."""
    m, n, k = tile
    matmul(m, n, 2 * k, tile, num_warps=warps)


def test_odd_sizes() -> None:
    """Blocks reach beyond the arrays on every side."""
    matmul(67, 37, 51, (64, 32, 32))
