"""Tuples of pointers and of numbers: :mod:`tests.kernels.sources.several`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, strides, wide


@cases
def concat_columns(rng: np.random.Generator) -> Iterator[Case]:
    for widths, dtype in (((7,), F32), ((300, 1, 129), F16), ((16, 16, 16, 16, 5), BF16)):
        inputs = tuple(normal(rng, 5, width, dtype=dtype) for width in widths)
        given = {
            "in_ptrs": inputs, "widths": widths, "out_ptr": poison((5, sum(widths)), dtype), "out_width": sum(widths),
        }  # fmt: skip
        wanted = {"out_ptr": wide(np.concatenate(inputs, axis=1))}
        yield Case(given, wanted, (5, cdiv(max(widths), 256)), {"BLOCK": 256}, tolerance=0.0)


@cases
def multi_tensor_adamw(rng: np.random.Generator) -> Iterator[Case]:
    lr, betas, eps, decay, c1, c2 = 0.01, (0.9, 0.99), 1e-6, 0.1, 0.4, 0.3
    for sizes, dtype, scale in (((1000, 3, 513), F32, None), ((64, 700), BF16, 8.0)):
        p = [normal(rng, n, dtype=dtype) for n in sizes]
        g = [normal(rng, n, dtype=dtype) for n in sizes]
        m = [normal(rng, n) for n in sizes]
        v = [rng.uniform(0.1, 2, n).astype(F32) for n in sizes]
        given: dict[str, Any] = {
            "params": tuple(p), "grads": tuple(g), "exp_avgs": tuple(m), "exp_avg_sqs": tuple(v), "sizes": sizes,
            "hyper": (lr, betas, eps, decay, c1, c2),
            "scale_ptr": None if scale is None else np.array([scale], F32),
        }  # fmt: skip
        wanted: dict[str, Any] = {}
        for i in range(len(sizes)):
            gradient = wide(g[i]) / (scale or 1)
            new_m = betas[0] * wide(m[i]) + (1 - betas[0]) * gradient
            new_v = betas[1] * wide(v[i]) + (1 - betas[1]) * gradient**2
            step = new_m / c1 / (np.sqrt(new_v / c2) + eps)
            wanted[f"params[{i}]"] = wide(p[i]) - lr * (step + decay * wide(p[i]))
            wanted[f"exp_avgs[{i}]"], wanted[f"exp_avg_sqs[{i}]"] = new_m, new_v
        yield Case(given, wanted, (cdiv(max(sizes), 256), len(sizes)), {"BLOCK": 256})


@cases
def gather_strided(rng: np.random.Generator) -> Iterator[Case]:
    for shape in ((11,), (7, 9), (3, 4, 5, 6)):
        x = normal(rng, *shape)
        turned = x.T
        given = {
            "x": x, "shape": turned.shape, "strides": strides(turned), "out_ptr": poison(turned.shape, F32),
        }  # fmt: skip
        yield Case(given, {"out_ptr": wide(turned)}, (cdiv(x.size, 128),), {"BLOCK": 128}, tolerance=0.0)
