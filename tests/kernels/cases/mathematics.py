"""More of mathematics: :mod:`tests.kernels.sources.mathematics`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tests.kernels.case import BF16, F16, F32, Case, cases, cdiv, normal, poison, wide
from tests.kernels.cases.norms import EPS, normalised
from tests.kernels.cases.rotary import turned

erf = np.vectorize(math.erf)


@cases
def gelu_exact_forward(rng: np.random.Generator) -> Iterator[Case]:
    for n, dtype, gated in ((1500, F32, True), (1024, BF16, False)):
        x, gate = 3 * normal(rng, n, dtype=dtype), normal(rng, n, dtype=dtype)
        x = x.astype(dtype)
        y = 0.5 * wide(x) * (1 + erf(wide(x) / math.sqrt(2)))
        given = {"x_ptr": x, "gate_ptr": gate if gated else None, "out_ptr": poison(n, dtype), "n": n}
        wanted = {"out_ptr": y * wide(gate) if gated else y}
        yield Case(given, wanted, (cdiv(n, 512),), {"BLOCK": 512, "HAS_GATE": gated})


@cases
def gelu_exact_backward(rng: np.random.Generator) -> Iterator[Case]:
    n = 1500
    x, dy = normal(rng, n), normal(rng, n)
    slope = 0.5 * (1 + erf(wide(x) / math.sqrt(2))) + wide(x) * np.exp(-(wide(x) ** 2) / 2) / math.sqrt(
        2 * math.pi
    )
    given = {"x_ptr": x, "dy_ptr": dy, "dx_ptr": poison(n, F32), "n": n}
    yield Case(given, {"dx_ptr": wide(dy) * slope}, (cdiv(n, 512),), {"BLOCK": 512})


@cases
def dynamic_tanh_forward(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns = 3, 700
    for dtype, shifted in ((F32, True), (F16, False)):
        x, gamma, beta = (normal(rng, n, columns, dtype=dtype) for n in (rows, 1, 1))
        alpha = np.full(1, 0.7, F32)
        given = {
            "X": x, "Y": poison(x.shape, dtype), "Alpha": alpha, "Gamma": gamma, "Beta": beta if shifted else None,
            "N": columns,
        }  # fmt: skip
        y = wide(gamma) * np.tanh(wide(alpha) * wide(x)) + (wide(beta) if shifted else 0)
        const = {"HAVE_BETA": shifted, "BLOCK_N": 512}
        yield Case(given, {"Y": y}, (cdiv(columns, 512), rows), const)


@cases
def softcap_backward(rng: np.random.Generator) -> Iterator[Case]:
    n = 1500
    x, dy = (10 * normal(rng, n)).astype(BF16), normal(rng, n, dtype=BF16)
    given = {"x_ptr": x, "dy_ptr": dy, "dx_ptr": poison(n, F32), "cap": 7.5, "n": n}
    wanted = {"dx_ptr": wide(dy) * (1 - np.tanh(wide(x) / 7.5) ** 2)}
    yield Case(given, wanted, (cdiv(n, 512),), {"BLOCK": 512})


@cases
def rms_norm_libdevice(rng: np.random.Generator) -> Iterator[Case]:
    rows, columns = 4, 300
    x, w = normal(rng, rows, columns), normal(rng, columns)
    given = {"x_ptr": x, "w_ptr": w, "y_ptr": poison(x.shape, F32), "eps": EPS, "n_cols": columns}
    yield Case(given, {"y_ptr": normalised(wide(x), rms=True)[0] * w}, (rows,), {"BLOCK": 512})


@cases
def timestep_embedding(rng: np.random.Generator) -> Iterator[Case]:
    rows, dim = 5, 100
    for flipped in (False, True):
        t = rng.integers(0, 50, rows)
        # In f32 the angle itself is rounded: to what a radian of it is worth.
        angle = t[:, None] * np.exp(-math.log(1e4) * np.arange(dim // 2) / (dim // 2))
        waves = [np.cos(angle), np.sin(angle)]
        given = {"t_ptr": t, "out_ptr": poison((rows, dim), F32), "dim": dim, "max_period_log": math.log(1e4)}
        wanted = {"out_ptr": np.concatenate(waves[:: -1 if flipped else 1], -1)}
        yield Case(given, wanted, (rows,), {"FLIP": flipped, "BLOCK": 64}, 2e-5)


@cases
def rope_computed(rng: np.random.Generator) -> Iterator[Case]:
    tokens, heads, half = 6, 3, 16
    x, positions = normal(rng, tokens, heads, 2 * half, dtype=F16), rng.integers(0, 100, tokens)
    angle = positions[:, None, None] * np.exp(-math.log(1e4) * np.arange(half) / half)
    given = {
        "x_ptr": x, "positions_ptr": positions, "y_ptr": poison(x.shape, F16), "log_theta": math.log(1e4),
        "stride_t": heads * 2 * half, "stride_h": 2 * half,
    }  # fmt: skip
    wanted = {"y_ptr": turned(wide(x), np.cos(angle), np.sin(angle))}
    yield Case(given, wanted, (tokens, heads), {"HALF": half}, num_warps=1)


@cases
def matmul_w8a8(rng: np.random.Generator) -> Iterator[Case]:
    m, n, k = 40, 50, 70
    for biased in (True, False):
        a, b = (rng.integers(-128, 128, (rows, k)).astype(np.int8) for rows in (m, n))
        sa, sb = (rng.uniform(0.001, 0.01, rows).astype(F32) for rows in (m, n))
        bias = normal(rng, n)
        given = {
            "a_ptr": a, "b_ptr": b, "a_scale_ptr": sa, "b_scale_ptr": sb, "bias_ptr": bias if biased else None,
            "c_ptr": poison((m, n), BF16), "M": m, "N": n, "K": k, "stride_am": k, "stride_bn": k, "stride_cm": n,
        }  # fmt: skip
        wanted = {"c_ptr": wide(a) @ wide(b).T * wide(sa)[:, None] * wide(sb) + (wide(bias) if biased else 0)}
        const = {"BM": 32, "BN": 32, "BK": 32, "HAS_BIAS": biased}
        yield Case(given, wanted, (cdiv(m, 32), cdiv(n, 32)), const)
