"""An inference server's kernels: :mod:`tests.kernels.sources.serving`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.cases.activations import silu
from tests.kernels.cases.attention import attend, named, pages
from tests.kernels.philox import uniform


@cases
def unified_attention(rng: np.random.Generator) -> Iterator[Case]:
    heads, kv, page, block_q = 6, 2, 8, 4
    per = heads // kv
    for size, dtype, window, alibi, bias, cap, sinks, eight in (
        (24, F16, 0, True, True, 0.0, False, False), (32, BF16, 9, False, False, 5.0, True, True),
        (16, F16, 12, False, False, 0.0, False, False),
    ):  # fmt: skip
        queries, lengths = (1, 13, 6), np.array([40, 13, 30], np.int32)
        starts = np.cumsum([0, *queries]).astype(np.int32)
        q = normal(rng, starts[-1], heads, size, dtype=dtype)
        shape = (3, 40, kv, size)
        k, v = (
            rng.integers(-127, 128, shape).astype(np.int8) if eight else normal(rng, *shape, dtype=dtype)
            for _ in range(2)
        )
        ks, vs = (0.01, 0.02) if eight else (1.0, 1.0)
        state = rng.bit_generator.state
        k_cache, table = pages(rng, k, lengths, page)
        rng.bit_generator.state = state  # the same table for both
        v_cache, _ = pages(rng, v, lengths, page)
        slopes, sink, qq = rng.uniform(0, 0.2, heads).astype(F32), normal(rng, heads), normal(rng, 13, 13)
        out = np.zeros(q.shape)
        for i, (a, b) in enumerate(pairwise(starts)):
            n, length = b - a, int(lengths[i])
            context = length - n
            distance = context + np.arange(n)[:, None] - np.arange(length)
            allowed = (distance >= 0) & ((distance < window) | (window == 0))
            between = np.zeros((n, length))
            between[:, context:] = qq[:n, :n]
            for h in range(heads):
                added = (slopes[h] * (np.arange(length) - context) if alibi else 0) + (between if bias else 0)
                keys, values = wide(k)[i, :length, h // per] * ks, wide(v)[i, :length, h // per] * vs
                o, _, lse = attend(wide(q)[a:b, h] * 0.2, keys, values, allowed, added, cap)
                if sinks:
                    o = o / (1 + np.exp(float(sink[h]) - lse))[:, None]
                out[a:b, h] = o
        scale = 127 / np.abs(out).max()
        if eight:
            out = np.rint(out * scale)
        given = {
            "output_ptr": poison(q.shape, np.int8 if eight else dtype), "query_ptr": q, "key_cache_ptr": k_cache,
            "value_cache_ptr": v_cache, "sink_ptr": sink if sinks else None, "block_tables_ptr": table,
            "seq_lens_ptr": lengths, "alibi_slopes_ptr": slopes if alibi else None, "qq_bias_ptr": qq if bias else None,
            "scale": 0.2, "k_scale_ptr": np.full(1, ks, F32) if eight else None,
            "v_scale_ptr": np.full(1, vs, F32) if eight else None, "out_scale_ptr": np.full(1, scale, F32) if eight else None,
            "softcap": cap, "block_table_stride": table.shape[1], "query_stride_0": heads * size, "query_stride_1": size,
            "output_stride_0": heads * size, "output_stride_1": size, "qq_bias_stride_0": 13,
            **named("k_cache_", "0 1 2", k_cache[..., 0]), **named("v_cache_", "0 1 2", v_cache[..., 0]),
            "query_start_len_ptr": starts, "num_seqs": 3,
        }  # fmt: skip
        const = {
            "num_query_heads": heads, "num_queries_per_kv": per, "BLOCK_SIZE": page, "TILE_SIZE": 16, "HEAD_SIZE": size,
            "HEAD_SIZE_PADDED": 1 << (size - 1).bit_length(), "USE_ALIBI_SLOPES": alibi, "USE_QQ_BIAS": bias,
            "USE_SOFTCAP": cap > 0, "USE_SINKS": sinks, "SLIDING_WINDOW": window, "stride_k_cache_3": 1,
            "stride_v_cache_3": 1, "BLOCK_Q": block_q, "BLOCK_M": 16, "QUANTISED_CACHE": eight, "QUANTISED_OUTPUT": eight,
        }  # fmt: skip
        types = {n: "i64" for n in given if n.partition("_stride")[1] or n.startswith("stride_")}
        # BLOCK_M rows are block_q queries of per heads, and some that are nobody's.
        grid = (int(starts[-1]) // block_q + 3, kv)
        yield Case(given, {"output_ptr": out}, grid, const, 2e-2 if eight else {}, types)


@cases
def chunk_scan(rng: np.random.Generator) -> Iterator[Case]:
    batch, length, heads, groups, size, states, chunk = 2, 70, 4, 2, 40, 24, 32
    chunks = cdiv(length, chunk)
    for dtype, several, gated in ((F16, True, False), (BF16, False, True)):
        x, z = (normal(rng, batch, length, heads, size, dtype=dtype) for _ in range(2))
        cb = normal(rng, batch, chunks, groups, chunk, chunk, dtype=dtype)
        c = normal(rng, batch, length, groups, states, dtype=dtype)
        before = normal(rng, batch, chunks, heads, size, states)
        dt = rng.uniform(0, 1, (batch, heads, chunks, chunk)).astype(F32)
        decay = (-rng.uniform(0, 0.3, dt.shape)).cumsum(-1).astype(F32)
        skip = normal(rng, heads, size) if gated else normal(rng, heads)
        index = np.sort(rng.integers(0, 3, (batch, length)), axis=-1).astype(np.int32)
        out = np.zeros(x.shape)
        for b, t, h in np.ndindex(batch, chunks, heads):
            at = slice(t * chunk, min(t * chunk + chunk, length))
            n, g = at.stop - at.start, h * groups // heads
            d = wide(decay)[b, h, t, :n]
            scale = np.exp(d)
            inside = np.tril(
                wide(cb)[b, t, g, :n, :n] * np.exp(np.minimum(d[:, None] - d, 0)) * dt[b, h, t, :n]
            )
            if several:
                ids = index[b, at]
                scale = np.where(ids == (index[b, at.start - 1] if t else 0), scale, 0)
                inside = np.where(ids[:, None] == ids, inside, 0)
            y = wide(c)[b, at, g] @ wide(before)[b, t, h].T * scale[:, None] + inside @ wide(x)[b, at, h]
            out[b, at, h] = y + wide(x)[b, at, h] * skip[h]
        given = {
            "cb_ptr": cb, "x_ptr": x, "z_ptr": z if gated else None, "out_ptr": poison(x.shape, dtype),
            "out_x_ptr": poison(x.shape, F32) if gated else None, "dt_ptr": dt, "dA_cumsum_ptr": decay,
            "seq_idx_ptr": index if several else None, "C_ptr": c, "states_ptr": before, "D_ptr": skip,
            "initstates_ptr": None, "chunk_size": chunk, "hdim": size, "dstate": states, "batch": batch, "seqlen": length,
            "nheads_ngroups_ratio": heads // groups, **named("cb_", "batch chunk head csize_m csize_k", cb),
            **named("x_", "batch seqlen head hdim", x), **named("z_", "batch seqlen head hdim", z),
            **named("out_", "batch seqlen head hdim", x), **named("dt_", "batch head chunk csize", dt),
            **named("dA_cs_", "batch head chunk csize", decay), **named("seq_idx_", "batch seqlen", index),
            **named("C_", "batch seqlen head dstate", c), **named("states_", "batch chunk head hdim dstate", before),
            "stride_D_head": size if gated else 1,
        }  # fmt: skip
        const = {
            "IS_CAUSAL": True, "HAS_D": True, "D_HAS_HDIM": gated, "HAS_Z": gated, "HAS_SEQ_IDX": several,
            "BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 16, "BLOCK_SIZE_DSTATE": 32,
        }  # fmt: skip
        wanted = {"out_ptr": out * silu(wide(z)) if gated else out, "out_x_ptr": out}
        # States and what decays are rounded before they are multiplied.
        allowed = 2e-3 if dtype is F16 else 1.6e-2
        yield Case(given, wanted, (cdiv(chunk, 16) * cdiv(size, 32), batch * chunks, heads), const, allowed)


@cases
def chunk_cumsum(rng: np.random.Generator) -> Iterator[Case]:
    batch, length, heads, chunk = 2, 70, 6, 32
    chunks = cdiv(length, chunk)
    for dtype, everything in ((F32, True), (BF16, False)):
        dt, a, bias = (
            normal(rng, batch, length, heads, dtype=dtype),
            -np.exp(normal(rng, heads)),
            normal(rng, heads),
        )
        step = wide(dt)
        if everything:
            step = np.log1p(np.exp(step + wide(bias)))
        step = np.clip(step, 0.05, 1.5)
        padded = np.zeros((batch, chunks * chunk, heads))
        padded[:, :length] = step
        laid = padded.reshape(batch, chunks, chunk, heads).transpose(0, 3, 1, 2)
        given = {
            "dt_ptr": dt, "A_ptr": a, "dt_bias_ptr": bias if everything else None, "dt_out_ptr": poison(laid.shape, F32),
            "dA_cumsum_ptr": poison(laid.shape, F32), "batch": batch, "seqlen": length, "nheads": heads,
            "chunk_size": chunk, "dt_min": 0.05, "dt_max": 1.5, **named("dt_", "batch seqlen head", dt),
            "stride_A_head": 1, "stride_dt_bias_head": 1, "stride_dt_out_batch": heads * chunks * chunk,
            "stride_dt_out_head": chunks * chunk, "stride_dt_out_chunk": chunk, "stride_dt_out_csize": 1,
        }  # fmt: skip
        const = {
            "DT_SOFTPLUS": everything, "HAS_DT_BIAS": everything, "BLOCK_SIZE_H": 4, "BLOCK_SIZE_CHUNK": 32
        }  # fmt: skip
        wanted = {"dt_out_ptr": laid, "dA_cumsum_ptr": (laid * wide(a)[:, None, None]).cumsum(-1)}
        yield Case(given, wanted, (batch, chunks, cdiv(heads, 4)), const)


@cases
def penalise_and_sample(rng: np.random.Generator) -> Iterator[Case]:
    rows, vocab = 4, 1000
    for greedy, grammar, dtype in ((True, True, F32), (False, False, F16)):
        # Logits a good way apart, with and without noise: which is largest is then no matter of rounding.
        x = (np.stack([rng.permutation(vocab) for _ in range(rows)]) / 16 - 30).astype(dtype)
        counts, prompt = rng.poisson(0.2, (rows, vocab)).astype(np.int32), rng.random((rows, vocab)) < 0.1
        words = rng.integers(0, 2**32, (rows, cdiv(vocab, 32)), dtype=np.uint32)
        temperature, seeds = rng.uniform(0.5, 2, rows).astype(F32), rng.integers(0, 2**31, rows)
        v = wide(x)
        v = np.where((counts > 0) | prompt, np.where(v > 0, v / 1.3, v * 1.3), v)
        v = v - 0.11 * counts - 0.23 * (counts > 0)
        if grammar:
            bits = (words[:, np.arange(vocab) // 32] >> (np.arange(vocab) % 32).astype(np.uint32)) & 1
            v = np.where(bits != 0, v, -np.inf)
        if not greedy:
            v = v / temperature[:, None]
        noise = np.zeros(v.shape)
        if not greedy:
            u = np.stack([uniform(int(s), 3 * vocab + np.arange(vocab)) for s in seeds])
            noise = -np.log(-np.log(np.maximum(wide(u), 1e-7)))
        token = (v + noise).argmax(-1)
        lse = v.max(-1) + np.log(np.exp(v - v.max(-1, keepdims=True)).sum(-1))
        given = {
            "logits_ptr": x, "counts_ptr": counts, "prompt_mask_ptr": prompt, "temperature_ptr": temperature,
            "top_token_ptr": poison(rows, np.int64), "logprob_ptr": poison(rows, F32), "seeds_ptr": seeds,
            "allowed_ptr": words.view(np.int32) if grammar else None, "presence": 0.23, "frequency": 0.11,
            "repetition": 1.3, "vocab": vocab, "stride_logits": vocab, "stride_words": words.shape[1], "position": 3,
        }  # fmt: skip
        wanted = {"top_token_ptr": token, "logprob_ptr": np.take_along_axis(v, token[:, None], 1)[:, 0] - lse}
        const = {"BLOCK": 256, "HAS_GRAMMAR": grammar, "GREEDY": greedy}
        # The difference of two larger numbers, each of whose roundings stays.
        yield Case(given, wanted, (rows,), const, {"logprob_ptr": 1e-4})
