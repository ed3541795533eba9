"""Floats of 8 bits with scales: activations by groups of a row, weights by tiles, and their product."""

import torch
import triton
import triton.language as tl


@triton.jit
def quantise_groups_fp8(
    y_ptr, y_stride, q_ptr, s_ptr, s_stride_row, s_stride_group, groups_per_row, eps, fp8_min: tl.constexpr, fp8_max: tl.constexpr,
    GROUP: tl.constexpr, BLOCK: tl.constexpr, POWER_OF_TWO: tl.constexpr,
):
    """A scale for every group of a row; scales may be rounded up to powers of two."""
    g = tl.program_id(0)
    row = g // groups_per_row
    group = g % groups_per_row
    cols = tl.arange(0, BLOCK)
    mask = cols < GROUP
    at = row.to(tl.int64) * y_stride + group * GROUP
    y = tl.load(y_ptr + at + cols, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(y)), eps)
    scale = absmax / fp8_max
    if POWER_OF_TWO:
        scale = tl.math.exp2(tl.math.ceil(tl.math.log2(scale)))
    q = tl.clamp(y / scale, fp8_min, fp8_max).to(q_ptr.dtype.element_ty)
    tl.store(q_ptr + g.to(tl.int64) * GROUP + cols, q, mask=mask)
    tl.store(s_ptr + row * s_stride_row + group * s_stride_group, scale)


@triton.jit
def dequantise_tiles_fp8(x_ptr, s_ptr, y_ptr, M, N, BLOCK_SIZE: tl.constexpr):
    """Weights with a scale for each tile, as a wider type."""
    pid_m = tl.program_id(axis=0)
    pid_n = tl.program_id(axis=1)
    n = tl.cdiv(N, BLOCK_SIZE)
    offs_m = pid_m * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    offs_n = pid_n * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    offs = offs_m[:, None] * N + offs_n[None, :]
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    x = tl.load(x_ptr + offs, mask=mask).to(tl.float32)
    s = tl.load(s_ptr + pid_m * n + pid_n)
    tl.store(y_ptr + offs, (x * s).to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def matmul_fp8_scaled(
    a_ptr, b_ptr, c_ptr, a_s_ptr, b_s_ptr, M, N, K, group_n, group_k, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    stride_as_m, stride_as_k, stride_bs_k, stride_bs_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    """c = (a * scales of rows and groups) @ (b * scales of tiles): each step of K is scaled by itself and added up in f32."""
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + (pid % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    a_s_ptrs = a_s_ptr + offs_am * stride_as_m
    b_s_ptrs = b_s_ptr + (offs_bn // group_n) * stride_bs_n
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        offs_ks = k * BLOCK_K // group_k
        a_s = tl.load(a_s_ptrs + offs_ks * stride_as_k)
        b_s = tl.load(b_s_ptrs + offs_ks * stride_bs_k)
        accumulator += tl.dot(a, b) * a_s[:, None] * b_s[None, :]
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if c_ptr.dtype.element_ty == tl.bfloat16:
        c = accumulator.to(tl.bfloat16)
    elif c_ptr.dtype.element_ty == tl.float16:
        c = accumulator.to(tl.float16)
    else:
        c = accumulator.to(tl.float32)
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    tl.store(c_ptrs, c, mask=c_mask)
