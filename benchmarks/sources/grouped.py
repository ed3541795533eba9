"""Products of several sizes in one launch, found through tables of addresses."""

import triton
import triton.language as tl


@triton.jit
def grouped_product(
    a_table,
    b_table,
    c_table,
    sizes_ptr,
    groups,
    DTYPE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    PROGRAMS: tl.constexpr,
    ALIGNED: tl.constexpr,
):
    """Products of several sizes, row-major, in one launch: tables of addresses, and of M, N, K. Addresses, N and K are multiples of ALIGNED, which the tables do not tell."""
    tile = tl.program_id(0)
    before = 0
    for group in range(groups):
        M = tl.load(sizes_ptr + 3 * group)
        N = tl.multiple_of(tl.load(sizes_ptr + 3 * group + 1), ALIGNED)
        K = tl.multiple_of(tl.load(sizes_ptr + 3 * group + 2), ALIGNED)
        tiles_n = tl.cdiv(N, BLOCK_N)
        after = before + tl.cdiv(M, BLOCK_M) * tiles_n
        a_ptr = tl.load(a_table + group).to(tl.pointer_type(DTYPE))
        b_ptr = tl.load(b_table + group).to(tl.pointer_type(DTYPE))
        c_ptr = tl.load(c_table + group).to(tl.pointer_type(DTYPE))
        while tile < after:
            offs_m = (tile - before) // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_n = (tile - before) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            a_ptrs = a_ptr + (offs_m % M)[:, None] * K + offs_k[None, :]
            b_ptrs = b_ptr + offs_k[:, None] * N + offs_n[None, :]
            total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for k in range(0, K, BLOCK_K):
                a_ptrs = tl.multiple_of(a_ptrs, [ALIGNED, ALIGNED])
                b_ptrs = tl.multiple_of(b_ptrs, [ALIGNED, ALIGNED])
                a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k, other=0.0)
                b = tl.load(b_ptrs, mask=(offs_k[:, None] < K - k) & (offs_n[None, :] < N), other=0.0)
                total = tl.dot(a, b, total)
                a_ptrs += BLOCK_K
                b_ptrs += BLOCK_K * N
            c_ptrs = c_ptr + offs_m[:, None] * N + offs_n[None, :]
            tl.store(c_ptrs, total.to(DTYPE), mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))
            tile += PROGRAMS
        before = after
