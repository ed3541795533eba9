"""Products, attention and copies through tensor descriptors that the kernel makes."""

import torch
import triton
import triton.language as tl

from .common import LOG2E, apply_activation, grouped_tile


def alloc_fn(size, alignment, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)


def enable_descriptors():
    if hasattr(triton, "set_allocator"):
        triton.set_allocator(alloc_fn)


@triton.jit
def matmul_descriptor_persistent(
    a_ptr, b_ptr, c_ptr, bias_ptr, M, N, K,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
    NUM_SMS: tl.constexpr, EPILOGUE_SUBTILE: tl.constexpr, WARP_SPECIALIZE: tl.constexpr, ACTIVATION: tl.constexpr,
):
    """C = activation(A @ B^T + bias), B as [N, K]; tiles in turn, the descriptors made once."""
    dtype = c_ptr.dtype.element_ty
    start_pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    k_tiles = tl.cdiv(K, BLOCK_SIZE_K)
    num_tiles = num_pid_m * num_pid_n
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_SIZE_M, BLOCK_SIZE_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_SIZE_N, BLOCK_SIZE_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_SIZE_M, BLOCK_SIZE_N])
    for tile_id in tl.range(start_pid, num_tiles, NUM_SMS, flatten=True, warp_specialize=WARP_SPECIALIZE):
        pid_m, pid_n = grouped_tile(tile_id, M, N, BLOCK_SIZE_M, BLOCK_SIZE_N, GROUP_SIZE_M)
        offs_am = pid_m * BLOCK_SIZE_M
        offs_bn = pid_n * BLOCK_SIZE_N
        accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
        for ki in range(k_tiles):
            offs_k = ki * BLOCK_SIZE_K
            a = a_desc.load([offs_am, offs_k])
            b = b_desc.load([offs_bn, offs_k])
            accumulator = tl.dot(a, b.T, accumulator)
        if bias_ptr is not None:
            cols = offs_bn + tl.arange(0, BLOCK_SIZE_N)
            accumulator += tl.load(bias_ptr + cols, mask=cols < N, other=0.0)[None, :]
        accumulator = apply_activation(accumulator, ACTIVATION)
        c_desc.store([offs_am, offs_bn], accumulator.to(dtype))


@triton.jit
def attention_descriptors(
    Q, K, V, O, LSE, H, T, sm_scale, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):
    """[batch * H * T, HEAD_DIM] as one matrix: rows behind a sequence are another's, and masked."""
    start_m = tl.program_id(0) * BLOCK_M
    off_hz = tl.program_id(1)
    rows = tl.num_programs(1) * T
    desc_q = tl.make_tensor_descriptor(Q, [rows, HEAD_DIM], [HEAD_DIM, 1], [BLOCK_M, HEAD_DIM])
    desc_k = tl.make_tensor_descriptor(K, [rows, HEAD_DIM], [HEAD_DIM, 1], [BLOCK_N, HEAD_DIM])
    desc_v = tl.make_tensor_descriptor(V, [rows, HEAD_DIM], [HEAD_DIM, 1], [BLOCK_N, HEAD_DIM])
    base = off_hz * T
    offs_m = start_m + tl.arange(0, BLOCK_M)
    m_i = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD_DIM), tl.float32)
    q = desc_q.load([base + start_m, 0])
    last = min(start_m + BLOCK_M, T) if CAUSAL else T
    for start_n in tl.range(0, last, BLOCK_N, num_stages=2):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = desc_k.load([base + start_n, 0]).T
        s = tl.dot(q, k) * (sm_scale * LOG2E)
        allowed = (offs_n < T)[None, :]
        if CAUSAL:
            allowed = allowed & (offs_m[:, None] >= offs_n[None, :])
        s = tl.where(allowed, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = desc_v.load([base + start_n, 0])
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_new
    o = (acc / l_i[:, None]).to(O.dtype.element_ty)
    at = (base + offs_m)[:, None] * HEAD_DIM + tl.arange(0, HEAD_DIM)[None, :]
    tl.store(O + at, o, mask=(offs_m < T)[:, None])
    tl.store(LSE + base + offs_m, (m_i + tl.log2(l_i)) / LOG2E, mask=offs_m < T)


@triton.jit
def scale_rows_descriptor(x_ptr, scale_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Blocks over the edge: what is outside is read as zero and not written."""
    x_desc = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    y_desc = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [BM, BN])
    s_desc = tl.make_tensor_descriptor(scale_ptr, [M], [1], [BM])
    row = tl.program_id(0) * BM
    s = s_desc.load([row])
    for col in range(0, N, BN):
        x = tl.load_tensor_descriptor(x_desc, [row, col]).to(tl.float32)
        tl.store_tensor_descriptor(y_desc, [row, col], (x * s[:, None]).to(y_ptr.dtype.element_ty))
