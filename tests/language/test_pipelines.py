"""Products in loops: loads that run ahead through shared memory, products of four warps under way, and what else may stand in such loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from teenybuild.compiler.ir import ttg
from teenybuild.compiler.schedule import pipelined
from teenybuild.diagnostics import UserError
from tests.support.run import Array, assert_same_bits, build, compiled, numpy_dtype, run

MATMUL = """
@triton.jit
def kernel(a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TA: tl.constexpr, TB: tl.constexpr):
    SUM: tl.constexpr = c.dtype.element_ty
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    if TA:
        x_ptrs = a + k[:, None] * ak + m[None, :] * am
    else:
        x_ptrs = a + m[:, None] * am + k[None, :] * ak
    if TB:
        y_ptrs = b + n[:, None] * bn + k[None, :] * bk
    else:
        y_ptrs = b + k[:, None] * bk + n[None, :] * bn
    total = tl.zeros((BM, BN), SUM)
    for i in range(0, K, BK):
        if TA:
            x = tl.trans(tl.load(x_ptrs, mask=(i + k[:, None] < K) & (m[None, :] < M), other=0.0))
        else:
            x = tl.load(x_ptrs, mask=(i + k[None, :] < K) & (m[:, None] < M), other=0.0)
        if TB:
            y = tl.trans(tl.load(y_ptrs, mask=(i + k[None, :] < K) & (n[:, None] < N), other=0.0))
        else:
            y = tl.load(y_ptrs, mask=(i + k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, out_dtype=SUM)
        x_ptrs += BK * ak
        y_ptrs += BK * bk
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))
"""

#: Beside the targets of every test, GPUs whose pipelines differ: products of one warp at a time, and neither those nor copies.
OTHERS = ("cpu:sm_75", "cpu:sm_80")


def random(rng: np.random.Generator, name: str, *shape: int) -> Array:
    """Whole numbers: sums are exact in any order."""
    return rng.integers(-4, 5, shape).astype(numpy_dtype(name))


def matmul(
    m: int,
    n: int,
    k: int,
    tile: tuple[int, int, int],
    *,
    dtype: str | tuple[str, str] = "bf16",
    turned: tuple[bool, bool] = (False, False),
    out: str | None = None,
    **options: Any,
) -> None:
    """Runs the kernel on every target, and holds it against NumPy. Rows in memory are multiples of 16 bytes, so that copies are wide."""
    rng = np.random.default_rng(m * n + k)
    kinds = (dtype, dtype) if isinstance(dtype, str) else dtype
    sums = numpy_dtype(out or ("i32" if kinds[0] == "i8" else "f32"))
    unit = max(8, 16 // numpy_dtype(kinds[0]).itemsize)
    wide_m, wide_n, wide_k = (-(-side // unit) * unit for side in (m, n, k))
    a = random(rng, kinds[0], *((k, wide_m) if turned[0] else (m, wide_k)))
    b = random(rng, kinds[1], *((n, wide_k) if turned[1] else (k, wide_n)))
    left = a.T[:m] if turned[0] else a[:, :k]
    right = b.T[:k] if turned[1] else b[:, :n]
    wanted = left.astype(np.float64) @ right.astype(np.float64)
    strides = (1, wide_m) if turned[0] else (wide_k, 1)
    strides += (1, wide_k) if turned[1] else (wide_n, 1)
    arguments: dict[str, object] = {
        "a": a,
        "b": b,
        "c": np.full((m, n), -1, sums),
        "M": m,
        "N": n,
        "K": k,
    }
    arguments |= dict(zip(("am", "ak", "bk", "bn"), strides, strict=True))
    assume = {x: {"div": 16} for x in ("a", "b", "c")}
    assume |= {
        x: {"eq": 1} if s == 1 else {"div": unit}
        for x, s in zip(("am", "ak", "bk", "bn"), strides, strict=True)
    }
    # Masks along a row of memory cut vectors unless they end where those do.
    assume |= {x: {"div": unit} for x, side in (("M", m), ("N", n), ("K", k)) if side % unit == 0}
    bm, bn, bk = tile
    const = {"BM": bm, "BN": bn, "BK": bk, "TA": turned[0], "TB": turned[1]}
    grid = (-(-m // bm), -(-n // bn))
    made = run(MATMUL, arguments, const, grid, assume=assume, **options)
    assert_same_bits(made["c"], wanted.astype(sums))
    for target in OTHERS:
        made = build(MATMUL, arguments, const, target=target, assume=assume, **options)(arguments, grid)
        assert_same_bits(made["c"], wanted.astype(sums), target)


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("k", [8, 32, 40, 96, 160])
def test_every_number_of_turns(stages: int, k: int) -> None:
    """Fewer turns than stages, as many, more; the last one cut by its mask."""
    matmul(64, 32, k, (64, 32, 32), num_stages=stages)


KINDS = ["f16", "bf16", "f32", "i8", "f8e4m3", "f8e5m2", ("f8e4m3", "f8e5m2"), ("f8e5m2", "f8e4m3")]


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_operands_along_either_axis(dtype: str | tuple[str, str], turned: tuple[bool, bool]) -> None:
    """Tensor cores read two bytes along either; of other sizes what runs along k, and the rest is turned on its way."""
    matmul(128, 64, 128, (64, 64, 64), dtype=dtype, turned=turned)


@pytest.mark.parametrize("tile", [(64, 32, 32), (128, 8, 64), (16, 32, 32), (4, 16, 32)])
@pytest.mark.parametrize("dtype", ["f16", "f8e4m3"])
def test_sums_in_f16(dtype: str, tile: tuple[int, int, int]) -> None:
    """Two in a register, round the loop and out of it."""
    m, n, k = tile
    matmul(m + 3, 2 * n, 2 * k, tile, dtype=dtype, out="f16")


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize("dtype", ["f32", "i8", "f8e5m2"])
@pytest.mark.parametrize(
    ("tile", "warps"), [((128, 64, 64), 8), ((64, 16, 32), 4), ((128, 8, 32), 8), ((16, 16, 64), 4)]
)
def test_tiles_of_other_sizes(
    tile: tuple[int, int, int], warps: int, dtype: str, turned: tuple[bool, bool]
) -> None:
    """Rows of 32 bytes to several of 128, one group of warps and two, and tiles for single warps."""
    m, n, k = tile
    matmul(m, n, 2 * k, tile, num_warps=warps, dtype=dtype, turned=turned)


@pytest.mark.parametrize(
    ("tile", "warps"),
    [
        ((64, 8, 16), 4),
        ((64, 16, 32), 8),
        ((64, 256, 16), 8),
        ((128, 32, 16), 4),
        ((128, 128, 64), 8),
        ((256, 16, 128), 4),
        ((128, 32, 32), 16),
        ((16, 64, 32), 4),
        ((32, 32, 16), 2),
        ((64, 64, 32), 1),
    ],
)
def test_tiles_and_warps(tile: tuple[int, int, int], warps: int) -> None:
    """One instruction or several of each part, groups of warps on rows and on columns, replicas, and tiles that are for single warps."""
    m, n, k = tile
    matmul(m, n, 2 * k, tile, num_warps=warps)


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize("dtype", ["bf16", "f32", "i8"])
def test_odd_sizes(dtype: str, turned: tuple[bool, bool]) -> None:
    """Masks cut tiles on every side, and what is copied is too narrow for copies, or just wide enough where an element has four bytes."""
    matmul(67, 37, 51, (64, 32, 32), dtype=dtype, turned=turned)


def test_no_turn_at_all() -> None:
    matmul(64, 32, 0, (64, 32, 16))


ATTENTION = """
@triton.jit
def kernel(q, k, v, o, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m, n, d = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    x = tl.load(q + m[:, None] * D + d[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    sums = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    k_ptrs = k + n[None, :] * D + d[:, None]
    v_ptrs = v + n[:, None] * D + d[None, :]
    for i in range(0, N, BN):
        y = tl.load(k_ptrs)
        s = tl.dot(x, y) * 0.125
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(most - new)
        sums = sums * alpha + tl.sum(p, 1)
        total = total * alpha[:, None]
        z = tl.load(v_ptrs)
        total = tl.dot(p.to(z.dtype), z, total)
        most = new
        k_ptrs += BN * D
        v_ptrs += BN * D
    tl.store(o + m[:, None] * D + d[None, :], total / sums[:, None])
"""


@pytest.mark.parametrize(
    ("rows", "columns", "width", "warps"), [(64, 32, 32, 4), (128, 64, 64, 8), (16, 32, 32, 4)]
)
def test_attention(rows: int, columns: int, width: int, warps: int) -> None:
    """Two products a turn: the first is waited for, the second goes on from registers; its sums are scaled in between."""
    rng = np.random.default_rng(rows)
    length = 4 * columns
    q, k, v = (
        rng.standard_normal(shape).astype(numpy_dtype("bf16"))
        for shape in ((rows, width), (length, width), (length, width))
    )
    arguments = {"q": q, "k": k, "v": v, "o": np.full((rows, width), np.nan, np.float32), "N": length}
    const = {"BM": rows, "BN": columns, "D": width}
    assume = {x: {"div": 16} for x in ("q", "k", "v", "o")}
    found = run(ATTENTION, arguments, const, num_warps=warps, num_stages=3, assume=assume)["o"]
    scores = q.astype(np.float64) @ k.astype(np.float64).T * 0.125
    weights = np.exp2(scores - scores.max(1, keepdims=True))
    wanted = weights @ v.astype(np.float64) / weights.sum(1, keepdims=True)
    # p is rounded to bf16.
    np.testing.assert_allclose(found, wanted, atol=1e-2)


AGAIN = """
@triton.jit
def kernel(a, b, c, times, half, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    y = tl.load(b + k[:, None] * N + n[None, :])
    SUM: tl.constexpr = c.dtype.element_ty
    total = tl.zeros((M, N), SUM)
    for i in range(times):
        x = tl.load(a + (i * M + m)[:, None] * K + k[None, :])
        total = tl.dot(x, (y.to(tl.float32) * half).to(y.dtype), total, out_dtype=SUM)
        total = tl.dot(x, y, total, out_dtype=SUM)
    tl.store(c + m[:, None] * N + n[None, :], total)
"""


@pytest.mark.parametrize("dtype", ["bf16", "f32", "i8", "f8e4m3"])
def test_an_operand_from_before_the_loop(dtype: str) -> None:
    """Is turned there, once; so is what is made of it."""
    rng = np.random.default_rng(3)
    m, n, k, times = 64, 32, 64, 3
    a, b = random(rng, dtype, times, m, k), random(rng, dtype, k, n)
    b = (2 * b.astype(np.float32)).astype(b.dtype)
    out = np.int32 if dtype == "i8" else np.float32
    arguments: dict[str, object] = {
        "a": a,
        "b": b,
        "c": np.full((m, n), -1, out),
        "times": times,
        "half": 0.5,
    }
    assume = {x: {"div": 16} for x in "abc"}
    wanted = (a.astype(np.float64).sum(0) @ b.astype(np.float64) * 1.5).astype(out)
    const = {"M": m, "N": n, "K": k}
    assert_same_bits(run(AGAIN, arguments, const, assume=assume)["c"], wanted)
    for target in OTHERS:
        assert_same_bits(
            build(AGAIN, arguments, const, target=target, assume=assume)(arguments)["c"], wanted, target
        )


BATCHED = """
@triton.jit
def kernel(a, b, c, K, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    i, m, n, k = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    x_ptrs = a + i * M * K + m[None, :, None] * K + k[None, None, :]
    y_ptrs = b + i * K * N + k[None, :, None] * N + n[None, None, :]
    total = tl.zeros((B, M, N), c.dtype.element_ty)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(x_ptrs), tl.load(y_ptrs), total, out_dtype=c.dtype.element_ty)
        x_ptrs += BK
        y_ptrs += BK * N
    tl.store(c + i * M * N + m[None, :, None] * N + n[None, None, :], total)
"""


@pytest.mark.parametrize("dtype", ["bf16", "f32", "i8"])
@pytest.mark.parametrize(("count", "warps"), [(2, 4), (8, 4)])
def test_several_products_at_once(dtype: str, count: int, warps: int) -> None:
    rng = np.random.default_rng(count)
    m, n, k = 16, 32, 96
    a, b = random(rng, dtype, count, m, k), random(rng, dtype, count, k, n)
    out = np.int32 if dtype == "i8" else np.float32
    arguments: dict[str, object] = {"a": a, "b": b, "c": np.full((count, m, n), -1, out), "K": k}
    assume = {x: {"div": 16} for x in arguments}
    const = {"B": count, "M": m, "N": n, "BK": 32}
    wanted = (a.astype(np.float64) @ b.astype(np.float64)).astype(out)
    assert_same_bits(run(BATCHED, arguments, const, assume=assume, num_warps=warps)["c"], wanted)
    for target in OTHERS:
        made = build(BATCHED, arguments, const, target=target, assume=assume, num_warps=warps)(arguments)
        assert_same_bits(made["c"], wanted, target)
    ptx = compiled(BATCHED, arguments, const, "sm_90a", assume=assume, num_warps=warps).ptx
    assert ptx is not None
    assert "mma.sync" in ptx
    assert "cp.async.cg" in ptx


INDIRECT = """
@triton.jit
def kernel(a, b, rows, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        at = tl.load(rows + i + k)
        block = tl.load(rows + i // BK)
        x = tl.load(a + m[:, None] * K + i + k[None, :])
        y = tl.load(b + at[:, None] * BN + n[None, :])
        total += tl.dot(x, y) * (1 + i) + block
    tl.store(c + m[:, None] * BN + n[None, :], total)
"""


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_addresses_that_are_loaded(turns: int) -> None:
    """They run ahead too, by plain loads, and read nothing beyond the last turn; the counter is used on both sides."""
    rng = np.random.default_rng(turns)
    bm, bn, bk = 64, 32, 32
    a, b = random(rng, "f16", bm, turns * bk), random(rng, "f16", 300, bn)
    rows = rng.integers(0, 300, turns * bk).astype(np.int32)
    arguments = {"a": a, "b": b, "rows": rows, "c": np.full((bm, bn), np.nan, np.float32), "K": turns * bk}
    assume = {x: {"div": 16} for x in ("a", "b", "rows", "c", "K")}
    found = run(INDIRECT, arguments, {"BM": bm, "BN": bn, "BK": bk}, assume=assume)["c"]
    wanted = np.zeros((bm, bn))
    for t in range(turns):
        part = slice(t * bk, (t + 1) * bk)
        wanted += a[:, part].astype(np.float64) @ b[rows[part]].astype(np.float64) * (1 + t * bk) + rows[t]
    assert_same_bits(found, wanted.astype(np.float32))


NESTED = """
@triton.jit
def kernel(a, b, c, T, K, half, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    for t in range(T):
        total = tl.zeros((BM, BN), tl.float32)
        for i in range(0, K, BK):
            x = tl.load(a + t * BM * K + m[:, None] * K + i + k[None, :])
            y = tl.load(b + (i + k)[:, None] * BN + n[None, :])
            total = tl.dot(x, y, total)
        if t % 2 == 1:
            x = tl.load(a + m[:, None] * K + k[None, :])
            y = tl.load(b + k[:, None] * BN + n[None, :])
            total = tl.dot(x, y, total)
        tl.store(c + t * BM * BN + m[:, None] * BN + n[None, :], total * half)
"""


def test_nested_loops_and_branches() -> None:
    """Buffers come and go with the inner loop, and the outer one writes memory."""
    rng = np.random.default_rng(0)
    bm, bn, bk, turns, k = 64, 32, 32, 3, 96
    a, b = random(rng, "bf16", turns, bm, k), random(rng, "bf16", k, bn)
    arguments = {
        "a": a,
        "b": b,
        "c": np.full((turns, bm, bn), np.nan, np.float32),
        "T": turns,
        "K": k,
        "half": 0.5,
    }
    assume = {x: {"div": 16} for x in ("a", "b", "c", "K")}
    found = run(NESTED, arguments, {"BM": bm, "BN": bn, "BK": bk}, assume=assume)["c"]
    x, y = a.astype(np.float64), b.astype(np.float64)
    wanted = x @ y
    wanted[1::2] += x[0, :, :bk] @ y[:bk]
    assert_same_bits(found, (wanted * 0.5).astype(np.float32))


WRITES = """
@triton.jit
def kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + i + k[None, :])
        y = tl.load(b + (i + k)[:, None] * BN + n[None, :])
        total = tl.dot(x, y, total)
        tl.store(b + (i + BK + k)[:, None] * BN + n[None, :], total.to(tl.bfloat16), mask=(i + BK + k < K)[:, None] & (k < BM)[:, None])
    tl.store(c + m[:, None] * BN + n[None, :], total)
"""


def test_a_loop_that_writes_what_it_reads_is_left_alone() -> None:
    rng = np.random.default_rng(1)
    size, turns = 64, 3
    a, b = random(rng, "bf16", size, turns * size), random(rng, "bf16", turns * size, 32)
    arguments = {"a": a, "b": b, "c": np.full((size, 32), np.nan, np.float32), "K": turns * size}
    assume = {x: {"div": 16} for x in ("a", "b", "c", "K")}
    found = run(WRITES, arguments, {"BM": size, "BN": 32, "BK": size}, assume=assume)["c"]
    x, now = a.astype(np.float32), b.astype(np.float32)
    total = np.zeros((size, 32), np.float32)
    for t in range(turns):
        total = total + x[:, t * size : (t + 1) * size] @ now[t * size : (t + 1) * size]
        if t + 1 < turns:
            now[(t + 1) * size : (t + 2) * size] = total.astype(numpy_dtype("bf16")).astype(np.float32)
    np.testing.assert_allclose(found, total, rtol=1e-5)


@pytest.fixture
def late_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that wait for one group of copies too few."""

    def wait(pending: int) -> ttg.WaitCopies:
        return ttg.WaitCopies(pending + 1)

    monkeypatch.setattr(pipelined, "WaitCopies", wait)


@pytest.mark.usefixtures("late_waits")
@pytest.mark.parametrize("target", ["cpu:sm_80", "cpu:sm_90a"])
def test_a_missing_wait_shows(target: str) -> None:
    """What was copied lands only where it is waited for: read before, it is NaN."""
    rng = np.random.default_rng(2)
    a, b = random(rng, "bf16", 64, 128), random(rng, "bf16", 128, 32)
    arguments: dict[str, object] = {
        "a": a,
        "b": b,
        "c": np.zeros((64, 32), np.float32),
        "M": 64,
        "N": 32,
        "K": 128,
    }
    arguments |= {"am": 128, "ak": 1, "bk": 32, "bn": 1}
    assume = {x: {"div": 16} for x in ("a", "b", "c", "M", "N", "K", "am", "bk")} | {
        x: {"eq": 1} for x in ("ak", "bn")
    }
    const = {"BM": 64, "BN": 32, "BK": 32, "TA": False, "TB": False}
    program = build(MATMUL, arguments, const, target=target, assume=assume, force=True)
    assert np.isnan(program(arguments)["c"]).all()


@pytest.mark.parametrize(
    ("target", "instructions"),
    [
        ("sm_90a", ("wgmma.mma_async.sync.aligned.m64n32k16", "cp.async.cg")),
        ("sm_80", ("mma.sync", "cp.async.cg", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")),
        ("sm_120", ("mma.sync", "cp.async.cg", "ldmatrix.sync.aligned.m8n8.x4.shared.b16")),
    ],
)
def test_what_is_asked_of_gpus(target: str, instructions: tuple[str, ...]) -> None:
    arguments: dict[str, object] = dict.fromkeys(("a", "b"), np.zeros(8, numpy_dtype("bf16")))
    arguments |= {"c": np.zeros(8, np.float32)} | dict.fromkeys(("M", "N", "K", "am", "ak", "bk", "bn"), 64)
    assume = {x: {"div": 16} for x in ("a", "b", "c", "M", "N", "K", "am", "bk")} | {
        x: {"eq": 1} for x in ("ak", "bn")
    }
    const = {"BM": 64, "BN": 32, "BK": 32, "TA": False, "TB": False}
    artifact = compiled(MATMUL, arguments, const, target, assume=assume)
    assert artifact.ptx is not None
    assert all(instruction in artifact.ptx for instruction in instructions)
    # Three stages of [64, 32] and [32, 32] in bf16; the result leaves by the same room.
    assert artifact.abi["launch"]["shared_bytes"] == 3 * 2 * (64 * 32 + 32 * 32)


def test_more_shared_memory_than_there_is() -> None:
    """An error at build time, with the limit and what to lower; not at the launch."""
    arguments: dict[str, object] = dict.fromkeys(("a", "b"), np.zeros(8, numpy_dtype("bf16")))
    arguments |= {"c": np.zeros(8, np.float32)} | dict.fromkeys(("M", "N", "K", "am", "ak", "bk", "bn"), 64)
    assume = {x: {"div": 16} for x in ("a", "b", "c", "M", "N", "K", "am", "bk")} | {
        x: {"eq": 1} for x in ("ak", "bn")
    }
    const = {"BM": 128, "BN": 256, "BK": 64, "TA": False, "TB": False}
    with pytest.raises(UserError) as wrong:
        compiled(MATMUL, arguments, const, "sm_90a", assume=assume, num_warps=8, num_stages=5)
    text = str(wrong.value)
    assert "a program needs 245,760 bytes of shared memory, and sm_90a has 232,448 for one" in text
    assert "def kernel" in text
    assert "lower num_stages (here 5)" in text
    compiled(MATMUL, arguments, const, "sm_90a", assume=assume, num_warps=8, num_stages=4)


ROWS = """
@triton.jit
def kernel(x, w, o, N, stride, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    for i in tl.range(0, N, BLOCK, num_stages=STAGES):
        inside = i + columns < N
        values = tl.load(x + row * stride + i + columns, mask=inside, other=0.0).to(tl.float32)
        total += values * tl.load(w + i + columns, mask=inside, other=0.0).to(tl.float32)
        most = tl.maximum(most, tl.where(inside, values, -float("inf")))
    tl.store(o + row * 2, tl.sum(total))
    tl.store(o + row * 2 + 1, tl.max(most))
"""


@pytest.mark.parametrize("stages", [0, 1, 2, 3, 5])
@pytest.mark.parametrize(
    ("columns", "dtype"), [(1000, "f32"), (4096, "bf16"), (64, "f16"), (0, "f32"), (2051, "bf16")]
)
def test_loops_without_products(stages: int, columns: int, dtype: str) -> None:
    """Where a kernel says how far ahead, loads run ahead whatever is done with them; narrow ones are read as they are."""
    rng = np.random.default_rng(columns)
    x, w = random(rng, dtype, 3, columns + 8), random(rng, dtype, columns + 8)
    arguments: dict[str, object] = {
        "x": x, "w": w, "o": np.full((3, 2), np.nan, np.float32), "N": columns, "stride": columns + 8,
    }  # fmt: skip
    assume = {name: {"div": 16} for name in ("x", "w", "o")}
    if columns % 8 == 0:
        assume |= {name: {"div": 8} for name in ("N", "stride")}
    found = run(ROWS, arguments, {"BLOCK": 256, "STAGES": stages}, (3,), assume=assume)["o"]
    within = x[:, :columns].astype(np.float64)
    wanted = np.stack([within @ w[:columns].astype(np.float64), np.max(within, 1, initial=-np.inf)], 1)
    assert_same_bits(found, wanted.astype(np.float32))


#: What the kernel is compiled for where it is not run.
ROWS_ARGUMENTS: dict[str, object] = {**{n: np.zeros(8, np.float32) for n in "xwo"}, "N": 64, "stride": 64}


@pytest.mark.parametrize(
    ("stages", "target", "groups"), [(3, "sm_90a", 3), (4, "sm_80", 4), (1, "sm_90a", 0), (3, "sm_75", 0)]
)
def test_stages_that_a_kernel_gives(stages: int, target: str, groups: int) -> None:
    """As many groups as turns are asked for before the loop, and one in it; nothing where there are no such copies."""
    assume = {name: {"div": 16} for name in ROWS_ARGUMENTS}
    artifact = compiled(ROWS, ROWS_ARGUMENTS, {"BLOCK": 256, "STAGES": stages}, target, assume=assume)
    assert artifact.ptx is not None
    assert artifact.ptx.count("cp.async.commit_group") == groups
    assert artifact.abi["launch"]["shared_bytes"] >= 2 * 4 * 256 * (stages if groups else 0)
    assert f"tt.num_stages = {stages} : i32" in artifact.mlir


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        (9, "num_stages of tl.range is from 0 to 8, got 9"),
        ("two", "num_stages of tl.range is an integer known at compile time"),
    ],
)
def test_stages_that_cannot_be(stages: object, said: str) -> None:
    with pytest.raises(UserError, match=said):
        compiled(ROWS, ROWS_ARGUMENTS, {"BLOCK": 256, "STAGES": stages}, "cpu")
