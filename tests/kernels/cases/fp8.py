"""Floats of 8 bits: :mod:`tests.kernels.sources.fp8`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from tests.kernels.case import BF16, F16, F32, Array, Case, cases, cdiv, normal, poison, strides, wide

E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
LARGEST = {E4M3: 448.0, E5M2: 57344.0}


def finite(rng: np.random.Generator, *shape: int, dtype: Any) -> Array:
    """Every finite number of a dtype, as likely as any other."""
    codes = np.arange(256, dtype=np.uint8).view(dtype)
    return rng.choice(codes[np.isfinite(codes.astype(F32))], shape)


@cases
def quantise_groups_fp8(rng: np.random.Generator) -> Iterator[Case]:
    rows, groups = 5, 3
    for group, block, dtype, source, power in (
        (128, 128, E4M3, F32, False),
        (100, 128, E5M2, F32, True),
        (64, 64, E4M3, BF16, True),
    ):
        # Numbers that lie on the grid, so that no quotient is half way; a row of zeros; in the last case any numbers.
        q = finite(rng, rows, groups, group, dtype=dtype)
        # Where the scale is rounded up to a power of two, it is not one already: a GPU's division would decide.
        top = LARGEST[dtype] * (6 / 7 if power else 1)
        q[np.abs(wide(q)) > top] = 0
        q[..., 0] = -top
        scale = np.exp2(rng.integers(-8, 8, (rows, groups)))
        x = (wide(q) * scale[..., None]).astype(source)
        if source == BF16:
            x = normal(rng, rows, groups, group, dtype=source)
            scale = np.exp2(np.ceil(np.log2(np.abs(wide(x)).max(-1) / LARGEST[dtype])))
            q = (wide(x) / scale[..., None]).astype(F32).astype(dtype)  # exact in f32
        x[2], q[2], scale[2] = 0, 0, 2.0**-40 if power else 1e-12 / LARGEST[dtype]
        given = {
            "y_ptr": x.reshape(rows, -1), "y_stride": groups * group, "q_ptr": poison((rows, groups * group), dtype),
            "s_ptr": poison((rows, groups), F32), "s_stride_row": groups, "s_stride_group": 1, "groups_per_row": groups,
            "eps": LARGEST[dtype] * 2.0**-40 if power else 1e-12,
        }  # fmt: skip
        const = {
            "fp8_min": -LARGEST[dtype],
            "fp8_max": LARGEST[dtype],
            "GROUP": group,
            "BLOCK": block,
            "POWER_OF_TWO": power,
        }
        yield Case(given, {"q_ptr": wide(q), "s_ptr": scale}, (rows * groups,), const, {"q_ptr": 0.0})


@cases
def dequantise_tiles_fp8(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, block, dtype, out in (
        (70, 50, 32, E4M3, BF16),
        (33, 128, 64, E5M2, F32),
        (16, 16, 16, E4M3, F16),
    ):
        x = finite(rng, m, n, dtype=dtype)
        scale = rng.uniform(0.01, 0.1, (cdiv(m, block), cdiv(n, block))).astype(F32)
        spread = np.repeat(np.repeat(wide(scale), block, 0), block, 1)[:m, :n]
        given = {"x_ptr": x, "s_ptr": scale, "y_ptr": poison(x.shape, out), "M": m, "N": n}
        yield Case(given, {"y_ptr": wide(x) * spread}, scale.shape, {"BLOCK_SIZE": block})


@cases
def matmul_fp8_scaled(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, k, block, left, right, out in (
        (33, 70, 200, (32, 32, 64), E4M3, E4M3, BF16),
        (64, 48, 128, (16, 64, 32), E5M2, E4M3, F32),
        (100, 128, 64, (64, 64, 64), E4M3, E4M3, F16),
    ):
        group_n, group_k = 32, block[2]
        a, b = normal(rng, m, k).astype(left), normal(rng, n, k).astype(right)
        a_s = rng.uniform(0.5, 2, (m, cdiv(k, group_k))).astype(F32)
        b_s = rng.uniform(0.5, 2, (cdiv(n, group_n), cdiv(k, group_k))).astype(F32)
        x = wide(a) * np.repeat(wide(a_s), group_k, 1)[:, :k]
        y = wide(b) * np.repeat(np.repeat(wide(b_s), group_n, 0)[:n], group_k, 1)[:, :k]
        c = poison((m, n), out)
        given = {
            "a_ptr": a, "b_ptr": b, "c_ptr": c, "a_s_ptr": a_s, "b_s_ptr": b_s, "M": m, "N": n, "K": k, "group_n": group_n, "group_k": group_k,
            "stride_am": k, "stride_ak": 1, "stride_bk": 1, "stride_bn": k, "stride_cm": n, "stride_cn": 1,
            "stride_as_m": strides(a_s)[0], "stride_as_k": 1, "stride_bs_k": 1, "stride_bs_n": strides(b_s)[0],
        }  # fmt: skip
        const = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M"), (*block, 2), strict=True))
        # Products of Hopper's tensor cores keep fewer bits of a sum of floats of 8 bits than f32 has.
        yield Case(
            given,
            {"c_ptr": x @ y.T},
            (cdiv(m, block[0]) * cdiv(n, block[1]),),
            const,
            4e-3 if out != BF16 else 8e-3,
        )
