"""Softmax: :mod:`tests.kernels.sources.softmax`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide


def softmax(x: Any) -> Any:
    """Along the last axis; 0 where all is -inf."""
    top = x.max(-1, keepdims=True)
    e = np.exp(x - np.where(np.isinf(top), 0, top))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@cases
def masked_softmax(rng: np.random.Generator) -> Iterator[Case]:
    b, h, q, k = 2, 3, 4, 300
    for kind, dtype, more in (("add", F32, True), ("bool", BF16, False), ("none", F16, True)):
        x, bias = normal(rng, b, h, q, k, dtype=dtype), normal(rng, h, k, dtype=dtype)
        lengths = np.array([k, 123], np.int32)
        added, allowed = normal(rng, b, q, k), rng.random((b, q, k)) > 0.3
        allowed[0, 1] = False
        scores = wide(x) * 0.5
        if more:
            scores = scores + wide(bias)[:, None]
        if kind == "add":
            scores = scores + wide(added)[:, None]
        elif kind == "bool":
            scores = np.where(allowed[:, None], scores, -np.inf)
        if more:
            scores = np.where(np.arange(k) < lengths[:, None, None, None], scores, -np.inf)
        mask = {"add": added, "bool": allowed, "none": None}[kind]
        given = {
            "out_ptr": poison(x.shape, dtype), "in_ptr": x, "mask_ptr": mask, "bias_ptr": bias if more else None,
            "lengths_ptr": lengths if more else None, "scale": 0.5, "B": b, "H": h, "Q": q, "K": k,
            "stride_b": h * q * k, "stride_h": q * k, "stride_q": k, "stride_mask_b": q * k, "stride_mask_q": k,
            "stride_bias_h": k,
        }  # fmt: skip
        const = {"MASK_KIND": kind, "HAS_BIAS": more, "HAS_LENGTHS": more, "BLOCK": 512}
        yield Case(given, {"out_ptr": softmax(scores)}, (b * h * q,), const)


@cases
def causal_softmax(rng: np.random.Generator) -> Iterator[Case]:
    for length, window in ((50, 0), (64, 10)):
        x = normal(rng, 2, length, length)
        at = np.arange(length)
        behind = at[:, None] - at
        keep = (behind >= 0) & ((behind < window) | (window == 0))
        given = {"x_ptr": x, "y_ptr": poison(x.shape, F32), "scale": 0.3, "T": length, "stride_t": length}
        wanted = {"y_ptr": softmax(np.where(keep, wide(x) * 0.3, -np.inf))}
        yield Case(given, wanted, (cdiv(length, 8), 2), {"WINDOW": window, "BM": 8, "BLOCK": 64})


@cases
def log_softmax_long(rng: np.random.Generator) -> Iterator[Case]:
    rows = 3
    for columns, dtype, log in ((5000, F32, True), (2048, BF16, False)):
        x = normal(rng, rows, columns, dtype=dtype)
        y = softmax(wide(x))
        given = {"out_ptr": poison(x.shape, dtype), "in_ptr": x, "row_stride": columns, "n_cols": columns}
        yield Case(
            given, {"out_ptr": np.log(y) if log else y}, (rows,), {"BLOCK": 1024, "LOG": log}, num_warps=8
        )


@cases
def softmax_backward(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns = 7, 200
    for log in (False, True):
        y, dy = softmax(normal(rng, rows, columns)), normal(rng, rows, columns)
        along = (y * dy).sum(-1, keepdims=True)
        dx = dy - y * wide(dy).sum(-1, keepdims=True) if log else y * (dy - along)
        given = {
            "dx_ptr": poison(y.shape, F32), "y_ptr": (np.log(y) if log else y).astype(F32), "dy_ptr": dy,
            "stride": columns, "n_rows": rows, "n_cols": columns, "scale": 2.0,
        }  # fmt: skip
        yield Case(given, {"dx_ptr": 2 * dx}, (cdiv(rows, 4),), {"BM": 4, "BN": 256, "LOG": log})


@cases
def softmax_persistent(rng: np.random.Generator) -> Iterator[Case]:
    for rows, columns, dtype in ((10, 300, F32), (3, 512, F32)):
        x = normal(rng, rows, columns, dtype=dtype)
        given = {
            "out_ptr": poison(x.shape, dtype), "in_ptr": x, "in_stride": columns, "out_stride": columns, "n_rows": rows,
            "n_cols": columns,
        }  # fmt: skip
        yield Case(given, {"out_ptr": softmax(wide(x))}, (4,), {"BLOCK": 512, "num_stages": 2})
