"""Conversions between all dtypes, bit for bit: rounding to nearest even, saturation, wrapping, NaN."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from teenybuild.diagnostics import UserError
from tests.support.elementwise import evaluate, language_dtype
from tests.support.run import Array, assert_same_bits, numpy_dtype

from . import oracle


def casts(array: Array, targets: tuple[str, ...] = oracle.ALL) -> None:
    """Converts a tile to each dtype and compares with the oracle."""
    found = evaluate({f"r{to}": (f"x.to({language_dtype(to)})", to) for to in targets}, {"x": array})
    for to in targets:
        assert_same_bits(found[f"r{to}"], oracle.cast(array, to), f"{oracle.name_of(array)} to {to}")


@pytest.mark.parametrize("source", oracle.ALL)
def test_every_dtype_to_every_dtype(source: str) -> None:
    casts(oracle.values(source, 2048))


@pytest.mark.parametrize("source", ["i8", "u8", "i16", "u16", "f16", "bf16"])
def test_every_value_of_narrow_dtypes(source: str) -> None:
    size = numpy_dtype(source).itemsize
    everything = np.arange(1 << 8 * size, dtype=f"u{size}").view(numpy_dtype(source))
    if source in oracle.FLOATS:
        everything = np.where(np.isnan(everything), np.array(np.nan, everything.dtype), everything)
    narrow = ("i1", "i8", "u8", "i16", "u16", "i32", "u64", "f32", "f64")
    for part in np.array_split(everything, max(1, len(everything) // 8192)):
        casts(part, narrow)


def _around(points: list[int], name: str) -> Array:
    """Integers at and next to the points, as far as the dtype holds them."""
    limits = np.iinfo(numpy_dtype(name))
    near = {p + d for p in points for d in (-2, -1, 0, 1, 2)}
    near |= {-p for p in near}
    return np.array(sorted(p for p in near if limits.min <= p <= limits.max), numpy_dtype(name))


@pytest.mark.parametrize("source", ["i32", "u32", "i64", "u64"])
def test_integers_that_tie(source: str) -> None:
    """Halfway between two floats, and one beside it: rounding twice would show."""
    points: list[int] = []
    for precision in (8, 11, 24, 53):
        for exponent in range(precision, 64):
            unit = 1 << (exponent - precision + 1)
            points += [(1 << exponent) + unit // 2, (1 << exponent) + unit + unit // 2]
    points += [(1 << 63) - 1, (1 << 64) - 1, 65504, 65519, 65520, 65536]
    casts(_around(points, source), ("f16", "bf16", "f32", "f64"))


def _neighbours(points: Array) -> Array:
    """f64 values, what lies right beside each, and all of it negated."""
    near = np.concatenate([points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf)])
    return np.concatenate([near, -near])


@pytest.mark.parametrize("to", ["f16", "bf16", "f32"])
def test_f64_is_rounded_once(to: str) -> None:
    """Ties of the narrow format, and f64 values so near to them that f32 in between would hide the difference."""
    precision, lowest, largest = {
        "f16": (11, -14, 65504.0),
        "bf16": (8, -126, float(ml_dtypes.finfo("bfloat16").max)),
    }.get(to, (24, -126, float(np.finfo(np.float32).max)))
    generator = np.random.default_rng(1)
    exponents = np.concatenate(
        [generator.integers(lowest, -lowest, 200), np.arange(lowest - precision - 1, lowest + 2)]
    )
    mantissa = generator.integers(0, 1 << (precision - 1), len(exponents))
    step = np.exp2(np.maximum(exponents, lowest) - precision + 1.0)
    ties = np.exp2(exponents.astype(np.float64)) + (mantissa + 0.5) * step
    ends = np.array(
        [largest, largest * (1 + 2.0 ** -(precision + 1)), 2.0 ** (lowest - precision), 5e-324, 1e308]
    )
    casts(_neighbours(np.concatenate([ties, ends])), (to,))


@pytest.mark.parametrize("source", oracle.FLOATS)
def test_floats_saturate_to_integers(source: str) -> None:
    edges = [2.0**e for e in (0, 7, 8, 15, 16, 31, 32, 63, 64)]
    wide = _neighbours(np.array([*edges, 0.5, 0.99999, 1.5, 254.5, np.inf, 0.0]))
    with np.errstate(over="ignore"):
        around = np.append(wide, np.nan).astype(numpy_dtype(source))
    casts(around, ("i1", *oracle.INTEGERS))


@pytest.mark.parametrize("source", ["i8", "u16", "i32", "u64", "f16", "bf16", "f32", "f64"])
def test_bitcast(source: str) -> None:
    x = oracle.values(source, 512)
    same = [d for d in (*oracle.INTEGERS, *oracle.FLOATS) if oracle.width(d) == oracle.width(source)]
    found = evaluate(
        {f"r{to}": (f"x.to({language_dtype(to)}, bitcast=True)", to) for to in same}
        | {f"c{to}": (f"tl.cast(x, {language_dtype(to)}, bitcast=True)", to) for to in same},
        {"x": x},
    )
    for name, array in found.items():
        assert_same_bits(array, x.view(numpy_dtype(name[1:])), f"{source} as {name[1:]}")


def test_bitcast_refuses_other_widths() -> None:
    with pytest.raises(UserError, match="the widths differ"):
        evaluate({"r": ("x.to(tl.int16, bitcast=True)", "i16")}, {"x": oracle.values("f32", 4)})


@pytest.mark.parametrize(("stored", "value"), list(itertools.product(oracle.ALL, repeat=2)), ids="-".join)
def test_a_store_converts(stored: str, value: str) -> None:
    x = oracle.values(value, 64)
    found = evaluate({"r": ("x", stored)}, {"x": x}, check_dtypes=False)
    # A bool is a byte in memory: 0.5 and 256 are stored as false.
    stored_as = oracle.cast(x, "i8") if stored == "i1" and value != "i1" else x
    assert_same_bits(found["r"], oracle.cast(stored_as, stored), f"{value} stored as {stored}")


@pytest.mark.parametrize("name", oracle.ALL)
def test_a_dtype_converts_when_called(name: str) -> None:
    """``tl.float16(3)`` is a scalar of that dtype."""
    found = evaluate(
        {"r": (f"x.to({language_dtype(name)}) * {language_dtype(name)}(1)", name)},
        {"x": oracle.values("i8", 8)},
    )
    assert_same_bits(found["r"], oracle.cast(oracle.values("i8", 8), name), name)


@pytest.mark.parametrize("name", oracle.FLOATS)
def test_special_constants(name: str) -> None:
    """Numbers in the source are rounded as run-time values are."""
    numbers = (0.1, 1 / 3, 65519.9, 65520.0, 1e-8, 3.4e38, 1e39, -1e-45, 1e-320, 2.0**-133 * 1.5, 16777217)
    texts = {f"r{n}": (f"x * 0 + {number!r}", name) for n, number in enumerate(numbers)}
    if name != "f64":
        texts = {
            n: (f"tl.full((4,), {number!r}, {language_dtype(name)})", name)
            for n, number in zip(texts, numbers, strict=True)
        }
    found = evaluate(texts, {"x": np.zeros(4, numpy_dtype(name))})
    for (result, _), number in zip(texts.items(), numbers, strict=True):
        wanted = oracle.cast(np.full(4, number, np.float64), name)
        assert_same_bits(found[result], wanted, f"{number} as {name}")
