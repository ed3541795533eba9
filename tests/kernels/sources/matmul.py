"""Matrix products: grouped order, split K, batches, transposed operands, quantised weights, grouped by expert."""

import torch
import triton
import triton.language as tl

from .common import apply_activation, grouped_tile


def is_hopper():
    return torch.cuda.is_available() and torch.cuda.get_device_capability()[0] == 9


def matmul_configs():
    return [
        triton.Config({"BLOCK_SIZE_M": m, "BLOCK_SIZE_N": n, "BLOCK_SIZE_K": k, "GROUP_SIZE_M": 8}, num_stages=s, num_warps=w)
        for m, n, k, s, w in ((128, 256, 64, 3, 8), (64, 128, 32, 4, 4), (32, 32, 32, 2, 2))
    ]


@triton.autotune(configs=matmul_configs(), key=["M", "N", "K"])
@triton.jit
def matmul_grouped(
    a_ptr, b_ptr, c_ptr, bias_ptr, residual_ptr, scale_ptr,
    M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, stride_rm,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
    ACTIVATION: tl.constexpr, HAS_BIAS: tl.constexpr, HAS_RESIDUAL: tl.constexpr, EVEN_K: tl.constexpr,
):
    """C = activation(A @ B * scale + bias) + residual; tiles in an order that keeps L2 warm, rows and columns wrapped round."""
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    offs_am = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    offs_bn = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    offs_am = tl.max_contiguous(tl.multiple_of(offs_am, 1), 1)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk
    if scale_ptr is not None:
        accumulator *= tl.load(scale_ptr)
    if HAS_BIAS:
        accumulator += tl.load(bias_ptr + offs_bn)[None, :].to(tl.float32)
    accumulator = apply_activation(accumulator, ACTIVATION)
    offs_cm = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    if HAS_RESIDUAL:
        accumulator += tl.load(residual_ptr + stride_rm * offs_cm[:, None] + offs_cn[None, :], mask=c_mask, other=0.0)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=c_mask)


@triton.heuristics({"EVEN_K": lambda args: args["K"] % (args["BLOCK_K"] * args["SPLIT_K"]) == 0})
@triton.jit
def matmul_split_k(
    A, B, C, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, acc_dtype: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, SPLIT_K: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    """Every SPLIT_K-th piece of K a program of its own; parts meet in atomics."""
    pid = tl.program_id(0)
    pid_z = tl.program_id(1)
    pid_m, pid_n = grouped_tile(pid, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ram = tl.where(rm < M, rm, 0)
    rbn = tl.where(rn < N, rn, 0)
    rk = pid_z * BLOCK_K + tl.arange(0, BLOCK_K)
    A = A + (ram[:, None] * stride_am + rk[None, :] * stride_ak)
    B = B + (rk[:, None] * stride_bk + rbn[None, :] * stride_bn)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=acc_dtype)
    for k in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        if EVEN_K:
            a = tl.load(A)
            b = tl.load(B)
        else:
            k_remaining = K - k * (BLOCK_K * SPLIT_K)
            _0 = tl.zeros((1, 1), dtype=C.dtype.element_ty)
            a = tl.load(A, mask=rk[None, :] < k_remaining, other=_0.to(A.dtype.element_ty))
            b = tl.load(B, mask=rk[:, None] < k_remaining, other=_0.to(B.dtype.element_ty))
        acc = tl.dot(a, b, acc, out_dtype=acc_dtype)
        A += BLOCK_K * SPLIT_K * stride_ak
        B += BLOCK_K * SPLIT_K * stride_bk
    acc = acc.to(C.dtype.element_ty)
    C = C + (rm[:, None] * stride_cm + rn[None, :] * stride_cn)
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    if SPLIT_K == 1:
        tl.store(C, acc, mask=mask)
    else:
        tl.atomic_add(C, acc, mask=mask)


@triton.jit
def batched_matmul(
    A, B, O, M, N, K, stride_ab, stride_am, stride_ak, stride_bb, stride_bk, stride_bn, stride_ob, stride_om, stride_on,
    TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, DIVISIBLE_K: tl.constexpr,
):
    """A batch of products of any strides, the batch in the grid's third extent."""
    pid_b = tl.program_id(2)
    A += pid_b.to(tl.int64) * stride_ab
    B += pid_b.to(tl.int64) * stride_bb
    O += pid_b.to(tl.int64) * stride_ob
    offs_m = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    offs_n = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    offs_k = tl.arange(0, TILE_K)
    mask_m = offs_m < M
    mask_n = offs_n < N
    a_ptrs = A + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
    b_ptrs = B + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
    o = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, K, TILE_K):
        if DIVISIBLE_K:
            mask_a = mask_m[:, None]
            mask_b = mask_n[None, :]
        else:
            mask_k = start + offs_k < K
            mask_a = mask_m[:, None] & mask_k[None, :]
            mask_b = mask_k[:, None] & mask_n[None, :]
        a = tl.load(a_ptrs, mask=mask_a, other=0.0)
        b = tl.load(b_ptrs, mask=mask_b, other=0.0)
        a_ptrs += TILE_K * stride_ak
        b_ptrs += TILE_K * stride_bk
        o += tl.dot(a, b, allow_tf32=False)
    o_ptrs = O + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on
    tl.store(o_ptrs, o, mask=mask_m[:, None] & mask_n[None, :])


@triton.jit
def matmul_w8a16(
    a_ptr, w_ptr, scale_ptr, zero_ptr, bias_ptr, c_ptr, M, N, K, group_size, stride_am, stride_wn, stride_cm, stride_sg,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HAS_ZERO: tl.constexpr, PER_GROUP: tl.constexpr,
):
    """Weights [N, K] of 8 bits with a scale for each output, or for each group of K too; the weights' tile is transposed."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = pid_m * BM + tl.arange(0, BM)
    cols = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    if not PER_GROUP:
        scale = tl.load(scale_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)
    for k in tl.range(0, K, BK, num_stages=2):
        at = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * stride_am + at[None, :], mask=(rows[:, None] < M) & (at[None, :] < K), other=0.0)
        w = tl.load(w_ptr + cols[:, None] * stride_wn + at[None, :], mask=(cols[:, None] < N) & (at[None, :] < K), other=0)
        if PER_GROUP:
            group = at // group_size
            mask = (cols[:, None] < N) & (at[None, :] < K)
            s = tl.load(scale_ptr + group[None, :] * stride_sg + cols[:, None], mask=mask, other=0.0)
            if HAS_ZERO:
                z = tl.load(zero_ptr + group[None, :] * stride_sg + cols[:, None], mask=mask, other=0)
                w16 = ((w.to(tl.float32) - z.to(tl.float32)) * s).to(a.dtype)
            else:
                w16 = (w.to(tl.float32) * s).to(a.dtype)
        else:
            w16 = w.to(a.dtype)
        acc = tl.dot(a, tl.trans(w16), acc)
    if not PER_GROUP:
        acc *= scale[None, :]
    if bias_ptr is not None:
        acc += tl.load(bias_ptr + cols, mask=cols < N, other=0.0).to(tl.float32)[None, :]
    tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def matmul_w4a16(
    a_ptr, packed_ptr, scale_ptr, c_ptr, M, N, K, stride_am, stride_pk, stride_cm,
    GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    """Weights of 4 bits, eight rows of K in an int32 of packed [K / 8, N], 8 standing for 0."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    at = tl.arange(0, BK)
    shift = (at % 8) * 4
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rows[:, None] * stride_am + (k + at)[None, :], mask=(rows[:, None] < M) & ((k + at)[None, :] < K), other=0.0)
        mask = ((k + at)[:, None] < K) & (cols[None, :] < N)
        words = tl.load(packed_ptr + ((k + at) // 8)[:, None] * stride_pk + cols[None, :], mask=mask, other=0)
        w = ((words >> shift[:, None]) & 0xF) - 8
        s = tl.load(scale_ptr + ((k + at) // GROUP)[:, None] * N + cols[None, :], mask=mask, other=0.0)
        acc += tl.dot(a, w.to(a.dtype) * s.to(a.dtype))
    tl.store(c_ptr + rows[:, None] * stride_cm + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def matmul_blocks(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn, alpha, beta, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = alpha A @ B + beta C through block pointers that move."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    a_block = tl.make_block_ptr(base=a_ptr, shape=(M, K), strides=(sam, sak), offsets=(pid_m * BM, 0), block_shape=(BM, BK), order=(1, 0))
    b_block = tl.make_block_ptr(base=b_ptr, shape=(K, N), strides=(sbk, sbn), offsets=(0, pid_n * BN), block_shape=(BK, BN), order=(1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc, input_precision="ieee")
        a_block = tl.advance(a_block, (0, BK))
        b_block = tl.advance(b_block, [BK, 0])
    c_block = tl.make_block_ptr(c_ptr, (M, N), (scm, scn), (pid_m * BM, pid_n * BN), (BM, BN), (1, 0))
    c = tl.load(c_block, boundary_check=(0, 1)).to(tl.float32)
    tl.store(c_block, (alpha * acc + beta * c).to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def weight_gradient(x_ptr, dy_ptr, dw_ptr, T, D_IN, D_OUT, BM: tl.constexpr, BN: tl.constexpr, BT: tl.constexpr, ACCUMULATE: tl.constexpr):
    """dW = X^T @ dY: both operands are read as they lie, X turned in registers."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for t in range(0, T, BT):
        at = t + tl.arange(0, BT)
        x = tl.load(x_ptr + at[:, None] * D_IN + i[None, :], mask=(at[:, None] < T) & (i[None, :] < D_IN), other=0.0)
        dy = tl.load(dy_ptr + at[:, None] * D_OUT + j[None, :], mask=(at[:, None] < T) & (j[None, :] < D_OUT), other=0.0)
        acc = tl.dot(x.T, dy, acc)
    to = dw_ptr + i[:, None] * D_OUT + j[None, :]
    mask = (i[:, None] < D_IN) & (j[None, :] < D_OUT)
    if ACCUMULATE:
        acc += tl.load(to, mask=mask, other=0.0)
    tl.store(to, acc, mask=mask)


@triton.jit
def persistent_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, PROGRAMS: tl.constexpr,
):
    """As many programs as there is room for take tile after tile."""
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    steps = tl.cdiv(K, BK)
    inner = tl.arange(0, BK)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=True):
        pid_m, pid_n = grouped_tile(tile, M, N, BM, BN, GROUP)
        rm = pid_m * BM + tl.arange(0, BM)
        rn = pid_n * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(steps):
            k = step * BK + inner
            a = tl.load(a_ptr + rm[:, None] * lda + k[None, :], mask=(rm[:, None] < M) & (k[None, :] < K), other=0.0)
            b = tl.load(b_ptr + k[:, None] * ldb + rn[None, :], mask=(k[:, None] < K) & (rn[None, :] < N), other=0.0)
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + rm[:, None] * ldc + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def grouped_gemm(
    x_ptr, w_ptr, out_ptr, starts_ptr, NUM_GROUPS: tl.constexpr, N, K, NUM_PROGRAMS, stride_xm, stride_we, stride_wn, stride_om,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    """Rows sorted by group, each group against its own weights; tiles are dealt out in turn over all groups."""
    pid = tl.program_id(0)
    seen = 0
    for group in range(NUM_GROUPS):
        first = tl.load(starts_ptr + group).to(tl.int32)
        last = tl.load(starts_ptr + group + 1).to(tl.int32)
        tiles_m = tl.cdiv(last - first, BM)
        tiles_n = tl.cdiv(N, BN)
        tiles = tiles_m * tiles_n
        if tiles > 0:
            # The first tile of this group that is this program's.
            skip = (pid - seen % NUM_PROGRAMS + NUM_PROGRAMS) % NUM_PROGRAMS
            for tile in range(skip, tiles, NUM_PROGRAMS):
                rows = first + (tile % tiles_m) * BM + tl.arange(0, BM)
                cols = (tile // tiles_m) * BN + tl.arange(0, BN)
                acc = tl.zeros((BM, BN), tl.float32)
                for k in range(0, K, BK):
                    at = k + tl.arange(0, BK)
                    x = tl.load(x_ptr + rows[:, None] * stride_xm + at[None, :], mask=(rows[:, None] < last) & (at[None, :] < K), other=0.0)
                    w_at = w_ptr + group.to(tl.int64) * stride_we + cols[:, None] * stride_wn + at[None, :]
                    w = tl.load(w_at, mask=(cols[:, None] < N) & (at[None, :] < K), other=0.0)
                    acc += tl.dot(x, w.T)
                tl.store(out_ptr + rows[:, None] * stride_om + cols[None, :], acc, mask=(rows[:, None] < last) & (cols[None, :] < N))
        seen += tiles


@triton.jit
def lora_expand(
    x_ptr, a_ptr, b_ptr, base_ptr, out_ptr, adapter_ptr, scale, T, D, R: tl.constexpr, O, stride_a, stride_b,
    BT: tl.constexpr, BD: tl.constexpr, BO: tl.constexpr,
):
    """out = base + scale * (x @ A) @ B with an adapter for each block of tokens, none where it is -1."""
    block = tl.program_id(0)
    rows = block * BT + tl.arange(0, BT)
    cols = tl.program_id(1) * BO + tl.arange(0, BO)
    mask = (rows[:, None] < T) & (cols[None, :] < O)
    out = tl.load(base_ptr + rows[:, None] * O + cols[None, :], mask=mask, other=0.0).to(tl.float32)
    adapter = tl.load(adapter_ptr + block)
    if adapter >= 0:
        low = tl.zeros((BT, R), tl.float32)
        rank = tl.arange(0, R)
        for d in range(0, D, BD):
            at = d + tl.arange(0, BD)
            x = tl.load(x_ptr + rows[:, None] * D + at[None, :], mask=(rows[:, None] < T) & (at[None, :] < D), other=0.0)
            a = tl.load(a_ptr + adapter * stride_a + at[:, None] * R + rank[None, :], mask=at[:, None] < D, other=0.0)
            low += tl.dot(x, a)
        b = tl.load(b_ptr + adapter * stride_b + rank[:, None] * O + cols[None, :], mask=cols[None, :] < O, other=0.0)
        out += scale * tl.dot(low.to(b.dtype), b)
    tl.store(out_ptr + rows[:, None] * O + cols[None, :], out, mask=mask)


def matmul(a, b, activation=None):
    M, K = a.shape
    K, N = b.shape
    c = torch.empty((M, N), device=a.device, dtype=torch.float16)
    grid = lambda META: (triton.cdiv(M, META["BLOCK_SIZE_M"]) * triton.cdiv(N, META["BLOCK_SIZE_N"]),)  # noqa: E731
    matmul_grouped[grid](
        a, b, c, None, None, None, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1), 0,
        ACTIVATION=activation, HAS_BIAS=False, HAS_RESIDUAL=False, EVEN_K=False,
    )
    return c
