"""Gated activations and what is fused with an activation, forward and backward."""

import functools

import torch
import triton
import triton.language as tl

from .common import apply_activation, calculate_settings, gelu_tanh, gelu_tanh_grad, sigmoid, silu


@triton.jit
def swiglu_forward(a_ptr, b_ptr, c_ptr, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    """c = silu(a) * b, a row a program"""
    program_id = tl.program_id(0).to(tl.int64)
    # Rows times columns may pass 2^31.
    a_ptr += program_id * stride
    b_ptr += program_id * stride
    c_ptr += program_id * stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    a_row = tl.load(a_ptr + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b_ptr + col_offsets, mask=mask, other=0)
    c_row = silu(a_row).cast(b_row.dtype) * b_row
    tl.store(c_ptr + col_offsets, c_row, mask=mask)


@triton.jit
def swiglu_backward(dc_ptr, a_ptr, b_ptr, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    """The gradients take the place of a and b."""
    program_id = tl.program_id(0).to(tl.int64)
    dc_ptr += program_id * stride
    a_ptr += program_id * stride
    b_ptr += program_id * stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    dc_row = tl.load(dc_ptr + col_offsets, mask=mask, other=0)
    a_row = tl.load(a_ptr + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b_ptr + col_offsets, mask=mask, other=0)
    sig_a = sigmoid(a_row)
    silu_a = a_row * sig_a
    db_row = dc_row * silu_a
    da_row = dc_row * (silu_a * (1 - sig_a) + sig_a) * b_row
    tl.store(a_ptr + col_offsets, da_row, mask=mask)
    tl.store(b_ptr + col_offsets, db_row, mask=mask)


@triton.jit
def geglu_forward(a, b, c, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0).to(tl.int64)
    a += program_id * stride
    b += program_id * stride
    c += program_id * stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    a_row = tl.load(a + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b + col_offsets, mask=mask, other=0)
    c_row = gelu_tanh(a_row).to(b_row.dtype) * b_row
    tl.store(c + col_offsets, c_row, mask=mask)


@triton.jit
def geglu_backward(dc, a, b, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0).to(tl.int64)
    dc += program_id * stride
    a += program_id * stride
    b += program_id * stride
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    dc_row = tl.load(dc + col_offsets, mask=mask, other=0)
    a_row = tl.load(a + col_offsets, mask=mask, other=0).to(tl.float32)
    b_row = tl.load(b + col_offsets, mask=mask, other=0)
    db_row = dc_row * gelu_tanh(a_row)
    da_row = dc_row * b_row * gelu_tanh_grad(a_row)
    tl.store(a + col_offsets, da_row.to(a.dtype.element_ty), mask=mask)
    tl.store(b + col_offsets, db_row.to(b.dtype.element_ty), mask=mask)


@triton.jit
def silu_and_mul_quantised(
    input_ptr, output_ptr, scale_ptr, n_rows, n_cols, input_stride, output_stride, GROUP: tl.constexpr, LIMIT: tl.constexpr,
    CLAMP: tl.constexpr = False,
):
    """out = quantise(silu(x[:, :n]) * x[:, n:]), a scale for each GROUP columns"""
    row = tl.program_id(0).to(tl.int64)
    group = tl.program_id(1)
    cols = group * GROUP + tl.arange(0, GROUP)
    mask = cols < n_cols
    gate = tl.load(input_ptr + row * input_stride + cols, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(input_ptr + row * input_stride + n_cols + cols, mask=mask, other=0.0).to(tl.float32)
    if CLAMP:
        gate = tl.minimum(gate, LIMIT)
        up = tl.clamp(up, -LIMIT, LIMIT)
    y = silu(gate) * up
    scale = tl.maximum(tl.max(tl.abs(y)), 1e-10) / 127.0
    q = y / scale
    q = tl.where(q >= 0, tl.floor(q + 0.5), tl.ceil(q - 0.5))
    tl.store(output_ptr + row * output_stride + cols, q.to(tl.int8), mask=mask)
    tl.store(scale_ptr + row * tl.num_programs(1) + group, scale)


@triton.jit
def squared_relu_forward(x_ptr, y_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    zero: tl.constexpr = 0.0
    x = tl.where(x > zero, x, zero)
    tl.store(y_ptr + offsets, x * x, mask=mask)


@triton.jit
def squared_relu_backward(x_ptr, dy_ptr, dx_ptr, n_elements, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    dy = tl.load(dy_ptr + offsets, mask=mask)
    tl.store(dx_ptr + offsets, tl.where(x > 0, 2 * x * dy, 0.0), mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 4, "BLOCK_N": 256}, num_warps=4),
        triton.Config({"BLOCK_M": 8, "BLOCK_N": 128}, num_warps=8),
    ],
    key=["M", "N"],
    restore_value=["out_ptr"],
)
@triton.jit
def bias_activation_residual(
    x_ptr, bias_ptr, scale_ptr, residual_ptr, out_ptr, pre_ptr, M, N, stride_xm, stride_rm, stride_om, alpha,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, ACTIVATION: tl.constexpr, SAVE_PRE: tl.constexpr,
):
    """out = alpha * activation(x * scale + bias) + residual, any of the three absent"""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (rows < M)[:, None] & (cols < N)[None, :]
    x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    if scale_ptr is not None:
        x = x * tl.load(scale_ptr + cols, mask=cols < N, other=1.0)[None, :]
    if bias_ptr is not None:
        x = x + tl.load(bias_ptr + cols, mask=cols < N, other=0.0)[None, :]
    if SAVE_PRE:
        tl.store(pre_ptr + rows[:, None] * N + cols[None, :], x, mask=mask)
    y = apply_activation(x, ACTIVATION) * alpha
    if residual_ptr is not None:
        y += tl.load(residual_ptr + rows[:, None] * stride_rm + cols[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * stride_om + cols[None, :], y, mask=mask)


class SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        n_cols = a.shape[-1]
        c = torch.empty_like(a)
        block, num_warps = calculate_settings(n_cols)
        swiglu_forward[(a.numel() // n_cols,)](a, b, c, n_cols, n_cols=n_cols, BLOCK_SIZE=block, num_warps=num_warps)
        ctx.save_for_backward(a, b)
        return c

    @staticmethod
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        n_cols = a.shape[-1]
        block, num_warps = calculate_settings(n_cols)
        swiglu_backward[(a.numel() // n_cols,)](dc, a, b, n_cols, n_cols=n_cols, BLOCK_SIZE=block, num_warps=num_warps)
        return a, b


@functools.lru_cache(maxsize=None)
def number_of_multiprocessors(device):
    return torch.cuda.get_device_properties(device).multi_processor_count
