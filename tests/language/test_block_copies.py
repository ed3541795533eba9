"""Products in loops over blocks of described arrays: what hardware copies by itself, a turn or several ahead, and the signals it arrives at."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from teenybuild.compiler.targets import host_blocks
from tests.support.run import Array, Described, assert_same_bits, build, compiled, described, numpy_dtype, run

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


PERSISTENT = """
@triton.jit
def kernel(a, b, c, M, N, K, programs, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    across = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * across, programs):
        m, n = tile // across * BM, tile % across * BN
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(a.load([m, k]), b.load([k, n]), total)
        c.store([m, n], total.to(c.dtype))
"""


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize(
    ("k", "programs"), [(0, 2), (32, 1), (32, 3), (64, 2), (96, 1), (96, 4), (128, 5), (160, 1), (96, 24)]
)
def test_one_tile_after_the_other(stages: int, k: int, programs: int) -> None:
    """A tile's first copies come while the one before is stored, whatever number of turns and tiles there are; c's rows end at 16 bytes, or not."""
    rng = np.random.default_rng(k)
    m, n = 200, 90
    a, b = random(rng, "bf16", m, k or 8), random(rng, "bf16", k or 8, n)
    arguments: dict[str, object] = {
        "a": within(a, (64, 32)),
        "b": within(b, (32, 32)),
        "c": within(np.full((m, n), np.nan, np.float32), (64, 32)),
        "M": m,
        "N": n,
        "K": k,
        "programs": programs,
    }
    wanted = (
        (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
        if k
        else np.zeros((m, n), np.float32)
    )
    const = {"BM": 64, "BN": 32, "BK": 32}
    made = run(PERSISTENT, arguments, const, (programs,), num_stages=stages)
    assert_same_bits(made["c"][:, :n], wanted)
    assert np.isnan(made["c"][:, n:]).all()


POINTERS = """
@triton.jit
def kernel(a, b, c, M, N, K, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PADDING: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    x_block = tl.make_block_ptr(a, (M, K), (am, 1), (m, 0), (BM, BK), (1, 0))
    y_block = tl.make_block_ptr(b, (K, N), (bk, 1), (0, n), (BK, BN), (1, 0))
    z_block = tl.make_block_ptr(c, (M, N), (cm, 1), (m, n), (BM, BN), (1, 0))
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        x = tl.load(x_block, boundary_check=(0, 1), padding_option=PADDING)
        y = tl.load(y_block, boundary_check=(0, 1), padding_option=PADDING)
        total = tl.dot(x, y, total)
        x_block = tl.advance(x_block, (0, BK))
        y_block = tl.advance(y_block, (BK, 0))
    tl.store(z_block, total, boundary_check=(0, 1))
"""

MADE = """
@triton.jit
def kernel(a, b, c, M, N, K, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PADDING: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    x_desc = tl.make_tensor_descriptor(a, [M, K], [am, 1], [BM, BK], PADDING)
    y_desc = tl.make_tensor_descriptor(b, [K, N], [bk, 1], [BK, BN], PADDING)
    z_desc = tl.make_tensor_descriptor(c, [M, N], [cm, 1], [BM, BN])
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(x_desc.load([m, k]), y_desc.load([k, n]), total)
    z_desc.store([m, n], total)
"""


def given(source: str, padding: str, assume: dict[str, Any], rng: np.random.Generator) -> tuple[Any, ...]:
    """Source, arguments, constants, assumptions, and what comes out, for a product whose arrays the arguments say."""
    m, n, k = 100, 40, 72
    a, b = random(rng, "bf16", m, k), random(rng, "bf16", k, n)
    wanted = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    if padding == "nan":
        # The last turn reads beyond K.
        wanted = np.full((m, n), np.nan, np.float32)
    arguments: dict[str, object] = {
        "a": a,
        "b": b,
        "c": np.full((m, n), 7, np.float32),
        "M": m,
        "N": n,
        "K": k,
        "am": k,
        "bk": n,
        "cm": n,
    }
    const = {"BM": 64, "BN": 32, "BK": 32, "PADDING": padding}
    return source, arguments, const, assume, wanted


ALIGNED = {name: {"div": 16} for name in ("a", "b", "c")} | {name: {"div": 8} for name in ("am", "bk", "cm")}


@pytest.mark.parametrize("padding", ["zero", "nan"])
@pytest.mark.parametrize("source", [POINTERS, MADE], ids=["block pointers", "descriptors"])
def test_arrays_that_arguments_say(source: str, padding: str) -> None:
    source, arguments, const, assume, wanted = given(source, padding, ALIGNED, np.random.default_rng())
    made = run(source, arguments, const, (2, 2), assume=assume)
    assert_same_bits(made["c"], wanted)
    maps = compiled(source, arguments, const, target="sm_90a", assume=assume).abi["launch"]["tensor_maps"]
    assert [
        (each["base"], each["shape"], each["strides"], each["padding"], each["box"]) for each in maps
    ] == [
        ("a", ["K", "M"], ["am"], int(padding == "nan"), [32, 64]),
        ("b", ["N", "K"], ["bk"], int(padding == "nan"), [32, 32]),
        ("c", ["N", "M"], ["cm"], 0, [32, 16]),  # each warp stores its own
    ]


@pytest.mark.parametrize("lacking", ["a", "am", "b"])
def test_what_hardware_does_not_copy(lacking: str) -> None:
    """An address or a stride that may not be a multiple of 16 bytes: lanes read such blocks, and hardware still copies the others."""
    assume = {name: each for name, each in ALIGNED.items() if name != lacking}
    source, arguments, const, assume, wanted = given(MADE, "zero", assume, np.random.default_rng())
    assert_same_bits(run(source, arguments, const, (2, 2), assume=assume)["c"], wanted)
    maps = compiled(source, arguments, const, target="sm_90a", assume=assume).abi["launch"]["tensor_maps"]
    assert [each["base"] for each in maps] == [name for name in "abc" if name != lacking[0]]


BATCHES = """
@triton.jit
def kernel(a, b, o, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = a.load([i, 0, k]).reshape(BM, BK)
        y = b.load([i, k, 0]).reshape(BK, BN)
        total = tl.dot(x, y, total)
    o.store([i, 0, 0], total.reshape(1, BM, BN))
"""


def test_blocks_of_three_axes() -> None:
    rng = np.random.default_rng()
    a, b = random(rng, "f16", 3, 64, 80), random(rng, "f16", 3, 80, 64)
    arguments: dict[str, object] = {
        "a": within(a, (1, 64, 32)),
        "b": within(b, (1, 32, 64)),
        "o": within(np.zeros((3, 64, 64), np.float32), (1, 64, 64)),
        "K": 80,
    }
    made = run(BATCHES, arguments, {"BM": 64, "BN": 64, "BK": 32}, (3,))
    assert_same_bits(made["o"], (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32))


MIXED = """
@triton.jit
def kernel(a, b, c, K, bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    k = tl.arange(0, BK)
    y_ptrs = b + k[:, None] * bk + tl.arange(0, BN)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        y = tl.load(y_ptrs, mask=i + k[:, None] < K, other=0.0)
        total = tl.dot(a.load([0, i]), y, total)
        y_ptrs += BK * bk
    c.store([0, 0], total)
"""


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_blocks_beside_what_lanes_copy(stages: int) -> None:
    rng = np.random.default_rng()
    a, b = random(rng, "bf16", 64, 136), random(rng, "bf16", 136, 32)
    c = np.full((64, 32), np.nan, np.float32)
    arguments: dict[str, object] = {
        "a": within(a, (64, 32)),
        "b": b,
        "c": within(c, (64, 32)),
        "K": 136,
        "bk": 32,
    }
    assume = {"b": {"div": 16}, "bk": {"div": 8}}
    made = run(MIXED, arguments, {"BM": 64, "BN": 32, "BK": 32}, num_stages=stages, assume=assume)
    assert_same_bits(made["c"], (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32))


IN_PLACE = """
@triton.jit
def kernel(a, w, turns, N: tl.constexpr):
    y = w.load([0, 0])
    for i in range(turns):
        x = a.load([0, 0])
        a.store([0, 0], tl.dot(x, y).to(x.dtype))
"""


def test_what_is_read_again_has_been_written() -> None:
    """A block that is stored and loaded in turn: each power is of the one before."""
    rng = np.random.default_rng()
    x = random(rng, "f16", 64, 64)
    w = np.eye(64, k=1) + np.eye(64)
    arguments: dict[str, object] = {
        "a": within(x, (64, 64)), "w": within(w.astype(np.float16), (64, 64)), "turns": 5,
    }  # fmt: skip
    made = run(IN_PLACE, arguments, {"N": 64})
    wanted = x.astype(np.float64) @ np.linalg.matrix_power(w, 5)
    assert_same_bits(made["a"], wanted.astype(np.float16))


POWERS = """
@triton.jit
def kernel(a, w, turns, N: tl.constexpr, BK: tl.constexpr, HOW: tl.constexpr):
    read = tl.make_tensor_descriptor(a, [64, N], [N, 1], [64, BK])
    whole = tl.make_tensor_descriptor(a, [64, N], [N, 1], [64, N])
    at = a + tl.arange(0, 64)[:, None] * N + tl.arange(0, N)[None, :]
    for i in range(turns):
        total = tl.zeros((64, N), tl.float32)
        for k in range(0, N, BK):
            total = tl.dot(read.load([0, k]), w.load([k, 0]), total)
        if HOW == "block":
            whole.store([0, 0], total.to(tl.float16))
        elif HOW == "lanes":
            tl.store(at, total.to(tl.float16))
        else:
            tl.store(at.to(tl.int64, bitcast=True).to(tl.pointer_type(tl.float16)), total.to(tl.float16))
        tl.debug_barrier()
"""


@pytest.mark.parametrize("how", ["block", "lanes", "anywhere"])
def test_what_the_loop_around_has_written(how: str) -> None:
    """The next turn's first copies are not asked for before this turn's store, if that is to where they come from."""
    rng = np.random.default_rng()
    x = random(rng, "f16", 64, 64)
    w = np.eye(64, k=1) + np.eye(64)
    arguments: dict[str, object] = {"a": x, "w": within(w.astype(np.float16), (32, 64)), "turns": 5}
    made = run(POWERS, arguments, {"N": 64, "BK": 32, "HOW": how}, assume={"a": {"div": 16}})
    wanted = x.astype(np.float64) @ np.linalg.matrix_power(w, 5)
    assert_same_bits(made["a"], wanted.astype(np.float16))


TICKETS = """
@triton.jit
def kernel(a, b, c, tickets, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    for m in range(0, BM, 64):
        ticket = tl.atomic_add(tickets, 1)
        total = tl.zeros((64, BN), tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(a.load([m, k]), b.load([k, 0]), total)
        c.store([m, 0], total + ticket)
"""


def test_what_others_may_have_written() -> None:
    """Nothing is read ahead of an atomic operation that may say that it is there: copies are asked for behind it, in the loop around."""
    rng = np.random.default_rng()
    a, b = random(rng, "f16", 128, 96), random(rng, "f16", 96, 32)
    arguments: dict[str, object] = {
        "a": within(a, (64, 32)),
        "b": within(b, (32, 32)),
        "c": within(np.zeros((128, 32), np.float32), (64, 32)),
        "tickets": np.zeros(1, np.int32),
        "K": 96,
    }
    const = {"BM": 128, "BN": 32, "BK": 32}
    made = run(TICKETS, arguments, const)
    tickets = np.repeat([0, 1], 64)[:, None]
    assert_same_bits(made["c"], (a.astype(np.float64) @ b.astype(np.float64) + tickets).astype(np.float32))
    ptx = compiled(TICKETS, arguments, const, "sm_90a").ptx
    assert ptx is not None
    assert ptx.index("cp.async.bulk.tensor") > ptx.index("atom.")


@pytest.mark.parametrize(("m", "n"), [(64, 64), (50, 33), (1, 7)])
@pytest.mark.parametrize("dtype", ["f32", "f16", "f64", "i8", "i32"])
def test_stores_end_where_arrays_do(dtype: str, m: int, n: int) -> None:
    """A tile turned round crosses shared memory; nothing is written behind the end of a row."""
    source = """
@triton.jit
def kernel(a, o, BLOCK: tl.constexpr):
    o.store([0, 0], tl.trans(a.load([0, 0])))
"""
    x = random(np.random.default_rng(), dtype, n, m)
    kind = numpy_dtype(dtype)
    wide = np.full((64, 64 + 32), 77, kind)
    arguments: dict[str, object] = {
        "a": Described(np.ascontiguousarray(np.pad(x, ((0, 0), (0, 64 - m)))), (n, m), (64, 1), (64, 64)),
        "o": Described(wide, (m, n), (96, 1), (64, 64)),
    }
    wanted = wide.copy()
    wanted[:m, :n] = x.T
    assert_same_bits(run(source, arguments, {"BLOCK": 64})["o"], wanted)


@pytest.mark.parametrize(
    "corner", [(0, -1), (-3, -5), (-8, -8), (0, -64), (3, 2), (3, 4), (40, 60), (0, -(1 << 31))]
)
def test_stores_begin_where_arrays_do(corner: tuple[int, int]) -> None:
    """Hardware writes pieces of 16 bytes whole, and refuses blocks that begin within one, or before the array: those are for lanes."""
    source = """
@triton.jit
def kernel(a, o, m, n, BLOCK: tl.constexpr):
    o.store([m, n], tl.trans(a.load([0, 0])))
"""
    x = random(np.random.default_rng(), "f32", 64, 64)
    wide = np.full((64, 96), 77, np.float32)
    m, n = corner
    arguments: dict[str, object] = {
        "a": described(x, (64, 64)), "o": Described(wide, (64, 72), (96, 1), (64, 64)), "m": m, "n": n,
    }  # fmt: skip
    wanted = wide.copy()
    rows, columns = (np.arange(side, side + 64) for side in corner)
    inside = np.ix_((rows >= 0) & (rows < 64), (columns >= 0) & (columns < 72))
    at = np.ix_(rows[(rows >= 0) & (rows < 64)], columns[(columns >= 0) & (columns < 72)])
    wanted[at] = x.T[inside]
    assert_same_bits(run(source, arguments, {"BLOCK": 64})["o"], wanted)


EMPTY = """
@triton.jit
def kernel(a, o, M, N, om, BLOCK: tl.constexpr):
    block = tl.make_block_ptr(o, (M, N), (om, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
    tl.store(block, tl.trans(a.load([0, 0])), boundary_check=(0, 1))
"""


@pytest.mark.parametrize("shape", [(0, 64), (64, 0), (0, 0), (-1, 64)])
def test_stores_to_empty_arrays(shape: tuple[int, int]) -> None:
    """The map of an empty array is of one element, which loads read: code stores nothing there."""
    x = random(np.random.default_rng(), "f32", 64, 64)
    arguments: dict[str, object] = {
        "a": described(x, (64, 64)), "o": np.full((64, 64), 7, np.float32), "M": shape[0], "N": shape[1], "om": 64,
    }  # fmt: skip
    assume = {"o": {"div": 16}, "om": {"div": 4}, "M": {"div": 1}, "N": {"div": 1}}
    assert (run(EMPTY, arguments, {"BLOCK": 64}, assume=assume)["o"] == 7).all()
    ptx = compiled(EMPTY, arguments, {"BLOCK": 64}, "sm_90a", assume=assume).ptx
    assert ptx is not None
    before, _, _ = ptx.partition("cp.async.bulk.tensor.2d.global")
    said = re.findall(r"setp\.(?:gt|ge|lt|le)\.s32\s+%p\d+, %r\d+, [01];", before)
    assert len(said) >= 2


@pytest.mark.parametrize("phase", ["0", "1"])
def test_a_wrong_phase_shows(monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
    """The host lets nothing land that is waited for in another phase than it arrives in: it is NaN."""
    meant = host_blocks.await_signal
    monkeypatch.setattr(host_blocks, "await_signal", lambda machine, signal, _: meant(machine, signal, phase))
    a, b = np.ones((64, 160), np.float16), np.ones((160, 32), np.float16)
    arguments: dict[str, object] = {
        "a": within(a, (64, 32)), "b": within(b, (32, 32)), "c": within(np.zeros((64, 32), np.float32), (64, 32)), "K": 160,
    }  # fmt: skip
    const = {"BM": 64, "BN": 32, "BK": 32, "TA": False, "TB": False}
    program = build(DESCRIBED, arguments, const, target="cpu:sm_90a", force=True, num_stages=2)
    assert np.isnan(program(arguments)["c"]).all()


def test_what_is_asked_of_gpus() -> None:
    arguments: dict[str, object] = {
        "a": within(np.zeros((64, 64), numpy_dtype("bf16")), (64, 64)),
        "b": within(np.zeros((64, 256), numpy_dtype("bf16")), (64, 256)),
        "c": within(np.zeros((64, 256), numpy_dtype("bf16")), (64, 256)),
        "K": 64,
    }
    const = {"BM": 64, "BN": 256, "BK": 64, "TA": False, "TB": False}
    artifact = compiled(DESCRIBED.replace("n], total)", "n], total.to(c.dtype))"), arguments, const, "sm_90a")
    assert artifact.ptx is not None
    # A row of B is cut into boxes of 128 bytes; so is what is stored.
    wanted = {"shared::cluster.global": 3 * (1 + 4), "global.shared::cta": 4}
    for ways, times in wanted.items():
        assert artifact.ptx.count(f"cp.async.bulk.tensor.2d.{ways}.tile") == times
    assert "stmatrix.sync.aligned.m8n8.x4.shared.b16" in artifact.ptx
    assert artifact.ptx.count("mbarrier.init") == 3
    # Three stages of [64, 64] and [64, 256] in bf16, and as many signals.
    assert artifact.abi["launch"]["shared_bytes"] == 3 * 2 * (64 * 64 + 64 * 256) + 3 * 8
