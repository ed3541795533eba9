"""Sums and extrema along every axis, of every dtype and of many shapes and warps; exact where the numbers are."""

from __future__ import annotations

import numpy as np
import pytest

from teenybuild.diagnostics import UserError
from tests.support.run import Array, assert_same_bits, build, numpy_dtype, run

from . import oracle

REDUCE = """
@triton.jit
def kernel(x, o, AXIS: tl.constexpr, KEEP: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)
    c = tl.arange(0, N)
    v = tl.load(x + r[:, None] * N + c[None, :])
    s = tl.{function}(v, axis=AXIS, keep_dims=KEEP)
    if KEEP:
        if AXIS is None:
            tl.store(o + r[:, None] * 0 + c[None, :] * 0, s, mask=(r[:, None] == 0) & (c[None, :] == 0))
        elif AXIS % 2 == 0:
            tl.store(o + c[None, :], s)
        else:
            tl.store(o + r[:, None], s)
    else:
        if AXIS is None:
            tl.store(o, s)
        elif AXIS % 2 == 0:
            tl.store(o + c, s)
        else:
            tl.store(o + r, s)
"""

#: What a reduction gives, by the dtype it takes.
SUMS = {"i1": "u32", "i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}
EXTREMA = {"i1": "i32", "i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32", "f16": "f32", "bf16": "f32"}


def small(name: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Values whose sums are exact in every order: small whole numbers, and of narrow floats few of them."""
    generator = np.random.default_rng(seed)
    if name == "i1":
        return generator.integers(0, 2, shape).astype(np.bool_)
    low, high = (0, 4) if name in oracle.UNSIGNED else (-3, 4)
    found = generator.integers(low, high, shape)
    if name in ("f16", "bf16"):
        count = int(np.prod(shape))
        keep = generator.permutation(count).reshape(shape) < 60
        found = np.where(keep, found, 0)
    return found.astype(numpy_dtype(name))


def expected(function: str, x: Array, axis: int | None) -> Array:
    """By NumPy, exactly, in the dtype that Triton gives."""
    name = oracle.name_of(x)
    dtype = (SUMS if function == "sum" else EXTREMA).get(name, name)
    wide = x.astype(np.float64) if name in oracle.FLOATS else x.astype(object)
    reduced = {"sum": np.sum, "max": np.max, "min": np.min}[function](wide, axis=axis)
    if name in oracle.FLOATS:
        return np.asarray(reduced, np.float64).astype(numpy_dtype(dtype))
    mask = (1 << oracle.width(dtype)) - 1
    size = numpy_dtype(dtype).itemsize
    return (
        np.array([int(v) & mask for v in np.ravel(reduced)], f"u{size}")
        .view(numpy_dtype(dtype))
        .reshape(np.shape(reduced))
    )


def reduce(function: str, x: Array, axis: int | None, keep: bool = False, *, num_warps: int = 4) -> Array:
    wanted = expected(function, x, axis)
    found = run(
        REDUCE.replace("{function}", function),
        {"x": x, "o": np.zeros(wanted.size, wanted.dtype)},
        {"AXIS": axis, "KEEP": keep, "M": x.shape[0], "N": x.shape[1]},
        num_warps=num_warps,
    )
    return found["o"]


@pytest.mark.parametrize("function", ["sum", "max", "min"])
@pytest.mark.parametrize("name", oracle.ALL)
def test_every_dtype(name: str, function: str) -> None:
    x = small(name, (16, 32), seed=1)
    for axis in (0, 1, None):
        wanted = expected(function, x, axis).reshape(-1)
        assert_same_bits(reduce(function, x, axis), wanted, f"{function} of {name} along {axis}")


SHAPES = [
    (1, 1),
    (1, 2),
    (2, 1),
    (4, 4),
    (1, 64),
    (64, 1),
    (2, 256),
    (256, 2),
    (32, 32),
    (16, 128),
    (128, 16),
    (64, 256),
    (1, 4096),
]


@pytest.mark.parametrize("num_warps", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_shapes_and_warps(shape: tuple[int, int], num_warps: int) -> None:
    x = small("f32", shape, seed=num_warps)
    for axis, function in ((0, "sum"), (1, "max"), (1, "sum"), (None, "sum")):
        wanted = expected(function, x, axis).reshape(-1)
        found = reduce(function, x, axis, num_warps=num_warps)
        assert_same_bits(found, wanted, f"{function} along {axis} of {shape} with {num_warps} warps")


@pytest.mark.parametrize("function", ["sum", "min"])
@pytest.mark.parametrize("axis", [0, 1, -1, -2, None])
@pytest.mark.parametrize("shape", [(1, 1), (8, 4), (64, 128)], ids=lambda s: "x".join(map(str, s)))
def test_keep_dims(shape: tuple[int, int], axis: int | None, function: str) -> None:
    x = small("i32", shape)
    wanted = expected(function, x, axis).reshape(-1)
    assert_same_bits(reduce(function, x, axis, True), wanted, "keep_dims")
    assert_same_bits(reduce(function, x, axis, False), wanted, "without keep_dims")


ROW = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other={other})
    tl.store(o + tl.program_id(0), tl.{function}(v))
"""


@pytest.mark.parametrize("num_warps", [1, 4, 32])
@pytest.mark.parametrize("block", [1 << e for e in range(15)])
def test_rows_of_any_length(block: int, num_warps: int) -> None:
    """One tile from 1 to 16384 elements, the last of them masked."""
    n = max(1, block - 3)
    x = small("f32", (3, n), seed=block)
    for function, other in (("sum", "0.0"), ("max", "float('-inf')")):
        source = ROW.replace("{function}", function).replace("{other}", other)
        found = run(
            source,
            {"x": x, "o": np.zeros(3, np.float32), "n": n},
            {"BLOCK": block},
            (3,),
            num_warps=num_warps,
        )
        assert_same_bits(found["o"], expected(function, x, 1), function)


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("num_warps", [1, 4, 16])
def test_rounding_is_the_same_everywhere(name: str, num_warps: int) -> None:
    """Random numbers, whose sum depends on the order: both host targets, and every run, give the same bits (``run`` compares)."""
    x = np.random.default_rng(7).standard_normal((64, 128)).astype(numpy_dtype(name))
    for axis in (0, 1, None):
        size = {0: 128, 1: 64, None: 1}[axis]
        const = {"AXIS": axis, "KEEP": False, "M": 64, "N": 128}
        source = REDUCE.replace("{function}", "sum")
        arguments = {"x": x, "o": np.zeros(size, x.dtype)}
        found = run(source, arguments, const, num_warps=num_warps)["o"]
        again = build(source, arguments, const, num_warps=num_warps)(arguments)["o"]
        assert_same_bits(found, again, "a second run")
        exact = x.astype(np.float64).sum(axis=axis)
        scale = np.abs(x.astype(np.float64)).sum(axis=axis)
        unit = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}[name]
        assert (np.abs(found.astype(np.float64) - exact) <= 8 * unit * scale).all()


def test_a_sum_is_pairwise() -> None:
    """A tree, not a chain: the error of 16384 equal terms stays small."""
    x = np.full((1, 16384), 0.1, np.float32)
    [found] = reduce("sum", x, 1)
    assert abs(float(found) - 16384 * float(np.float32(0.1))) < 0.001


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
@pytest.mark.parametrize("function", ["max", "min"])
def test_extrema_of_special_numbers(function: str, name: str) -> None:
    """A NaN loses to any number; all NaN gives NaN; -0.0 is below 0.0; infinities count."""
    rows = [
        [np.nan, 1, 2, -3],
        [np.nan] * 4,
        [0.0, -0.0, 0.0, -0.0],
        [np.inf, -np.inf, 5, np.nan],
        [-0.0] * 4,
        [1, 1, 1, 1],
    ]
    x = np.array([*rows, rows[0], rows[1]], np.float64).astype(numpy_dtype(name))
    largest = function == "max"
    wanted = (
        [2, np.nan, 0.0, np.inf, -0.0, 1, 2, np.nan]
        if largest
        else [-3, np.nan, -0.0, -np.inf, -0.0, 1, -3, np.nan]
    )
    found = reduce_plain(function, x)
    assert_same_bits(found, np.array(wanted).astype(found.dtype), function)


def reduce_plain(function: str, x: Array) -> Array:
    dtype = numpy_dtype(EXTREMA.get(oracle.name_of(x), oracle.name_of(x)))
    const = {"AXIS": 1, "KEEP": False, "M": x.shape[0], "N": x.shape[1]}
    return run(REDUCE.replace("{function}", function), {"x": x, "o": np.zeros(len(x), dtype)}, const)["o"]


@pytest.mark.parametrize("name", ["i32", "u32", "i64", "u64"])
def test_integers_wrap_and_compare_by_their_sign(name: str) -> None:
    x = oracle.values(name, 256).reshape(4, 64)
    assert_same_bits(reduce("sum", x, 1), expected("sum", x, 1), "sum")
    assert_same_bits(reduce("max", x, 0), expected("max", x, 0), "max")
    assert_same_bits(reduce("min", x, 1), expected("min", x, 1), "min")


DTYPE = """
@triton.jit
def kernel(x, o, p, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    a = tl.sum(v, dtype=tl.float64)
    tl.static_assert(a.dtype == tl.float64)
    tl.store(o, a)
    b = v.to(tl.int8).sum(0, dtype=tl.int64)
    tl.static_assert(b.dtype == tl.int64)
    tl.store(p, b)
"""


def test_the_dtype_of_a_sum() -> None:
    x = np.array([1e8, 1, -1e8, 0.25] * 16, np.float32)
    found = run(DTYPE, {"x": x, "o": np.zeros(1, np.float64), "p": np.zeros(1, np.int64)}, {"BLOCK": 64})
    assert found["o"].tolist() == [20.0]
    assert found["p"].tolist() == [16 * (127 + 1 - 128 + 0)]


THREE_D = """
@triton.jit
def kernel(x, o, p, q, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    v = tl.load(x + a * (B * C) + b * C + c)
    rows = tl.arange(0, A)
    tl.store(o + tl.arange(0, B)[:, None] * C + tl.arange(0, C)[None, :], tl.sum(v, 0))
    tl.store(p + rows[:, None] * C + tl.arange(0, C)[None, :], tl.sum(v, 1))
    tl.store(q + rows, tl.sum(tl.max(v, 2), 1))
"""


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize(
    "shape", [(2, 4, 8), (16, 2, 32), (1, 8, 1), (8, 16, 16)], ids=lambda s: "x".join(map(str, s))
)
def test_three_axes(shape: tuple[int, int, int], num_warps: int) -> None:
    x = small("f32", shape)
    a, b, c = shape
    outputs = {
        "o": np.zeros((b, c), np.float32),
        "p": np.zeros((a, c), np.float32),
        "q": np.zeros(a, np.float32),
    }
    found = run(THREE_D, {"x": x, **outputs}, {"A": a, "B": b, "C": c}, num_warps=num_warps)
    assert_same_bits(found["o"], x.sum(0), "axis 0")
    assert_same_bits(found["p"], x.sum(1), "axis 1")
    assert_same_bits(found["q"], x.max(2).sum(1), "axes 2 and 1")


SOFTMAX = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(o + row * n + i, e / tl.sum(e, axis=0), mask=i < n)
"""


@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("n", [1, 5, 100, 1000])
def test_softmax(n: int, num_warps: int) -> None:
    """Two reductions whose results go back to the tile."""
    x = np.random.default_rng(n).standard_normal((4, n)).astype(np.float32) * 5
    block = 1 << (n - 1).bit_length()
    found = run(SOFTMAX, {"x": x, "o": np.zeros_like(x), "n": n}, {"BLOCK": block}, (4,), num_warps=num_warps)
    exact = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    exact /= exact.sum(1, keepdims=True)
    np.testing.assert_allclose(found["o"], exact, rtol=2e-6, atol=1e-12)


CHAIN = """
@triton.jit
def kernel(x, o, M: tl.constexpr, N: tl.constexpr):
    r = tl.arange(0, M)
    c = tl.arange(0, N)
    at = r[:, None] * N + c[None, :]
    v = tl.load(x + at)
    down = tl.sum(v, axis=0)
    across = tl.sum(v, axis=1)
    centred = v - down[None, :] - across[:, None]
    top = tl.max(centred, axis=1)
    tl.store(o + at, centred * top[:, None] + tl.sum(top))
"""


@pytest.mark.parametrize("num_warps", [1, 4, 16])
@pytest.mark.parametrize("shape", [(4, 4), (64, 8), (8, 64), (128, 128)], ids=lambda s: "x".join(map(str, s)))
def test_reductions_that_feed_each_other(shape: tuple[int, int], num_warps: int) -> None:
    """Results of both axes are broadcast back: the layouts of slices meet."""
    x = small("f32", shape, seed=3)
    found = run(CHAIN, {"x": x, "o": np.zeros_like(x)}, {"M": shape[0], "N": shape[1]}, num_warps=num_warps)
    wide = x.astype(np.float64)
    centred = wide - wide.sum(0)[None, :] - wide.sum(1)[:, None]
    top = centred.max(1)
    assert_same_bits(found["o"], (centred * top[:, None] + top.sum()).astype(np.float32), "chain")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tl.sum(v, axis=2)", "the axis of tl.sum is between -2 and 1"),
        ("tl.sum(v, axis=1.0)", "the axis of tl.sum is an integer known at compile time"),
        ("tl.max(v, return_indices=True)", "tl.max finds where something is along an axis; name it"),
        ("tl.sum(3.0)", "tl.sum takes a tile, got the constant 3.0"),
        ("tl.sum(x)", "tl.sum takes a tile, got a pointer"),
        ("tl.sum(x + v.to(tl.int32))", "tl.sum takes numbers"),
    ],
)
def test_what_cannot_be_reduced(text: str, message: str) -> None:
    source = f"@triton.jit\ndef kernel(x):\n    v = tl.zeros((4, 4), tl.float32)\n    s = {text}\n"
    with pytest.raises(UserError, match=message):
        build(source, {"x": np.zeros(1, np.float32)})


OUTER = """
@triton.jit
def kernel(x, y, o, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, OUT: tl.constexpr):
    a, b = tl.load(x + tl.arange(0, M)), tl.load(y + tl.arange(0, N))
    tl.store(o + tl.arange(0, OUT), tl.{function}(a[:, None] {symbol} b[None, :], axis=AXIS))
"""

RESHAPED = """
@triton.jit
def kernel(x, o, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, OUT: tl.constexpr):
    v = tl.load(x + tl.arange(0, M * N)).reshape(M, N)
    tl.store(o + tl.arange(0, OUT), tl.sum(v, axis=AXIS))
"""

CARRIED = """
@triton.jit
def kernel(x, o, n, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, OUT: tl.constexpr):
    total = tl.zeros((M, N), tl.float32)
    for k in range(n):
        total += tl.load(x + tl.arange(0, N))[None, :] * (tl.arange(0, M)[:, None] + k)
    tl.store(o + tl.arange(0, OUT), tl.sum(total, axis=AXIS))
"""


@pytest.mark.parametrize("shape", [(32, 32), (8, 16), (64, 2), (4, 256), (128, 8)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_tiles_made_of_vectors(shape: tuple[int, int], axis: int, warps: int) -> None:
    """Their reductions are stored as vectors again, which lie elsewhere than reducing leaves them."""
    m, n = shape
    out = shape[1 - axis]
    const = {"M": m, "N": n, "AXIS": axis, "OUT": out}
    generator = np.random.default_rng()
    nonzero = np.setdiff1d(np.arange(-9, 10), [0])  # -0.0 + -0.0 is not summed alike by every NumPy
    x, y = (generator.choice(nonzero, side).astype(np.float32) for side in shape)
    arguments = {"x": x, "y": y, "o": np.zeros(out, np.float32)}
    for function, symbol, wanted in (
        ("sum", "*", np.outer(x, y).sum(axis)),
        ("max", "+", np.add.outer(x, y).max(axis)),
        ("sum", ">", np.greater.outer(x, y).sum(axis)),
    ):
        source = OUTER.replace("{function}", function).replace("{symbol}", symbol)
        assert_same_bits(run(source, arguments, const, num_warps=warps)["o"], wanted.astype(np.float32))
    flat = generator.integers(-9, 10, m * n).astype(np.float32)
    found = run(RESHAPED, {"x": flat, "o": np.zeros(out, np.float32)}, const, num_warps=warps)
    assert_same_bits(found["o"], flat.reshape(shape).sum(axis))
    found = run(CARRIED, {"x": y, "o": np.zeros(out, np.float32), "n": 3}, const, num_warps=warps)
    rows = 3 * np.arange(m) + 3
    assert_same_bits(found["o"], np.outer(rows, y).sum(axis).astype(np.float32))
