"""Losses: :mod:`tests.kernels.sources.losses`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide


def logsumexp(x: Any) -> Any:
    """Of rows."""
    top = x.max(-1)
    return top + np.log(np.exp(x - top[:, None]).sum(-1))


def labels_of(rng: np.random.Generator, rows: int, classes: int, ignored: int | None = None) -> Any:
    """Random ones; the second row's is to be ignored."""
    labels = rng.integers(0, classes, rows)
    if ignored is not None:
        labels[1] = ignored
    return labels


@cases
def fused_cross_entropy(rng: np.random.Generator) -> Iterator[Case]:
    rows, ignored = 6, -100
    for columns, dtype, smoothing, z, weighted, capped, reduction in (
        (1000, F32, 0.0, 0.0, False, False, "mean"),
        (2048, BF16, 0.1, 1e-3, False, True, "sum"),
        (1500, F32, 0.2, 1e-3, True, False, "mean"),
        (300, F16, 0.1, 0.0, True, True, "mean"),
    ):
        x = (3 * normal(rng, rows, columns)).astype(dtype)
        y = labels_of(rng, rows, columns, ignored)
        w = rng.uniform(0.5, 2, columns).astype(F32) if weighted else np.ones(columns)
        v = wide(x)
        t = 8.0 * np.tanh(v / 8) if capped else v
        taken = y != ignored
        hot = np.eye(columns)[np.where(taken, y, 0)]
        n, heavy = taken.sum(), float(wide(w)[y[taken]].sum())
        per, per_z = (heavy if weighted else n, n) if reduction == "mean" else (1, 1)
        lse = logsumexp(t)
        p = np.exp(t - lse[:, None])
        # What each class counts for: the label's share and everybody's.
        shares = ((1 - smoothing) * hot + smoothing / columns) * wide(w)
        loss = (shares * (lse[:, None] - t)).sum(-1) / per
        z_loss = z * lse**2 / per_z
        dx = (shares.sum(-1, keepdims=True) * p - shares) / per + 2 * z * (lse[:, None] * p) / per_z
        if capped:
            dx = dx * (1 - np.tanh(v / 8) ** 2)
        right = (t.argmax(-1) == y).astype(float)
        zeros = np.zeros(rows, F32)
        given = {
            "X_ptr": x, "X_stride": columns, "Y_ptr": y, "Y_stride": 1, "weight_ptr": w if weighted else None,
            "loss_ptr": zeros, "z_loss_ptr": zeros if z else None, "loss_stride": 1, "token_accuracy_ptr": poison(rows, F32),
            "token_accuracy_stride": 1, "n_cols": columns, "n_non_ignore": int(n), "sum_non_ignore_weight": heavy,
            "weight_sum": float(w.sum()), "ignore_index": ignored, "softcap": 8.0 if capped else None,
        }  # fmt: skip
        wanted = {
            "X_ptr": np.where(taken[:, None], dx, 0), "loss_ptr": np.where(taken, loss + z_loss, 0),
            "token_accuracy_ptr": np.where(taken, right, 0),
        }  # fmt: skip
        if z:
            wanted["z_loss_ptr"] = np.where(taken, z_loss, 0)
        const = {
            "lse_square_scale": z, "label_smoothing": smoothing, "reduction": reduction, "RETURN_Z_LOSS": z > 0,
            "RETURN_TOKEN_ACCURACY": True, "BLOCK_SIZE": 1024, "HAS_WEIGHT": weighted, "HAS_SOFTCAPPING": capped,
            "HAS_GRADIENTS": True,
        }  # fmt: skip
        yield Case(given, wanted, (rows,), const, num_warps=8)


@cases
def cross_entropy_forward(rng: np.random.Generator) -> Iterator[Case]:
    rows, ignored = 5, -1
    for columns, dtype, smoothing, split in ((3000, F32, 0.1, False), (512, BF16, 0.0, True)):
        total = 2 * columns if split else columns
        x, y = normal(rng, rows, columns, dtype=dtype), labels_of(rng, rows, total, ignored)
        y[0], y[2] = 3, total - 1
        start, scale, z = 0, 0.5, 1e-3
        v = wide(x) * scale
        lse = logsumexp(v)
        here = y < columns
        picked = np.where(
            here & (y >= 0), np.take_along_axis(v, np.clip(y, 0, columns - 1)[:, None], 1)[:, 0], 0
        )
        base = 0 if split else lse
        loss = np.where(here, base - smoothing * v.sum(-1) / total - (1 - smoothing) * picked, 0)
        taken = y != ignored
        z_loss = np.where(taken & (not split), z * lse**2, 0)
        given = {
            "loss_ptr": poison(rows, F32), "lse_ptr": poison(rows, F32),
            "z_loss_ptr": None if split else poison(rows, F32), "logits_ptr": x, "labels_ptr": y, "smoothing": smoothing,
            "logit_scale": scale, "lse_square_scale": z, "ignore_index": ignored, "total_classes": total,
            "class_start_idx": start, "n_cols": columns, "logits_row_stride": columns,
        }  # fmt: skip
        wanted = {"loss_ptr": np.where(taken, loss, 0) + z_loss, "lse_ptr": lse, "z_loss_ptr": z_loss}
        const = {"BLOCK_SIZE": 1024, "HAS_SMOOTHING": smoothing > 0, "SPLIT": split, "PRECOMPUTED_LSE": False}
        yield Case(given, wanted, (rows,), const, types={"ignore_index": "i32"}, assumed=not split)


@cases
def cross_entropy_backward(rng: np.random.Generator) -> Iterator[Case]:
    rows, ignored = 5, -1
    for columns, dtype, smoothing in ((1000, F32, 0.1), (640, BF16, 0.0)):
        x, y = normal(rng, rows, columns, dtype=dtype), labels_of(rng, rows, columns, ignored)
        dloss, scale, z = normal(rng, rows), 0.5, 1e-3
        v = wide(x) * scale
        lse = logsumexp(v)
        p = np.exp(v - lse[:, None]) * (1 + 2 * z * lse[:, None])
        hot = np.arange(columns) == y[:, None]
        given = {
            "dlogits_ptr": poison(x.shape, dtype), "dloss_ptr": dloss, "logits_ptr": x, "lse_ptr": lse.astype(F32),
            "labels_ptr": y, "smoothing": smoothing, "logit_scale": scale, "lse_square_scale": z,
            "ignore_index": ignored, "total_classes": columns, "class_start_idx": 0, "n_cols": columns,
            "logits_row_stride": columns, "dlogits_row_stride": columns, "dloss_row_stride": 1,
        }  # fmt: skip
        grad = (p - (1 - smoothing) * hot - smoothing / columns) * (wide(dloss) * scale)[:, None]
        wanted = {"dlogits_ptr": np.where((y != ignored)[:, None], grad, 0)}
        yield Case(
            given, wanted, (rows, cdiv(columns, 512)), {"BLOCK_SIZE": 512, "HAS_SMOOTHING": smoothing > 0}
        )


@cases
def chunked_logsumexp(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns, block = 4, 5000, 2048
    for capped in (False, True):
        x, y = 4 * normal(rng, rows, columns), labels_of(rng, rows, columns, -100)
        v = 5 * np.tanh(wide(x) / 5) if capped else wide(x)
        chunks = cdiv(columns, block)
        lse = np.stack([logsumexp(v[:, i * block : (i + 1) * block]) for i in range(chunks)], -1)
        picked = np.where(y < 0, 0, np.take_along_axis(v, np.maximum(y, 0)[:, None], 1)[:, 0])
        given = {
            "logits_ptr": x, "lse_ptr": poison((rows, chunks), F32), "picked_ptr": poison(rows, F32), "labels_ptr": y,
            "stride_row": columns, "VOCAB": columns,
        }  # fmt: skip
        const = {"N_CHUNKS": chunks, "BLOCK": block, "DO_SOFTCAPPING": capped, "SOFTCAP": 5.0}
        yield Case(given, {"lse_ptr": lse, "picked_ptr": picked}, (rows, chunks), const, num_warps=8)


@cases
def selective_log_softmax(rng: np.random.Generator) -> Iterator[Case]:
    batch, length = 2, 3
    for columns, dtype, part in ((1000, F32, "entropy"), (4100, BF16, "none")):
        x, index = normal(rng, batch * length, columns, dtype=dtype), labels_of(rng, batch * length, columns)
        v = wide(x) / 0.7
        lse = logsumexp(v)
        p = np.exp(v - lse[:, None])
        given = {
            "logits_ptr": x, "index_ptr": index, "out_ptr": poison(len(x), F32),
            "entropy_ptr": poison(len(x), F32) if part == "entropy" else None, "temperature": 0.7, "L": length,
            "stride_b": length * columns, "stride_l": columns, "V": columns,
        }  # fmt: skip
        wanted = {
            "out_ptr": np.take_along_axis(v, index[:, None], 1)[:, 0] - lse,
            "entropy_ptr": (p * (lse[:, None] - v)).sum(-1),
        }
        yield Case(given, wanted, (len(x),), {"PART": part, "BLOCK": 1024, "NUM_STAGES": 2})


def log_softmax(rng: np.random.Generator, rows: int, columns: int) -> Any:
    x = 2 * normal(rng, rows, columns)
    return (x - logsumexp(wide(x))[:, None]).astype(F32)


@cases
def kl_div_forward(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns = 4, 1500
    for logarithms, reduction in ((False, 3), (True, 0)):
        y, target = log_softmax(rng, rows, columns), log_softmax(rng, rows, columns)
        target = target if logarithms else np.exp(target)
        v, t = wide(y), wide(target)
        loss = np.exp(t) * (t - v) if logarithms else t * (np.log(t) - v)
        shape, stride = (rows, 1) if reduction else (rows, columns), 1 if reduction else columns
        given = {
            "y_ptr": y, "y_stride": columns, "gt_ptr": target, "gt_stride": columns, "loss_ptr": poison(shape, F32),
            "loss_stride": stride, "n_cols": columns, "eps": 1e-10,
        }  # fmt: skip
        wanted = {"loss_ptr": loss.sum(-1, keepdims=True) if reduction else loss}
        const = {"BLOCK_SIZE": 1024, "log_target": logarithms, "reduction": reduction}
        # The sum's terms have either sign.
        yield Case(given, wanted, (rows,), const, 1e-5)


@cases
def kl_div_backward(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns = 4, 700
    for logarithms in (False, True):
        target = log_softmax(rng, rows, columns)
        given = {
            "target_ptr": target, "target_stride": columns, "new_grads_ptr": poison(target.shape, F32),
            "new_grads_stride": columns, "n_cols": columns,
        }  # fmt: skip
        wanted = {"new_grads_ptr": -np.exp(wide(target)) if logarithms else -wide(target)}
        yield Case(given, wanted, (rows,), {"BLOCK_SIZE": 512, "log_target": logarithms})


@cases
def jensen_shannon(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns, ignored = 5, 700, -100
    for beta in (0.0, 0.3, 1.0):
        x, y = log_softmax(rng, rows, columns), log_softmax(rng, rows, columns)
        label = labels_of(rng, rows, 9, ignored)
        v, t = wide(x), wide(y)
        p, q = np.exp(t), np.exp(v)
        if beta == 0:
            loss, dx = p * (t - v), -p
        elif beta == 1:
            loss, dx = q * (v - t), q * (v - t) + q
        else:
            mixed = beta * p + (1 - beta) * q
            loss = beta * p * t + (1 - beta) * q * v - mixed * np.log(mixed)
            dx = (1 - beta) * q * (v - np.log(mixed))
        taken = (label != ignored)[:, None]
        n = int(taken.sum())
        given = {
            "X_ptr": x, "X_stride": columns, "Y_ptr": y, "Y_stride": columns, "loss_ptr": np.zeros(x.shape, F32),
            "loss_stride": columns, "dX_ptr": poison(x.shape, F32), "dX_stride": columns, "label_ptr": label,
            "n_non_ignore": n, "n_cols": columns,
        }  # fmt: skip
        wanted = {"loss_ptr": np.where(taken, loss / n, 0), "dX_ptr": np.where(taken, dx / n, 0)}
        const = {"beta": beta, "ignore_index": ignored, "BLOCK_SIZE": 512, "HAS_LABEL": True}
        yield Case(given, wanted, (rows,), const, {"loss_ptr": 2e-5})


@cases
def mse_loss(rng: np.random.Generator) -> Iterator[Case]:
    for n, dtype in ((3000, F32), (2048, F16)):
        x, y = normal(rng, n, dtype=dtype), normal(rng, n, dtype=dtype)
        d = wide(x) - wide(y)
        given = {
            "x_ptr": x, "y_ptr": y, "loss_ptr": np.zeros(1, F32), "dx_ptr": poison(n, dtype), "n_elements": n,
            "scale": 1 / n,
        }  # fmt: skip
        wanted = {"loss_ptr": (d * d).mean(keepdims=True), "dx_ptr": 2 * d / n}
        yield Case(given, wanted, (cdiv(n, 1024),), {"BLOCK_SIZE": 1024}, {"loss_ptr": 4e-6}, ordered=False)


@cases
def smooth_l1(rng: np.random.Generator) -> Iterator[Case]:
    n, beta = 1003, 0.75
    for huber, dtype in ((False, F32), (True, BF16)):
        x, y = normal(rng, n, dtype=dtype), normal(rng, n, dtype=dtype)
        d = wide(x) - wide(y)
        scale = beta if huber else 1
        loss = np.where(np.abs(d) < beta, d * d / 2 / beta, np.abs(d) - beta / 2) * scale
        slope = np.where(np.abs(d) < beta, d / beta, np.sign(d)) * scale
        given = {
            "x_ptr": x, "y_ptr": y, "loss_ptr": poison(n, F32), "dx_ptr": poison(n, dtype), "beta": beta, "n": n
        }  # fmt: skip
        wanted = {"loss_ptr": loss, "dx_ptr": slope}
        yield Case(given, wanted, (cdiv(n, 256),), {"BLOCK": 256, "HUBER": huber})


@cases
def focal_loss(rng: np.random.Generator) -> Iterator[Case]:
    n, classes, alpha = 37, 11, 0.25
    for gamma, weighted in ((2, False), (1, True)):
        x, target, w = 2 * normal(rng, n, classes), labels_of(rng, n, classes), rng.uniform(0.5, 2, classes)
        v, hot = wide(x), np.arange(classes) == target[:, None]
        p = 1 / (1 + np.exp(-v))
        positive, negative = -alpha * (1 - p) ** gamma * np.log(p), -(1 - alpha) * p**gamma * np.log(1 - p)
        d_positive = alpha * (1 - p) ** gamma * (gamma * p * np.log(p) - (1 - p))
        d_negative = (1 - alpha) * p**gamma * (p - gamma * (1 - p) * np.log(1 - p))
        scale = w if weighted else 1
        given = {
            "logits_ptr": x, "targets_ptr": target, "weight_ptr": w.astype(F32) if weighted else None,
            "loss_ptr": poison(x.shape, F32), "grad_ptr": poison(x.shape, F32), "alpha": alpha, "n": n,
            "classes": classes,
        }  # fmt: skip
        wanted = {
            "loss_ptr": np.where(hot, positive, negative) * scale,
            "grad_ptr": np.where(hot, d_positive, d_negative) * scale,
        }
        const = {"gamma": gamma, "BLOCK": 128, "HAS_WEIGHT": weighted}
        yield Case(given, wanted, (cdiv(n * classes, 128),), const)


@cases
def bce_with_logits(rng: np.random.Generator) -> Iterator[Case]:
    rows = 5
    for columns, dtype, weighted in ((300, F32, True), (512, F16, False)):
        x, y = normal(rng, rows, columns, dtype=dtype), rng.uniform(0, 1, (rows, columns)).astype(dtype)
        w = rng.uniform(0.5, 3, columns).astype(F32)
        v, t, s = wide(x), wide(y), 1 + (wide(w) - 1) * wide(y) if weighted else 1
        loss = ((1 - t) * v + s * np.log1p(np.exp(-v))).mean(-1)
        given = {
            "x_ptr": x, "y_ptr": y, "pos_weight_ptr": w if weighted else None, "loss_ptr": poison(rows, F32),
            "dx_ptr": poison(x.shape, dtype), "N": columns, "stride_m": columns,
        }  # fmt: skip
        wanted = {"loss_ptr": loss, "dx_ptr": ((1 - t) - s / (1 + np.exp(v))) / columns}
        yield Case(given, wanted, (rows,), {"HAS_POS_WEIGHT": weighted, "BLOCK_N": 256})
