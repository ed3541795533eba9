"""Attention in two products: :mod:`tests.kernels.sources.flash_attention`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.cases.attention import attend, causal_mask

HEADS = 2


@cases
def flash_forward(rng: np.random.Generator) -> Iterator[Case]:
    for length, size, dtype, causal, block in (
        (128, 32, BF16, False, (64, 32)),
        (100, 64, F16, False, (64, 32)),
        (100, 32, BF16, True, (64, 32)),
        (70, 16, F16, True, (32, 64)),
    ):
        q, k, v = (normal(rng, HEADS, length, size, dtype=dtype) for _ in range(3))
        scale = size**-0.5
        out, _, lse = attend(wide(q) * scale, wide(k), wide(v), causal_mask(length, causal))
        given = {
            "q_ptr": q, "k_ptr": k, "v_ptr": v, "o_ptr": poison(q.shape, dtype), "lse_ptr": poison(q.shape[:2], F32),
            "scale": scale, "length": length,
        }  # fmt: skip
        for name, row in (("q", "m"), ("k", "n"), ("v", "n"), ("o", "m")):
            given |= {f"stride_{name}h": length * size, f"stride_{name}{row}": size}
        const = {
            "HEAD_DIM": size, "BLOCK_M": block[0], "BLOCK_N": block[1], "CAUSAL": causal, "RAGGED": length % block[1] != 0,
        }  # fmt: skip
        wanted = {"o_ptr": out, "lse_ptr": lse / np.log(2)}
        # Probabilities are rounded to the dtype before they meet the values.
        yield Case(given, wanted, (cdiv(length, block[0]), HEADS), const, {"o_ptr": 1e-2, "lse_ptr": 1e-5})


@cases
def flash_delta(rng: np.random.Generator) -> Iterator[Case]:
    o, do = (normal(rng, HEADS, 50, 32, dtype=BF16) for _ in range(2))
    given = {
        "o_ptr": o, "do_ptr": do, "delta_ptr": poison((HEADS, 50), F32), "length": 50, "stride_head": 50 * 32,
        "stride_row": 32,
    }  # fmt: skip
    wanted = {"delta_ptr": (wide(o) * wide(do)).sum(-1)}
    yield Case(given, wanted, (cdiv(50, 16), HEADS), {"HEAD_DIM": 32, "BLOCK_M": 16})


def backward(
    rng: np.random.Generator, length: int, size: int, dtype: Any, causal: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What both backward kernels are given, and the gradients."""
    scale = size**-0.5
    q, k, v, do = (normal(rng, HEADS, length, size, dtype=dtype) for _ in range(4))
    out, p, lse = attend(wide(q) * scale, wide(k), wide(v), causal_mask(length, causal))
    delta = (out * wide(do)).sum(-1)
    ds = p * (wide(do) @ np.swapaxes(wide(v), -1, -2) - delta[..., None]) * scale
    given = {
        "q_ptr": q, "k_ptr": k, "v_ptr": v, "do_ptr": do, "lse_ptr": (lse / np.log(2)).astype(F32),
        "delta_ptr": delta.astype(F32), "scale": scale, "length": length, "stride_head": length * size,
        "stride_row": size,
    }  # fmt: skip
    gradients = {
        "dq_ptr": ds @ wide(k),
        "dk_ptr": np.swapaxes(ds, -1, -2) @ wide(q),
        "dv_ptr": np.swapaxes(p, -1, -2) @ wide(do),
    }
    return given, gradients


SIZES = (
    (100, 32, BF16, True),
    (90, 16, F16, False),
    (64, 64, BF16, False),
)


@cases
def flash_backward_keys(rng: np.random.Generator) -> Iterator[Case]:
    for length, size, dtype, causal in SIZES:
        given, gradients = backward(rng, length, size, dtype, causal)
        wanted = {name: gradients[name] for name in ("dk_ptr", "dv_ptr")}
        given |= {name: poison(given["k_ptr"].shape, dtype) for name in wanted}
        const = {"HEAD_DIM": size, "BLOCK_M": 16, "BLOCK_N": 64, "CAUSAL": causal}
        yield Case(given, wanted, (cdiv(length, 64), HEADS), const, 2e-2)


@cases
def flash_backward_queries(rng: np.random.Generator) -> Iterator[Case]:
    for length, size, dtype, causal in SIZES:
        given, gradients = backward(rng, length, size, dtype, causal)
        given |= {"dq_ptr": poison(given["q_ptr"].shape, dtype)}
        const = {"HEAD_DIM": size, "BLOCK_M": 64, "BLOCK_N": 32, "CAUSAL": causal}
        yield Case(given, {"dq_ptr": gradients["dq_ptr"]}, (cdiv(length, 64), HEADS), const, 2e-2)
