"""Loops that end when they end: :mod:`tests.kernels.sources.searching`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tests.kernels.case import BF16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.cases.activations import silu
from tests.kernels.cases.norms import gradient, normalised


@cases
def searchsorted(rng: np.random.Generator) -> Iterator[Case]:
    n, size = 300, 100
    boundaries = np.sort(np.rint(4 * normal(rng, size)))
    for right, kind in ((False, np.int64), (True, np.int32)):
        x = np.rint(4 * normal(rng, n))
        given = {
            "boundaries_ptr": boundaries, "x_ptr": x, "out_ptr": poison(n, kind), "n_boundaries": size, "n": n
        }  # fmt: skip
        wanted = {"out_ptr": np.searchsorted(boundaries, x, "right" if right else "left")}
        yield Case(given, wanted, (cdiv(n, 128),), {"RIGHT": right, "BLOCK": 128})


@cases
def layer_norm_backward_locked(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns, group = 9, 300, 4
    for dtype in (F32, BF16):
        x, dy, w = (normal(rng, n, columns, dtype=dtype) for n in (rows, rows, 1))
        x_hat, mean, rstd = normalised(wide(x))
        given = {
            "DX": poison(x.shape, dtype), "DY": dy, "DW": poison((group, columns), F32), "DB": poison((group, columns), F32),
            "X": x, "W": w, "Mean": mean.astype(F32), "Rstd": rstd.astype(F32), "Lock": np.zeros(2 * group, np.int32),
            "stride": columns, "N": columns,
        }  # fmt: skip
        wanted = {
            "DX": gradient(wide(dy) * wide(w), x_hat, rstd),
            "DW": np.stack([(wide(dy) * x_hat)[i::group].sum(0) for i in range(group)]),
            "DB": np.stack([wide(dy)[i::group].sum(0) for i in range(group)]),
            "Lock": np.repeat([0, 1], group),
        }
        const = {"GROUP_SIZE_M": group, "BLOCK_SIZE_N": 512}
        yield Case(given, wanted, (rows,), const, ordered=False)


@cases
def work_queue(rng: np.random.Generator) -> Iterator[Case]:
    n, programs = 1000, 3
    tiles = cdiv(n, 128)
    x = normal(rng, n)
    given = {
        "x_ptr": x, "y_ptr": poison(n, F32), "next_ptr": np.zeros(1, np.int32), "taken_ptr": np.zeros(1, np.int32),
        "tiles": tiles, "n": n,
    }  # fmt: skip
    wanted = {
        "y_ptr": silu(wide(x)),
        "next_ptr": np.array([tiles + programs]),
        "taken_ptr": np.array([tiles]),
    }
    yield Case(given, wanted, (programs,), {"BLOCK": 128})


@cases
def sinkhorn(rng: np.random.Generator) -> Iterator[Case]:
    batch, n = 3, 16
    for most in (5, 0):
        x = normal(rng, batch, n, n)
        p = np.exp(wide(x))
        for _ in range(most):
            p /= p.sum(2, keepdims=True)
            p /= p.sum(1, keepdims=True)
        given = {
            "logits_ptr": x, "out_ptr": poison(x.shape, F32), "turns_ptr": poison(batch, np.int32), "tolerance": 0.0,
            "most": most,
        }  # fmt: skip
        yield Case(given, {"out_ptr": p, "turns_ptr": np.full(batch, most)}, (batch,), {"N": n})


@cases
def top_p_threshold(rng: np.random.Generator) -> Iterator[Case]:
    rows, n, p = 4, 200, 0.8
    # Probabilities a good way apart, and sums that are not near p.
    ranks = np.stack([rng.permutation(n) for _ in range(rows)])
    x = np.exp(-ranks / 7.3)
    x[1] = np.where(ranks[1] == 0, 0.9, x[1] / 100)
    x = (x / x.sum(-1, keepdims=True)).astype(F32)
    order = -np.sort(-wide(x), axis=-1)
    least = np.array([row[np.searchsorted(row.cumsum(), p)] for row in order])
    kept = np.where(wide(x) >= least[:, None] * (1 - 1e-6), wide(x), 0)
    below = np.array([row[row < at].max() for row, at in zip(order, least * (1 - 1e-6), strict=True)])
    given = {
        "probs_ptr": x, "out_ptr": poison(x.shape, F32), "threshold_ptr": poison(rows, F32), "p": p, "n": n, "stride": n
    }  # fmt: skip
    wanted = {"out_ptr": kept / kept.sum(-1, keepdims=True), "threshold_ptr": least}
    assert (below < least).all()
    yield Case(given, wanted, (rows,), {"BLOCK": 256}, {"threshold_ptr": 1e-5})


@cases
def linked_lists(rng: np.random.Generator) -> Iterator[Case]:
    order, cuts = rng.permutation(50), [0, 13, 13, 20, 50]
    following = np.full(50, -1, np.int32)
    values = rng.integers(-9, 9, 50).astype(np.int32)
    heads, sums, lengths = list[int](), list[int](), list[int]()
    for a, b in pairwise(cuts):
        nodes = order[a:b]
        following[nodes[:-1]] = nodes[1:]
        heads.append(int(nodes[0]) if len(nodes) else -1)
        sums.append(int(values[nodes].sum()))
        lengths.append(len(nodes))
    given = {
        "next_ptr": following, "value_ptr": values, "head_ptr": np.array(heads, np.int32),
        "sum_ptr": poison(len(heads), np.int32), "length_ptr": poison(len(heads), np.int32),
    }  # fmt: skip
    yield Case(
        given, {"sum_ptr": np.array(sums), "length_ptr": np.array(lengths)}, (len(heads),), num_warps=1
    )
