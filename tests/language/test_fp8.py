"""Floats of 8 bits: kept, converted and multiplied by ``tl.dot``; nothing else is computed in them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.run import Array, Typed, assert_same_bits, numpy_dtype, run

FP8 = {"f8e4m3": ("float8e4nv", 448.0), "f8e5m2": ("float8e5", 57344.0)}
WIDER = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}

CAST = """
@triton.jit
def kernel(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n).to(tl.{to}), mask=i < n)
"""


def cast(x: Array, to: str, language: str) -> Array:
    out = np.full(x.shape, 85, np.uint8).astype(numpy_dtype(to))
    block = 1024
    arguments = {"x": x, "o": out, "n": x.size}
    return run(CAST.format(to=language), arguments, {"BLOCK": block}, (-(-x.size // block),))["o"]


def rounded(x: Array, name: str) -> Array:
    """The nearest value, of two as near the even one; what is too large the largest; a NaN the quiet positive one.

    Looked up: ml_dtypes rounds doubles twice, by way of f32.
    """
    _, largest = FP8[name]
    wide = x.astype(np.float64)
    codes = np.arange(128, dtype=np.uint8)
    values = codes.view(numpy_dtype(name)).astype(np.float64)
    values = values[: 1 + int(np.flatnonzero(values == largest)[0])]
    size = np.minimum(np.nan_to_num(np.abs(wide), nan=0.0, posinf=largest), largest)
    above = np.searchsorted(values, size)
    below = np.maximum(above - 1, 0)
    up, down = values[above] - size, size - values[below]
    bits = np.where((up < down) | ((up == down) & (above % 2 == 0)), above, below).astype(np.uint8)
    bits |= np.where(np.signbit(wide), 0x80, 0).astype(np.uint8)
    bits[np.isnan(wide)] = 0x7F
    return bits.view(numpy_dtype(name))


@pytest.mark.parametrize("to", WIDER)
@pytest.mark.parametrize("name", FP8)
def test_every_value_is_exact_in_wider_floats(name: str, to: str) -> None:
    x = np.arange(256, dtype=np.uint8).view(numpy_dtype(name))
    assert_same_bits(cast(x, to, WIDER[to]), x.astype(np.float64).astype(numpy_dtype(to)))


@pytest.mark.parametrize("source", ["f16", "bf16"])
@pytest.mark.parametrize("name", FP8)
def test_every_narrow_float_rounds(name: str, source: str) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(numpy_dtype(source))
    found = cast(x, name, FP8[name][0])
    assert found.view(np.uint8).tolist() == rounded(x, name).view(np.uint8).tolist()


@pytest.mark.parametrize("source", ["f32", "f64"])
@pytest.mark.parametrize("name", FP8)
def test_wide_floats_round_once(name: str, source: str) -> None:
    rng = np.random.default_rng()
    dtype = numpy_dtype(source)
    values = np.arange(256, dtype=np.uint8).view(numpy_dtype(name)).astype(np.float64)
    values = np.sort(values[np.isfinite(values)])
    ties = (values[1:] + values[:-1]) / 2
    near = [np.nextafter(ties.astype(dtype), dtype.type(to)) for to in (-np.inf, np.inf)]
    # In f64: so close to a tie that f32 cannot tell, where rounding twice would go wrong.
    closer = [ties * (1 + sign * 2.0**-40) for sign in (-1, 1)]
    random = np.ldexp(rng.uniform(-2, 2, 5000), rng.integers(-30, 20, 5000))
    special = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        448,
        464,
        480,
        57344,
        61440,
        65536,
        1e30,
        -1e30,
        1e-40,
        2.0**-1030,
    ]
    x = np.concatenate([values, ties, *near, *closer, random, special]).astype(dtype)
    found = cast(x, name, FP8[name][0])
    assert found.view(np.uint8).tolist() == rounded(x, name).view(np.uint8).tolist()


@pytest.mark.parametrize("name", FP8)
def test_integers_and_the_other_format(name: str) -> None:
    rng = np.random.default_rng()
    other = next(n for n in FP8 if n != name)
    x = np.arange(256, dtype=np.uint8).view(numpy_dtype(other))
    found = cast(x, name, FP8[name][0])
    assert found.view(np.uint8).tolist() == rounded(x, name).view(np.uint8).tolist()
    for dtype in (np.int8, np.int32, np.uint32, np.int64):
        limits = np.iinfo(dtype)
        ints = rng.integers(max(limits.min, -70000), min(limits.max, 70000), 3000).astype(dtype)
        ints[:2] = limits.min, limits.max
        assert_same_bits(cast(ints, name, FP8[name][0]), rounded(ints, name))
    back = np.arange(256, dtype=np.uint8).view(numpy_dtype(name))
    exact = np.nan_to_num(back.astype(np.float64), nan=0.0, posinf=2**31 - 1, neginf=-(2**31))
    assert cast(back, "i32", "int32").tolist() == np.trunc(exact).astype(np.int32).tolist()


MOVES = """
@triton.jit
def kernel(x, y, o, n, value, R: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    r, c = tl.arange(0, R), tl.arange(0, C)
    at = r[:, None] * C + c[None, :]
    a = tl.load(x + at, mask=c[None, :] < n, other=1.5)
    b = tl.load(y + at)
    chosen = tl.where(b.to(tl.float32) > 0, a, tl.full([R, C], value, D))
    tl.store(o + c[:, None] * R + r[None, :], tl.trans(chosen))
    tl.store(o + R * C, tl.load(x))
    tl.store(o + R * C + 1, (a.to(tl.int8, bitcast=True) & 0x7F).to(D, bitcast=True).to(tl.float32).max())
"""


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("name", FP8)
def test_moving_choosing_and_bits(name: str, num_warps: int) -> None:
    rng = np.random.default_rng()
    dtype, language = numpy_dtype(name), FP8[name][0]
    x, y = (rng.standard_normal((16, 64)).astype(dtype) for _ in range(2))
    arguments = {"x": x, "y": y, "o": np.zeros(16 * 64 + 2, dtype), "n": 50, "value": Typed(-3.0, "f32")}
    source = (
        MOVES.replace("D: tl.constexpr", "M: tl.constexpr")
        .replace("D)", f"tl.{language})")
        .replace("(D,", f"(tl.{language},")
    )
    found = run(source, arguments, {"R": 16, "C": 64, "M": 0}, num_warps=num_warps)["o"]
    a = x.copy()
    a[:, 50:] = 1.5
    expected = np.where(y.astype(np.float32) > 0, a.astype(np.float32), -3).astype(dtype)
    assert_same_bits(found[: 16 * 64].reshape(64, 16), np.ascontiguousarray(expected.T))
    assert found[-2] == x[0, 0]
    assert found[-1].astype(np.float32) == np.abs(a.astype(np.float32)).max()


DOT = """
@triton.jit
def kernel(a, b, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(o + m[:, None] * N + n[None, :], tl.dot(x, y))
"""


@pytest.mark.parametrize("left", FP8)
@pytest.mark.parametrize("right", FP8)
def test_dot(left: str, right: str) -> None:
    rng = np.random.default_rng()
    a, b = (rng.integers(-4, 5, s).astype(numpy_dtype(n)) for s, n in (((16, 32), left), ((32, 16), right)))
    found = run(DOT, {"a": a, "b": b, "o": np.zeros((16, 16), np.float32)}, {"M": 16, "N": 16, "K": 32})["o"]
    assert found.tolist() == (a.astype(np.float64) @ b.astype(np.float64)).tolist()


QUANTISE = """
@triton.jit
def kernel(x, q, scale, n, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    s = tl.max(tl.abs(v)) / LARGEST
    tl.store(scale + row, s)
    tl.store(q + row * n + i, (v / s).to(q.dtype.element_ty), mask=i < n)
"""


@pytest.mark.parametrize("name", FP8)
def test_quantising_rows(name: str) -> None:
    x = np.random.default_rng().standard_normal((5, 99)).astype(np.float32)
    largest = FP8[name][1]
    arguments = {"x": x, "q": np.zeros(x.shape, numpy_dtype(name)), "scale": np.zeros(5, np.float32), "n": 99}
    found = run(QUANTISE, arguments, {"LARGEST": largest, "BLOCK": 128}, (5,))
    scale = np.abs(x).max(1) / np.float32(largest)
    np.testing.assert_allclose(found["scale"], scale, rtol=1e-6)
    back = found["q"].astype(np.float64) * found["scale"][:, None].astype(np.float64)
    step = {"f8e4m3": 2.0**-4, "f8e5m2": 2.0**-3}[name]
    assert (np.abs(back - x) <= np.maximum(np.abs(x) * step * 1.0001, scale[:, None] * 2.0**-9)).all()


def test_they_are_arrays_of_ml_dtypes() -> None:
    kinds: list[Any] = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
    assert [np.dtype(k) for k in kinds] == [numpy_dtype(n) for n in FP8]
