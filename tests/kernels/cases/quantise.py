"""Quantisation: :mod:`tests.kernels.sources.quantise`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide

#: Quotients half way between two integers may be rounded to either: one step of the largest number.
STEP = 1 / 127


@cases
def quantise_rows(rng: np.random.Generator) -> Iterator[Case]:
    rows = 4
    for columns, long, dtype in ((1000, False, F32), (2500, True, BF16), (1024, False, F16)):
        x = normal(rng, rows, columns, dtype=dtype)
        x[1] = 0
        top = np.abs(wide(x)).max(-1)
        scale = np.where(top == 0, 1, top / 127)
        given = {
            "x_ptr": x, "q_ptr": poison(x.shape, np.int8), "scale_ptr": poison(rows, F32), "n_cols": columns,
            "stride_x": columns, "stride_q": columns,
        }  # fmt: skip
        wanted = {"q_ptr": np.rint(wide(x) / scale[:, None]), "scale_ptr": scale}
        yield Case(given, wanted, (rows,), {"BLOCK": 1024, "LONG": long}, {"q_ptr": STEP})


@cases
def dequantise_rows(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns = 5, 300
    for dtype in (F32, F16):
        q = rng.integers(-127, 128, (rows, columns)).astype(np.int8)
        scale = rng.uniform(0.01, 0.02, rows).astype(F32)
        given = {
            "q_ptr": q, "scale_ptr": scale, "out_ptr": poison(q.shape, dtype), "n_elements": q.size, "n_cols": columns
        }  # fmt: skip
        yield Case(given, {"out_ptr": wide(q) * wide(scale)[:, None]}, (cdiv(q.size, 512),), {"BLOCK": 512})


@cases
def quantise_groups_4bit(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns, group = 3, 32 * 6, 32
    # Numbers that lie on the grid: nothing is half way.
    zero, scale = rng.integers(1, 15, (rows, 6)), rng.integers(1, 5, (rows, 6)) / 4
    q = rng.integers(0, 16, (rows, 6, group))
    q[..., 0], q[..., 1] = 0, 15
    x = ((q - zero[..., None]) * scale[..., None]).reshape(rows, columns).astype(F32)
    flat = q.reshape(rows, columns)
    given = {
        "x_ptr": x, "packed_ptr": poison((rows, columns // 2), np.uint8), "scale_ptr": poison((rows, 6), F32),
        "zero_ptr": poison((rows, 6), np.uint8), "rows": rows, "n_cols": columns,
    }  # fmt: skip
    wanted = {"packed_ptr": flat[:, ::2] | flat[:, 1::2] << 4, "scale_ptr": scale, "zero_ptr": zero}
    yield Case(given, wanted, (rows, 2), {"GROUP": group, "GROUPS": 4})


@cases
def dequantise_groups_4bit(rng: np.random.Generator) -> Iterator[Case]:
    n, group = 1000, 40
    packed, zero = (
        rng.integers(0, 256, n // 2).astype(np.uint8),
        rng.integers(0, 16, n // group).astype(np.uint8),
    )
    scale = rng.uniform(0.1, 1, n // group).astype(F32)
    q = np.stack([packed & 15, packed >> 4], -1).reshape(-1).astype(float)
    given = {"packed_ptr": packed, "scale_ptr": scale, "zero_ptr": zero, "out_ptr": poison(n, F32), "n": n}
    wanted = {"out_ptr": (q - np.repeat(wide(zero), group)) * np.repeat(wide(scale), group)}
    yield Case(given, wanted, (cdiv(n, 512),), {"GROUP": group, "BLOCK": 512})


@cases
def quantise_tiles(rng: np.random.Generator) -> Iterator[Case]:
    m, n, block = 70, 50, 32
    x = normal(rng, m, n)
    scale, q = np.zeros((cdiv(m, block), cdiv(n, block))), np.zeros(x.shape)
    for i, j in np.ndindex(*scale.shape):
        at = (slice(i * block, (i + 1) * block), slice(j * block, (j + 1) * block))
        scale[i, j] = np.abs(wide(x)[at]).max() / 127
        q[at] = np.rint(wide(x)[at] / scale[i, j])
    given = {
        "x_ptr": x, "q_ptr": poison(x.shape, np.int8), "scale_ptr": poison(scale.shape, F32), "M": m, "N": n, "stride_m": n
    }  # fmt: skip
    yield Case(given, {"q_ptr": q, "scale_ptr": scale}, scale.shape, {"BLOCK": block}, {"q_ptr": STEP})


@cases
def requantise_accumulator(rng: np.random.Generator) -> Iterator[Case]:
    m, n = 20, 70
    for eight, everything in ((True, True), (False, False)):
        acc, sums = (
            rng.integers(-40000, 40000, (m, n)).astype(np.int32),
            rng.integers(-500, 500, n).astype(np.int32),
        )
        r, c = rng.uniform(0.01, 0.1, m).astype(F32), rng.uniform(0.01, 0.1, n).astype(F32)
        bias = normal(rng, n)
        y = (wide(acc) - (7 * sums if everything else 0)) * wide(r)[:, None] * wide(c) + (
            bias if everything else 0
        )
        given = {
            "acc_ptr": acc, "row_scale_ptr": r, "col_scale_ptr": c, "col_sum_ptr": sums if everything else None,
            "zero_point": 7, "bias_ptr": bias if everything else None, "out_ptr": poison(acc.shape, np.int8 if eight else F16),
            "out_scale": 0.5, "M": m, "N": n,
        }  # fmt: skip
        wanted = {"out_ptr": np.clip(np.rint(y / 0.5), -128, 127) if eight else y}
        const = {"BM": 8, "BN": 64, "ASYMMETRIC": everything, "TO_INT8": eight}
        yield Case(given, wanted, (cdiv(m, 8), 2), const, STEP if eight else {})
