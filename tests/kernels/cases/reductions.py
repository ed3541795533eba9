"""Reductions: :mod:`tests.kernels.sources.reductions`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide


@cases
def argmax_rows(rng: np.random.Generator) -> Iterator[Case]:
    for rows, columns, dtype in ((6, 700, F32), (4, 512, F16)):
        # Halves: many are equal.
        x = (np.rint(2 * normal(rng, rows, columns)) / 2).astype(dtype)
        given = {
            "x_ptr": x, "values_ptr": poison(rows, F32), "places_ptr": poison(rows, np.int64), "M": rows, "N": columns,
            "stride_m": columns,
        }  # fmt: skip
        wanted = {"values_ptr": wide(x).max(-1), "places_ptr": wide(x).argmax(-1)}
        yield Case(given, wanted, (cdiv(rows, 4),), {"BM": 4, "BN": 256})


@cases
def nearest_codes(rng: np.random.Generator) -> Iterator[Case]:
    n, size, codes = 50, 19, 64
    x, table = normal(rng, n, size), normal(rng, codes, size)
    distance = ((wide(x)[:, None] - table) ** 2).sum(-1)
    given = {
        "x_ptr": x, "codes_ptr": table, "out_ptr": poison(n, np.int32), "distance_ptr": poison(n, F32), "N": n, "D": size
    }  # fmt: skip
    wanted = {"out_ptr": distance.argmin(-1), "distance_ptr": distance.min(-1)}
    yield Case(given, wanted, (cdiv(n, 16),), {"CODES": codes, "BN": 16, "BD": 8})


@cases
def variance_all(rng: np.random.Generator) -> Iterator[Case]:
    block, turns = 256, 3
    for n, dtype in ((2000, F32), (768, BF16)):
        x = (5 + normal(rng, n)).astype(dtype)
        parts = [wide(x)[i : i + block * turns] for i in range(0, n, block * turns)]
        given = {"x_ptr": x, "partial_ptr": poison((len(parts), 3), F32), "n": n}
        wanted = {"partial_ptr": np.array([(p.mean(), p.var() * len(p), len(p)) for p in parts])}
        yield Case(given, wanted, (len(parts),), {"BLOCK": block, "TURNS": turns})


@cases
def variance_finish(rng: np.random.Generator) -> Iterator[Case]:
    x = 3 + normal(rng, 11, 100)
    v = wide(x)
    partial = np.stack([v.mean(-1), v.var(-1) * 100, np.full(11, 100)], -1).astype(F32)
    given = {
        "partial_ptr": partial, "mean_ptr": poison(1, F32), "var_ptr": poison(1, F32), "n_parts": 11, "correction": 1
    }  # fmt: skip
    wanted = {"mean_ptr": v.mean(keepdims=True), "var_ptr": v.var(ddof=1, keepdims=True)}
    yield Case(given, wanted, (1,), {"BLOCK": 16})


@cases
def count_values(rng: np.random.Generator) -> Iterator[Case]:
    n, bins = 3000, 16
    x = normal(rng, n)
    x[0], x[1] = 1.0, -1.0
    counts = np.zeros(bins, np.int32)
    # The same arithmetic, since edges are a matter of rounding.
    at = ((x + F32(1)) * F32(bins / 2)).astype(np.int32)
    at[x == 1] = bins - 1
    inside = (x >= -1) & (x <= 1)
    given = {"x_ptr": x, "counts_ptr": counts, "n": n, "low": -1.0, "high": 1.0}
    wanted = {"counts_ptr": np.bincount(at[inside], minlength=bins)}
    yield Case(given, wanted, (3,), {"BINS": bins, "BLOCK": 128})


@cases
def bincount(rng: np.random.Generator) -> Iterator[Case]:
    n, bins = 2000, 37
    x, weights = rng.integers(0, bins, n), normal(rng, n)
    for weighted in (False, True):
        given = {
            "x_ptr": x, "weights_ptr": weights if weighted else None,
            "out_ptr": np.zeros(bins, F32 if weighted else np.int32), "n": n,
        }  # fmt: skip
        wanted = {"out_ptr": np.bincount(x, wide(weights) if weighted else None, bins)}
        const = {"BLOCK": 512, "HAS_WEIGHTS": weighted}
        yield Case(given, wanted, (cdiv(n, 512),), const, {"out_ptr": 1e-5 if weighted else 0}, ordered=False)


@cases
def any_all(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns = 4, 300
    x = rng.integers(1, 1 << 30, (rows, columns)).astype(np.int32)
    x[1] = 0
    x[2, 299] = 0
    given = {
        "x_ptr": x, "any_ptr": poison(rows, bool), "all_ptr": poison(rows, bool), "parity_ptr": poison(rows, np.int32),
        "N": columns, "stride": columns,
    }  # fmt: skip
    wanted = {
        "any_ptr": x.any(-1), "all_ptr": x.all(-1), "parity_ptr": np.bitwise_xor.reduce(x, -1)
    }  # fmt: skip
    yield Case(given, wanted, (rows,), {"BLOCK": 128})
