"""Kernels of a generated package on the host, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from .conftest import Package
from .manifests import VECTOR_ADD

DTYPES = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]


def poisoned(n: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array in which nothing is what a kernel would write."""
    return np.full(n, np.nan, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("n", [0, 1, 127, 128, 129, 1000, 100_003])
def test_vector_add(package: Package, dtype: np.dtype[Any], n: int) -> None:
    kernels = package(VECTOR_ADD)
    random = np.random.default_rng(n)
    a, b = (random.standard_normal(n).astype(dtype) for _ in range(2))
    out = poisoned(n + 1, dtype)
    kernels.vector_add(a, b, out[:n], n)
    assert np.array_equal(out[:n], a + b)
    assert np.isnan(out[n])
