"""Softmax with masks and biases, of rows that fit a block and rows that do not, and its gradient."""

import torch
import triton
import triton.language as tl

from .common import LOG2E, calculate_settings


@triton.jit
def masked_softmax(
    out_ptr, in_ptr, mask_ptr, bias_ptr, lengths_ptr, scale, B, H, Q, K,
    stride_b, stride_h, stride_q, stride_mask_b, stride_mask_q, stride_bias_h,
    MASK_KIND: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_LENGTHS: tl.constexpr, BLOCK: tl.constexpr,
):
    """Scores [B, H, Q, K]; a mask added or of booleans, a bias each head, and lengths; rows with nothing left are 0."""
    row = tl.program_id(0).to(tl.int64)
    q = row % Q
    h = (row // Q) % H
    b = row // (Q * H)
    cols = tl.arange(0, BLOCK)
    valid = cols < K
    at = b * stride_b + h * stride_h + q * stride_q
    x = tl.load(in_ptr + at + cols, mask=valid, other=float("-inf")).to(tl.float32) * scale
    if HAS_BIAS:
        x += tl.load(bias_ptr + h * stride_bias_h + cols, mask=valid, other=0.0).to(tl.float32)
    if MASK_KIND == "add":
        x += tl.load(mask_ptr + b * stride_mask_b + q * stride_mask_q + cols, mask=valid, other=0.0).to(tl.float32)
    elif MASK_KIND == "bool":
        allowed = tl.load(mask_ptr + b * stride_mask_b + q * stride_mask_q + cols, mask=valid, other=0)
        x = tl.where(allowed != 0, x, float("-inf"))
    else:
        tl.static_assert(MASK_KIND == "none")
    if HAS_LENGTHS:
        x = tl.where(cols < tl.load(lengths_ptr + b), x, float("-inf"))
    top = tl.max(x, axis=0)
    top = tl.where(top == float("-inf"), 0.0, top)
    e = tl.exp2((x - top) * LOG2E)
    total = tl.sum(e, axis=0)
    y = e / tl.where(total == 0.0, 1.0, total)
    tl.store(out_ptr + at + cols, y, mask=valid)


@triton.jit
def causal_softmax(x_ptr, y_ptr, scale, T, stride_t, WINDOW: tl.constexpr, BM: tl.constexpr, BLOCK: tl.constexpr):
    """Several rows a program of a [T, T] matrix, above the diagonal nothing, and nothing WINDOW behind."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    base = tl.program_id(1).to(tl.int64) * T * stride_t
    cols = tl.arange(0, BLOCK)
    inside = (rows[:, None] < T) & (cols[None, :] < T)
    keep = inside & (cols[None, :] <= rows[:, None])
    if WINDOW > 0:
        keep = keep & (cols[None, :] > rows[:, None] - WINDOW)
    at = base + rows[:, None] * stride_t + cols[None, :]
    x = tl.load(x_ptr + at, mask=keep, other=float("-inf")).to(tl.float32) * scale
    # Rows below the matrix have nothing at all.
    top = tl.maximum(tl.max(x, axis=1, keep_dims=True), -1e30)
    e = tl.where(keep, tl.exp(x - top), 0.0)
    y = e / tl.maximum(tl.sum(e, axis=1, keep_dims=True), 1e-30)
    tl.store(y_ptr + at, y, mask=inside)


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (1024, 2048) for w in (4, 8)], key=["n_cols"])
@triton.jit
def log_softmax_long(out_ptr, in_ptr, row_stride, n_cols, BLOCK: tl.constexpr, LOG: tl.constexpr):
    """Rows of any length: scalars that a loop carries, then a second pass."""
    row = tl.program_id(0).to(tl.int64)
    in_row = in_ptr + row * row_stride
    out_row = out_ptr + row * row_stride
    m = -float("inf")
    s = 0.0
    for start in tl.range(0, n_cols, BLOCK, num_stages=3):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(in_row + cols, mask=cols < n_cols, other=-float("inf"), eviction_policy="evict_last").to(tl.float32)
        m_new = max(m, tl.max(x, 0))
        s = s * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), 0)
        m = m_new
    for start in tl.range(0, n_cols, BLOCK, num_stages=3):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(in_row + cols, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        if LOG:
            y = x - m - tl.log(s)
        else:
            y = tl.exp(x - m) / s
        tl.store(out_row + cols, y, mask=mask)


@triton.jit
def softmax_backward(dx_ptr, y_ptr, dy_ptr, stride, n_rows, n_cols, scale, BM: tl.constexpr, BN: tl.constexpr, LOG: tl.constexpr):
    """Of softmax, or of its logarithm, from what came out."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    mask = (rows[:, None] < n_rows) & (cols[None, :] < n_cols)
    at = rows[:, None] * stride + cols[None, :]
    y = tl.load(y_ptr + at, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + at, mask=mask, other=0.0).to(tl.float32)
    if LOG:
        dx = dy - tl.exp(y) * tl.sum(dy, 1)[:, None]
    else:
        dx = y * (dy - tl.sum(y * dy, 1)[:, None])
    tl.store(dx_ptr + at, dx * scale, mask=mask)


@triton.jit
def softmax_persistent(out_ptr, in_ptr, in_stride, out_stride, n_rows, n_cols, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    """As many programs as run at once, each with several rows."""
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        row_start_ptr = in_ptr + row_idx * in_stride
        col_offsets = tl.arange(0, BLOCK)
        mask = col_offsets < n_cols
        row = tl.load(row_start_ptr + col_offsets, mask=mask, other=-float("inf"))
        row_minus_max = row - tl.max(row, axis=0)
        numerator = tl.exp(row_minus_max)
        denominator = tl.sum(numerator, axis=0)
        tl.store(out_ptr + row_idx * out_stride + col_offsets, numerator / denominator, mask=mask)


def log_softmax(x):
    y = torch.empty_like(x)
    _, num_warps = calculate_settings(x.shape[-1])
    log_softmax_long[(x.shape[0],)](y, x, x.stride(0), x.shape[1], LOG=True, num_warps=num_warps)
    return y
