"""Tensor descriptors that the host makes and passes: copies, products and attention, in blocks."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from .common import LOG2E, grouped_tile


def matmul(a, b):
    M, K = a.shape
    N, _ = b.shape
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    a_desc = TensorDescriptor.from_tensor(a, [128, 64])
    b_desc = TensorDescriptor.from_tensor(b, [128, 64])
    c_desc = TensorDescriptor.from_tensor(c, [128, 128])
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
    matmul_tma[grid](a_desc, b_desc, c_desc, M, N, K, BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=8)
    return c


@triton.jit
def copy_tiles(in_desc, out_desc, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    off_m = tl.program_id(0) * BLOCK_M
    off_n = tl.program_id(1) * BLOCK_N
    out_desc.store([off_m, off_n], in_desc.load([off_m, off_n]))


@triton.jit
def matmul_tma(
    a_desc, b_desc, c_desc, M, N, K,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
):
    """C = A @ B^T, B as [N, K]."""
    dtype = c_desc.dtype
    pid_m, pid_n = grouped_tile(tl.program_id(axis=0), M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
    offs_am = pid_m * BLOCK_SIZE_M
    offs_bn = pid_n * BLOCK_SIZE_N
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_SIZE_K)):
        offs_k = k * BLOCK_SIZE_K
        a = a_desc.load([offs_am, offs_k])
        b = b_desc.load([offs_bn, offs_k])
        accumulator = tl.dot(a, b.T, accumulator)
    c_desc.store([offs_am, offs_bn], accumulator.to(dtype))


@triton.jit
def softmax_attention_tma(
    sm_scale, desc_q, desc_k, desc_v, desc_o, N_CTX, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    """[batch * heads * N_CTX, HEAD_DIM] as one matrix; N_CTX is a multiple of BLOCK_M."""
    start_m = tl.program_id(0)
    offset_y = tl.program_id(1) * N_CTX
    qo_offset_y = offset_y + start_m * BLOCK_M
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    q = desc_q.load([qo_offset_y, 0])
    for start_n in tl.range(0, N_CTX, BLOCK_N):
        k = desc_k.load([offset_y + start_n, 0]).T
        qk = tl.dot(q, k) * (sm_scale * LOG2E)
        offs_n = start_n + tl.arange(0, BLOCK_N)
        qk = tl.where((offs_n < N_CTX)[None, :], qk, float("-inf"))
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        v = desc_v.load([offset_y + start_n, 0])
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_ij
    desc_o.store([qo_offset_y, 0], (acc / l_i[:, None]).to(desc_o.dtype))
