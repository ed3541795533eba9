"""Matrix products: :mod:`tests.kernels.sources.matmul`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, strides, wide
from tests.kernels.cases.activations import ACTIVATIONS


@cases
def matmul_grouped(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, k, dtype, activation, more in (
        (70, 50, 90, F16, "relu", True), (64, 64, 64, BF16, None, False), (33, 100, 40, F16, "gelu", False)
    ):  # fmt: skip
        # B lies transposed: K runs fastest in both.
        a, b = normal(rng, m, k, dtype=dtype), normal(rng, n, k, dtype=dtype)
        bias, residual = normal(rng, n, dtype=dtype), normal(rng, m, n, dtype=dtype)
        total = wide(a) @ wide(b).T * (0.5 if more else 1) + (wide(bias) if more else 0)
        given = {
            "a_ptr": a, "b_ptr": b, "c_ptr": poison((m, n), dtype), "bias_ptr": bias if more else None,
            "residual_ptr": residual if more else None, "scale_ptr": np.full(1, 0.5, F32) if more else None, "M": m,
            "N": n, "K": k, "stride_am": k, "stride_ak": 1, "stride_bk": 1, "stride_bn": k, "stride_cm": n, "stride_cn": 1,
            "stride_rm": n,
        }  # fmt: skip
        wanted = {"c_ptr": ACTIVATIONS[activation](total) + (wide(residual) if more else 0)}
        const = {
            "BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 2, "ACTIVATION": activation,
            "HAS_BIAS": more, "HAS_RESIDUAL": more, "EVEN_K": k % 32 == 0,
        }  # fmt: skip
        yield Case(given, wanted, (cdiv(m, 32) * cdiv(n, 32),), const)


@cases
def matmul_split_k(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, k, split, dtype in ((50, 40, 150, 3, F16), (32, 32, 64, 1, BF16)):
        a, b = normal(rng, m, k, dtype=dtype), normal(rng, k, n, dtype=dtype)
        c = np.zeros((m, n), F32)
        given = {
            "A": a, "B": b, "C": c, "M": m, "N": n, "K": k, "stride_am": k, "stride_ak": 1, "stride_bk": n,
            "stride_bn": 1, "stride_cm": n, "stride_cn": 1,
        }  # fmt: skip
        const = {
            "acc_dtype": "tl.float32", "BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 16, "GROUP_M": 2, "SPLIT_K": split,
            "EVEN_K": k % (16 * split) == 0,
        }  # fmt: skip
        grid = (cdiv(m, 16) * cdiv(n, 32), split)
        yield Case(given, {"C": wide(a) @ wide(b)}, grid, const, ordered=False)


@cases
def batched_matmul(rng: np.random.Generator) -> Iterator[Case]:
    batch = 3
    for m, n, k, dtype in ((40, 30, 50, F32), (32, 48, 32, F16)):
        a, b = normal(rng, batch, m, k, dtype=dtype), normal(rng, batch, k, n, dtype=dtype)
        given = {"A": a, "B": b, "O": poison((batch, m, n), dtype), "M": m, "N": n, "K": k}
        for name, array, axes in (("a", a, "bmk"), ("b", b, "bkn"), ("o", given["O"], "bmn")):
            given |= {
                f"stride_{name}{axis}": s for axis, s in zip(axes, strides(array), strict=True)
            }  # fmt: skip
        const = {"TILE_M": 32, "TILE_N": 16, "TILE_K": 16, "DIVISIBLE_K": k % 16 == 0}
        yield Case(given, {"O": wide(a) @ wide(b)}, (cdiv(m, 32), cdiv(n, 16), batch), const)


@cases
def matmul_w8a16(rng: np.random.Generator) -> Iterator[Case]:
    m, n, k, group = 20, 50, 70, 16
    for grouped, dtype in ((False, F16), (True, BF16)):
        a, w = normal(rng, m, k, dtype=dtype), rng.integers(-127, 128, (n, k)).astype(np.int8)
        groups = cdiv(k, group)
        scale = (rng.uniform(0.5, 2, (groups, n) if grouped else n) / 127).astype(F32)
        zero = rng.integers(-5, 6, (groups, n)).astype(np.int8)
        if grouped:
            weights = (wide(w) - np.repeat(zero, group, 0)[:k].T) * np.repeat(scale, group, 0)[:k].T
        else:
            weights = wide(w) * scale[:, None]
        bias = None if grouped else normal(rng, n, dtype=dtype)
        given = {
            "a_ptr": a, "w_ptr": w, "scale_ptr": scale, "zero_ptr": zero if grouped else None, "bias_ptr": bias,
            "c_ptr": poison((m, n), dtype), "M": m, "N": n, "K": k, "group_size": group, "stride_am": k, "stride_wn": k,
            "stride_cm": n, "stride_sg": n,
        }  # fmt: skip
        wanted = {"c_ptr": wide(a) @ weights.T + (0 if bias is None else wide(bias))}
        const = {"BM": 16, "BN": 32, "BK": 32, "HAS_ZERO": grouped, "PER_GROUP": grouped}
        yield Case(given, wanted, (cdiv(m, 16), cdiv(n, 32)), const)


@cases
def matmul_w4a16(rng: np.random.Generator) -> Iterator[Case]:
    m, n, k, group = 20, 40, 64, 32
    a, w = normal(rng, m, k, dtype=F16), rng.integers(0, 16, (k, n))
    packed = (w.reshape(k // 8, 8, n) << (4 * np.arange(8))[:, None]).sum(1).astype(np.uint32).view(np.int32)
    scale = rng.uniform(0.1, 0.3, (k // group, n)).astype(F16)
    given = {
        "a_ptr": a, "packed_ptr": packed, "scale_ptr": scale, "c_ptr": poison((m, n), F32), "M": m, "N": n, "K": k,
        "stride_am": k, "stride_pk": n, "stride_cm": n,
    }  # fmt: skip
    wanted = {"c_ptr": wide(a) @ ((w - 8) * np.repeat(wide(scale), group, 0))}
    const = {"GROUP": group, "BM": 16, "BN": 32, "BK": 32}
    # Weights times scales are rounded to f16.
    yield Case(given, wanted, (cdiv(m, 16), cdiv(n, 32)), const, 1e-3)


@cases
def matmul_blocks(rng: np.random.Generator) -> Iterator[Case]:
    for m, n, k, dtype in ((40, 50, 37, F32), (32, 32, 64, BF16)):
        a, b, c = (normal(rng, *shape, dtype=dtype) for shape in ((m, k), (k, n), (m, n)))
        given = {"a_ptr": a, "b_ptr": b, "c_ptr": c, "M": m, "N": n, "K": k, "alpha": 0.5, "beta": -2.0}
        given |= {"sam": k, "sak": 1, "sbk": n, "sbn": 1, "scm": n, "scn": 1}
        wanted = {"c_ptr": 0.5 * wide(a) @ wide(b) - 2 * wide(c)}
        yield Case(given, wanted, (cdiv(m, 32), cdiv(n, 32)), {"BM": 32, "BN": 32, "BK": 16})


@cases
def weight_gradient(rng: np.random.Generator) -> Iterator[Case]:
    for t, m, n, more in ((70, 40, 30, True), (64, 32, 32, False)):
        x, dy, dw = normal(rng, t, m, dtype=F16), normal(rng, t, n, dtype=F16), normal(rng, m, n)
        given = {"x_ptr": x, "dy_ptr": dy, "dw_ptr": dw, "T": t, "D_IN": m, "D_OUT": n}
        wanted = {"dw_ptr": wide(x).T @ wide(dy) + (wide(dw) if more else 0)}
        const = {"BM": 32, "BN": 16, "BT": 16, "ACCUMULATE": more}
        yield Case(given, wanted, (cdiv(m, 32), cdiv(n, 16)), const)


@cases
def persistent_matmul(rng: np.random.Generator) -> Iterator[Case]:
    m, n, k = 70, 50, 40
    a, b = normal(rng, m, k, dtype=F16), normal(rng, k, n, dtype=F16)
    given = {
        "a_ptr": a,
        "b_ptr": b,
        "c_ptr": poison((m, n), F16),
        "M": m,
        "N": n,
        "K": k,
        "lda": k,
        "ldb": n,
        "ldc": n,
    }
    const = {"BM": 32, "BN": 16, "BK": 16, "GROUP": 2, "PROGRAMS": 5}
    yield Case(given, {"c_ptr": wide(a) @ wide(b)}, (5,), const)


@cases
def grouped_gemm(rng: np.random.Generator) -> Iterator[Case]:
    starts, n, k = np.array([0, 20, 20, 53, 60]), 40, 30
    x, w = normal(rng, 60, k, dtype=F16), normal(rng, 4, n, k, dtype=F16)
    parts = [wide(x)[a:b] @ wide(w)[i].T for i, (a, b) in enumerate(pairwise(starts))]
    given = {
        "x_ptr": x, "w_ptr": w, "out_ptr": poison((60, n), F32), "starts_ptr": starts, "N": n, "K": k, "NUM_PROGRAMS": 3,
        "stride_xm": k, "stride_we": n * k, "stride_wn": k, "stride_om": n,
    }  # fmt: skip
    const = {"NUM_GROUPS": 4, "BM": 16, "BN": 32, "BK": 16}
    yield Case(given, {"out_ptr": np.concatenate(parts)}, (3,), const)


@cases
def lora_expand(rng: np.random.Generator) -> Iterator[Case]:
    tokens, size, rank, out = 40, 50, 16, 40
    x, base = normal(rng, tokens, size, dtype=BF16), normal(rng, tokens, out, dtype=BF16)
    a, b = normal(rng, 2, size, rank, dtype=BF16), normal(rng, 2, rank, out, dtype=BF16)
    adapters = np.array([1, -1, 0], np.int32)
    wanted = wide(base)
    for block, adapter in enumerate(adapters):
        at = slice(16 * block, min(16 * block + 16, tokens))
        if adapter >= 0:
            wanted[at] += 0.1 * (wide(x)[at] @ wide(a)[adapter]) @ wide(b)[adapter]
    given = {
        "x_ptr": x, "a_ptr": a, "b_ptr": b, "base_ptr": base, "out_ptr": poison((tokens, out), F32),
        "adapter_ptr": adapters, "scale": 0.1, "T": tokens, "D": size, "O": out, "stride_a": size * rank,
        "stride_b": rank * out,
    }  # fmt: skip
    const = {"R": rank, "BT": 16, "BD": 32, "BO": 32}
    yield Case(given, {"out_ptr": wanted}, (3, 2), const, 1e-2)
