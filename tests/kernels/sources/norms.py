"""Layer, RMS, group and L2 norms with what is fused into them, forward and backward."""

import math

import torch
import triton
import triton.language as tl

from .common import add, calculate_settings, contiguous, silu, welford

# How RMS norm rounds on the way: as Llama does it, as Gemma does it, or not at all.
_CASTING_MODE_NONE: tl.constexpr = tl.constexpr(-1)
_CASTING_MODE_LLAMA: tl.constexpr = tl.constexpr(0)
_CASTING_MODE_GEMMA: tl.constexpr = tl.constexpr(1)


def get_autotune_configs():
    return [triton.Config({}, num_warps=w) for w in (1, 2, 4, 8, 16)]


@triton.autotune(
    configs=get_autotune_configs(),
    key=["N", "HAS_RESIDUAL", "STORE_RESIDUAL_OUT", "IS_RMS_NORM", "HAS_BIAS", "HAS_WEIGHT", "HAS_X1", "HAS_W1", "HAS_B1"],
)
@triton.heuristics({"HAS_X1": lambda args: args["X1"] is not None})
@triton.heuristics({"HAS_W1": lambda args: args["W1"] is not None})
@triton.heuristics({"HAS_B1": lambda args: args["B1"] is not None})
@triton.jit
def norm_forward(
    X,  # rows to normalise
    Y,  # what comes out
    W,  # weights
    B,  # biases
    RESIDUAL,  # added to X before
    X1,  # a second input, added too
    W1,  # weights of a second output
    B1,
    Y1,
    RESIDUAL_OUT,  # the sum that was normalised
    ROWSCALE,
    SEEDS,  # a seed for dropout, each row's
    DROPOUT_MASK,
    DROPOUT_MASK1,
    Mean,
    Rstd,
    stride_x_row,
    stride_y_row,
    stride_res_row,
    stride_res_out_row,
    stride_x1_row,
    stride_y1_row,
    M,
    N,
    eps,
    dropout_p,
    zero_centered_weight: tl.constexpr,
    IS_RMS_NORM: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HAS_RESIDUAL: tl.constexpr,
    STORE_RESIDUAL_OUT: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    HAS_DROPOUT: tl.constexpr,
    STORE_DROPOUT_MASK: tl.constexpr,
    HAS_ROWSCALE: tl.constexpr,
    HAS_X1: tl.constexpr,
    HAS_W1: tl.constexpr,
    HAS_B1: tl.constexpr,
):
    # One program a row.
    row = tl.program_id(0)
    X += row * stride_x_row
    Y += row * stride_y_row
    if HAS_RESIDUAL:
        RESIDUAL += row * stride_res_row
    if STORE_RESIDUAL_OUT:
        RESIDUAL_OUT += row * stride_res_out_row
    if HAS_X1:
        X1 += row * stride_x1_row
    if HAS_W1:
        Y1 += row * stride_y1_row
    cols = tl.arange(0, BLOCK_N)
    x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    if HAS_ROWSCALE:
        rowscale = tl.load(ROWSCALE + row).to(tl.float32)
        x *= rowscale
    if HAS_DROPOUT:
        # 7 rounds are enough for dropout.
        keep_mask = tl.rand(tl.load(SEEDS + row).to(tl.uint32), cols, n_rounds=7) > dropout_p
        x = tl.where(keep_mask, x / (1.0 - dropout_p), 0.0)
        if STORE_DROPOUT_MASK:
            tl.store(DROPOUT_MASK + row * N + cols, keep_mask, mask=cols < N)
    if HAS_X1:
        x1 = tl.load(X1 + cols, mask=cols < N, other=0.0).to(tl.float32)
        if HAS_ROWSCALE:
            rowscale = tl.load(ROWSCALE + M + row).to(tl.float32)
            x1 *= rowscale
        if HAS_DROPOUT:
            keep_mask = tl.rand(tl.load(SEEDS + M + row).to(tl.uint32), cols, n_rounds=7) > dropout_p
            x1 = tl.where(keep_mask, x1 / (1.0 - dropout_p), 0.0)
            if STORE_DROPOUT_MASK:
                tl.store(DROPOUT_MASK1 + row * N + cols, keep_mask, mask=cols < N)
        x += x1
    if HAS_RESIDUAL:
        residual = tl.load(RESIDUAL + cols, mask=cols < N, other=0.0).to(tl.float32)
        x += residual
    if STORE_RESIDUAL_OUT:
        tl.store(RESIDUAL_OUT + cols, x, mask=cols < N)
    if not IS_RMS_NORM:
        mean = tl.sum(x, axis=0) / N
        tl.store(Mean + row, mean)
        xbar = tl.where(cols < N, x - mean, 0.0)
        var = tl.sum(xbar * xbar, axis=0) / N
    else:
        xbar = tl.where(cols < N, x, 0.0)
        var = tl.sum(xbar * xbar, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Rstd + row, rstd)
    mask = cols < N
    if HAS_WEIGHT:
        w = tl.load(W + cols, mask=mask).to(tl.float32)
        if zero_centered_weight:
            w += 1.0
    if HAS_BIAS:
        b = tl.load(B + cols, mask=mask).to(tl.float32)
    x_hat = (x - mean) * rstd if not IS_RMS_NORM else x * rstd
    if HAS_WEIGHT and HAS_BIAS:
        y = x_hat * w + b
    elif HAS_WEIGHT:
        y = x_hat * w
    else:
        y = x_hat
    tl.store(Y + cols, y, mask=mask)
    if HAS_W1:
        w1 = tl.load(W1 + cols, mask=mask).to(tl.float32)
        if zero_centered_weight:
            w1 += 1.0
        if HAS_B1:
            b1 = tl.load(B1 + cols, mask=mask).to(tl.float32)
        y1 = x_hat * w1 + b1 if HAS_B1 else x_hat * w1
        tl.store(Y1 + cols, y1, mask=mask)


@triton.heuristics({"RECOMPUTE_OUTPUT": lambda args: args["Y"] is not None})
@triton.jit
def norm_backward(
    X, W, B, Y, DY, DX, DW, DB, DRESIDUAL, DX_IN, SEEDS, Mean, Rstd,
    stride_x_row, stride_y_row, stride_dy_row, stride_dx_row, stride_dres_row, stride_dres_in_row,
    M, N, eps, dropout_p, rows_per_program,
    IS_RMS_NORM: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HAS_DRESIDUAL: tl.constexpr,
    STORE_DRESIDUAL: tl.constexpr,
    HAS_WEIGHT: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    HAS_DROPOUT: tl.constexpr,
    RECOMPUTE_OUTPUT: tl.constexpr,
):
    # A program has several rows, and sums of its own for the gradients of weight and bias.
    row_block_id = tl.program_id(0)
    row_start = row_block_id * rows_per_program
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    X += row_start * stride_x_row
    if HAS_DRESIDUAL:
        DRESIDUAL += row_start * stride_dres_row
    if STORE_DRESIDUAL:
        DX_IN += row_start * stride_dres_in_row
    DY += row_start * stride_dy_row
    DX += row_start * stride_dx_row
    if RECOMPUTE_OUTPUT:
        Y += row_start * stride_y_row
    if HAS_WEIGHT:
        w = tl.load(W + cols, mask=mask).to(tl.float32)
        dw = tl.zeros((BLOCK_N,), dtype=tl.float32)
    if RECOMPUTE_OUTPUT and HAS_BIAS:
        b = tl.load(B + cols, mask=mask, other=0.0).to(tl.float32)
    if HAS_BIAS:
        db = tl.zeros((BLOCK_N,), dtype=tl.float32)
    row_end = min((row_block_id + 1) * rows_per_program, M)
    for row in range(row_start, row_end):
        x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
        dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
        if not IS_RMS_NORM:
            mean = tl.load(Mean + row)
        rstd = tl.load(Rstd + row)
        xhat = (x - mean) * rstd if not IS_RMS_NORM else x * rstd
        xhat = tl.where(mask, xhat, 0.0)
        if RECOMPUTE_OUTPUT:
            y = xhat * w if HAS_WEIGHT else xhat
            if HAS_BIAS:
                y = y + b
            tl.store(Y + cols, y, mask=mask)
        wdy = dy
        if HAS_WEIGHT:
            wdy = dy * w
            dw += dy * xhat
        if HAS_BIAS:
            db += dy
        c1 = tl.sum(xhat * wdy, axis=0) / N
        if not IS_RMS_NORM:
            c2 = tl.sum(wdy, axis=0) / N
            dx = (wdy - (xhat * c1 + c2)) * rstd
        else:
            dx = (wdy - xhat * c1) * rstd
        if HAS_DRESIDUAL:
            dres = tl.load(DRESIDUAL + cols, mask=mask, other=0).to(tl.float32)
            dx += dres
        if STORE_DRESIDUAL:
            tl.store(DX_IN + cols, dx, mask=mask)
        if HAS_DROPOUT:
            keep_mask = tl.rand(tl.load(SEEDS + row).to(tl.uint32), cols, n_rounds=7) > dropout_p
            dx = tl.where(keep_mask, dx / (1.0 - dropout_p), 0.0)
        tl.store(DX + cols, dx, mask=mask)
        X += stride_x_row
        if HAS_DRESIDUAL:
            DRESIDUAL += stride_dres_row
        if STORE_DRESIDUAL:
            DX_IN += stride_dres_in_row
        if RECOMPUTE_OUTPUT:
            Y += stride_y_row
        DY += stride_dy_row
        DX += stride_dx_row
    if HAS_WEIGHT:
        tl.store(DW + row_block_id * N + cols, dw, mask=mask)
    if HAS_BIAS:
        tl.store(DB + row_block_id * N + cols, db, mask=mask)


@triton.jit
def column_sums(PARTIAL, OUT, rows, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Sums of partial gradients, in the dtype of the parameter."""
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, rows, BLOCK_M):
        at = i + tl.arange(0, BLOCK_M)
        mask = (at[:, None] < rows) & (cols[None, :] < N)
        total += tl.load(PARTIAL + at[:, None] * N + cols[None, :], mask=mask, other=0.0)
    tl.store(OUT + cols, tl.sum(total, axis=0), mask=cols < N)


@triton.jit
def rms_norm_forward(
    Y_ptr, Y_row_stride, X_ptr, X_row_stride, W_ptr, W_row_stride, RSTD_ptr, RSTD_row_stride,
    n_cols, eps, offset, casting_mode: tl.constexpr, elementwise_affine: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):
    """y_i = x_i / rms(x) * (offset + w_i)"""
    row_idx = tl.program_id(0).to(tl.int64)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    y_base = Y_ptr + row_idx * Y_row_stride
    x_base = X_ptr + row_idx * X_row_stride
    rstd_base = RSTD_ptr + row_idx * RSTD_row_stride
    X_row = tl.load(x_base + col_offsets, mask=mask, other=0)
    X_row_dtype = X_row.dtype
    if elementwise_affine:
        W_row = tl.load(W_ptr + col_offsets, mask=mask, other=0)
    # Llama: only the root mean square is computed in f32.
    if casting_mode == _CASTING_MODE_LLAMA:
        X_row = X_row.to(tl.float32)
    # Gemma: everything is.
    if casting_mode == _CASTING_MODE_GEMMA:
        if elementwise_affine:
            W_row = W_row.to(tl.float32)
        X_row = X_row.to(tl.float32)
    if casting_mode == _CASTING_MODE_NONE:
        eps = eps.to(X_row_dtype)
        offset = offset.to(X_row_dtype)
    mean_square = tl.sum(X_row * X_row, axis=0) / n_cols
    rstd = tl.rsqrt(mean_square.to(tl.float32) + eps.to(tl.float32))
    tl.store(rstd_base, rstd)
    X_row = X_row * rstd
    if casting_mode == _CASTING_MODE_LLAMA:
        X_row = X_row.to(X_row_dtype)
    if elementwise_affine:
        Y_row = X_row * (offset + W_row)
    else:
        Y_row = X_row
    if casting_mode == _CASTING_MODE_GEMMA:
        Y_row = Y_row.to(X_row_dtype)
    tl.store(y_base + col_offsets, Y_row, mask=mask)


@triton.jit
def rms_norm_backward(
    dY_ptr, dY_row_stride, dX_ptr, dX_row_stride, X_ptr, X_row_stride, X_dtype: tl.constexpr,
    W_ptr, W_row_stride, RSTD_ptr, RSTD_row_stride, dW_ptr, dW_row_stride,
    n_rows, n_cols, offset, rows_per_program, casting_mode: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):
    """dx = rstd * (dy * (offset + w) - x * rstd² * mean(dy * (offset + w) * x)); sums of dw for a program's rows"""
    row_block_id = tl.program_id(0).to(tl.int64)
    row_start = row_block_id * rows_per_program
    row_end = min((row_block_id + 1) * rows_per_program, n_rows)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    dW_row = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    W_row = tl.load(W_ptr + col_offsets, mask=mask, other=0.0)
    W_row = W_row + offset
    for row_idx in range(row_start, row_end):
        dy_base = dY_ptr + row_idx * dY_row_stride
        dx_base = dX_ptr + row_idx * dX_row_stride
        x_base = X_ptr + row_idx * X_row_stride
        dY_row = tl.load(dy_base + col_offsets, mask=mask, other=0.0)
        X_row = tl.load(x_base + col_offsets, mask=mask, other=0.0)
        rstd_row = tl.load(RSTD_ptr + row_idx * RSTD_row_stride)
        X_row = X_row.to(tl.float32)
        if casting_mode == _CASTING_MODE_LLAMA:
            m = (dY_row * W_row).to(tl.float32)
        elif casting_mode == _CASTING_MODE_GEMMA:
            dY_row = dY_row.to(tl.float32)
            m = dY_row * W_row
        else:
            m = dY_row * W_row
        dX_row = rstd_row * m
        dX_row += (rstd_row) * (-(1 / n_cols) * rstd_row * rstd_row * tl.sum(m * X_row, axis=0) * X_row)
        if casting_mode == _CASTING_MODE_LLAMA:
            dW_row += dY_row * (X_row * rstd_row).to(X_dtype)
        else:
            dW_row += dY_row * (X_row * rstd_row)
        tl.store(dx_base + col_offsets, dX_row.to(X_dtype), mask=mask)
    tl.store(dW_ptr + row_block_id * dW_row_stride + col_offsets, dW_row, mask=mask)


@triton.jit
def fused_add_rms_norm(
    input_ptr, residual_ptr, weight_ptr, input_row_stride, residual_row_stride, n_cols, eps,
    BLOCK_SIZE: tl.constexpr, num_stages: tl.constexpr,
):
    """residual += input; input = rms_norm(residual), both in place, rows of any length."""
    row = tl.program_id(0)
    x_row = input_ptr + row * input_row_stride
    r_row = residual_ptr + row * residual_row_stride
    squares = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for start in tl.range(0, n_cols, BLOCK_SIZE, num_stages=num_stages):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(x_row + cols, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        r = tl.load(r_row + cols, mask=mask, other=0.0).to(tl.float32)
        total = x + r
        squares += total * total
        tl.store(r_row + cols, total.to(residual_ptr.dtype.element_ty), mask=mask)
        tl.store(x_row + cols, total.to(input_ptr.dtype.element_ty), mask=mask)
    inverse = tl.rsqrt(tl.sum(squares) / n_cols + eps)
    tl.debug_barrier()
    for start in tl.range(0, n_cols, BLOCK_SIZE, num_stages=num_stages):
        cols = start + tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        total = tl.load(x_row + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(weight_ptr + cols, mask=mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        tl.store(x_row + cols, (total * inverse * w).to(input_ptr.dtype.element_ty), mask=mask)


@triton.jit
def group_norm_forward(
    Y_ptr, Y_row_stride, Y_col_stride, X_ptr, X_row_stride, X_col_stride, Mean_ptr, Mean_row_stride, Mean_col_stride,
    RSTD_ptr, RSTD_row_stride, RSTD_col_stride, W_ptr, B_ptr, eps,
    hidden_size, channels_per_group, hidden_size_per_channel: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):
    """A program for each image and group; variance as the mean of squares less the square of the mean."""
    batch_idx = tl.program_id(0)
    group_idx = tl.program_id(1)
    X_ptr += batch_idx * X_row_stride + group_idx * X_col_stride
    Y_ptr += batch_idx * Y_row_stride + group_idx * Y_col_stride
    block_range = tl.arange(0, BLOCK_SIZE)
    s = 0.0
    squared_sum = 0.0
    for i in range(0, hidden_size, BLOCK_SIZE):
        hidden_size_offsets = i + block_range
        mask = hidden_size_offsets < hidden_size
        X = tl.load(X_ptr + hidden_size_offsets, mask=mask, other=0.0)
        s += tl.sum(X)
        squared_sum += tl.sum(X * X)
    m = s / hidden_size
    variance = (squared_sum / hidden_size) - (m * m)
    rstd = tl.rsqrt(variance + eps)
    for channel_idx in tl.range(group_idx * channels_per_group, (group_idx + 1) * channels_per_group):
        W = tl.load(W_ptr + channel_idx)
        B = tl.load(B_ptr + channel_idx)
        for i in range(0, hidden_size_per_channel, BLOCK_SIZE):
            hidden_size_offsets = i + block_range
            mask = hidden_size_offsets < hidden_size_per_channel
            X = tl.load(X_ptr + hidden_size_offsets, mask=mask, other=m)
            Y = (X - m) * rstd * W + B
            tl.store(Y_ptr + hidden_size_offsets, Y, mask=mask)
        X_ptr += hidden_size_per_channel
        Y_ptr += hidden_size_per_channel
    tl.store(Mean_ptr + batch_idx * Mean_row_stride + group_idx * Mean_col_stride, m)
    tl.store(RSTD_ptr + batch_idx * RSTD_row_stride + group_idx * RSTD_col_stride, rstd)


@triton.jit
def group_norm_backward(
    X_ptr, X_row_stride, X_col_stride, W_ptr, Mean_ptr, Mean_row_stride, Mean_col_stride, RSTD_ptr,
    DX_ptr, DW_ptr, DB_ptr, UPSTREAM_ptr,
    hidden_size: tl.constexpr, channels_per_group: tl.constexpr, BLOCK_SIZE: tl.constexpr, dtype: tl.constexpr,
):
    """Gradients of x, and by atomics those of weight and bias; x is [N, C, hidden], a group some of its channels."""
    batch_idx = tl.program_id(0)
    group_idx = tl.program_id(1)
    at = batch_idx * X_row_stride
    X_ptr += at
    DX_ptr += at
    UPSTREAM_ptr += at
    mean = tl.load(Mean_ptr + batch_idx * Mean_row_stride + group_idx * Mean_col_stride)
    rstd = tl.load(RSTD_ptr + batch_idx * Mean_row_stride + group_idx * Mean_col_stride)
    c1 = 0.0
    c2 = 0.0
    block_range = tl.arange(0, BLOCK_SIZE)
    for channel_idx in range(group_idx * channels_per_group, (group_idx + 1) * channels_per_group):
        dW = 0.0
        dB = 0.0
        W = tl.load(W_ptr + channel_idx)
        for i in tl.range(0, hidden_size, BLOCK_SIZE):
            offsets = i + block_range
            mask = offsets < hidden_size
            X = tl.load(X_ptr + channel_idx * X_col_stride + offsets, mask=mask, other=0.0)
            DY = tl.load(UPSTREAM_ptr + channel_idx * X_col_stride + offsets, mask=mask, other=0.0)
            x_hat = (X - mean) * rstd
            dW += tl.sum(DY * x_hat)
            dB += tl.sum(DY)
            wdy = W * DY
            c1 += tl.sum(x_hat * wdy)
            c2 += tl.sum(wdy)
        tl.atomic_add(DW_ptr + channel_idx, dW.to(dtype))
        tl.atomic_add(DB_ptr + channel_idx, dB.to(dtype))
    N = hidden_size * channels_per_group
    c1 = c1 / N
    c2 = c2 / N
    for channel_idx in tl.range(group_idx * channels_per_group, (group_idx + 1) * channels_per_group):
        W = tl.load(W_ptr + channel_idx)
        for i in range(0, hidden_size, BLOCK_SIZE):
            offsets = i + block_range
            mask = offsets < hidden_size
            X = tl.load(X_ptr + channel_idx * X_col_stride + offsets, mask=mask, other=0.0)
            DY = tl.load(UPSTREAM_ptr + channel_idx * X_col_stride + offsets, mask=mask, other=0.0)
            x_hat = (X - mean) * rstd
            wdy = W * DY
            tl.store(DX_ptr + channel_idx * X_col_stride + offsets, (wdy - (x_hat * c1 + c2)) * rstd, mask=mask)


@triton.jit
def l2_norm_forward(x, y, rstd, eps, T, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    """Rows over their length, BT rows a program, through block pointers."""
    i_t = tl.program_id(0)
    p_x = tl.make_block_ptr(x, (T, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_y = tl.make_block_ptr(y, (T, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_rstd = tl.make_block_ptr(rstd, (T,), (1,), (i_t * BT,), (BT,), (0,))
    b_x = tl.load(p_x, boundary_check=(0, 1)).to(tl.float32)
    b_rstd = 1 / tl.sqrt(tl.sum(b_x * b_x, 1) + eps)
    b_y = b_x * b_rstd[:, None]
    tl.store(p_y, b_y.to(p_y.dtype.element_ty), boundary_check=(0, 1))
    tl.store(p_rstd, b_rstd.to(p_rstd.dtype.element_ty), boundary_check=(0,))


@triton.jit
def l2_norm_backward(y, rstd, dy, dx, T, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    i_t = tl.program_id(0)
    p_y = tl.make_block_ptr(y, (T, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_rstd = tl.make_block_ptr(rstd, (T,), (1,), (i_t * BT,), (BT,), (0,))
    p_dy = tl.make_block_ptr(dy, (T, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    p_dx = tl.make_block_ptr(dx, (T, D), (D, 1), (i_t * BT, 0), (BT, BD), (1, 0))
    b_y = tl.load(p_y, boundary_check=(0, 1)).to(tl.float32)
    b_rstd = tl.load(p_rstd, boundary_check=(0,)).to(tl.float32)
    b_dy = tl.load(p_dy, boundary_check=(0, 1)).to(tl.float32)
    b_dx = b_dy * b_rstd[:, None] - tl.sum(b_dy * b_y, 1)[:, None] * b_y * b_rstd[:, None]
    tl.store(p_dx, b_dx.to(p_dx.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def gated_layer_norm(
    X, Y, W, B, Z, Mean, Rstd, stride_x_row, stride_y_row, stride_z_row, M, N, eps,
    BLOCK_N: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_Z: tl.constexpr, NORM_BEFORE_GATE: tl.constexpr,
    IS_RMS_NORM: tl.constexpr,
):
    """Norms of groups of columns with a gate silu(z), before or after; program_id(1) is the group."""
    row = tl.program_id(0)
    group = tl.program_id(1)
    X += row * stride_x_row + group * N
    Y += row * stride_y_row + group * N
    if HAS_Z:
        Z += row * stride_z_row + group * N
    if not IS_RMS_NORM:
        Mean += group * M
    Rstd += group * M
    W += group * N
    if HAS_BIAS:
        B += group * N
    cols = tl.arange(0, BLOCK_N)
    x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    if HAS_Z and not NORM_BEFORE_GATE:
        z = tl.load(Z + cols, mask=cols < N).to(tl.float32)
        x *= silu(z)
    if not IS_RMS_NORM:
        mean = tl.sum(x, axis=0) / N
        tl.store(Mean + row, mean)
        xbar = tl.where(cols < N, x - mean, 0.0)
        var = tl.sum(xbar * xbar, axis=0) / N
    else:
        xbar = tl.where(cols < N, x, 0.0)
        var = tl.sum(xbar * xbar, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Rstd + row, rstd)
    mask = cols < N
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    if HAS_BIAS:
        b = tl.load(B + cols, mask=mask).to(tl.float32)
    x_hat = (x - mean) * rstd if not IS_RMS_NORM else x * rstd
    y = x_hat * w + b if HAS_BIAS else x_hat * w
    if HAS_Z and NORM_BEFORE_GATE:
        z = tl.load(Z + cols, mask=mask).to(tl.float32)
        y *= silu(z)
    tl.store(Y + cols, y, mask=mask)


@triton.jit
def batch_norm_statistics(
    x_ptr, mean_ptr, var_ptr, running_mean_ptr, running_var_ptr, momentum, batch, spatial, stride_n, stride_c,
    BLOCK_N: tl.constexpr, BLOCK_S: tl.constexpr, UPDATE: tl.constexpr,
):
    """Mean and variance of each channel of [N, C, S] in one pass by Welford's sums, a reduction of three values at once."""
    channel = tl.program_id(0)
    x_ptr += channel * stride_c
    rows = tl.arange(0, BLOCK_N)
    cols = tl.arange(0, BLOCK_S)
    mean = tl.zeros((BLOCK_N, BLOCK_S), dtype=tl.float32)
    m2 = tl.zeros((BLOCK_N, BLOCK_S), dtype=tl.float32)
    count = tl.zeros((BLOCK_N, BLOCK_S), dtype=tl.float32)
    for n in range(0, batch, BLOCK_N):
        for s in range(0, spatial, BLOCK_S):
            mask = ((n + rows)[:, None] < batch) & ((s + cols)[None, :] < spatial)
            at = (n + rows)[:, None] * stride_n + (s + cols)[None, :]
            x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
            mean, m2, count = welford(mean, m2, count, x, tl.zeros_like(x), mask.to(tl.float32))
    mean, m2, count = tl.reduce((mean, m2, count), 1, welford)
    mean, m2, count = tl.reduce((mean, m2, count), 0, welford)
    var = m2 / count
    tl.store(mean_ptr + channel, mean)
    tl.store(var_ptr + channel, var)
    if UPDATE:
        old = tl.load(running_mean_ptr + channel)
        tl.store(running_mean_ptr + channel, old + momentum * (mean - old))
        old = tl.load(running_var_ptr + channel)
        tl.store(running_var_ptr + channel, old + momentum * (var * count / (count - 1) - old))


@triton.jit
def layer_norm_tiles(X, Y, G, M, N, eps, BM: tl.constexpr, BN: tl.constexpr):
    """Several rows a program, sums by a function of the file's own."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.arange(0, BN)
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    at = rows[:, None].to(tl.int64) * N + cols[None, :]
    x = tl.load(X + at, mask, other=0.0).to(tl.float32)
    mean = tl.reduce(x, 1, add, keep_dims=True) / N
    d = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.reduce(d * d, axis=1, combine_fn=add, keep_dims=True) / N + eps)
    g = tl.load(G + cols, cols < N, other=0.0)[None, :].to(tl.float32)
    tl.store(Y + at, (d * rstd * g).to(Y.dtype.element_ty), mask)


class RMSNormFunction(torch.autograd.Function):
    """What PyTorch calls."""

    @staticmethod
    @contiguous
    def forward(ctx, x, weight, eps, offset=0.0):
        shape = x.shape
        x = x.view(-1, shape[-1])
        n_rows, n_cols = x.shape
        block, num_warps = calculate_settings(n_cols)
        y = torch.empty_like(x)
        rstd = torch.empty(n_rows, dtype=torch.float32, device=x.device)
        rms_norm_forward[(n_rows,)](
            y, y.stride(0), x, x.stride(0), weight, weight.stride(0), rstd, rstd.stride(0), n_cols, eps, offset,
            casting_mode=0, elementwise_affine=True, BLOCK_SIZE=block, num_warps=num_warps,
        )
        ctx.save_for_backward(x, weight, rstd)
        ctx.settings = (offset, block, num_warps)
        return y.view(*shape)

    @staticmethod
    @contiguous
    def backward(ctx, dy):
        x, weight, rstd = ctx.saved_tensors
        offset, block, num_warps = ctx.settings
        dy = dy.view(-1, dy.shape[-1])
        n_rows, n_cols = dy.shape
        programs = torch.cuda.get_device_properties(x.device).multi_processor_count
        partial = torch.empty((programs, n_cols), dtype=torch.float32, device=x.device)
        dx = torch.empty_like(x)
        rms_norm_backward[(programs,)](
            dy, dy.stride(0), dx, dx.stride(0), x, x.stride(0), tl.bfloat16, weight, weight.stride(0), rstd, rstd.stride(0),
            partial, partial.stride(0), n_rows, n_cols, offset, math.ceil(n_rows / programs),
            casting_mode=0, BLOCK_SIZE=block, num_warps=num_warps,
        )
        return dx, partial.sum(0).to(weight.dtype), None, None
