"""Random numbers of a seed and 32-bit offsets in NumPy, for references of kernels that draw some."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.language.test_random_numbers import philox4x32


def words(seed: int, offsets: Any, *, rounds: int = 10) -> list[np.ndarray]:
    """``tl.randint4x``"""
    low = np.asarray(offsets).astype(np.uint32)
    zero = np.zeros_like(low)
    return philox4x32((low, zero, zero, zero), seed, rounds)


def uniform(seed: int, offsets: Any, *, rounds: int = 10) -> np.ndarray:
    """``tl.rand``, in f32"""
    signed = words(seed, offsets, rounds=rounds)[0].view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)
