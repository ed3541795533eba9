"""Tensor descriptors as arguments: :mod:`tests.kernels.sources.host_descriptors`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.cases.attention import attend, causal_mask
from tests.support.run import Described, described


@cases
def copy_tiles(rng: np.random.Generator) -> Iterator[Case]:
    for (m, n), dtype in (((37, 72), F32), ((32, 64), F16), ((5, 200), np.int8)):
        step = cdiv(n, 16) * 16
        source = rng.integers(-100, 100, (m, step)).astype(dtype)
        given = {
            "in_desc": Described(source, (m, n), (step, 1), (16, 32)),
            "out_desc": Described(source * 0, (m, n), (step, 1), (16, 32)),
        }
        wanted = wide(source)
        wanted[:, n:] = 0
        grid = (cdiv(m, 16), cdiv(n, 32))
        yield Case(given, {"out_desc": wanted}, grid, {"BLOCK_M": 16, "BLOCK_N": 32}, tolerance=0.0)


@cases
def matmul_tma(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, k, dtype in ((70, 56, 88, F16), (64, 64, 64, BF16)):
        a, b = normal(rng, m, k, dtype=dtype), normal(rng, n, k, dtype=dtype)
        given = {
            "a_desc": described(a, (32, 32)), "b_desc": described(b, (32, 32)),
            "c_desc": described(poison((m, n), dtype), (32, 32)), "M": m, "N": n, "K": k,
        }  # fmt: skip
        const = {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 2}
        yield Case(given, {"c_desc": wide(a) @ wide(b).T}, (cdiv(m, 32) * cdiv(n, 32),), const)


@cases
def softmax_attention_tma(rng: np.random.Generator) -> Iterator[Case]:
    for length, size, dtype in ((64, 32, F16), (96, 16, BF16)):
        q, k, v = (normal(rng, 1, 3, length, size, dtype=dtype) for _ in range(3))
        out, _, _ = attend(wide(q) * 0.2, wide(k), wide(v), causal_mask(length, False))
        rows = (3 * length, size)
        given = {
            "sm_scale": 0.2, "desc_q": described(q.reshape(rows), (32, size)),
            "desc_k": described(k.reshape(rows), (16, size)), "desc_v": described(v.reshape(rows), (16, size)),
            "desc_o": described(poison(rows, dtype), (32, size)), "N_CTX": length,
        }  # fmt: skip
        const = {"HEAD_DIM": size, "BLOCK_M": 32, "BLOCK_N": 16}
        yield Case(given, {"desc_o": out}, (length // 32, 3), const)
