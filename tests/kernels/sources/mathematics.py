"""Kernels with more of mathematics: error function, hyperbolic tangent, waves, normal noise, products of integers."""

import operator

import torch
import triton
import triton.language as tl

from .common import calculate_settings, compare_version, contiguous, is_npu_available

if compare_version("triton", operator.ge, "3.0.0") and not is_npu_available():
    try:
        # As of Triton 3.0.
        from triton.language.extra.libdevice import rsqrt, tanh
    except ModuleNotFoundError:
        # As of some builds of it.
        from triton.language.extra.cuda.libdevice import rsqrt, tanh
else:
    from triton.language.math import rsqrt, tanh

from triton.language.extra import libdevice


@triton.jit
def exact_gelu(x):
    return 0.5 * x * (1.0 + tl.math.erf(x * 0.7071067811865476))


@triton.jit
def gelu_exact_forward(x_ptr, gate_ptr, out_ptr, n, BLOCK: tl.constexpr, HAS_GATE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    y = exact_gelu(tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32))
    if HAS_GATE:
        y *= tl.load(gate_ptr + at, mask=mask, other=0.0)
    tl.store(out_ptr + at, y, mask=mask)


@triton.jit
def gelu_exact_backward(x_ptr, dy_ptr, dx_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
    cdf = 0.5 * (1.0 + libdevice.erf(x * 0.7071067811865476))
    pdf = 0.3989422804014327 * tl.exp(-0.5 * x * x)
    tl.store(dx_ptr + at, dy * (cdf + x * pdf), mask=mask)


@triton.jit
def dynamic_tanh_forward(X, Y, Alpha, Gamma, Beta, HAVE_BETA: tl.constexpr, N, BLOCK_N: tl.constexpr):
    """y = gamma tanh(alpha x) + beta"""
    col = tl.cast(tl.program_id(0), tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = col < N
    row_id = tl.cast(tl.program_id(1), tl.int64)
    X += row_id * N
    Y += row_id * N
    alpha = tl.load(Alpha).to(tl.float32)
    gamma = tl.load(Gamma + col, mask=mask, other=0.0).to(tl.float32)
    x = tl.load(X + col, mask=mask, other=0.0).to(tl.float32)
    y = gamma * tanh((alpha * x).cast(tl.float32))
    if HAVE_BETA:
        y += tl.load(Beta + col, mask=mask, other=0.0).to(tl.float32)
    tl.store(Y + col, y, mask=mask)


@triton.jit
def softcap_backward(x_ptr, dy_ptr, dx_ptr, cap, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    t = tanh(tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32) / cap)
    tl.store(dx_ptr + at, tl.load(dy_ptr + at, mask=mask, other=0.0) * (1 - t * t), mask=mask)


@triton.jit
def rms_norm_libdevice(x_ptr, w_ptr, y_ptr, eps, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
    r = rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    w = tl.load(w_ptr + cols, mask=cols < n_cols, other=0.0)
    tl.store(y_ptr + row * n_cols + cols, x * r * w, mask=cols < n_cols)


@triton.jit
def timestep_embedding(t_ptr, out_ptr, dim, max_period_log, FLIP: tl.constexpr, BLOCK: tl.constexpr):
    """Sines and cosines of a time at frequencies that fall from 1 to 1 / max_period."""
    row = tl.program_id(0)
    half = dim // 2
    i = tl.arange(0, BLOCK)
    mask = i < half
    t = tl.load(t_ptr + row).to(tl.float32)
    angle = t * tl.exp(-max_period_log * i.to(tl.float32) / half)
    first, second = tl.cos(angle), tl.sin(angle)
    if FLIP:
        first, second = second, first
    tl.store(out_ptr + row * dim + i, first, mask=mask)
    tl.store(out_ptr + row * dim + half + i, second, mask=mask)


@triton.jit
def rope_computed(x_ptr, positions_ptr, y_ptr, log_theta, stride_t, stride_h, HALF: tl.constexpr):
    """Angles from positions, in the kernel."""
    token, head = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, HALF)
    angle = tl.load(positions_ptr + token).to(tl.float32) * tl.exp(-log_theta * i / HALF)
    c, s = tl.math.cos(angle), tl.math.sin(angle)
    base = token * stride_t + head * stride_h
    a = tl.load(x_ptr + base + i).to(tl.float32)
    b = tl.load(x_ptr + base + HALF + i).to(tl.float32)
    tl.store(y_ptr + base + i, a * c - b * s)
    tl.store(y_ptr + base + HALF + i, b * c + a * s)


@triton.jit
def matmul_w8a8(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, bias_ptr, c_ptr, M, N, K, stride_am, stride_bn, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HAS_BIAS: tl.constexpr,
):
    """Integers times integers, summed in 32 bits; scales by row and by column at the end."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.int32)
    for k in range(0, K, BK):
        at = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * stride_am + at[None, :], mask=(rows[:, None] < M) & (at[None, :] < K), other=0)
        b = tl.load(b_ptr + cols[None, :] * stride_bn + at[:, None], mask=(cols[None, :] < N) & (at[:, None] < K), other=0)
        acc = tl.dot(a, b, acc, out_dtype=tl.int32)
    scale_a = tl.load(a_scale_ptr + rows, mask=rows < M, other=0.0)
    scale_b = tl.load(b_scale_ptr + cols, mask=cols < N, other=0.0)
    c = acc.to(tl.float32) * scale_a[:, None] * scale_b[None, :]
    if HAS_BIAS:
        c += tl.load(bias_ptr + cols, mask=cols < N, other=0.0)[None, :]
    tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :], c.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


class DyT(torch.autograd.Function):
    @staticmethod
    @contiguous
    def forward(ctx, x, alpha, gamma, beta):
        rows, cols = x.view(-1, x.shape[-1]).shape
        y = torch.empty_like(x)
        block, _ = calculate_settings(cols)
        dynamic_tanh_forward[(triton.cdiv(cols, block), rows)](x, y, alpha, gamma, beta, beta is not None, cols, BLOCK_N=block)
        return y
