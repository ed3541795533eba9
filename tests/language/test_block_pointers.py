"""Block pointers: blocks of strided arrays, checked against their bounds, moved in loops and branches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.run import Typed, assert_same_bits, run

COPY = """
@triton.jit
def kernel(x, o, R, C, sxr, sxc, sor, at_r, at_c, BR: tl.constexpr, BC: tl.constexpr, PAD: tl.constexpr):
    source = tl.make_block_ptr(x, (R, C), (sxr, sxc), (at_r, at_c), (BR, BC), (1, 0))
    target = tl.make_block_ptr(o, (BR, BC), (sor, 1), (0, 0), (BR, BC), (1, 0))
    v = tl.load(source, boundary_check=(0, 1), padding_option=PAD)
    tl.store(target, v.to(target.dtype.element_ty))
"""

MATMUL = """
@triton.jit
def kernel(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pa = tl.make_block_ptr(a, (M, K), (sa, 1), (tl.program_id(0) * BM, 0), (BM, BK), (1, 0))
    pb = tl.make_block_ptr(b, (K, N), (1, sb), (0, tl.program_id(1) * BN), (BK, BN), (0, 1))
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(pa, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(pb, boundary_check=(1, 0), padding_option="zero")
        total += tl.dot(x, y)
        pa = tl.advance(pa, (0, BK))
        pb = pb.advance((BK, 0))
    pc = tl.make_block_ptr(
        base=c, shape=(M, N), strides=(sc, 1), offsets=(tl.program_id(0) * BM, tl.program_id(1) * BN),
        block_shape=(BM, BN), order=(1, 0),
    )
    tl.store(pc, total, boundary_check=(0, 1))
"""

BRANCH = """
@triton.jit
def further(p, n: tl.constexpr):
    return tl.advance(p, (n,)), n


@triton.jit
def kernel(x, o, n, k, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (B,), (0,))
    if k > 0:
        p = tl.advance(p, (k,))
    elif k < -10:
        p, _ = further(p, 3)
    tl.store(o + tl.arange(0, B), tl.load(p, boundary_check=0, padding_option="nan"))
"""


def wanted_block(x: Any, at: tuple[int, int], block: tuple[int, int], pad: float) -> Any:
    """The block of ``x`` at ``at``, with ``pad`` for what lies outside."""
    found = np.full(block, pad, x.dtype)
    for i in range(block[0]):
        for j in range(block[1]):
            r, c = at[0] + i, at[1] + j
            if 0 <= r < x.shape[0] and 0 <= c < x.shape[1]:
                found[i, j] = x[r, c]
    return found


@pytest.mark.parametrize("at", [(0, 0), (3, 5), (-4, -9), (40, 0), (30, 60), (-100, 7)])
@pytest.mark.parametrize(("pad", "value"), [("zero", 0.0), ("nan", float("nan"))])
def test_blocks_inside_across_and_outside(at: tuple[int, int], pad: str, value: float) -> None:
    x = np.random.default_rng().standard_normal((37, 70)).astype(np.float32)
    arguments = {
        "x": x, "o": np.zeros(16 * 32, np.float32), "R": 37, "C": 70, "sxr": 70, "sxc": 1, "sor": 32, "at_r": at[0], "at_c": at[1],
    }  # fmt: skip
    found = run(COPY, arguments, {"BR": 16, "BC": 32, "PAD": pad})
    assert_same_bits(found["o"], wanted_block(x, at, (16, 32), value).reshape(-1))


def test_integers_are_padded_with_zeros_and_strides_may_be_64_bits_wide() -> None:
    x = np.random.default_rng().integers(-128, 128, (20, 30)).astype(np.int8)
    arguments = {
        "x": np.ascontiguousarray(x.T), "o": np.zeros(16 * 16, np.int8), "R": 20, "C": Typed(30, "i64"),
        "sxr": 1, "sxc": Typed(20, "i64"), "sor": 16, "at_r": 10, "at_c": 20,
    }  # fmt: skip
    found = run(COPY, arguments, {"BR": 16, "BC": 16, "PAD": "zero"})
    assert_same_bits(found["o"], wanted_block(x, (10, 20), (16, 16), 0).reshape(-1))


@pytest.mark.parametrize("sizes", [(33, 50, 70), (32, 32, 64), (1, 1, 1), (40, 20, 31)])
def test_moved_in_a_loop(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    generator = np.random.default_rng()
    # Small integers: sums are exact in any order.
    a, b = generator.integers(-9, 9, (m, k)), generator.integers(-9, 9, (k, n))
    arguments = {
        "a": a.astype(np.float32), "b": np.ascontiguousarray(b.T).astype(np.float32), "c": np.zeros((m, n), np.float32),
        "M": m, "N": n, "K": k, "sa": k, "sb": k, "sc": n,
    }  # fmt: skip
    found = run(MATMUL, arguments, {"BM": 32, "BN": 16, "BK": 32}, grid=(-(-m // 32), -(-n // 16)))
    assert_same_bits(found["c"].reshape(m, n), (a @ b).astype(np.float32))


@pytest.mark.parametrize(("k", "start"), [(5, 5), (0, 0), (-3, 0), (-11, 3), (60, 60)])
def test_moved_in_a_branch(k: int, start: int) -> None:
    x = np.arange(64, dtype=np.float32)
    found = run(BRANCH, {"x": x, "o": np.zeros(32, np.float32), "n": 64, "k": k}, {"B": 32})
    wanted = np.full(32, np.nan, np.float32)
    wanted[: max(0, 64 - start)] = x[start : start + 32]
    assert_same_bits(found["o"], wanted)
