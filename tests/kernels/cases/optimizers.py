"""Optimizers: :mod:`tests.kernels.sources.optimizers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.philox import words


@cases
def adamw_step(rng: np.random.Generator) -> Iterator[Case]:
    n, lr, beta1, beta2, eps, decay, c1, c2 = 3001, 0.01, 0.9, 0.99, 1e-6, 0.1, 0.4, 0.3
    for dtype, everything, decoupled in ((F32, False, True), (BF16, True, True), (F16, False, False)):
        p, g, m = normal(rng, n, dtype=dtype), normal(rng, n, dtype=dtype), normal(rng, n)
        v, highest = rng.uniform(0.1, 2, n).astype(F32), rng.uniform(0.1, 2, n).astype(F32)
        master = (wide(p) + 1e-4).astype(F32)
        gradient = -wide(g) / 4 if everything else wide(g)
        start = wide(master) if everything else wide(p)
        if not decoupled:
            gradient = gradient + decay * start
        new_m, new_v = wide(m) + (1 - beta1) * (gradient - m), beta2 * wide(v) + (1 - beta2) * gradient**2
        top = np.maximum(highest, new_v) if everything else new_v
        moved = start * (1 - lr * decay if decoupled else 1) - lr / c1 * new_m / (np.sqrt(top) / c2 + eps)
        given = {
            "param_ptr": p, "grad_ptr": g, "exp_avg_ptr": m, "exp_avg_sq_ptr": v,
            "max_exp_avg_sq_ptr": highest if everything else None, "master_ptr": master if everything else None,
            "found_inf_ptr": np.zeros(1, F32) if everything else None,
            "grad_scale_ptr": np.full(1, 4, F32) if everything else None, "lr": lr, "beta1": beta1, "beta2": beta2,
            "eps": eps, "weight_decay": decay, "bias_correction1": c1, "bias_correction2_sqrt": c2, "n_elements": n,
            "seed": 11,
        }  # fmt: skip
        wanted = {"param_ptr": moved, "exp_avg_ptr": new_m, "exp_avg_sq_ptr": new_v}
        if everything:
            wanted |= {"max_exp_avg_sq_ptr": top, "master_ptr": moved}
        const = {
            "AMSGRAD": everything, "MAXIMIZE": everything, "DECOUPLED": decoupled, "STOCHASTIC": everything,
            "BLOCK_SIZE": 1024,
        }  # fmt: skip
        yield Case(given, wanted, (cdiv(n, 1024),), const)
        if everything:
            # Nothing at all happens where the gradients have overflown.
            given |= {"found_inf_ptr": np.ones(1, F32)}
            yield Case(
                given, {k: wide(v) for k, v in given.items() if k in wanted}, (cdiv(n, 1024),), const, 0.0
            )
    # Stochastic rounding, bit for bit: with no step at all, weights between two numbers of bf16.
    master = normal(rng, n)
    bits = master.view(np.uint32).astype(np.uint64) + (words(11, np.arange(n))[0] & 0xFFFF)
    rounded = (bits >> 16).astype(np.uint16).view(BF16)
    given = {
        "param_ptr": poison(n, BF16), "grad_ptr": np.zeros(n, BF16), "exp_avg_ptr": np.zeros(n, F32),
        "exp_avg_sq_ptr": np.zeros(n, F32), "max_exp_avg_sq_ptr": None, "master_ptr": master, "found_inf_ptr": None,
        "grad_scale_ptr": None, "lr": 0.0, "beta1": 0.9, "beta2": 0.9, "eps": 1.0, "weight_decay": 0.0,
        "bias_correction1": 1.0, "bias_correction2_sqrt": 1.0, "n_elements": n, "seed": 11,
    }  # fmt: skip
    zeros = np.zeros(n)
    wanted = {
        "param_ptr": wide(rounded),
        "master_ptr": wide(master),
        "exp_avg_ptr": zeros,
        "exp_avg_sq_ptr": zeros,
    }
    const = {"AMSGRAD": False, "MAXIMIZE": False, "DECOUPLED": True, "STOCHASTIC": True, "BLOCK_SIZE": 1024}
    yield Case(given, wanted, (cdiv(n, 1024),), const, 0.0)


@cases
def lion_step(rng: np.random.Generator) -> Iterator[Case]:
    n, lr, decay, beta1, beta2 = 2500, 0.01, 0.1, 0.9, 0.99
    for dtype in (F32, BF16):
        p, g, m = (normal(rng, n, dtype=dtype) for _ in range(3))
        g[:3] = m[:3] = 0
        update = beta1 * (wide(m) - wide(g)) + wide(g)
        given = {
            "p_ptr": p, "grad_ptr": g, "exp_avg_ptr": m, "lr": lr, "wd": decay, "beta1": beta1, "beta2": beta2,
            "n_elements": n,
        }  # fmt: skip
        # In bf16 a sign near zero is a matter of rounding.
        sure = (np.abs(update) > 0.05) | (update == 0) if dtype is BF16 else np.ones(n, bool)
        g[~sure], m[~sure] = 0, 0
        update[~sure] = 0
        wanted = {
            "p_ptr": wide(p) * (1 - lr * decay) - lr * np.sign(update),
            "exp_avg_ptr": beta2 * (wide(m) - wide(g)) + wide(g),
        }
        yield Case(given, wanted, (cdiv(n, 1024),), {"BLOCK_SIZE": 1024})


@cases
def sgd_momentum(rng: np.random.Generator) -> Iterator[Case]:
    n, lr, momentum, dampening, decay = 2500, 0.1, 0.9, 0.1, 0.01
    for first, nesterov, dtype in ((True, False, F32), (False, True, F32), (False, False, BF16)):
        p, g, buffer = normal(rng, n, dtype=dtype), normal(rng, n, dtype=dtype), normal(rng, n)
        slope = wide(g) + decay * wide(p)
        kept = slope if first else momentum * wide(buffer) + (1 - dampening) * slope
        given = {
            "param_ptr": p, "grad_ptr": g, "buffer_ptr": buffer, "lr": lr, "momentum": momentum,
            "dampening": dampening, "weight_decay": decay, "n_elements": n, "first_step": first,
        }  # fmt: skip
        step = slope + momentum * kept if nesterov else kept
        wanted = {"param_ptr": wide(p) - lr * step, "buffer_ptr": kept}
        yield Case(given, wanted, (cdiv(n, 1024),), {"NESTEROV": nesterov, "BLOCK_SIZE": 1024})


@cases
def adafactor_moments(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns, beta, eps = 7, 300, 0.9, 1e-3
    g, row, sums = normal(rng, rows, columns), rng.uniform(0, 1, rows).astype(F32), np.zeros(columns, F32)
    squares = wide(g) ** 2 + eps
    given = {
        "grad_ptr": g, "row_ptr": row, "col_sums_ptr": sums, "beta2": beta, "eps": eps, "R": rows, "C": columns,
        "stride_r": columns,
    }  # fmt: skip
    wanted = {"row_ptr": beta * wide(row) + (1 - beta) * squares.mean(-1), "col_sums_ptr": squares.mean(0)}
    yield Case(given, wanted, (rows,), {"BLOCK_C": 128}, ordered=False)


@cases
def adafactor_update(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns = 20, 150
    for dtype in (F32, BF16):
        p, g = normal(rng, rows, columns, dtype=dtype), normal(rng, rows, columns, dtype=dtype)
        r, c = rng.uniform(0.2, 2, rows).astype(F32), rng.uniform(0.2, 2, columns).astype(F32)
        mean = r.mean(keepdims=True)
        update = np.clip(wide(g) / np.sqrt(wide(r)[:, None] / wide(mean)) / np.sqrt(wide(c)), -1.5, 1.5)
        given = {
            "param_ptr": p, "grad_ptr": g, "row_ptr": r, "col_ptr": c, "row_mean_ptr": mean, "lr": 0.1, "clip": 1.5,
            "R": rows, "C": columns, "stride_r": columns,
        }  # fmt: skip
        grid = (cdiv(rows, 8), cdiv(columns, 64))
        yield Case(given, {"param_ptr": wide(p) - 0.1 * update}, grid, {"BLOCK_R": 8, "BLOCK_C": 64})


@cases
def momentum_8bit(rng: np.random.Generator) -> Iterator[Case]:
    n, group, lr, beta = 1000, 64, 0.1, 0.9
    groups = cdiv(n, group)
    state = rng.integers(-127, 128, groups * group).astype(np.int8)
    absmax = rng.uniform(0.5, 2, groups).astype(F32)
    p, g = normal(rng, n), normal(rng, n)
    padded = np.concatenate([wide(g), np.zeros(groups * group - n)]).reshape(groups, group)
    state[n:] = 0
    m = beta * wide(state).reshape(groups, group) * wide(absmax)[:, None] / 127 + (1 - beta) * padded
    m.reshape(-1)[n:] = 0
    top = np.abs(m).max(-1)
    given: dict[str, Any] = {
        "p_ptr": p, "g_ptr": g, "state_ptr": state[:n].copy(), "absmax_ptr": absmax, "lr": lr, "beta": beta, "n": n
    }  # fmt: skip
    wanted = {
        "p_ptr": wide(p) - lr * m.reshape(-1)[:n],
        "state_ptr": np.rint(m / top[:, None] * 127).reshape(-1)[:n],
        "absmax_ptr": top,
    }
    const = {"GROUP": group, "GROUPS": 4}
    yield Case(given, wanted, (cdiv(groups, 4),), const, {"state_ptr": 1 / 127})


@cases
def squared_norms(rng: np.random.Generator) -> Iterator[Case]:
    sizes = (3000, 100, 1025)
    for broken in (False, True):
        arrays = [normal(rng, size, dtype=BF16) for size in sizes]
        if broken:
            arrays[1][7] = np.inf
        given = dict(zip(("a_ptr", "b_ptr", "c_ptr"), arrays, strict=True))
        given |= {
            "sizes_ptr": np.array(sizes, np.int32), "out_ptr": np.zeros(3, F32), "has_inf_ptr": np.zeros(1, np.int32)
        }  # fmt: skip
        wanted = {
            "out_ptr": np.array([(wide(a) ** 2).sum() for a in arrays]), "has_inf_ptr": np.array([int(broken)])
        }  # fmt: skip
        yield Case(given, wanted, (cdiv(3000, 1024), 3), {"BLOCK": 512, "PIECES": 2}, ordered=False)
