"""Loads and stores: masks, strides, odd sizes, unaligned pointers, scalars; what a mask hides is never touched.

Arrays lie between pages that fault (see ``tests/support/memory.py``), so an access beyond them ends the test run.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from teenybuild.api import compile
from tests.support.memory import forbidden
from tests.support.run import Address, Array, assert_same_bits, numpy_dtype, run, workspace, write_source

from . import oracle

COPY = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n), mask=i < n)
"""


def test_the_tests_see_a_stray_write() -> None:
    """What lies right before an array is known, so that the tests below can fail."""
    source = "@triton.jit\ndef kernel(o):\n    tl.store(o - 1, 1)\n"
    with pytest.raises(AssertionError, match="memory next to an argument was written"):
        run(source, {"o": np.zeros(4, np.int32)})


def sequence(name: str, count: int) -> Array:
    """Numbers that differ from their neighbours."""
    if name == "i1":
        return np.arange(count) % 3 == 0
    return (np.arange(count) % 251).astype(numpy_dtype(name))


@pytest.mark.parametrize("name", oracle.ALL)
@pytest.mark.parametrize("count", [1, 2, 3, 7, 31, 64, 129, 1000])
def test_odd_sizes(name: str, count: int) -> None:
    """The last block is masked; memory past the end is forbidden, before the start it must keep its bytes."""
    x = sequence(name, count)
    found = run(COPY, {"x": x, "o": np.zeros_like(x), "n": count}, {"BLOCK": 128}, (-(-count // 128),))
    assert_same_bits(found["o"], x, "copy")


ASSUMED: list[Mapping[str, Mapping[str, int]]] = [
    {},
    {"x": {"div": 16}},
    {"o": {"div": 16}, "n": {"div": 16}},
    {"x": {"div": 16}, "o": {"div": 16}, "n": {"div": 16}},
    {"x": {"div": 64}, "o": {"div": 4}, "n": {"div": 2}},
]


@pytest.mark.parametrize(
    "assume", ASSUMED, ids=lambda a: "-".join(f"{n}{v['div']}" for n, v in a.items()) or "none"
)
@pytest.mark.parametrize("name", ["i1", "u8", "bf16", "f32", "f64"])
@pytest.mark.parametrize(("block", "num_warps"), [(16, 1), (64, 4), (1024, 4), (2048, 8), (128, 32)])
def test_what_is_assumed_changes_no_result(
    name: str, block: int, num_warps: int, assume: Mapping[str, Mapping[str, int]]
) -> None:
    count = 3 * block - 16
    x = sequence(name, count)
    found = run(
        COPY,
        {"x": x, "o": np.zeros_like(x), "n": count},
        {"BLOCK": block},
        (3,),
        assume=assume,
        num_warps=num_warps,
    )
    assert_same_bits(found["o"], x, "copy")


OTHER = """
@triton.jit
def kernel(x, c, other, o0, o1, o2, o3, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    m = tl.load(c + i) != 0
    tl.store(o0 + i, tl.load(x + i, mask=m, other=7))
    tl.store(o1 + i, tl.load(x + i, mask=m, other=tl.load(other + i)))
    tl.store(o2 + i, tl.load(x + i, m, -1.0))
    tl.store(o3 + i, tl.where(m, tl.load(x + i, mask=m), 5))
"""


@pytest.mark.parametrize("block", [1, 4, 32, 256])
@pytest.mark.parametrize("name", ["i8", "i16", "i64", "f16", "bf16", "f32", "f64"])
def test_other_where_the_mask_is_off(name: str, block: int) -> None:
    generator = np.random.default_rng(block)
    x, other = sequence(name, block), sequence(name, block)[::-1].copy()
    c = generator.integers(0, 2, block).astype(np.int8)
    outputs = {f"o{n}": np.zeros_like(x) for n in range(4)}
    found = run(OTHER, {"x": x, "c": c, "other": other, **outputs, "n": block}, {"BLOCK": block})
    kept = c != 0
    for output, fill in (("o0", 7), ("o1", other), ("o2", -1), ("o3", 5)):
        assert_same_bits(found[output], np.where(kept, x, np.asarray(fill).astype(x.dtype)), output)


GATHER = """
@triton.jit
def kernel(x, idx, c, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    m = tl.load(c + i) != 0
    j = tl.load(idx + i)
    v = tl.load(x + j, mask=m, other=0)
    tl.store(o + j, v + v, mask=m)
"""


@pytest.mark.parametrize("name", ["i1", "i8", "f16", "i32", "f64"])
@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_wild_addresses_under_a_mask(name: str, kind: str) -> None:
    """Lanes that are masked off hold indices far outside of any memory."""
    generator = np.random.default_rng(5)
    x, block = sequence(name, 100), 128
    idx = generator.permutation(block).astype(numpy_dtype(kind))
    kept = idx < 100
    idx[~kept] = np.iinfo(idx.dtype).max - 3
    found = run(
        GATHER,
        {"x": x, "idx": idx, "c": kept.astype(np.int8), "o": np.zeros_like(x), "n": 100},
        {"BLOCK": block},
    )
    assert_same_bits(found["o"], oracle.binary("+", x, x, name), "gather and scatter")


NOWHERE = """
@triton.jit
def kernel(x, o, flag, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    never = (i < 0) & (flag != 0)
    tl.store(o + i, tl.load(x + i, mask=never, other=3) + tl.load(x, mask=flag != 0, other=4))
    tl.store(x + i, i.to(tl.float32), mask=never)
    tl.store(x, 1.0, mask=flag != 0)
"""


@pytest.mark.parametrize("block", [1, 8, 512])
def test_a_pointer_that_is_never_followed(block: int) -> None:
    """All masks are off: the pointer may be anything. For tiles and for scalars."""
    found = run(
        NOWHERE,
        {"x": Address(forbidden()), "o": np.zeros(block, np.float32), "flag": 0},
        {"BLOCK": block},
        types={"x": "*f32"},
    )
    assert found["o"].tolist() == [7.0] * block


SCALARS = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    a = tl.load(x + p)
    b = tl.load(x + p + 1, mask=p + 1 < n, other=100)
    tl.store(o + p, a + b)
    tl.store(o + n + p, a, mask=p % 2 == 0)
"""


@pytest.mark.parametrize("name", oracle.ALL)
def test_scalar_pointers(name: str) -> None:
    x = sequence(name, 9)
    found = run(SCALARS, {"x": x, "o": np.zeros(18, x.dtype), "n": 9}, {"BLOCK": 1}, (9,))
    following = np.append(x[1:], np.asarray(100).astype(x.dtype))
    kept = np.where(np.arange(9) % 2 == 0, x, np.zeros((), x.dtype))
    assert_same_bits(found["o"], np.concatenate([oracle.binary("+", x, following, name), kept]), "scalars")


TWO_D = """
@triton.jit
def kernel(x, o, rows, columns, sxr, sxc, sor, soc, R: tl.constexpr, C: tl.constexpr):
    r = tl.program_id(0) * R + tl.arange(0, R)
    c = tl.program_id(1) * C + tl.arange(0, C)
    m = (r[:, None] < rows) & (c[None, :] < columns)
    v = tl.load(x + r[:, None] * sxr + c[None, :] * sxc, mask=m)
    tl.store(o + r[:, None] * sor + c[None, :] * soc, v + 1, mask=m)
"""


@pytest.mark.parametrize("num_warps", [1, 4, 16])
@pytest.mark.parametrize(
    ("tile_r", "tile_c"), [(1, 1), (1, 64), (64, 1), (8, 16), (32, 32), (16, 128), (2, 4)]
)
@pytest.mark.parametrize("transposed", ["load", "store", "both", "neither"])
def test_strides(num_warps: int, tile_r: int, tile_c: int, transposed: str) -> None:
    """Row-major and column-major on either side: what is loaded along one axis is stored along the other."""
    rows, columns = tile_r + max(1, tile_r // 2), tile_c + max(1, tile_c // 4)
    x = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    held = np.ascontiguousarray(x.T) if transposed in ("load", "both") else x
    strides = {"sxr": columns, "sxc": 1, "sor": columns, "soc": 1}
    if transposed in ("load", "both"):
        strides |= {"sxr": 1, "sxc": rows}
    if transposed in ("store", "both"):
        strides |= {"sor": 1, "soc": rows}
    found = run(
        TWO_D,
        {"x": held, "o": np.zeros_like(x), "rows": rows, "columns": columns, **strides},
        {"R": tile_r, "C": tile_c},
        (2, 2),
        assume={name: {"eq": 1} for name, value in strides.items() if value == 1},
        num_warps=num_warps,
    )
    result = found["o"].reshape(columns, rows).T if transposed in ("store", "both") else found["o"]
    assert_same_bits(np.ascontiguousarray(result), x + 1, transposed)


TRANSPOSE = """
@triton.jit
def kernel(x, o, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    tl.store(o + r[:, None] + c[None, :] * R, v)
"""


@pytest.mark.parametrize("name", ["i1", "u8", "f16", "i32", "i64"])
@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (16, 16), (8, 64), (128, 32), (1, 256), (256, 2)])
def test_transposing(name: str, rows: int, columns: int) -> None:
    x = sequence(name, rows * columns).reshape(rows, columns)
    assumed = {"x": {"div": 16}, "o": {"div": 16}}
    found = run(TRANSPOSE, {"x": x, "o": np.zeros_like(x)}, {"R": rows, "C": columns}, assume=assumed)
    assert_same_bits(found["o"].reshape(columns, rows), np.ascontiguousarray(x.T), "transposed")


MIXED = """
@triton.jit
def kernel(x, y, z, o, p, BLOCK: tl.constexpr, STEP: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
    b = tl.load(y + i * STEP)
    c = tl.load(z + (BLOCK - 1 - i))
    tl.store(o + i * STEP, a + b.to(tl.float32))
    tl.store(p + i, c.to(tl.float32) * a)
"""


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("block", [8, 64, 1024])
def test_several_widths_in_one_kernel(step: int, block: int) -> None:
    """Elements of 1, 2 and 4 bytes, with steps, reversed: one layout must do for all, or move."""
    x = np.arange(block, dtype=np.float32)
    y, z = sequence("f16", block * step), sequence("i8", block)
    o, p = np.full(block * step, -1, np.float32), np.zeros(block, np.float32)
    found = run(MIXED, {"x": x, "y": y, "z": z, "o": o, "p": p}, {"BLOCK": block, "STEP": step})
    o[::step] = x + y[::step].astype(np.float32)
    assert_same_bits(found["o"], o, "o")
    assert_same_bits(found["p"], z[::-1].astype(np.float32) * x, "p")


OFFSETS = """
@triton.jit
def kernel(x, o, shift, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + shift + i))
    tl.store(o + BLOCK + i, tl.load(x + (i + shift)))
    tl.store(o + 2 * BLOCK + i, tl.load(x + i + n - BLOCK))
"""


@pytest.mark.parametrize("shift", [0, 1, 2, 3, 5, 8])
def test_offsets_that_are_not_aligned(shift: int) -> None:
    """The base is aligned, what is added to it is not."""
    block = 256
    x = np.arange(block + 8, dtype=np.float32)
    found = run(
        OFFSETS,
        {"x": x, "o": np.zeros(3 * block, np.float32), "shift": shift, "n": len(x)},
        {"BLOCK": block},
        assume={"x": {"div": 16}, "o": {"div": 16}},
    )
    wanted = np.concatenate([x[shift : shift + block], x[shift : shift + block], x[-block:]])
    assert_same_bits(found["o"], wanted, "shifted")


UNSIGNED = """
@triton.jit
def kernel(x, o, k, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    u = (i + 200).to(tl.uint8)
    tl.store(o + i, tl.load(x + u))
    tl.store(o + BLOCK + i, tl.load(x + k + i))
    b = i > 3
    tl.store(o + 2 * BLOCK + i, tl.load(x + b))
"""


def test_unsigned_offsets_do_not_turn_negative() -> None:
    x = np.arange(256, dtype=np.int32)
    found = run(UNSIGNED, {"x": x, "o": np.zeros(24, np.int32), "k": 248}, {"BLOCK": 8}, types={"k": "u8"})
    i = np.arange(8)
    assert found["o"].tolist() == [*(200 + i), *(248 + i), *(i > 3).astype(int)]


NEGATIVE = """
@triton.jit
def kernel(x, o, k, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    end = x + BLOCK
    tl.store(o + i, tl.load(end - 1 - i))
    tl.store(o + BLOCK + i, tl.load(end + (i.to(tl.int64) - BLOCK)))
    tl.store(o + 2 * BLOCK + i, tl.load(end - k))
"""


def test_negative_offsets() -> None:
    x = np.arange(64, dtype=np.int16)
    found = run(NEGATIVE, {"x": x, "o": np.zeros(192, np.int16), "k": 10}, {"BLOCK": 64})
    assert found["o"].tolist() == [*x[::-1], *x, *[54] * 64]


CAST_POINTER = """
@triton.jit
def kernel(x, y, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    bits = tl.load((x + i).to(y.dtype, bitcast=True))
    tl.store(o + i, bits)
    low = tl.load((x + i).to(o.dtype) + 0)
    tl.store(o + BLOCK + i, low)
"""


def test_a_pointer_to_another_dtype() -> None:
    """A pointer keeps its address: what lies at every fourth byte is not contiguous."""
    x = np.arange(64, dtype=np.float32) + 0.1
    found = run(
        CAST_POINTER, {"x": x, "y": np.zeros(1, np.uint8), "o": np.zeros(128, np.uint8)}, {"BLOCK": 64}
    )
    low = x.view(np.uint8)[::4]
    assert_same_bits(found["o"], np.concatenate([low, low]), "lowest bytes")


BOOLS = """
@triton.jit
def kernel(x, o, p, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    b = tl.load(x + i)
    tl.store(o + i, b)
    tl.store(p + i, b.to(tl.int32) + 1)
"""


def test_any_byte_but_zero_is_true() -> None:
    """A bool in memory is a byte; what is written is 0 or 1."""
    raw = np.array([0, 1, 2, 255, 128, 0, 7, 1], np.uint8)
    found = run(
        BOOLS,
        {"x": raw, "o": np.zeros(8, np.bool_), "p": np.zeros(8, np.int32)},
        {"BLOCK": 8},
        types={"x": "*i1"},
    )
    assert found["o"].view(np.uint8).tolist() == [0, 1, 1, 1, 1, 0, 1, 1]
    assert found["p"].tolist() == [1, 2, 2, 2, 2, 1, 2, 2]


REPLICAS = """
@triton.jit
def kernel(o, n, BLOCK: tl.constexpr):
    o += tl.program_id(0) * (BLOCK + 1)
    i = tl.arange(0, BLOCK)
    old = tl.load(o + i)
    tl.store(o + i, old + 1)
    s = tl.load(o + BLOCK)
    tl.store(o + BLOCK, s + 1)
"""


@pytest.mark.parametrize("num_warps", [1, 2, 8, 32])
@pytest.mark.parametrize("block", [1, 2, 16, 32])
def test_replicas_write_once(block: int, num_warps: int) -> None:
    """Fewer elements than lanes: what is read, changed and written is changed once."""
    zeros = np.zeros(3 * (block + 1), np.int32)
    found = run(REPLICAS, {"o": zeros, "n": 0}, {"BLOCK": block}, (3,), num_warps=num_warps)
    assert found["o"].tolist() == [1] * len(zeros)


BROADCAST_STORE = """
@triton.jit
def kernel(x, o, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    v = tl.load(x + c)
    tl.store(o + r[:, None] * C + c[None, :], v)
    tl.store(o + (R + r[:, None]) * C + c[None, :], 4.0, mask=(c < C - 1)[None, :])
    tl.store(o + (2 * R + r[:, None]) * C + c[None, :], v[None, :], mask=r[:, None] > 0)
"""


def test_a_store_broadcasts_its_value_and_mask() -> None:
    x = np.arange(16, dtype=np.float32)
    found = run(BROADCAST_STORE, {"x": x, "o": np.zeros((3, 8, 16), np.float32)}, {"R": 8, "C": 16})
    wanted = np.zeros((3, 8, 16), np.float32)
    wanted[0], wanted[1, :, :15], wanted[2, 1:] = x, 4.0, x
    assert_same_bits(found["o"], wanted, "broadcast")


POINTERS_THAT_MOVE = """
@triton.jit
def kernel(x, o, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    at = o + (r * 3) % R
    tl.store(at, tl.sum(v, 1))
    far = o + R + ((r[:, None] * 5) % R) * C + c[None, :]
    tl.store(far, v)
"""


@pytest.mark.parametrize("num_warps", [1, 4, 8])
def test_pointers_move_between_layouts(num_warps: int) -> None:
    """Addresses that are costly to compute are kept, and move to the lanes that store."""
    rows, columns = 64, 32
    x = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    found = run(
        POINTERS_THAT_MOVE,
        {"x": x, "o": np.zeros(rows + rows * columns, np.float32)},
        {"R": rows, "C": columns},
        num_warps=num_warps,
    )["o"]
    r = np.arange(rows)
    sums, tile = np.zeros(rows, np.float32), np.zeros_like(x)
    sums[(3 * r) % rows], tile[(5 * r) % rows] = x.sum(1), x
    assert_same_bits(found, np.concatenate([sums, tile.reshape(-1)]), "moved")


IN_ORDER = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.sum(tl.load(x + i))
    tl.store(x + i, i * a)
    b = tl.load(x + i)
    c = tl.sum(b)
    if n > 0:
        tl.store(x + i, b + c)
    d = tl.load(x + i)
    for k in range(n):
        tl.store(x + i, d + tl.max(d))
        d = tl.load(x + i)
    tl.store(o + i, d)
"""


@pytest.mark.parametrize("n", [0, 3])
def test_loads_and_stores_keep_their_order(n: int) -> None:
    """What a lane stores is what it loads after that, whatever reductions stand between."""
    x = np.ones(64, np.float32)
    found = run(IN_ORDER, {"x": x, "o": np.zeros_like(x), "n": n}, {"BLOCK": 64})["o"]
    i = np.arange(64, dtype=np.float32)
    b = i * 64
    d = b + b.sum() if n > 0 else i * 64
    for _ in range(n):
        d = d + d.max()
    assert_same_bits(found, d.astype(np.float32), "in order")


BELOW_ZERO = """
@triton.jit
def kernel(x, o, shift, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    i = at + shift
    middle = x + 64
    tl.store(o + at, tl.load(middle + i % 8))
    tl.store(o + BLOCK + at, tl.load(middle + i // 8))
    tl.store(o + 2 * BLOCK + at, tl.load(middle + at, mask=i // 16 < 0, other=-1.0))
    tl.store(o + 3 * BLOCK + at, tl.load(middle + at.to(tl.int8)))
"""


@pytest.mark.parametrize("shift", [-32, -16, 0, 16])
def test_indices_below_zero(shift: int) -> None:
    """Quotients and remainders go toward zero, so runs of indices break there; an index of 8 bits wraps."""
    block = 128
    x = np.arange(256, dtype=np.float32)
    arguments = {"x": x, "o": np.zeros(4 * block, np.float32), "shift": shift}
    assumed = {"x": {"div": 16}, "o": {"div": 16}, "shift": {"div": 16}}
    found = run(BELOW_ZERO, arguments, {"BLOCK": block}, assume=assumed)["o"].reshape(4, block)
    at = np.arange(block)
    i = (at + shift).astype(np.int32)
    eight, sixteen = np.full_like(i, 8), np.full_like(i, 16)
    assert_same_bits(found[0], x[64 + oracle.binary("%", i, eight, "i32")], "%")
    assert_same_bits(found[1], x[64 + oracle.binary("//", i, eight, "i32")], "//")
    below = oracle.binary("//", i, sixteen, "i32") < 0
    assert_same_bits(found[2], np.where(below, x[64:192], np.float32(-1)), "mask")
    assert_same_bits(found[3], x[64:192], "i8")


WRAPPED = """
@triton.jit
def kernel(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + 128 + i.to(tl.int8)))
    tl.store(o + BLOCK + i, tl.load(x + i.to(tl.uint8)))
"""


def test_a_narrow_index_wraps() -> None:
    x = np.arange(256, dtype=np.float32)
    found = run(
        WRAPPED, {"x": x, "o": np.zeros(1024, np.float32)}, {"BLOCK": 512}, assume={"x": {"div": 16}}
    )["o"]
    i = np.arange(512)
    assert_same_bits(
        found, np.concatenate([x[128 + i.astype(np.int8).astype(np.int32)], x[i.astype(np.uint8)]]), "wrapped"
    )


HINTS = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i, cache_modifier=".cg") + tl.load(x + i, mask=i < n, other=1.0, eviction_policy="evict_last")
    b = tl.load(x + i, mask=i < n, volatile=True) + tl.load(x, cache_modifier=".ca")
    tl.store(o + i, a, mask=i < n, cache_modifier=".cs")
    tl.store(o + i + BLOCK, b, eviction_policy="evict_first")
    tl.store(o + 2 * BLOCK, tl.load(x, volatile=True), cache_modifier=".wt")
"""


@pytest.mark.parametrize("n", [0, 100, 256])
def test_hints_change_no_value(n: int) -> None:
    x = np.random.default_rng().standard_normal(256).astype(np.float32)
    found = run(HINTS, {"x": x, "o": np.zeros(513, np.float32), "n": n}, {"BLOCK": 256})["o"]
    inside = np.arange(256) < n
    assert_same_bits(found[:256], np.where(inside, x + np.where(inside, x, 1), 0).astype(np.float32))
    assert_same_bits(found[256:512], np.where(inside, x, 0) + x[0])
    assert found[512] == x[0]


def test_hints_are_in_the_ptx() -> None:
    types = {"x": "*f32", "o": "*f32", "n": "i32"}
    ptx = compile(f"{write_source(HINTS)}:kernel", "sm_90a", types, {"BLOCK": 256}, cache_dir=workspace()).ptx
    assert ptx is not None
    for words in ("ld.global.cg", "ld.global.ca", "ld.global.L1::evict_last", "ld.volatile.global", "st.global.cs",
                  "st.global.L1::evict_first", "st.global.wt"):  # fmt: skip
        assert f"{words}." in ptx
    # L1::evict_… came with PTX 7.4, and sm_80 is written for 7.0: the hint is left out.
    older = compile(
        f"{write_source(HINTS)}:kernel", "sm_80", types, {"BLOCK": 256}, cache_dir=workspace()
    ).ptx
    assert older is not None
    assert "evict" not in older
    assert "ld.global.cg." in older
