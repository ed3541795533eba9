"""Attention in two products and an online softmax, forward and backward: pointers, heads one after the other, rows of HEAD_DIM elements."""

import triton
import triton.language as tl

from .common import LOG2E


@triton.jit
def _attend(
    total, weight, top, q, k_ptr, v_ptr, stride_kn, stride_vn, scale, rows, lo, hi, length,
    HEAD_DIM: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):
    """Keys from lo to hi. MASKED: some are behind the end, or in the future of some rows."""
    offs_d = tl.arange(0, HEAD_DIM)
    for start in range(lo, hi, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N)
        k_ptrs = k_ptr + offs_n[:, None] * stride_kn + offs_d[None, :]
        v_ptrs = v_ptr + offs_n[:, None] * stride_vn + offs_d[None, :]
        if MASKED:
            k = tl.load(k_ptrs, mask=offs_n[:, None] < length, other=0.0)
        else:
            k = tl.load(k_ptrs)
        s = tl.dot(q, k.T) * scale
        if MASKED:
            seen = offs_n[None, :] < length
            if CAUSAL:
                seen = seen & (offs_n[None, :] <= rows[:, None])
            s = tl.where(seen, s, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        weight = weight * shrink + tl.sum(p, 1)
        total = total * shrink[:, None]
        if MASKED:
            v = tl.load(v_ptrs, mask=offs_n[:, None] < length, other=0.0)
        else:
            v = tl.load(v_ptrs)
        total = tl.dot(p.to(v.dtype), v, total)
        top = new_top
    return total, weight, top


@triton.jit
def flash_forward(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, scale, length,
    stride_qh, stride_qm, stride_kh, stride_kn, stride_vh, stride_vn, stride_oh, stride_om,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, RAGGED: tl.constexpr,
):
    """softmax(scale Q K^T) V of one head and BLOCK_M rows, and the binary logarithm of what each row was divided by. RAGGED: length is no multiple of BLOCK_N."""
    first = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64)
    rows = first + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_DIM)
    q = tl.load(q_ptr + head * stride_qh + rows[:, None] * stride_qm + offs_d[None, :], mask=rows[:, None] < length, other=0.0)
    k_ptr += head * stride_kh
    v_ptr += head * stride_vh
    total = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    weight = tl.zeros((BLOCK_M,), dtype=tl.float32)
    top = tl.full((BLOCK_M,), float("-inf"), dtype=tl.float32)
    # Blocks of keys that all rows see as a whole come first, without a mask.
    end = length
    if CAUSAL:
        end = min(first + BLOCK_M, length)
        whole = first // BLOCK_N * BLOCK_N
    else:
        whole = length // BLOCK_N * BLOCK_N if RAGGED else length
    total, weight, top = _attend(
        total, weight, top, q, k_ptr, v_ptr, stride_kn, stride_vn, scale * LOG2E, rows, 0, whole, length, HEAD_DIM, BLOCK_N, CAUSAL, False,
    )
    if CAUSAL or RAGGED:
        total, weight, top = _attend(
            total, weight, top, q, k_ptr, v_ptr, stride_kn, stride_vn, scale * LOG2E, rows, whole, end, length, HEAD_DIM, BLOCK_N, CAUSAL, True,
        )
    inside = rows < length
    o_ptrs = o_ptr + head * stride_oh + rows[:, None] * stride_om + offs_d[None, :]
    tl.store(o_ptrs, (total / weight[:, None]).to(o_ptr.dtype.element_ty), mask=inside[:, None])
    tl.store(lse_ptr + head * length + rows, top + tl.log2(weight), mask=inside)


@triton.jit
def flash_delta(o_ptr, do_ptr, delta_ptr, length, stride_head, stride_row, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr):
    """For each row, the sum of O * dO: what the softmax's gradient subtracts."""
    head = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    at = head * stride_head + rows[:, None] * stride_row + tl.arange(0, HEAD_DIM)[None, :]
    o = tl.load(o_ptr + at, mask=rows[:, None] < length, other=0.0).to(tl.float32)
    do = tl.load(do_ptr + at, mask=rows[:, None] < length, other=0.0).to(tl.float32)
    tl.store(delta_ptr + head * length + rows, tl.sum(o * do, 1), mask=rows < length)


@triton.jit
def _key_gradients(
    dk, dv, k, v, q_ptr, do_ptr, lse_ptr, delta_ptr, stride_row, scale, keys, lo, hi, length,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, CAUSAL: tl.constexpr,
):
    """What rows from lo to hi add to the gradients of these keys and values; everything is turned, keys down. CAUSAL: some rows do not see some keys."""
    offs_d = tl.arange(0, HEAD_DIM)
    for start in range(lo, hi, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        inside = rows < length
        at = rows[:, None] * stride_row + offs_d[None, :]
        q = tl.load(q_ptr + at, mask=inside[:, None], other=0.0)
        # Rows behind the end weigh nothing: exp2(-inf).
        lse = tl.load(lse_ptr + rows, mask=inside, other=float("inf"))
        p = tl.exp2(tl.dot(k, q.T) * (scale * LOG2E) - lse[None, :])
        if CAUSAL:
            p = tl.where(keys[:, None] <= rows[None, :], p, 0.0)
        do = tl.load(do_ptr + at, mask=inside[:, None], other=0.0)
        dv = tl.dot(p.to(do.dtype), do, dv)
        delta = tl.load(delta_ptr + rows, mask=inside, other=0.0)
        ds = p * (tl.dot(v, do.T) - delta[None, :])
        dk = tl.dot(ds.to(q.dtype), q, dk)
    return dk, dv


@triton.jit
def flash_backward_keys(
    q_ptr, k_ptr, v_ptr, do_ptr, dk_ptr, dv_ptr, lse_ptr, delta_ptr, scale, length, stride_head, stride_row,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):
    """Gradients of BLOCK_N keys and values of one head. BLOCK_M divides BLOCK_N."""
    tl.static_assert(BLOCK_N % BLOCK_M == 0)
    first = tl.program_id(0) * BLOCK_N
    head = tl.program_id(1).to(tl.int64)
    keys = first + tl.arange(0, BLOCK_N)
    at = head * stride_head + keys[:, None] * stride_row + tl.arange(0, HEAD_DIM)[None, :]
    inside = keys[:, None] < length
    k = tl.load(k_ptr + at, mask=inside, other=0.0)
    v = tl.load(v_ptr + at, mask=inside, other=0.0)
    q_ptr += head * stride_head
    do_ptr += head * stride_head
    lse_ptr += head * length
    delta_ptr += head * length
    dk = tl.zeros((BLOCK_N, HEAD_DIM), dtype=tl.float32)
    dv = tl.zeros((BLOCK_N, HEAD_DIM), dtype=tl.float32)
    below = 0
    if CAUSAL:
        below = first + BLOCK_N
        dk, dv = _key_gradients(
            dk, dv, k, v, q_ptr, do_ptr, lse_ptr, delta_ptr, stride_row, scale, keys, first, min(below, length), length, HEAD_DIM, BLOCK_M, True,
        )
    dk, dv = _key_gradients(
        dk, dv, k, v, q_ptr, do_ptr, lse_ptr, delta_ptr, stride_row, scale, keys, below, length, length, HEAD_DIM, BLOCK_M, False,
    )
    tl.store(dv_ptr + at, dv.to(dv_ptr.dtype.element_ty), mask=inside)
    tl.store(dk_ptr + at, (dk * scale).to(dk_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _query_gradients(
    dq, q, do, lse, delta, k_ptr, v_ptr, stride_row, scale, rows, lo, hi, length,
    HEAD_DIM: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr, MASKED: tl.constexpr,
):
    """What keys from lo to hi add to the gradient of these rows."""
    offs_d = tl.arange(0, HEAD_DIM)
    for start in range(lo, hi, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        at = keys[:, None] * stride_row + offs_d[None, :]
        if MASKED:
            k = tl.load(k_ptr + at, mask=keys[:, None] < length, other=0.0)
            v = tl.load(v_ptr + at, mask=keys[:, None] < length, other=0.0)
        else:
            k = tl.load(k_ptr + at)
            v = tl.load(v_ptr + at)
        p = tl.exp2(tl.dot(q, k.T) * (scale * LOG2E) - lse[:, None])
        if MASKED:
            seen = keys[None, :] < length
            if CAUSAL:
                seen = seen & (keys[None, :] <= rows[:, None])
            p = tl.where(seen, p, 0.0)
        ds = p * (tl.dot(do, v.T) - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq)
    return dq


@triton.jit
def flash_backward_queries(
    q_ptr, k_ptr, v_ptr, do_ptr, dq_ptr, lse_ptr, delta_ptr, scale, length, stride_head, stride_row,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):
    """The gradient of BLOCK_M queries of one head."""
    first = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1).to(tl.int64)
    rows = first + tl.arange(0, BLOCK_M)
    inside = rows < length
    at = head * stride_head + rows[:, None] * stride_row + tl.arange(0, HEAD_DIM)[None, :]
    q = tl.load(q_ptr + at, mask=inside[:, None], other=0.0)
    do = tl.load(do_ptr + at, mask=inside[:, None], other=0.0)
    lse = tl.load(lse_ptr + head * length + rows, mask=inside, other=float("inf"))
    delta = tl.load(delta_ptr + head * length + rows, mask=inside, other=0.0)
    k_ptr += head * stride_head
    v_ptr += head * stride_head
    dq = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    # Keys that all rows see, then those that need a mask.
    end = length
    whole = length // BLOCK_N * BLOCK_N
    if CAUSAL:
        end = min(first + BLOCK_M, length)
        whole = first // BLOCK_N * BLOCK_N
    dq = _query_gradients(dq, q, do, lse, delta, k_ptr, v_ptr, stride_row, scale, rows, 0, whole, length, HEAD_DIM, BLOCK_N, CAUSAL, False)
    dq = _query_gradients(dq, q, do, lse, delta, k_ptr, v_ptr, stride_row, scale, rows, whole, end, length, HEAD_DIM, BLOCK_N, CAUSAL, True)
    tl.store(dq_ptr + at, (dq * scale).to(dq_ptr.dtype.element_ty), mask=inside[:, None])
