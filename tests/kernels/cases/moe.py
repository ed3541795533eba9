"""Mixtures of experts: :mod:`tests.kernels.sources.moe`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.cases.softmax import softmax


@cases
def route_top_k(rng: np.random.Generator) -> Iterator[Case]:
    tokens = 21
    for experts, top, scoring, biased, dtype in (
        (12, 2, "softmax", False, F32),
        (16, 3, "sigmoid", True, BF16),
    ):
        # Scores a good way apart: which is larger is then no matter of rounding.
        ranks = np.stack([rng.permutation(experts) for _ in range(tokens)])
        x, bias = ((ranks - experts / 2) / 4).astype(dtype), (rng.integers(-3, 4, experts) * 4.01).astype(F32)
        scores = softmax(wide(x)) if scoring == "softmax" else 1 / (1 + np.exp(-wide(x)))
        order = np.argsort(-(scores + (bias if biased else 0)), axis=-1)[:, :top]
        weights = np.take_along_axis(scores, order, 1)
        if biased:
            weights = weights / weights.sum(-1, keepdims=True)
        given = {
            "logits_ptr": x, "bias_ptr": bias if biased else None, "weights_ptr": poison((tokens, top), F32),
            "experts_ptr": poison((tokens, top), np.int32), "probs_ptr": None if biased else poison(x.shape, F32),
            "n_tokens": tokens, "stride_t": experts,
        }  # fmt: skip
        const = {
            "EXPERTS": experts, "BLOCK_E": 16, "BLOCK_T": 8, "TOP_K": top, "RENORMALISE": biased, "SCORING": scoring,
            "HAS_BIAS": biased,
        }  # fmt: skip
        wanted = {"weights_ptr": weights, "experts_ptr": order, "probs_ptr": scores}
        yield Case(given, wanted, (cdiv(tokens, 8),), const)


@cases
def count_tokens(rng: np.random.Generator) -> Iterator[Case]:
    n, experts = 1000, 16
    chosen = rng.integers(0, experts, n).astype(np.int32)
    given = {"experts_ptr": chosen, "counts_ptr": np.zeros(experts, np.int32), "n": n}
    wanted = {"counts_ptr": np.bincount(chosen, minlength=experts)}
    yield Case(given, wanted, (cdiv(n, 256),), {"EXPERTS": experts, "BLOCK": 256})


@cases
def align_blocks(rng: np.random.Generator) -> Iterator[Case]:
    experts, block = 16, 8
    counts = rng.integers(0, 20, experts).astype(np.int32)
    counts[3] = 0
    padded = -(-counts // block) * block
    owners = np.repeat(np.arange(experts), padded // block)
    most = 64
    given = {
        "counts_ptr": counts, "starts_ptr": poison(experts, np.int32), "total_ptr": poison(1, np.int32),
        "block_experts_ptr": poison(most, np.int32),
    }  # fmt: skip
    wanted = {
        "starts_ptr": padded.cumsum() - padded, "total_ptr": padded.sum(keepdims=True),
        "block_experts_ptr": np.concatenate([owners, np.full(most - len(owners), -1)]),
    }  # fmt: skip
    yield Case(given, wanted, (1,), {"EXPERTS": experts, "BLOCK_M": block, "MAX_BLOCKS": most})


@cases
def assign_slots(rng: np.random.Generator) -> Iterator[Case]:
    # One token an expert and expert's block: tickets come in any order, so that more could be said of none.
    n = 100
    chosen = rng.permutation(n).astype(np.int32)
    starts = (np.arange(n) * 2).astype(np.int32)
    by_slot = np.full(2 * n, -1, np.int32)
    wanted = by_slot.copy()
    wanted[2 * chosen] = np.arange(n)
    given = {
        "experts_ptr": chosen, "starts_ptr": starts, "taken_ptr": np.zeros(n, np.int32), "sorted_ptr": by_slot,
        "slots_ptr": poison(n, np.int32), "n": n,
    }  # fmt: skip
    yield Case(
        given, {"taken_ptr": np.ones(n), "sorted_ptr": wanted, "slots_ptr": 2 * chosen}, (2,), {"BLOCK": 64}
    )


def sorted_pairs(rng: np.random.Generator, pairs: int, experts: int, block: int) -> tuple[Any, Any, Any]:
    """(each pair's expert, pairs sorted into blocks an expert with ``pairs`` for none, each block's expert)"""
    chosen = rng.integers(0, experts, pairs)
    order, owners = list[int](), list[int]()
    for expert in range(experts):
        mine = np.flatnonzero(chosen == expert).tolist()
        mine += [pairs] * (-len(mine) % block)
        order += mine
        owners += [expert] * (len(mine) // block)
    return chosen, np.array(order, np.int32), np.array(owners, np.int32)


@cases
def gather_rows(rng: np.random.Generator) -> Iterator[Case]:
    tokens, top, size = 20, 2, 100
    x = normal(rng, tokens, size, dtype=F16)
    _, order, _ = sorted_pairs(rng, tokens * top, 4, 8)
    real = order < tokens * top
    given = {
        "x_ptr": x, "sorted_ptr": order, "out_ptr": poison((len(order), size), F16), "n_sorted": len(order),
        "n_pairs": tokens * top, "D": size,
    }  # fmt: skip
    wanted = {"out_ptr": np.where(real[:, None], wide(x)[np.where(real, order // top, 0)], 0)}
    yield Case(given, wanted, (len(order), 2), {"TOP_K": top, "BLOCK_D": 64}, 0.0, num_warps=1)


@cases
def combine_rows(rng: np.random.Generator) -> Iterator[Case]:
    tokens, top, size = 20, 2, 100
    for weighted in (True, False):
        y, weights = normal(rng, 50, size, dtype=BF16), rng.uniform(0, 1, (tokens, top)).astype(F32)
        slots = rng.permutation(50)[: tokens * top].reshape(tokens, top).astype(np.int32)
        given = {
            "y_ptr": y, "slots_ptr": slots, "weights_ptr": weights if weighted else None,
            "out_ptr": poison((tokens, size), BF16), "D": size, "stride_y": size,
        }  # fmt: skip
        scale = wide(weights)[..., None] if weighted else 1
        wanted = {"out_ptr": (wide(y)[slots] * scale).sum(1)}
        yield Case(given, wanted, (tokens,), {"TOP_K": top, "BLOCK_D": 64, "HAS_WEIGHTS": weighted})


@cases
def fused_moe(rng: np.random.Generator) -> Iterator[Case]:
    tokens, top, experts, n, k, block = 20, 2, 4, 40, 50, 16
    pairs = tokens * top
    for gated, eight_bits, dtype in ((False, False, F16), (True, True, BF16)):
        name = "float16" if dtype is F16 else "bfloat16"
        columns = 2 * n if gated else n
        x, bias = normal(rng, tokens, k, dtype=dtype), normal(rng, experts, n)
        shape = (experts, columns, k)
        w = rng.integers(-127, 128, shape).astype(np.int8) if eight_bits else normal(rng, *shape, dtype=dtype)
        scale = rng.uniform(0.005, 0.01, (experts, columns)).astype(F32)
        weights = rng.uniform(0, 1, pairs).astype(F32)
        chosen, order, owners = sorted_pairs(rng, pairs, experts, block)
        if not gated:
            owners[-1] = -1
        lost = np.zeros(pairs, bool)
        last = order[-block:]
        lost[last[last < pairs]] = not gated
        full = wide(w) * (wide(scale)[..., None] if eight_bits else 1)
        y = np.einsum("pk,pnk->pn", wide(x)[np.arange(pairs) // top], full[chosen])
        if gated:
            y = y[:, :n] / (1 + np.exp(-y[:, :n])) * y[:, n:]
        else:
            y = y + bias[chosen]
        y = np.where(lost[:, None], 0, y * weights[:, None])
        given = {
            "a_ptr": x, "b_ptr": w, "c_ptr": poison((pairs, n), dtype), "b_bias_ptr": None if gated else bias,
            "a_scale_ptr": None, "b_scale_ptr": scale if eight_bits else None, "topk_weights_ptr": weights,
            "sorted_token_ids_ptr": order, "expert_ids_ptr": owners,
            "num_tokens_post_padded_ptr": np.array([len(order)], np.int32), "N": n, "K": k, "EM": len(order) + block,
            "num_valid_tokens": pairs, "stride_am": k, "stride_ak": 1, "stride_be": columns * k, "stride_bk": 1,
            "stride_bn": k, "stride_cm": n, "stride_cn": 1, "stride_bse": columns, "stride_bsn": 1, "stride_bbe": n,
            "stride_bbn": 1,
        }  # fmt: skip
        const = {
            "BLOCK_SIZE_M": block, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 2, "MUL_ROUTED_WEIGHT": True,
            "top_k": top, "compute_type": f"tl.{name}", "use_int8_w8a16": eight_bits, "HAS_BIAS": not gated, "GATED": gated,
        }  # fmt: skip
        grid = (cdiv(len(order) + block, block) * cdiv(n, 32),)
        yield Case(given, {"c_ptr": y}, grid, const)


@cases
def load_balancing_loss(rng: np.random.Generator) -> Iterator[Case]:
    tokens, experts = 100, 8
    probs, counts = (
        softmax(normal(rng, tokens, experts)).astype(F32),
        rng.integers(0, 50, experts).astype(np.int32),
    )
    given = {
        "probs_ptr": probs, "counts_ptr": counts, "loss_ptr": poison(1, F32), "n_tokens": tokens, "coefficient": 0.01
    }  # fmt: skip
    loss = 0.01 * experts * (wide(probs).mean(0) * counts / tokens).sum(keepdims=True)
    yield Case(given, {"loss_ptr": loss}, (1,), {"EXPERTS": experts, "BLOCK_T": 32})
