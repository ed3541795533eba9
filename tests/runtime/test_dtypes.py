"""Element types at run time, against the table of the build and against ml_dtypes."""

from __future__ import annotations

import math
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from teenybuild import dtypes as build
from teenybuild.runtime.dtypes import DTYPES, FRAMEWORK_NAMES, bf16_bits


def test_has_every_dtype() -> None:
    assert list(DTYPES) == list(build.BY_NAME)
    assert {name: row.name for name, row in build.BY_NUMPY.items()} == FRAMEWORK_NAMES


@pytest.mark.parametrize("row", DTYPES.values(), ids=lambda row: row.name)
def test_agrees_with_the_build(row: build.DType) -> None:
    other = build.BY_NAME[row.name]
    assert (row.kind, row.bits, row.size) == (other.kind, other.bits, other.size)
    runtime = DTYPES[row.name]
    assert struct.calcsize(runtime.format) == row.size
    if runtime.kind in ("int", "uint"):
        assert (runtime.lowest, runtime.highest) == (other.minimum, other.maximum)
        assert struct.pack(runtime.format, runtime.lowest)
        assert struct.pack(runtime.format, runtime.highest)
        with pytest.raises(struct.error):
            struct.pack(runtime.format, runtime.highest + 1)


EDGES = [
    0.0,
    -0.0,
    1.0,
    1.00390625,  # halfway between two, the lower is even
    1.01171875,  # halfway, the upper is even
    1.0039062500000002,  # a double just above halfway, which f32 would round to it
    math.inf,
    -math.inf,
    3.3895313892515355e38,  # the largest
    2.0**-126,
    2.0**-133,  # the smallest
    2.0**-134,  # halfway to it
    2.0**-134 * (1 + 2**-52),
    5e-324,
]


def nearest_bf16(value: float) -> int:
    """The bits by exact arithmetic: ml_dtypes rounds doubles by way of f32, twice."""
    if math.isinf(value):
        return 0x7F80 | (0x8000 if value < 0 else 0)
    magnitudes = np.arange(0x7F80, dtype=np.uint16).view(ml_dtypes.bfloat16).astype(np.float64)
    at = int(np.searchsorted(magnitudes, abs(value)))
    around = [each for each in (at - 1, at) if 0 <= each < len(magnitudes)]
    best = min(around, key=lambda each: (abs(magnitudes[each] - abs(value)), each & 1))
    return best | (0x8000 if math.copysign(1, value) < 0 else 0)


@pytest.mark.parametrize("value", EDGES)
def test_bf16_at_the_edges(value: float) -> None:
    assert bf16_bits(value) == nearest_bf16(value)
    assert bf16_bits(-value) == nearest_bf16(-value)


@given(st.floats(allow_nan=False, min_value=-3.38e38, max_value=3.38e38))
def test_bf16_rounds_to_nearest_even(value: float) -> None:
    assert bf16_bits(value) == nearest_bf16(value)


@given(st.integers(0, 0xFFFF))
def test_bf16_values_are_themselves(bits: int) -> None:
    value = float(np.uint16(bits).view(ml_dtypes.bfloat16))
    if math.isnan(value):
        assert bf16_bits(value) & 0x7FC0 == 0x7FC0
    else:
        assert bf16_bits(value) == bits


@pytest.mark.parametrize("value", [3.4e38, -3.4e38, 1e300, 3.39617752923046e38])
def test_bf16_overflow(value: float) -> None:
    with pytest.raises(OverflowError):
        bf16_bits(value)
