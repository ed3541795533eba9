"""Rotary embeddings: :mod:`tests.kernels.sources.rotary`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, strides, wide


def angles(rng: np.random.Generator, *shape: int) -> tuple[Any, Any]:
    """Cosines and sines, in f32."""
    angle = rng.uniform(-np.pi, np.pi, shape)
    return np.cos(angle).astype(F32), np.sin(angle).astype(F32)


def turned(x: Any, cos: Any, sin: Any, *, interleaved: bool = False) -> Any:
    """The last axis turned by pairs."""
    half = x.shape[-1] // 2
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    c, d = a * cos - b * sin, a * sin + b * cos
    return np.stack([c, d], -1).reshape(x.shape) if interleaved else np.concatenate([c, d], -1)


@cases
def rope_in_place(rng: np.random.Generator) -> Iterator[Case]:
    batch, length = 2, 3
    for heads, kv_heads, size, dtype, tables, back in (
        (5, 2, 24, F32, 1, False), (4, 4, 64, BF16, 2, True), (3, 1, 32, F16, 1, False)
    ):  # fmt: skip
        q = normal(rng, batch, length, heads, size, dtype=dtype)
        k = normal(rng, batch, length, kv_heads, size, dtype=dtype)
        cos, sin = angles(rng, tables, length, 1, size // 2)
        given = {
            "q_ptr": q, "q_row_stride": heads * size, "k_ptr": k, "k_row_stride": kv_heads * size, "cos": cos,
            "cos_row_stride": size // 2, "sin": sin, "sin_row_stride": size // 2, "sl": length,
        }  # fmt: skip
        c, s = wide(cos), -wide(sin) if back else wide(sin)
        wanted = {"q_ptr": turned(wide(q), c, s), "k_ptr": turned(wide(k), c, s)}
        pads = {
            f"pad_{n}": 1 << (v - 1).bit_length()
            for n, v in (("n_qh", heads), ("n_kh", kv_heads), ("hd", size))
        }
        const = {
            "bs": batch, "cos_bs": tables, "n_qh": heads, "n_kh": kv_heads, "hd": size, **pads, "BLOCK_SIZE": 8,
            "BACKWARD_PASS": back,
        }  # fmt: skip
        yield Case(given, wanted, (batch * length,), const)


@cases
def rotary_general(rng: np.random.Generator) -> Iterator[Case]:
    heads, size, longest = 3, 40, 40
    for rotary, dtype, interleaved, varlen, conjugate in (
        (24, F32, False, False, False), (32, BF16, True, False, True), (40, F32, True, True, False),
    ):  # fmt: skip
        cos, sin = angles(rng, longest, rotary // 2)
        lengths = (11, 17) if varlen else (13, 13)
        offsets = np.array([5, 2], np.int32)
        shape = (sum(lengths), heads, size) if varlen else (2, 13, heads, size)
        x = normal(rng, *shape, dtype=dtype)
        out = normal(rng, *shape, dtype=dtype)
        starts = np.cumsum([0, *lengths]).astype(np.int32)
        v, wanted = wide(x).reshape(-1, heads, size), wide(out).reshape(-1, heads, size)
        for i, n in enumerate(lengths):
            at = slice(starts[i], starts[i] + n)
            place = offsets[i] if varlen else 4
            c, s = (wide(t)[place : place + n, None] for t in (cos, sin))
            wanted[at, :, :rotary] = turned(
                v[at, :, :rotary], c, -s if conjugate else s, interleaved=interleaved
            )
        given = {
            "OUT": out, "X": x, "COS": cos, "SIN": sin, "CU_SEQLENS": starts if varlen else None,
            "SEQLEN_OFFSETS": offsets if varlen else 4, "seqlen": max(lengths), "nheads": heads, "seqlen_ro": longest,
        }  # fmt: skip
        for name, array in (("out", out), ("x", x)):
            batch, *rest = (0, *strides(array)) if varlen else strides(array)
            names = ("batch", "seqlen", "nheads", "headdim")
            given |= {f"stride_{name}_{n}": s for n, s in zip(names, (batch, *rest), strict=True)}
        const = {
            "ROTARY_DIM": rotary, "IS_SEQLEN_OFFSETS_TENSOR": varlen, "IS_VARLEN": varlen, "INTERLEAVED": interleaved,
            "CONJUGATE": conjugate, "BLOCK_H": 2, "BLOCK_M": 8,
        }  # fmt: skip
        grid = (cdiv(heads, 2), cdiv(max(lengths), 8), 2)
        yield Case(given, {"OUT": wanted.reshape(shape)}, grid, const, assumed=not varlen)
