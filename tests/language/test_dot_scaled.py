"""Products in microscaling formats, against the OCP MX definition in NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from teenybuild.diagnostics import UserError
from tests.support.run import Array, assert_same_bits, build, run

from . import test_dot

SCALED = """
@triton.jit
def kernel(a, sa, b, sb, c, o, FA: tl.constexpr, FB: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr, ACC: tl.constexpr, FAST: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    # Rows and columns as they lie in memory.
    am: tl.constexpr = M if PA or FA != "e2m1" else M // 2
    ak: tl.constexpr = K // 2 if PA and FA == "e2m1" else K
    bk: tl.constexpr = K // 2 if PB and FB == "e2m1" else K
    bn: tl.constexpr = N if PB or FB != "e2m1" else N // 2
    x = tl.load(a + tl.arange(0, am)[:, None] * ak + tl.arange(0, ak)[None, :])
    y = tl.load(b + tl.arange(0, bk)[:, None] * bn + tl.arange(0, bn)[None, :])
    m, n, g = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    s = None
    t = None
    if sa is not None:
        s = tl.load(sa + m[:, None] * (K // 32) + g[None, :])
    if sb is not None:
        t = tl.load(sb + n[:, None] * (K // 32) + g[None, :])
    at = m[:, None] * N + n[None, :]
    z = None
    if ACC:
        z = tl.load(c + at)
    tl.store(o + at, tl.dot_scaled(x, s, FA, y, t, FB, z, fast_math=FAST, lhs_k_pack=PA, rhs_k_pack=PB))
"""

#: What two, and four, bits of e2m1 stand for.
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
DTYPES = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
}
FORMATS = ("e2m1", *DTYPES)


def operand(name: str, shape: tuple[int, int], seed: int, *, pack: int = 1) -> tuple[Array, Array]:
    """(as it lies in memory, packed along an axis, the values): small whole numbers, or all of e2m1."""
    rng = np.random.default_rng(seed)
    if name != "e2m1":
        values = rng.integers(-3, 4, shape).astype(DTYPES[name])
        return values, values.astype(np.float32)
    codes = rng.integers(0, 16, shape).astype(np.uint8)
    even, odd = (codes[:, i::2] if pack == 1 else codes[i::2] for i in range(2))
    return even | odd << 4, E2M1[codes]


def scales(shape: tuple[int, int], seed: int, low: int = 124, high: int = 130) -> Array:
    return np.random.default_rng(seed).integers(low, high, shape).astype(np.uint8)


def powers(scale: Array) -> Array:
    """2^(scale - 127), NaN for 255."""
    return np.where(scale == 255, np.nan, np.exp2(scale.astype(np.float64) - 127))


def product(
    fa: str, fb: str, a: Array, sa: Array | None, b: Array, sb: Array | None, sides: tuple[int, int, int],
    c: Array | None = None, *, packed: tuple[bool, bool] = (True, True), fast: bool = False, num_warps: int = 4,
) -> Array:  # fmt: skip
    m, n, k = sides
    arguments = {"a": a, "sa": sa, "b": b, "sb": sb, "c": c if c is not None else np.zeros(1, np.float32)}
    found = run(
        SCALED,
        arguments | {"o": np.zeros((m, n), np.float32)},
        {
            "FA": fa,
            "FB": fb,
            "PA": packed[0],
            "PB": packed[1],
            "ACC": c is not None,
            "FAST": fast,
            "M": m,
            "N": n,
            "K": k,
        },
        num_warps=num_warps,
    )
    return found["o"]


@pytest.mark.parametrize("fb", FORMATS)
@pytest.mark.parametrize("fa", FORMATS)
def test_formats(fa: str, fb: str) -> None:
    """Each with each; what is multiplied and summed is exact."""
    if {fa, fb} == {"bf16", "fp16"}:
        return  # refused, below
    m, n, k = 16, 8, 64
    (a, wide_a), (b, wide_b) = operand(fa, (m, k), 1), operand(fb, (k, n), 2, pack=0)
    sa, sb, c = scales((m, k // 32), 3), scales((n, k // 32), 4), test_dot.whole("f32", (m, n), 5)
    x = wide_a * powers(sa).repeat(32, 1)
    y = wide_b * powers(sb).T.repeat(32, 0)
    assert_same_bits(product(fa, fb, a, sa, b, sb, (m, n, k)), (x @ y).astype(np.float32), "both scaled")
    found = product(fa, fb, a, None, b, sb, (m, n, k), c)
    assert_same_bits(found, (wide_a.astype(np.float64) @ y + c).astype(np.float32), "one scaled")
    found = product(fa, fb, a, None, b, None, (m, n, k), c)
    assert_same_bits(found, wide_a @ wide_b + c, "none scaled")


@pytest.mark.parametrize("num_warps", [1, 8])
@pytest.mark.parametrize(
    "sides", [(32, 32, 32), (2, 4, 128), (64, 16, 64)], ids=lambda s: "x".join(map(str, s))
)
@pytest.mark.parametrize("packed", [(True, True), (True, False), (False, True), (False, False)])
def test_packed_along_either_axis(
    packed: tuple[bool, bool], sides: tuple[int, int, int], num_warps: int
) -> None:
    m, n, k = sides
    a, wide_a = operand("e2m1", (m, k), 1, pack=int(packed[0]))
    b, wide_b = operand("e2m1", (k, n), 2, pack=int(not packed[1]))
    sa, sb = scales((m, k // 32), 3), scales((n, k // 32), 4)
    wanted = (wide_a * powers(sa).repeat(32, 1)) @ (wide_b * powers(sb).T.repeat(32, 0))
    found = product("e2m1", "e2m1", a, sa, b, sb, sides, packed=packed, num_warps=num_warps)
    assert_same_bits(found, wanted.astype(np.float32), "packed")


def test_floats_given_as_bytes() -> None:
    (a, wide_a), (b, wide_b) = operand("e4m3", (16, 32), 1), operand("bf16", (32, 16), 2)
    found = product("e4m3", "bf16", a.view(np.uint8), None, b.view(np.uint16), None, (16, 16, 32))
    assert_same_bits(found, wide_a @ wide_b, "bytes")


@pytest.mark.parametrize("name", ["e2m1", "e4m3", "e5m2"])
@pytest.mark.parametrize("narrow", ["bf16", "fp16"])
def test_the_ends_of_the_scale(name: str, narrow: str) -> None:
    """255 is NaN, 0 is 2^-127; what leaves the range of the format that is multiplied in, rounds there."""
    dtype = DTYPES[narrow]
    sa = np.array([[0], [1], [7], [120], [127], [150], [254], [255]], np.uint8)
    a, wide = operand(name, (8, 32), 1)
    b = np.eye(32, dtype=dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        factor = powers(sa).astype(np.float32).astype(dtype).astype(np.float32)
        exact = (wide * factor).astype(dtype).astype(np.float32)
        exact = np.where(sa == 255, np.float32(np.nan), exact)
        # Beside 1 stand zeros: 0 · inf is NaN, as anywhere.
        wanted = np.where(np.isfinite(exact).all(1)[:, None], exact, np.nan) if narrow == "fp16" else exact
        wanted = np.where(np.isinf(exact).any(1)[:, None] & (sa != 255), _through_zeros(exact), wanted)
    found = product(name, narrow, a, sa, b, None, (8, 32, 32))
    assert_same_bits(found + np.float32(0), wanted.astype(np.float32) + np.float32(0), f"{name} in {narrow}")


def _through_zeros(exact: Array) -> Array:
    """``exact @ eye``: a row with an infinity is NaN in every other column."""
    with np.errstate(invalid="ignore"):
        return exact @ np.eye(exact.shape[1], dtype=np.float32)


def test_without_a_look_for_nan() -> None:
    """``fast_math``: 255 is what the bits say, infinity."""
    a, _ = np.ones((16, 32), DTYPES["e4m3"]), None
    sa = np.full((16, 1), 255, np.uint8)
    b, _ = operand("bf16", (32, 16), 2)
    b = np.abs(b.astype(np.float32)).astype(DTYPES["bf16"]) + DTYPES["bf16"](1)
    assert np.isnan(product("e4m3", "bf16", a, sa, b, None, (16, 16, 32))).all()
    assert np.isposinf(product("e4m3", "bf16", a, sa, b, None, (16, 16, 32), fast=True)).all()


def test_sums_are_those_of_dot() -> None:
    """In f32, k in order, each step rounded once."""
    rng = np.random.default_rng()
    a = rng.standard_normal((16, 64)).astype(DTYPES["e5m2"])
    b = rng.standard_normal((64, 16)).astype(DTYPES["bf16"])
    sa = scales((16, 2), 3, 100, 140)
    x = (a.astype(np.float32) * powers(sa).repeat(32, 1)).astype(DTYPES["bf16"])
    found = product("e5m2", "bf16", a, sa, b, None, (16, 16, 64))
    assert_same_bits(found, test_dot.dot(x, b, None, "f32"), "as dot")


BATCHED = """
@triton.jit
def kernel(a, sa, b, o, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, m, n = tl.arange(0, B)[:, None, None], tl.arange(0, M)[None, :, None], tl.arange(0, N)[None, None, :]
    x = tl.load(a + i * M * (K // 2) + m * (K // 2) + tl.arange(0, K // 2)[None, None, :])
    s = tl.load(sa + i * M * (K // 32) + m * (K // 32) + tl.arange(0, K // 32)[None, None, :])
    y = tl.load(b + i * K * N + tl.arange(0, K)[None, :, None] * N + n)
    tl.store(o + i * M * N + m * N + n, tl.dot_scaled(x, s, "e2m1", y, None, "fp16"))
"""


def test_several_matrices() -> None:
    count, m, n, k = 2, 8, 16, 64
    a, wide = operand("e2m1", (count * m, k), 1)
    sa = scales((count * m, k // 32), 3)
    b = test_dot.whole("f16", (count, k, n), 2)
    x = (wide * powers(sa).repeat(32, 1)).reshape(count, m, k)
    found = run(
        BATCHED,
        {"a": a, "sa": sa, "b": b, "o": np.zeros((count, m, n), np.float32)},
        {"B": count, "M": m, "N": n, "K": k},
    )
    assert_same_bits(found["o"], (x @ b.astype(np.float64)).astype(np.float32), "several")


ERRORS = [
    ("tl.dot_scaled(x, None, 'e2m2', y, None, 'bf16')", "lhs_format of tl.dot_scaled is one of"),
    ("tl.dot_scaled(x, None, 'e4m3', y, None, 'fp16')", r"lhs of the format e4m3 is a tile of f8e4m3 or u8, got a tile of bf16"),
    ("tl.dot_scaled(x, None, 'e2m1', y, None, 'bf16')", "e2m1 is a tile of u8, two values each"),
    ("tl.dot_scaled(x, None, 'bf16', y, None, 'bf16', lhs_k_pack=False)", "only e2m1 can be packed"),
    ("tl.dot_scaled(x, None, 'bf16', y.to(tl.float16), None, 'fp16')", "no format for both"),
    ("tl.dot_scaled(x, None, 'bf16', y, u, 'bf16')", r"rhs_scale is a tile of u8 \[16, 2\] here.* got a tile of u8 \[16, 64\]"),
    ("tl.dot_scaled(x, x, 'bf16', y, None, 'bf16')", r"lhs_scale is a tile of u8 \[16, 2\] here"),
    ("tl.dot_scaled(x, None, 'bf16', x, None, 'bf16')", "inner sides 64 and 16 differ"),
    ("tl.dot_scaled(u, None, 'e2m1', y, None, 'bf16')", "inner sides 128 and 64 differ"),
    ("tl.dot_scaled(x, None, 'bf16', y, None, 'bf16', out_dtype=tl.float16)", "sums in f32"),
    ("tl.dot_scaled(x, None, 'bf16', y, None, 'bf16', tl.zeros((16, 8), tl.float32))", "accumulator"),
    ("tl.dot_scaled(tl.arange(0, 4), None, 'bf16', y, None, 'bf16')", "2-D tiles"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_what_cannot_be_multiplied(text: str, message: str) -> None:
    source = f"""@triton.jit
def kernel(o):
    x = tl.zeros((16, 64), tl.bfloat16)
    y = tl.zeros((64, 16), tl.bfloat16)
    u = tl.zeros((16, 64), tl.uint8)
    z = {text}
"""
    with pytest.raises(UserError, match=message):
        build(source, {"o": np.zeros(1, np.float32)})
