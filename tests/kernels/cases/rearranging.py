"""Sorting, joining and looking up inside a tile: :mod:`tests.kernels.sources.rearranging`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import BF16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.cases.rotary import angles, turned


@cases
def rope_by_split(rng: np.random.Generator) -> Iterator[Case]:
    tokens, heads, size = 21, 3, 32
    for dtype in (F32, BF16):
        x = normal(rng, tokens, heads, size, dtype=dtype)
        cos, sin = angles(rng, tokens, size // 2)
        given = {
            "x_ptr": x, "cos_ptr": cos, "sin_ptr": sin, "y_ptr": poison(x.shape, dtype), "T": tokens,
            "stride_t": heads * size,
        }  # fmt: skip
        wanted = {"y_ptr": turned(wide(x), wide(cos)[:, None], wide(sin)[:, None], interleaved=True)}
        yield Case(given, wanted, (cdiv(tokens, 8), heads), {"BT": 8, "D": size})


@cases
def sparsemax(rng: np.random.Generator) -> Iterator[Case]:
    rows, n = 5, 100
    x = normal(rng, rows, n)
    z = -np.sort(-wide(x), axis=-1)
    k = np.arange(1, n + 1)
    count = (1 + k * z > z.cumsum(-1)).sum(-1)
    tau = (np.take_along_axis(z.cumsum(-1), count[:, None] - 1, 1) - 1) / count[:, None]
    given = {"x_ptr": x, "y_ptr": poison(x.shape, F32), "n": n, "stride": n}
    yield Case(given, {"y_ptr": np.maximum(wide(x) - tau, 0)}, (rows,), {"BLOCK": 128})


@cases
def top_k_values(rng: np.random.Generator) -> Iterator[Case]:
    rows, n, k = 5, 200, 8
    x = normal(rng, rows, n)
    given = {"x_ptr": x, "out_ptr": poison((rows, k), F32), "n": n, "stride": n}
    yield Case(given, {"out_ptr": -np.sort(-wide(x), axis=-1)[:, :k]}, (rows,), {"BLOCK": 256, "K": k}, 0.0)


@cases
def unpack_nibbles(rng: np.random.Generator) -> Iterator[Case]:
    n, group = 500, 50
    packed, table = rng.integers(0, 256, n).astype(np.uint8), normal(rng, 16)
    scale = rng.uniform(0.5, 2, 2 * n // group).astype(F32)
    index = np.stack([packed >> 4, packed & 15], -1).reshape(-1)
    given = {
        "packed_ptr": packed, "table_ptr": table, "scale_ptr": scale, "out_ptr": poison(2 * n, F32), "n_bytes": n
    }  # fmt: skip
    wanted = {"out_ptr": wide(table)[index] * np.repeat(wide(scale), group)}
    yield Case(given, wanted, (cdiv(n, 128),), {"GROUP": group, "BLOCK": 128})


@cases
def reverse_sequences(rng: np.random.Generator) -> Iterator[Case]:
    rows, length = 4, 50
    lengths = np.array([50, 1, 0, 23], np.int32)
    x = rng.integers(0, 1000, (rows, length))
    wanted = x.copy()
    for i, n in enumerate(lengths):
        wanted[i, :n] = x[i, :n][::-1]
    given = {
        "x_ptr": x, "lengths_ptr": lengths, "y_ptr": poison(x.shape, np.int64), "T": length, "stride": length
    }  # fmt: skip
    yield Case(given, {"y_ptr": wanted}, (rows,), {"BLOCK": 64})


@cases
def histogram_rows(rng: np.random.Generator) -> Iterator[Case]:
    rows, n, bins = 3, 300, 32
    x = rng.integers(0, bins, (rows, n)).astype(np.int32)
    given = {"x_ptr": x, "out_ptr": poison((rows, bins), np.int32), "n": n, "stride": n}
    wanted = {"out_ptr": np.stack([np.bincount(row, minlength=bins) for row in x])}
    yield Case(given, wanted, (rows,), {"BINS": bins, "BLOCK": 128})
