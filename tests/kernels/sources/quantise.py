"""Rows, groups and tiles to 8 and 4 bits and back."""

import torch
import triton
import triton.language as tl


@triton.jit
def round_half_away(x):
    return tl.where(x >= 0, tl.floor(x + 0.5), tl.ceil(x - 0.5))


@triton.jit
def quantise_rows(x_ptr, q_ptr, scale_ptr, n_cols, stride_x, stride_q, BLOCK: tl.constexpr, LONG: tl.constexpr):
    """q = round(x / scale), the largest of a row becomes 127; long rows are read twice."""
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * stride_x
    q_row = q_ptr + row * stride_q
    if LONG:
        highest = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, n_cols, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            x = tl.load(x_row + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
            highest = tl.maximum(highest, tl.abs(x))
        absmax = tl.max(highest, axis=0)
    else:
        cols = tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
        absmax = tl.max(tl.abs(x), axis=0)
    scale = tl.where(absmax == 0.0, 1.0, absmax / 127.0)
    tl.store(scale_ptr + row, scale)
    if LONG:
        for start in range(0, n_cols, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            x = tl.load(x_row + cols, mask=cols < n_cols, other=0.0).to(tl.float32)
            tl.store(q_row + cols, round_half_away(x / scale).to(tl.int8), mask=cols < n_cols)
    else:
        tl.store(q_row + cols, round_half_away(x / scale).to(tl.int8), mask=cols < n_cols)


@triton.jit
def dequantise_rows(q_ptr, scale_ptr, out_ptr, n_elements, n_cols, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n_elements
    q = tl.load(q_ptr + at, mask=mask)
    scale = tl.load(scale_ptr + at // n_cols, mask=mask)
    tl.store(out_ptr + at, (q * scale).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def quantise_groups_4bit(
    x_ptr, packed_ptr, scale_ptr, zero_ptr, rows, n_cols, GROUP: tl.constexpr, GROUPS: tl.constexpr,
):
    """Groups of a row to 0…15 with scale and zero point; two numbers a byte, the first in the lower half."""
    row = tl.program_id(0)
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    pair = tl.arange(0, GROUP // 2)
    at = row * n_cols + group[:, None] * GROUP + 2 * pair[None, :]
    mask = (group * GROUP < n_cols)[:, None] & (pair >= 0)[None, :]
    even = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    odd = tl.load(x_ptr + at + 1, mask=mask, other=0.0).to(tl.float32)
    low = tl.minimum(tl.min(tl.minimum(even, odd), axis=1), 0.0)
    high = tl.maximum(tl.max(tl.maximum(even, odd), axis=1), 0.0)
    scale = tl.maximum((high - low) / 15.0, 1e-8)
    zero = tl.clamp(round_half_away(-low / scale), 0.0, 15.0)
    qe = tl.clamp(round_half_away(even / scale[:, None]) + zero[:, None], 0.0, 15.0).to(tl.uint8)
    qo = tl.clamp(round_half_away(odd / scale[:, None]) + zero[:, None], 0.0, 15.0).to(tl.uint8)
    packed = qe | (qo << 4)
    tl.store(packed_ptr + at // 2, packed, mask=mask)
    out = row * (n_cols // GROUP) + group
    tl.store(scale_ptr + out, scale, mask=group * GROUP < n_cols)
    tl.store(zero_ptr + out, zero.to(tl.uint8), mask=group * GROUP < n_cols)


@triton.jit
def dequantise_groups_4bit(packed_ptr, scale_ptr, zero_ptr, out_ptr, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    byte = tl.load(packed_ptr + at // 2, mask=mask, other=0).to(tl.int32)
    q = tl.where(at % 2 == 0, byte & 0xF, byte >> 4)
    zero = tl.load(zero_ptr + at // GROUP, mask=mask, other=0).to(tl.int32)
    scale = tl.load(scale_ptr + at // GROUP, mask=mask, other=0.0)
    tl.store(out_ptr + at, (q - zero).to(tl.float32) * scale, mask=mask)


@triton.jit
def quantise_tiles(x_ptr, q_ptr, scale_ptr, M, N, stride_m, BLOCK: tl.constexpr):
    """A scale for each tile of BLOCK by BLOCK."""
    pid_m = tl.program_id(axis=0)
    pid_n = tl.program_id(axis=1)
    n = tl.cdiv(N, BLOCK)
    offs_m = pid_m * BLOCK + tl.arange(0, BLOCK)
    offs_n = pid_n * BLOCK + tl.arange(0, BLOCK)
    offs = offs_m[:, None] * stride_m + offs_n[None, :]
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    x = tl.load(x_ptr + offs, mask=mask, other=0.0).to(tl.float32)
    s = tl.maximum(tl.max(tl.abs(x)) / 127.0, 1e-12)
    tl.store(q_ptr + offs, round_half_away(x / s).to(q_ptr.dtype.element_ty), mask=mask)
    tl.store(scale_ptr + pid_m * n + pid_n, s)


@triton.jit
def requantise_accumulator(
    acc_ptr, row_scale_ptr, col_scale_ptr, col_sum_ptr, zero_point, bias_ptr, out_ptr, out_scale, M, N,
    BM: tl.constexpr, BN: tl.constexpr, ASYMMETRIC: tl.constexpr, TO_INT8: tl.constexpr,
):
    """int32 sums of products to floats, or to 8 bits again with saturation."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    at = rows[:, None] * N + cols[None, :]
    acc = tl.load(acc_ptr + at, mask=mask, other=0)
    if ASYMMETRIC:
        acc -= zero_point * tl.load(col_sum_ptr + cols, mask=cols < N, other=0)[None, :]
    row_scale = tl.load(row_scale_ptr + rows, mask=rows < M, other=0.0)
    col_scale = tl.load(col_scale_ptr + cols, mask=cols < N, other=0.0)
    y = acc.to(tl.float32) * row_scale[:, None] * col_scale[None, :]
    if bias_ptr is not None:
        y += tl.load(bias_ptr + cols, mask=cols < N, other=0.0)[None, :]
    if TO_INT8:
        y = tl.minimum(tl.maximum(round_half_away(y / out_scale), -128.0), 127.0)
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=mask)


def quantise(x):
    q = torch.empty_like(x, dtype=torch.int8)
    scale = torch.empty(x.shape[0], device=x.device, dtype=torch.float32)
    block = triton.next_power_of_2(x.shape[1])
    quantise_rows[(x.shape[0],)](x, q, scale, x.shape[1], x.stride(0), q.stride(0), BLOCK=min(block, 8192), LONG=block > 8192)
    return q, scale
