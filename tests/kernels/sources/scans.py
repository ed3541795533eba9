"""Running sums and recurrences: of rows in chunks, by segments, gated, selective."""

import torch
import triton
import triton.language as tl

from .common import silu, softplus


@triton.jit
def segmented_sum(value_a, flag_a, value_b, flag_b):
    """A sum that begins anew where a flag is set."""
    return tl.where(flag_b != 0, value_b, value_a + value_b), flag_a | flag_b


@triton.jit
def linear_recurrence(a_l, x_l, a_r, x_r):
    """Two steps of h = a h + x as one."""
    return a_r * a_l, a_r * x_l + x_r


@triton.jit
def cumsum_rows(in_ptr, out_ptr, row_stride, n_cols, REVERSE: tl.constexpr, EXCLUSIVE: tl.constexpr, BLOCK: tl.constexpr):
    """Running sums of long rows: a loop over chunks carries what came before."""
    row = tl.program_id(0).to(tl.int64)
    in_row = in_ptr + row * row_stride
    out_row = out_ptr + row * row_stride
    carry = 0.0
    n_chunks = tl.cdiv(n_cols, BLOCK)
    for i in range(0, n_chunks):
        chunk = n_chunks - 1 - i if REVERSE else i
        cols = chunk * BLOCK + tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(in_row + cols, mask=mask, other=0.0).to(tl.float32)
        y = tl.cumsum(x, axis=0, reverse=REVERSE) + carry
        carry += tl.sum(x, axis=0)
        if EXCLUSIVE:
            y -= x
        tl.store(out_row + cols, y, mask=mask)


@triton.jit
def segmented_scan(x_ptr, starts_ptr, out_ptr, totals_ptr, n, BLOCK: tl.constexpr):
    """Sums that begin anew at flags, several values at once through one scan, chunk after chunk in one program."""
    carry = 0.0
    for first in range(0, n, BLOCK):
        at = first + tl.arange(0, BLOCK)
        mask = at < n
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        flag = tl.load(starts_ptr + at, mask=mask, other=0).to(tl.int32)
        y, seen = tl.associative_scan((x, flag), 0, segmented_sum)
        y = tl.where(seen == 0, y + carry, y)
        tl.store(out_ptr + at, y, mask=mask)
        carry = tl.sum(tl.where(at == tl.minimum(first + BLOCK, n) - 1, y, 0.0))
    tl.store(totals_ptr, carry)


@triton.jit
def chunk_local_cumsum(
    s, o, cu_seqlens, chunk_indices, T, scale, B: tl.constexpr, H: tl.constexpr, BT: tl.constexpr, REVERSE: tl.constexpr,
    HAS_SCALE: tl.constexpr, IS_VARLEN: tl.constexpr, HEAD_FIRST: tl.constexpr,
):
    """Running sums inside chunks of BT, each sequence's by itself."""
    i_t, i_bh = tl.program_id(0), tl.program_id(1)
    i_b, i_h = i_bh // H, i_bh % H
    if IS_VARLEN:
        i_n, i_t = tl.load(chunk_indices + i_t * 2).to(tl.int32), tl.load(chunk_indices + i_t * 2 + 1).to(tl.int32)
        bos, eos = tl.load(cu_seqlens + i_n).to(tl.int32), tl.load(cu_seqlens + i_n + 1).to(tl.int32)
        T = eos - bos
    else:
        bos, eos = i_b * T, i_b * T + T
    if HEAD_FIRST:
        p_s = tl.make_block_ptr(s + bos * H + i_h * T, (T,), (1,), (i_t * BT,), (BT,), (0,))
        p_o = tl.make_block_ptr(o + bos * H + i_h * T, (T,), (1,), (i_t * BT,), (BT,), (0,))
    else:
        p_s = tl.make_block_ptr(s + bos * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
        p_o = tl.make_block_ptr(o + bos * H + i_h, (T,), (H,), (i_t * BT,), (BT,), (0,))
    b_s = tl.load(p_s, boundary_check=(0,)).to(tl.float32)
    b_o = tl.cumsum(b_s, axis=0)
    if REVERSE:
        b_z = tl.sum(b_s, axis=0)
        b_o = -b_o + b_z[None] + b_s
    if HAS_SCALE:
        b_o *= scale
    tl.store(p_o, b_o.to(p_o.dtype.element_ty), boundary_check=(0,))


@triton.jit
def gated_recurrence(
    a_ptr, x_ptr, h0_ptr, h_ptr, last_ptr, T, D, stride_b, stride_t, HAS_INITIAL: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr,
):
    """h[t] = a[t] h[t - 1] + x[t] along time, BD channels a program, chunks joined by what they end with."""
    cols = tl.program_id(0) * BD + tl.arange(0, BD)
    batch = tl.program_id(1)
    base = batch.to(tl.int64) * stride_b
    mask_d = cols < D
    if HAS_INITIAL:
        h = tl.load(h0_ptr + batch * D + cols, mask=mask_d, other=0.0).to(tl.float32)
    else:
        h = tl.zeros((BD,), tl.float32)
    for first in range(0, T, BT):
        rows = first + tl.arange(0, BT)
        mask = (rows < T)[:, None] & mask_d[None, :]
        at = base + rows[:, None] * stride_t + cols[None, :]
        a = tl.load(a_ptr + at, mask=mask, other=1.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        product, partial = tl.associative_scan((a, x), axis=0, combine_fn=linear_recurrence)
        states = partial + product * h[None, :]
        tl.store(h_ptr + at, states, mask=mask)
        # Steps behind the end change nothing: the last row is the state.
        h = tl.sum(tl.where(tl.arange(0, BT)[:, None] == BT - 1, states, 0.0), axis=0)
    tl.store(last_ptr + batch * D + cols, h, mask=mask_d)


@triton.jit
def selective_scan(
    u_ptr, delta_ptr, A_ptr, B_ptr, C_ptr, D_ptr, z_ptr, delta_bias_ptr, out_ptr, state_ptr,
    batch, dim, seqlen, stride_ub, stride_ud, stride_bb, stride_bn, stride_ob, stride_od,
    DSTATE: tl.constexpr, BLOCK_D: tl.constexpr, DELTA_SOFTPLUS: tl.constexpr, HAS_D: tl.constexpr, HAS_Z: tl.constexpr,
    HAS_DELTA_BIAS: tl.constexpr, SAVE_STATE: tl.constexpr,
):
    """A state-space model step by step: a state of [BLOCK_D, DSTATE] that a loop over time carries."""
    pid_d = tl.program_id(0)
    pid_b = tl.program_id(1)
    d = pid_d * BLOCK_D + tl.arange(0, BLOCK_D)
    n = tl.arange(0, DSTATE)
    mask_d = d < dim
    u_ptrs = u_ptr + pid_b * stride_ub + d * stride_ud
    delta_ptrs = delta_ptr + pid_b * stride_ub + d * stride_ud
    B_ptrs = B_ptr + pid_b * stride_bb + n * stride_bn
    C_ptrs = C_ptr + pid_b * stride_bb + n * stride_bn
    out_ptrs = out_ptr + pid_b * stride_ob + d * stride_od
    if HAS_Z:
        z_ptrs = z_ptr + pid_b * stride_ub + d * stride_ud
    A = tl.load(A_ptr + d[:, None] * DSTATE + n[None, :], mask=mask_d[:, None], other=0.0)
    if HAS_D:
        skip = tl.load(D_ptr + d, mask=mask_d, other=0.0)
    if HAS_DELTA_BIAS:
        delta_bias = tl.load(delta_bias_ptr + d, mask=mask_d, other=0.0)
    state = tl.zeros((BLOCK_D, DSTATE), dtype=tl.float32)
    for _ in range(seqlen):
        u = tl.load(u_ptrs, mask=mask_d, other=0.0).to(tl.float32)
        delta = tl.load(delta_ptrs, mask=mask_d, other=0.0).to(tl.float32)
        if HAS_DELTA_BIAS:
            delta += delta_bias
        if DELTA_SOFTPLUS:
            delta = tl.where(delta <= 20.0, softplus(delta), delta)
        b = tl.load(B_ptrs).to(tl.float32)
        c = tl.load(C_ptrs).to(tl.float32)
        state = state * tl.exp(delta[:, None] * A) + (delta * u)[:, None] * b[None, :]
        y = tl.sum(state * c[None, :], axis=1)
        if HAS_D:
            y += u * skip
        if HAS_Z:
            y *= silu(tl.load(z_ptrs, mask=mask_d, other=0.0).to(tl.float32))
            z_ptrs += 1
        tl.store(out_ptrs, y, mask=mask_d)
        u_ptrs += 1
        delta_ptrs += 1
        B_ptrs += 1
        C_ptrs += 1
        out_ptrs += 1
    if SAVE_STATE:
        tl.store(state_ptr + (pid_b * dim + d[:, None]) * DSTATE + n[None, :], state, mask=mask_d[:, None])


def cumsum(x):
    out = torch.empty_like(x)
    cumsum_rows[(x.shape[0],)](x, out, x.stride(0), x.shape[1], REVERSE=False, EXCLUSIVE=False, BLOCK=1024)
    return out
