"""Tensor descriptors: :mod:`tests.kernels.sources.descriptors`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.cases.activations import ACTIVATIONS
from tests.kernels.cases.attention import attend, causal_mask


@cases
def matmul_descriptor_persistent(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, k, dtype, activation in ((70, 56, 88, F16, "silu"), (64, 64, 64, BF16, None)):
        a, b, bias = normal(rng, m, k, dtype=dtype), normal(rng, n, k, dtype=dtype), normal(rng, n)
        given = {
            "a_ptr": a, "b_ptr": b, "c_ptr": poison((m, n), dtype), "bias_ptr": bias if activation else None, "M": m,
            "N": n, "K": k,
        }  # fmt: skip
        total = wide(a) @ wide(b).T + (wide(bias) if activation else 0)
        const = {
            "BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 2, "NUM_SMS": 3,
            "EPILOGUE_SUBTILE": False, "WARP_SPECIALIZE": False, "ACTIVATION": activation,
        }  # fmt: skip
        yield Case(given, {"c_ptr": ACTIVATIONS[activation](total)}, (3,), const)


@cases
def attention_descriptors(rng: np.random.Generator) -> Iterator[Case]:
    for length, size, dtype, causal in ((50, 32, F16, True), (33, 16, BF16, False)):
        q, k, v = (normal(rng, 2, 2, length, size, dtype=dtype) for _ in range(3))
        out, _, lse = attend(wide(q) * 0.2, wide(k), wide(v), causal_mask(length, causal))
        given = {
            "Q": q, "K": k, "V": v, "O": poison(q.shape, dtype), "LSE": poison(q.shape[:3], F32), "H": 2, "T": length,
            "sm_scale": 0.2,
        }  # fmt: skip
        const = {"HEAD_DIM": size, "BLOCK_M": 32, "BLOCK_N": 16, "CAUSAL": causal}
        yield Case(given, {"O": out, "LSE": lse}, (cdiv(length, 32), 4), const)


@cases
def scale_rows_descriptor(rng: np.random.Generator) -> Iterator[Case]:
    m, n = 37, 88
    x, scale = normal(rng, m, n, dtype=F16), normal(rng, m)
    given = {"x_ptr": x, "scale_ptr": scale, "y_ptr": poison((m, n), F16), "M": m, "N": n}
    wanted = {"y_ptr": wide(x) * wide(scale)[:, None]}
    yield Case(given, wanted, (cdiv(m, 16),), {"BM": 16, "BN": 32})
