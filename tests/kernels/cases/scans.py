"""Scans: :mod:`tests.kernels.sources.scans`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide


@cases
def cumsum_rows(rng: np.random.Generator) -> Iterator[Case]:
    rows = 3
    for columns, dtype, backwards, exclusive in ((2500, F32, False, True), (1024, BF16, True, False)):
        x = rng.uniform(0, 1, (rows, columns)).astype(dtype)
        v = wide(x)[:, ::-1] if backwards else wide(x)
        total = v.cumsum(-1) - (v if exclusive else 0)
        given = {"in_ptr": x, "out_ptr": poison(x.shape, F32), "row_stride": columns, "n_cols": columns}
        wanted = {"out_ptr": total[:, ::-1] if backwards else total}
        yield Case(given, wanted, (rows,), {"REVERSE": backwards, "EXCLUSIVE": exclusive, "BLOCK": 512})


@cases
def segmented_scan(rng: np.random.Generator) -> Iterator[Case]:
    for n in (700, 256):
        x, starts = normal(rng, n), rng.random(n) < 0.02
        wanted, carry = np.zeros(n), 0.0
        for i in range(n):
            carry = float(x[i]) + (0 if starts[i] else carry)
            wanted[i] = carry
        given = {
            "x_ptr": x, "starts_ptr": starts, "out_ptr": poison(n, F32), "totals_ptr": poison(1, F32), "n": n
        }  # fmt: skip
        scale = {"totals_ptr": 1e-3}  # a sum that may cancel
        yield Case(given, {"out_ptr": wanted, "totals_ptr": wanted[-1:]}, (1,), {"BLOCK": 256}, scale)


@cases
def chunk_local_cumsum(rng: np.random.Generator) -> Iterator[Case]:
    heads, size = 3, 32
    for varlen, head_first, backwards in ((False, True, False), (False, False, True), (True, False, False)):
        lengths = (50, 20) if varlen else (50, 50)
        starts = np.cumsum([0, *lengths])
        x = normal(rng, sum(lengths), heads)
        wanted = np.zeros(x.shape)
        for a, b in pairwise(starts):
            for first in range(a, b, size):
                part = wide(x)[first : min(first + size, b)]
                total = part[::-1].cumsum(0)[::-1] if backwards else part.cumsum(0)
                wanted[first : first + len(part)] = total * 0.5
        chunks = [(i, t) for i, n in enumerate(lengths) for t in range(cdiv(n, size))]

        def laid_out(array: Any, head_first: bool = head_first) -> Any:
            return (
                np.ascontiguousarray(array.reshape(2, -1, heads).transpose(0, 2, 1)) if head_first else array
            )

        given = {
            "s": laid_out(x), "o": poison(laid_out(x).shape, F32), "cu_seqlens": starts if varlen else None,
            "chunk_indices": np.array(chunks) if varlen else None, "T": lengths[0], "scale": 0.5,
        }  # fmt: skip
        const = {
            "B": 1 if varlen else 2, "H": heads, "BT": size, "REVERSE": backwards, "HAS_SCALE": True, "IS_VARLEN": varlen,
            "HEAD_FIRST": head_first,
        }  # fmt: skip
        grid = (len(chunks), heads) if varlen else (cdiv(50, size), 2 * heads)
        yield Case(given, {"o": laid_out(wanted)}, grid, const, num_warps=1)


@cases
def gated_recurrence(rng: np.random.Generator) -> Iterator[Case]:
    batch, length, size = 2, 50, 40
    for initial, dtype in ((True, F32), (False, F16)):
        a = rng.uniform(0.5, 1, (batch, length, size)).astype(dtype)
        x, h0 = normal(rng, batch, length, size, dtype=dtype), normal(rng, batch, size)
        states, h = np.zeros(x.shape), wide(h0) if initial else np.zeros(h0.shape)
        for t in range(length):
            h = wide(a)[:, t] * h + wide(x)[:, t]
            states[:, t] = h
        given = {
            "a_ptr": a, "x_ptr": x, "h0_ptr": h0 if initial else None, "h_ptr": poison(x.shape, F32),
            "last_ptr": poison(h0.shape, F32), "T": length, "D": size, "stride_b": length * size, "stride_t": size,
        }  # fmt: skip
        const = {"HAS_INITIAL": initial, "BT": 16, "BD": 32}
        yield Case(given, {"h_ptr": states, "last_ptr": h}, (cdiv(size, 32), batch), const, 8e-6)


@cases
def selective_scan(rng: np.random.Generator) -> Iterator[Case]:
    batch, dim, length, n = 2, 20, 9, 16
    for everything, dtype in ((True, F32), (False, BF16)):
        u, z = (normal(rng, batch, dim, length, dtype=dtype) for _ in range(2))
        delta = rng.uniform(0, 1, u.shape).astype(dtype)
        b, c = (normal(rng, batch, n, length, dtype=dtype) for _ in range(2))
        a, skip, bias = -np.exp(normal(rng, dim, n)), normal(rng, dim), normal(rng, dim)
        state, out = np.zeros((batch, dim, n)), np.zeros(u.shape)
        for t in range(length):
            dt = wide(delta)[:, :, t]
            dt = np.log1p(np.exp(dt + bias)) if everything else dt
            state = (
                state * np.exp(dt[..., None] * a) + (dt * wide(u)[..., t])[..., None] * wide(b)[:, None, :, t]
            )
            out[..., t] = (state * wide(c)[:, None, :, t]).sum(-1)
            if everything:
                out[..., t] += wide(u)[..., t] * skip
                out[..., t] *= wide(z)[..., t] / (1 + np.exp(-wide(z)[..., t]))
        given = {
            "u_ptr": u, "delta_ptr": delta, "A_ptr": a, "B_ptr": b, "C_ptr": c, "D_ptr": skip if everything else None,
            "z_ptr": z if everything else None, "delta_bias_ptr": bias if everything else None,
            "out_ptr": poison(u.shape, dtype), "state_ptr": poison(state.shape, F32), "batch": batch, "dim": dim,
            "seqlen": length, "stride_ub": dim * length, "stride_ud": length, "stride_bb": n * length,
            "stride_bn": length, "stride_ob": dim * length, "stride_od": length,
        }  # fmt: skip
        flags = ("DELTA_SOFTPLUS", "HAS_D", "HAS_Z", "HAS_DELTA_BIAS")
        const = {"DSTATE": n, "BLOCK_D": 16, **dict.fromkeys(flags, everything), "SAVE_STATE": True}
        wanted = {"out_ptr": out, "state_ptr": state}
        yield Case(given, wanted, (cdiv(dim, 16), batch), const)
