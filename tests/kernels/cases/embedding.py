"""Embeddings: :mod:`tests.kernels.sources.embedding`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide


@cases
def embedding_forward(rng: np.random.Generator) -> Iterator[Case]:
    rows, words = 70, 50
    for size, dtype, kind in ((100, F32, np.int64), (64, BF16, np.int32)):
        table, index = normal(rng, words, size, dtype=dtype), rng.integers(0, words, rows).astype(kind)
        given = {
            "embeddings_ptr": table, "indices_ptr": index, "output_ptr": poison((rows, size), dtype), "n_elements": rows
        }  # fmt: skip
        const = {"embedding_dim": size, "BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 64}
        grid = (cdiv(rows, 32), cdiv(size, 64))
        yield Case(given, {"output_ptr": wide(table)[index]}, grid, const, 0.0)


@cases
def embedding_backward(rng: np.random.Generator) -> Iterator[Case]:
    rows, words, size = 70, 10, 100
    for everything, dtype in ((True, F32), (False, F16)):
        grad, index = normal(rng, rows, size, dtype=dtype), rng.integers(0, words, rows)
        counts = np.bincount(index, minlength=words).astype(np.int32)
        padding = 3
        wanted = np.zeros((words, size))
        np.add.at(wanted, index, wide(grad))
        if everything:
            wanted /= np.maximum(counts, 1)[:, None]
            wanted[padding] = 0
        given = {
            "grad_output_ptr": grad, "grad_weight_ptr": np.zeros((words, size), F32), "indices_ptr": index,
            "counts_ptr": counts if everything else None, "n_elements": rows, "padding_idx": padding,
        }  # fmt: skip
        const = {
            "embedding_dim": size, "HAS_PADDING": everything, "SCALE_BY_FREQUENCY": everything, "BLOCK_SIZE_M": 16,
            "BLOCK_SIZE_N": 64,
        }  # fmt: skip
        yield Case(given, {"grad_weight_ptr": wanted}, (cdiv(rows, 16), cdiv(size, 64)), const, ordered=False)


@cases
def embedding_bag(rng: np.random.Generator) -> Iterator[Case]:
    words, size = 30, 100
    starts = np.array([0, 3, 3, 8, 12], np.int32)
    for mode, weighted in (("sum", True), ("mean", False), ("max", False)):
        table, index = normal(rng, words, size, dtype=F16), rng.integers(0, words, starts[-1])
        weight = normal(rng, int(starts[-1]))
        rows = wide(table)[index] * (wide(weight)[:, None] if weighted else 1)
        wanted = np.zeros((len(starts) - 1, size))
        for i, (a, b) in enumerate(pairwise(starts)):
            if b > a:
                wanted[i] = getattr(rows[a:b], mode)(0)
        given = {
            "weight_ptr": table, "indices_ptr": index, "offsets_ptr": starts,
            "per_sample_ptr": weight if weighted else None, "out_ptr": poison(wanted.shape, F32), "D": size,
            "stride_w": size,
        }  # fmt: skip
        yield Case(given, {"out_ptr": wanted}, (len(wanted), 2), {"BLOCK_D": 64, "MODE": mode}, num_warps=2)


@cases
def index_select(rng: np.random.Generator) -> Iterator[Case]:
    outer, axis, inner, selected = 5, 9, 7, 12
    for checked in (True, False):
        x = normal(rng, outer, axis, inner)
        index = rng.integers(-axis, axis, selected)
        if checked:
            index[:2] = axis, -axis - 1
        inside = (index >= -axis) & (index < axis)
        wanted = np.where(inside[:, None], wide(x)[:, np.where(inside, index, 0)], 0)
        given = {
            "in_ptr": x, "index_ptr": index, "out_ptr": poison(wanted.shape, F32), "outer": outer,
            "selected": selected, "inner": inner, "axis_size": axis,
        }  # fmt: skip
        yield Case(
            given, {"out_ptr": wanted}, (cdiv(wanted.size, 256),), {"BLOCK": 256, "CHECK": checked}, 0.0
        )


@cases
def scatter_reduce_rows(rng: np.random.Generator) -> Iterator[Case]:
    rows, targets, size = 40, 6, 150
    for reduce, dtype in (("sum", F32), ("amax", np.int32), ("amin", F32)):
        x = (100 * normal(rng, rows, size)).astype(dtype)
        index = rng.integers(-1, targets, rows)
        out = (100 * normal(rng, targets, size)).astype(dtype)
        wanted = wide(out)
        {"sum": np.add, "amax": np.maximum, "amin": np.minimum}[reduce].at(
            wanted, index[index >= 0], wide(x)[index >= 0]
        )
        given = {
            "src_ptr": x, "index_ptr": index, "out_ptr": out, "count_ptr": np.zeros(targets, np.int32), "N": rows,
            "D": size,
        }  # fmt: skip
        counts = np.bincount(index[index >= 0], minlength=targets)
        wanted_all = {"out_ptr": wanted, "count_ptr": counts}
        yield Case(given, wanted_all, (rows,), {"BLOCK_D": 128, "REDUCE": reduce}, ordered=False)
