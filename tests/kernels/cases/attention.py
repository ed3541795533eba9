"""Attention: :mod:`tests.kernels.sources.attention`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, strides, wide


def attend(q: Any, k: Any, v: Any, allowed: Any, bias: Any = 0.0, cap: float = 0.0) -> tuple[Any, Any, Any]:
    """(what comes out, probabilities, logsumexp) of scaled queries."""
    s = q @ np.swapaxes(k, -1, -2)
    if cap:
        s = cap * np.tanh(s / cap)
    s = np.where(allowed, s + bias, -np.inf)
    top = s.max(-1, keepdims=True)
    e = np.exp(s - top)
    total = e.sum(-1, keepdims=True)
    return e / total @ v, e / total, (top + np.log(total))[..., 0]


def causal_mask(n: int, causal: bool) -> Any:
    """Which keys a query sees."""
    return np.tril(np.ones((n, n), bool)) if causal else np.ones((n, n), bool)


def named(prefix: str, names: str, array: Any) -> Mapping[str, int]:
    """Strides as arguments."""
    return {f"stride_{prefix}{n}": s for n, s in zip(names.split(), strides(array), strict=True)}


@cases
def attention_forward(rng: np.random.Generator) -> Iterator[Case]:
    for length, size, heads, kv, dtype, causal in ((50, 32, 4, 2, F16, True), (64, 16, 2, 2, BF16, False)):
        q = normal(rng, 2, heads, length, size, dtype=dtype)
        k, v = (normal(rng, 2, kv, length, size, dtype=dtype) for _ in range(2))
        scale = size**-0.5
        more = [np.repeat(wide(x), heads // kv, 1) for x in (k, v)]
        out, _, lse = attend(wide(q) * scale, *more, causal_mask(length, causal))
        # A row's sum starts at 1 where nothing has been seen.
        given = {
            "Q": q, "K": k, "V": v, "sm_scale": scale, "M": poison(q.shape[:3], F32), "Out": poison(q.shape, dtype),
            "Z": 2, "H": heads, "H_KV": kv, "N_CTX": length, **named("q", "z h m k", q), **named("k", "z h n k", k),
            **named("v", "z h k n", v), **named("o", "z h m n", q),
        }  # fmt: skip
        const = {"HEAD_DIM": size, "BLOCK_M": 32, "BLOCK_N": 16, "STAGE": 3 if causal else 1}
        wanted = {"Out": out, "M": lse / np.log(2)}
        yield Case(given, wanted, (cdiv(length, 32), 2 * heads), const, assumed=causal)


@cases
def attention_delta(rng: np.random.Generator) -> Iterator[Case]:
    o, do = (normal(rng, 2, 3, 50, 32, dtype=F16) for _ in range(2))
    given = {
        "O": o,
        "DO": do,
        "Delta": poison((2, 3, 50), F32),
        "H": 3,
        "N_CTX": 50,
        **named("", "z h m k", o),
    }
    del given["stride_k"]
    yield Case(
        given, {"Delta": (wide(o) * wide(do)).sum(-1)}, (cdiv(50, 16), 6), {"BLOCK_M": 16, "HEAD_DIM": 32}
    )


def backward_inputs(
    rng: np.random.Generator, causal: bool, dtype: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments that both backward kernels take, and gradients of q, k and v."""
    length, size, scale = 50, 16, 0.3
    q, k, v, do = (normal(rng, 2, 2, length, size, dtype=dtype) for _ in range(4))
    out, p, lse = attend(wide(q) * scale, wide(k), wide(v), causal_mask(length, causal))
    delta = (out * wide(do)).sum(-1)
    ds = p * (wide(do) @ np.swapaxes(wide(v), -1, -2) - delta[..., None])
    given = {
        "Q": q, "K": k, "V": v, "sm_scale": scale, "DO": do, "M": (lse / np.log(2)).astype(F32), "D": delta.astype(F32),
        "H": 2, "N_CTX": length, **named("", "z h tok d", q),
    }  # fmt: skip
    transposed = {"DV": np.swapaxes(p, -1, -2) @ wide(do), "DK": np.swapaxes(ds, -1, -2) @ wide(q) * scale}
    return given, transposed | {"DQ": ds @ wide(k) * scale}


@cases
def attention_backward_dkdv(rng: np.random.Generator) -> Iterator[Case]:
    for causal, dtype in ((True, F16), (False, BF16)):
        given, wanted = backward_inputs(rng, causal, dtype)
        given |= {"DK": poison(given["K"].shape, F32), "DV": poison(given["K"].shape, F32)}
        const = {"BLOCK_M1": 16, "BLOCK_N1": 32, "HEAD_DIM": 16, "CAUSAL": causal}
        # Probabilities and their gradients are rounded before they are multiplied.
        allowed = 2e-3 if dtype is F16 else 1.6e-2
        yield Case(given, {n: wanted[n] for n in ("DK", "DV")}, (cdiv(50, 32), 4), const, allowed)


@cases
def attention_backward_dq(rng: np.random.Generator) -> Iterator[Case]:
    for causal, dtype in ((True, F16), (False, BF16)):
        given, wanted = backward_inputs(rng, causal, dtype)
        given |= {"DQ": poison(given["Q"].shape, F32)}
        const = {"BLOCK_M2": 32, "BLOCK_N2": 16, "HEAD_DIM": 16, "CAUSAL": causal}
        allowed = 2e-3 if dtype is F16 else 1.6e-2
        yield Case(given, {"DQ": wanted["DQ"]}, (cdiv(50, 32), 4), const, allowed)


def pages(rng: np.random.Generator, x: Any, lengths: Any, page: int) -> tuple[Any, Any]:
    """(pages of a cache, the table) of sequences [batch, length, heads, size], in random order."""
    batch, length = x.shape[:2]
    columns = cdiv(length, page)
    table = rng.permutation(batch * columns).reshape(batch, columns).astype(np.int32)
    cache = np.zeros((batch * columns, page, *x.shape[2:]), x.dtype)
    for i in range(batch):
        for t in range(lengths[i]):
            cache[table[i, t // page], t % page] = x[i, t]
    return cache, table


@cases
def paged_decode_split(rng: np.random.Generator) -> Iterator[Case]:
    batch, heads, kv, length, splits, page = 3, 4, 2, 70, 4, 8
    for size, quantised, cap, dtype in ((24, False, 0.0, F16), (32, True, 5.0, BF16)):
        lengths = np.array([length, 33, 2], np.int32)
        q = normal(rng, batch, heads, size, dtype=dtype)
        shape = (batch, length, kv, size)
        k, v = (
            rng.integers(-127, 128, shape).astype(np.int8) if quantised else normal(rng, *shape, dtype=dtype)
            for _ in range(2)
        )
        ks, vs = (0.01, 0.02) if quantised else (1.0, 1.0)
        state = rng.bit_generator.state
        k_cache, table = pages(rng, k, lengths, page)
        rng.bit_generator.state = state  # the same table for both
        v_cache, _ = pages(rng, v, lengths, page)
        out, lse = np.zeros((batch, heads, splits, size)), np.zeros((batch, heads, splits))
        for b in range(batch):
            part = cdiv(int(lengths[b]), splits)
            for s in range(splits):
                at = slice(s * part, min((s + 1) * part, int(lengths[b])))
                if at.stop <= at.start:
                    continue
                for h in range(heads):
                    keys, values = wide(k)[b, at, h // 2] * ks, wide(v)[b, at, h // 2] * vs
                    o, _, sums = attend(wide(q)[b, h][None] * 0.2, keys, values, np.array(True), 0.0, cap)
                    out[b, h, s], lse[b, h, s] = o[0], sums[0]
        given = {
            "Q": q, "K_Buffer": k_cache, "V_Buffer": v_cache, "sm_scale": 0.2, "Block_table": table, "B_Seqlen": lengths,
            "Att_Out": np.zeros(out.shape, F32), "Lse_Out": np.zeros(lse.shape, F32), "stride_table_b": table.shape[1],
            **named("q", "bs h", q[..., 0]), **named("buf_k", "p s h", k_cache[..., 0]),
            **named("buf_v", "p s h", v_cache[..., 0]), "stride_mid_ob": heads * splits * size,
            "stride_mid_oh": splits * size, "stride_mid_os": size, "k_scale": ks, "v_scale": vs,
        }  # fmt: skip
        const = {
            "kv_group_num": heads // kv, "BLOCK_DMODEL": 32, "BLOCK_DV": 32, "BLOCK_N": 16, "NUM_KV_SPLITS": splits,
            "PAGE_SIZE": page, "logit_cap": cap, "Lk": size, "Lv": size, "QUANTISED": quantised,
        }  # fmt: skip
        wanted = {"Att_Out": out, "Lse_Out": lse}
        yield Case(given, wanted, (batch, heads, splits), const, assumed=quantised)


@cases
def paged_decode_reduce(rng: np.random.Generator) -> Iterator[Case]:
    batch, heads, splits, size = 3, 4, 4, 24
    for sinks in (False, True):
        lengths = np.array([70, 33, 2], np.int32)
        mid, lse, sink = (
            normal(rng, batch, heads, splits, size),
            normal(rng, batch, heads, splits),
            normal(rng, heads),
        )
        used = np.array([[s * cdiv(int(n), splits) < n for s in range(splits)] for n in lengths])
        weight = np.where(used[:, None], np.exp(wide(lse)), 0)
        total = weight.sum(-1) + (np.exp(wide(sink)) if sinks else 0)
        given = {
            "Mid_O": mid, "Mid_Lse": lse, "O": poison((batch, heads, size), F16), "B_Seqlen": lengths,
            "Sinks": sink if sinks else None, "stride_mid_ob": heads * splits * size, "stride_mid_oh": splits * size,
            "stride_mid_os": size, "stride_obs": heads * size, "stride_oh": size,
        }  # fmt: skip
        const = {"NUM_KV_SPLITS": splits, "BLOCK_DV": 32, "Lv": size, "HAS_SINKS": sinks}
        wanted = {"O": (weight[..., None] * mid).sum(2) / total[..., None]}
        yield Case(given, wanted, (batch, heads), const)


@cases
def cache_write(rng: np.random.Generator) -> Iterator[Case]:
    tokens, heads, size, page, blocks = 9, 3, 20, 4, 5
    slots = rng.permutation(page * blocks)[:tokens]
    slots[2] = -1
    for quantised in (False, True):
        k, v = (normal(rng, tokens, heads, size, dtype=F16) for _ in range(2))
        kind = np.int8 if quantised else F16
        caches = [np.zeros((blocks * page, heads, size), kind) for _ in range(2)]
        wanted = [wide(cache) for cache in caches]
        for x, cache in zip((k, v), wanted, strict=True):
            value = np.clip(np.rint(wide(x) / 0.02), -127, 127) if quantised else wide(x)
            cache[slots[slots >= 0]] = value[slots >= 0]
        scale = np.full(1, 0.02, F32) if quantised else None
        given = {
            "key_ptr": k, "value_ptr": v, "key_cache_ptr": caches[0], "value_cache_ptr": caches[1],
            "slot_mapping_ptr": slots, "k_scale": scale, "v_scale": scale, "key_stride": heads * size,
            "value_stride": heads * size, "block_stride": page * heads * size, "page_stride": heads * size,
        }  # fmt: skip
        const = {
            "num_heads": heads, "head_size": size, "block_size": page, "QUANTISED": quantised, "TILE_SIZE": 32
        }  # fmt: skip
        names = ("key_cache_ptr", "value_cache_ptr")
        # What lies half way may be rounded to either side: one step, of as many as the largest is.
        tolerance = {n: 1 / np.abs(w).max() if quantised else 0.0 for n, w in zip(names, wanted, strict=True)}
        yield Case(given, dict(zip(names, wanted, strict=True)), (tokens, 2), const, tolerance)


@cases
def prefill_varlen(rng: np.random.Generator) -> Iterator[Case]:
    heads, kv, lengths = 4, 2, (37, 5, 20)
    starts = np.cumsum([0, *lengths]).astype(np.int32)
    for size, dtype, window, alibi, cap in ((24, F16, 0, True, 0.0), (32, BF16, 9, False, 4.0)):
        q = normal(rng, starts[-1], heads, size, dtype=dtype)
        k, v = (normal(rng, starts[-1], kv, size, dtype=dtype) for _ in range(2))
        slopes = rng.uniform(0, 0.3, heads).astype(F32)
        out, lse = np.zeros(q.shape), np.zeros((heads, starts[-1]))
        for a, b in pairwise(starts):
            distance = np.arange(b - a)[:, None] - np.arange(b - a)
            allowed = (distance >= 0) & ((distance < window) | (window == 0))
            for h in range(heads):
                bias = -wide(slopes)[h] * distance if alibi else 0.0
                o, _, sums = attend(
                    wide(q)[a:b, h] * 0.2, wide(k)[a:b, h // 2], wide(v)[a:b, h // 2], allowed, bias, cap
                )
                out[a:b, h], lse[h, a:b] = o, sums
        given = {
            "Q": q, "K": k, "V": v, "Out": poison(q.shape, dtype), "Lse": poison(lse.shape, F32), "cu_seqlens": starts,
            "alibi_slopes": slopes if alibi else None, "sm_scale": 0.2, "softcap": cap or None,
            **named("q", "t h", q[..., 0]), **named("k", "t h", k[..., 0]), **named("v", "t h", v[..., 0]),
            **named("o", "t h", q[..., 0]), "stride_lse_h": int(starts[-1]),
        }  # fmt: skip
        const = {
            "GROUP": 2, "D": size, "BLOCK_D": 32, "BLOCK_M": 16, "BLOCK_N": 16, "WINDOW": window, "HAS_ALIBI": alibi,
            "HAS_SOFTCAP": cap > 0,
        }  # fmt: skip
        grid = (len(lengths), heads, cdiv(max(lengths), 16))
        yield Case(given, {"Out": out, "Lse": lse}, grid, const)
