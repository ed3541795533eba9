"""Linear attention: :mod:`tests.kernels.sources.linear_attention`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide


def decays(rng: np.random.Generator, lengths: tuple[int, ...], chunk: int, *shape: int) -> tuple[Any, Any]:
    """Logarithms of decays a step, and their running sums inside chunks."""
    step = -rng.uniform(0, 0.2, (sum(lengths), *shape))
    total, first = np.zeros(step.shape), 0
    for n in lengths:
        for at in range(first, first + n, chunk):
            part = slice(at, min(at + chunk, first + n))
            total[part] = step[part].cumsum(0)
        first += n
    return step, total.astype(F32)


@cases
def chunk_states(rng: np.random.Generator) -> Iterator[Case]:
    heads, size_k, size_v, chunk = 2, 40, 24, 16
    for dtype, varlen, kind, initial in ((F16, False, "g", True), (BF16, True, "gk", False)):
        lengths = (37, 20) if varlen else (37, 37)
        starts = np.cumsum([0, *lengths])
        k = normal(rng, starts[-1], heads, size_k, dtype=dtype)
        v = normal(rng, starts[-1], heads, size_v, dtype=dtype)
        step, total = decays(rng, lengths, chunk, heads, *((size_k,) if kind == "gk" else ()))
        h0 = normal(rng, 2, heads, size_k, size_v)
        states, final, offsets = list[Any](), list[Any](), [0]
        for i, (a, b) in enumerate(pairwise(starts)):
            h = wide(h0[i]) if initial else np.zeros(h0.shape[1:])
            for t in range(a, b):
                if (t - a) % chunk == 0:
                    states.append(h)
                decay = np.exp(step[t])
                h = h * (decay[:, None, None] if kind == "g" else decay[..., None])
                h = h + wide(k)[t, :, :, None] * wide(v)[t, :, None, :]
            final.append(h)
            offsets.append(len(states))
        given = {
            "k": k, "v": v, "h": poison((len(states), heads, size_k, size_v), F32), "g": total if kind == "g" else None,
            "gk": total if kind == "gk" else None, "h0": h0 if initial else None, "ht": poison(h0.shape, F32),
            "cu_seqlens": starts if varlen else None, "split_offsets": np.array(offsets) if varlen else None,
            "T": lengths[0],
        }  # fmt: skip
        const = {
            "H": heads, "K": size_k, "V": size_v, "BT": chunk, "BK": 32, "BV": 16, "USE_G": kind == "g",
            "USE_GK": kind == "gk", "USE_INITIAL_STATE": initial, "STORE_FINAL_STATE": True, "IS_VARLEN": varlen,
        }  # fmt: skip
        wanted = {"h": np.array(states), "ht": np.array(final)}
        # What decays is rounded before it is multiplied.
        allowed = 2e-3 if dtype is F16 else 1.6e-2
        yield Case(given, wanted, (2, 2, 2 * heads), const, allowed, assumed=not varlen)


@cases
def chunk_outputs(rng: np.random.Generator) -> Iterator[Case]:
    heads, size_k, size_v, chunk, length = 2, 40, 24, 16, 37
    for dtype, gated in ((F16, True), (BF16, False)):
        q, k = (normal(rng, 2, length, heads, size_k, dtype=dtype) for _ in range(2))
        v = normal(rng, 2, length, heads, size_v, dtype=dtype)
        chunks = cdiv(length, chunk)
        h = normal(rng, 2, chunks, heads, size_k, size_v, dtype=dtype)
        _, total = decays(rng, (length, length), chunk, heads)
        g = wide(total).reshape(2, length, heads) if gated else np.zeros((2, length, heads))
        out = np.zeros(v.shape)
        for t in range(chunks):
            at = slice(t * chunk, min(t * chunk + chunk, length))
            decay = np.exp(g[:, at])
            inside = np.einsum("bihk,bjhk->bhij", wide(q)[:, at], wide(k)[:, at])
            ratio = np.exp(g[:, at].swapaxes(1, 2)[..., :, None] - g[:, at].swapaxes(1, 2)[..., None, :])
            inside = np.tril(inside * ratio)
            out[:, at] = np.einsum("bihk,bhkv->bihv", wide(q)[:, at], wide(h)[:, t]) * decay[..., None]
            out[:, at] += np.einsum("bhij,bjhv->bihv", inside, wide(v)[:, at])
        given = {
            "q": q, "k": k, "v": v, "h": h, "g": total if gated else None, "o": poison(v.shape, dtype), "scale": 0.2,
            "T": length,
        }  # fmt: skip
        const = {"H": heads, "K": size_k, "V": size_v, "BT": chunk, "BK": 32, "BV": 16, "USE_G": gated}
        yield Case(given, {"o": out * 0.2}, (2, chunks, 2 * heads), const)


@cases
def recurrent_forward(rng: np.random.Generator) -> Iterator[Case]:
    heads, more, size_k, size_v = 2, 4, 12, 20
    for dtype, varlen, backwards, delta in ((F32, True, False, True), (BF16, False, True, False)):
        lengths = (9, 5) if varlen else (9, 9)
        starts = np.cumsum([0, *lengths])
        q, k = (normal(rng, starts[-1], heads, size_k, dtype=dtype) for _ in range(2))
        v = normal(rng, starts[-1], more, size_v, dtype=dtype)
        g, beta = -rng.uniform(0, 0.5, v.shape[:2]), rng.uniform(0, 1, v.shape[:2])
        h0 = normal(rng, 2, more, size_k, size_v)
        out, final = np.zeros(v.shape), np.zeros(h0.shape)
        for i, (a, b) in enumerate(pairwise(starts)):
            h = wide(h0[i])
            for t in range(a, b)[:: -1 if backwards else 1]:
                queries, keys = (np.repeat(wide(x)[t], more // heads, 0) for x in (q, k))
                if delta:
                    queries = 0.3 * queries
                    queries = queries * 0.3 / (np.linalg.norm(queries, axis=-1, keepdims=True) + 1e-6)
                    keys = keys / (np.linalg.norm(keys, axis=-1, keepdims=True) + 1e-6)
                else:
                    queries = 0.3 * queries
                h = h * np.exp(g[t].astype(F32).astype(float))[:, None, None]
                value = wide(v)[t]
                if delta:
                    value = (value - np.einsum("hkv,hk->hv", h, keys)) * beta[t].astype(F32)[:, None]
                h = h + keys[..., None] * value[:, None]
                out[t] = np.einsum("hkv,hk->hv", h, queries)
            final[i] = h
        given = {
            "q": q, "k": k, "v": v, "g": g.astype(F32), "gk": None, "beta": beta.astype(F32) if delta else None,
            "o": poison(v.shape, dtype), "h0": h0, "ht": poison(h0.shape, F32), "cu_seqlens": starts if varlen else None,
            "scale": 0.3, "T": int(starts[-1]) if varlen else lengths[0],
        }  # fmt: skip
        const = {
            "B": 2, "H": heads, "HV": more, "K": size_k, "V": size_v, "BK": 16, "BV": 16, "REVERSE": backwards,
            "USE_G": True, "USE_DELTA": delta, "USE_INITIAL_STATE": True, "STORE_FINAL_STATE": True, "IS_VARLEN": varlen,
            "NORMALISE": delta,
        }  # fmt: skip
        yield Case(given, {"o": out, "ht": final}, (1, 2, 2 * more), const, num_warps=1)


@cases
def solve_lower_16(rng: np.random.Generator) -> Iterator[Case]:
    heads, length, chunk = 2, 37, 32
    a = (0.3 * normal(rng, 2, length, heads, chunk)).astype(F32)
    wanted = np.zeros((2, length, heads, 16))
    for first in range(0, length, 16):
        n = min(16, length - first)
        at = first % chunk
        for b in range(2):
            for h in range(heads):
                block = np.tril(wide(a)[b, first : first + n, h, at : at + n], -1)
                wanted[b, first : first + n, h, :n] = np.linalg.inv(np.eye(n) + block)
    given = {"A": a, "Ai": poison(wanted.shape, F32), "T": length}
    yield Case(
        given, {"Ai": wanted}, (cdiv(length, 16), 2 * heads), {"H": heads, "BT": chunk}, 1e-5, num_warps=1
    )
