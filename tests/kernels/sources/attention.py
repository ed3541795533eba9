"""Attention: forward with online softmax, its three backward kernels, decoding against pages, sliding windows."""

import math

import torch
import triton
import triton.language as tl

from .common import LN2, LOG2E, tanh


@triton.jit
def _attention_inner(
    acc, l_i, m_i, q, K_block_ptr, V_block_ptr, start_m, qk_scale,
    BLOCK_M: tl.constexpr, HEAD_DIM: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr, offs_m: tl.constexpr,
    offs_n: tl.constexpr, N_CTX,
):
    """Blocks of keys: all before the diagonal (1), those on it (2), or all there are (3)."""
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, min((start_m + 1) * BLOCK_M, N_CTX)
        lo = tl.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, N_CTX
    K_block_ptr = tl.advance(K_block_ptr, (0, lo))
    V_block_ptr = tl.advance(V_block_ptr, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(start_n, BLOCK_N)
        k = tl.load(K_block_ptr, boundary_check=(1,), padding_option="zero")
        qk = tl.dot(q, k)
        inside = (start_n + offs_n[None, :]) < N_CTX
        if STAGE == 2:
            keep = inside & (offs_m[:, None] >= (start_n + offs_n[None, :]))
            qk = qk * qk_scale + tl.where(keep, 0, -1.0e6)
        else:
            qk = tl.where(inside, qk * qk_scale, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        qk -= m_ij[:, None]
        p = tl.math.exp2(qk)
        l_ij = tl.sum(p, 1)
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + l_ij
        acc = acc * alpha[:, None]
        v = tl.load(V_block_ptr, boundary_check=(0,), padding_option="zero")
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_ij
        V_block_ptr = tl.advance(V_block_ptr, (BLOCK_N, 0))
        K_block_ptr = tl.advance(K_block_ptr, (0, BLOCK_N))
    return acc, l_i, m_i


def keep(conf):
    return not (conf.kwargs["BLOCK_M"] * conf.kwargs["BLOCK_N"] < 128 * 128 and conf.num_warps == 8)


configs = [
    triton.Config({"BLOCK_M": BM, "BLOCK_N": BN}, num_stages=s, num_warps=w)
    for BM in [64, 128]
    for BN in [32, 64]
    for s in [3, 4]
    for w in [4, 8]
]


@triton.autotune(list(filter(keep, configs)), key=["N_CTX", "HEAD_DIM"])
@triton.jit
def attention_forward(
    Q, K, V, sm_scale, M, Out,
    stride_qz, stride_qh, stride_qm, stride_qk,
    stride_kz, stride_kh, stride_kn, stride_kk,
    stride_vz, stride_vh, stride_vk, stride_vn,
    stride_oz, stride_oh, stride_om, stride_on,
    Z, H, H_KV, N_CTX,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr,
):
    """Grouped heads; STAGE 3 is causal (before the diagonal, then on it), 1 is all at once."""
    tl.static_assert(BLOCK_N <= HEAD_DIM)
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    off_z = off_hz // H
    off_h = off_hz % H
    off_kv = off_h // (H // H_KV)
    q_offset = off_z.to(tl.int64) * stride_qz + off_h.to(tl.int64) * stride_qh
    k_offset = off_z.to(tl.int64) * stride_kz + off_kv.to(tl.int64) * stride_kh
    v_offset = off_z.to(tl.int64) * stride_vz + off_kv.to(tl.int64) * stride_vh
    o_offset = off_z.to(tl.int64) * stride_oz + off_h.to(tl.int64) * stride_oh
    Q_block_ptr = tl.make_block_ptr(
        base=Q + q_offset, shape=(N_CTX, HEAD_DIM), strides=(stride_qm, stride_qk), offsets=(start_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0),
    )
    V_block_ptr = tl.make_block_ptr(
        base=V + v_offset, shape=(N_CTX, HEAD_DIM), strides=(stride_vk, stride_vn), offsets=(0, 0),
        block_shape=(BLOCK_N, HEAD_DIM), order=(1, 0),
    )
    K_block_ptr = tl.make_block_ptr(
        base=K + k_offset, shape=(HEAD_DIM, N_CTX), strides=(stride_kk, stride_kn), offsets=(0, 0),
        block_shape=(HEAD_DIM, BLOCK_N), order=(0, 1),
    )
    O_block_ptr = tl.make_block_ptr(
        base=Out + o_offset, shape=(N_CTX, HEAD_DIM), strides=(stride_om, stride_on), offsets=(start_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0),
    )
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    qk_scale = sm_scale
    qk_scale *= LOG2E
    q = tl.load(Q_block_ptr, boundary_check=(0,), padding_option="zero")
    if STAGE & 1:
        acc, l_i, m_i = _attention_inner(
            acc, l_i, m_i, q, K_block_ptr, V_block_ptr, start_m, qk_scale, BLOCK_M, HEAD_DIM, BLOCK_N, 4 - STAGE, offs_m,
            offs_n, N_CTX,
        )
    if STAGE & 2:
        acc, l_i, m_i = _attention_inner(
            acc, l_i, m_i, q, K_block_ptr, V_block_ptr, start_m, qk_scale, BLOCK_M, HEAD_DIM, BLOCK_N, 2, offs_m, offs_n,
            N_CTX,
        )
    m_i += tl.math.log2(l_i)
    acc = acc / l_i[:, None]
    tl.store(M + off_hz * N_CTX + offs_m, m_i, mask=offs_m < N_CTX)
    tl.store(O_block_ptr, acc.to(Out.type.element_ty), boundary_check=(0,))


@triton.jit
def attention_delta(O, DO, Delta, H, N_CTX, stride_z, stride_h, stride_m, BLOCK_M: tl.constexpr, HEAD_DIM: tl.constexpr):
    off_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    off_hz = tl.program_id(1)
    base = (off_hz // H) * stride_z + (off_hz % H) * stride_h
    off_n = tl.arange(0, HEAD_DIM)
    at = base + off_m[:, None] * stride_m + off_n[None, :]
    o = tl.load(O + at, mask=off_m[:, None] < N_CTX, other=0.0)
    do = tl.load(DO + at, mask=off_m[:, None] < N_CTX, other=0.0).to(tl.float32)
    tl.store(Delta + off_hz * N_CTX + off_m, tl.sum(o * do, axis=1), mask=off_m < N_CTX)


@triton.jit
def _accumulate_dk_dv(
    dk, dv, Q, k, v, sm_scale, DO, M, D, stride_tok, stride_d, N_CTX,
    BLOCK_M1: tl.constexpr, BLOCK_N1: tl.constexpr, HEAD_DIM: tl.constexpr, start_n, start_m, num_steps, MASK: tl.constexpr,
):
    offs_m = start_m + tl.arange(0, BLOCK_M1)
    offs_n = start_n + tl.arange(0, BLOCK_N1)
    offs_k = tl.arange(0, HEAD_DIM)
    qT_ptrs = Q + offs_m[None, :] * stride_tok + offs_k[:, None] * stride_d
    do_ptrs = DO + offs_m[:, None] * stride_tok + offs_k[None, :] * stride_d
    tl.static_assert(BLOCK_N1 % BLOCK_M1 == 0)
    curr_m = start_m
    step_m = BLOCK_M1
    for _ in range(num_steps):
        offs_m = curr_m + tl.arange(0, BLOCK_M1)
        inside = offs_m < N_CTX
        qT = tl.load(qT_ptrs, mask=inside[None, :], other=0.0)
        m = tl.load(M + offs_m, mask=inside, other=float("inf"))
        qkT = tl.dot(k, qT)
        pT = tl.math.exp2(qkT * (sm_scale * LOG2E) - m[None, :])
        if MASK:
            mask = offs_m[None, :] >= offs_n[:, None]
            pT = tl.where(mask, pT, 0.0)
        do = tl.load(do_ptrs, mask=inside[:, None], other=0.0)
        ppT = pT.to(do.dtype)
        dv += tl.dot(ppT, do)
        Di = tl.load(D + offs_m, mask=inside, other=0.0)
        dpT = tl.dot(v, tl.trans(do)).to(tl.float32)
        dsT = pT * (dpT - Di[None, :])
        dsT = dsT.to(qT.dtype)
        dk += tl.dot(dsT, tl.trans(qT))
        curr_m += step_m
        qT_ptrs += step_m * stride_tok
        do_ptrs += step_m * stride_tok
    return dk, dv


@triton.jit
def attention_backward_dkdv(
    Q, K, V, sm_scale, DO, DK, DV, M, D, stride_z, stride_h, stride_tok, stride_d, H, N_CTX,
    BLOCK_M1: tl.constexpr, BLOCK_N1: tl.constexpr, HEAD_DIM: tl.constexpr, CAUSAL: tl.constexpr,
):
    bhid = tl.program_id(1)
    off_chz = (bhid * N_CTX).to(tl.int64)
    adj = (stride_h * (bhid % H) + stride_z * (bhid // H)).to(tl.int64)
    Q += adj
    K += adj
    V += adj
    DO += adj
    DK += adj
    DV += adj
    M += off_chz
    D += off_chz
    start_n = tl.program_id(0) * BLOCK_N1
    offs_n = start_n + tl.arange(0, BLOCK_N1)
    offs_k = tl.arange(0, HEAD_DIM)
    at = offs_n[:, None] * stride_tok + offs_k[None, :] * stride_d
    inside = offs_n[:, None] < N_CTX
    dv = tl.zeros([BLOCK_N1, HEAD_DIM], dtype=tl.float32)
    dk = tl.zeros([BLOCK_N1, HEAD_DIM], dtype=tl.float32)
    k = tl.load(K + at, mask=inside, other=0.0)
    v = tl.load(V + at, mask=inside, other=0.0)
    if CAUSAL:
        # On the diagonal with a mask, below it without.
        num_steps = BLOCK_N1 // BLOCK_M1
        dk, dv = _accumulate_dk_dv(
            dk, dv, Q, k, v, sm_scale, DO, M, D, stride_tok, stride_d, N_CTX, BLOCK_M1, BLOCK_N1, HEAD_DIM, start_n, start_n,
            num_steps, MASK=True,
        )
        start_m = start_n + num_steps * BLOCK_M1
    else:
        start_m = 0
    num_steps = tl.cdiv(tl.maximum(N_CTX - start_m, 0), BLOCK_M1)
    dk, dv = _accumulate_dk_dv(
        dk, dv, Q, k, v, sm_scale, DO, M, D, stride_tok, stride_d, N_CTX, BLOCK_M1, BLOCK_N1, HEAD_DIM, start_n, start_m,
        num_steps, MASK=False,
    )
    tl.store(DV + at, dv, mask=inside)
    dk *= sm_scale
    tl.store(DK + at, dk, mask=inside)


@triton.jit
def attention_backward_dq(
    Q, K, V, sm_scale, DO, DQ, M, D, stride_z, stride_h, stride_tok, stride_d, H, N_CTX,
    BLOCK_M2: tl.constexpr, BLOCK_N2: tl.constexpr, HEAD_DIM: tl.constexpr, CAUSAL: tl.constexpr,
):
    bhid = tl.program_id(1)
    adj = (stride_h * (bhid % H) + stride_z * (bhid // H)).to(tl.int64)
    start_m = tl.program_id(0) * BLOCK_M2
    offs_m = start_m + tl.arange(0, BLOCK_M2)
    offs_k = tl.arange(0, HEAD_DIM)
    at = adj + offs_m[:, None] * stride_tok + offs_k[None, :] * stride_d
    inside = offs_m < N_CTX
    q = tl.load(Q + at, mask=inside[:, None], other=0.0)
    do = tl.load(DO + at, mask=inside[:, None], other=0.0)
    m = tl.load(M + bhid * N_CTX + offs_m, mask=inside, other=float("inf"))[:, None]
    Di = tl.load(D + bhid * N_CTX + offs_m, mask=inside, other=0.0)[:, None]
    dq = tl.zeros([BLOCK_M2, HEAD_DIM], dtype=tl.float32)
    end = min(start_m + BLOCK_M2, N_CTX) if CAUSAL else N_CTX
    for start_n in tl.range(0, end, BLOCK_N2, num_stages=2):
        offs_n = start_n + tl.arange(0, BLOCK_N2)
        kv_at = adj + offs_n[:, None] * stride_tok + offs_k[None, :] * stride_d
        k = tl.load(K + kv_at, mask=offs_n[:, None] < N_CTX, other=0.0)
        v = tl.load(V + kv_at, mask=offs_n[:, None] < N_CTX, other=0.0)
        p = tl.exp2(tl.dot(q, k.T) * (sm_scale * LOG2E) - m)
        allowed = offs_n[None, :] < N_CTX
        if CAUSAL:
            allowed = allowed & (offs_m[:, None] >= offs_n[None, :])
        p = tl.where(allowed, p, 0.0)
        dp = tl.dot(do, v.T).to(tl.float32)
        ds = (p * (dp - Di)).to(k.dtype)
        dq += tl.dot(ds, k)
    tl.store(DQ + at, dq * sm_scale, mask=inside[:, None])


@triton.jit
def paged_decode_split(
    Q, K_Buffer, V_Buffer, sm_scale, Block_table, B_Seqlen, Att_Out, Lse_Out,
    stride_table_b, stride_qbs, stride_qh, stride_buf_kp, stride_buf_ks, stride_buf_kh, stride_buf_vp, stride_buf_vs,
    stride_buf_vh, stride_mid_ob, stride_mid_oh, stride_mid_os, k_scale, v_scale,
    kv_group_num: tl.constexpr, BLOCK_DMODEL: tl.constexpr, BLOCK_DV: tl.constexpr, BLOCK_N: tl.constexpr,
    NUM_KV_SPLITS: tl.constexpr, PAGE_SIZE: tl.constexpr, logit_cap: tl.constexpr, Lk: tl.constexpr, Lv: tl.constexpr,
    QUANTISED: tl.constexpr,
):
    """One query against a part of its sequence, whose keys and values lie in pages that a table names."""
    cur_batch = tl.program_id(0)
    cur_head = tl.program_id(1)
    split_kv_id = tl.program_id(2)
    cur_kv_head = cur_head // kv_group_num
    offs_d = tl.arange(0, BLOCK_DMODEL)
    offs_dv = tl.arange(0, BLOCK_DV)
    mask_d = offs_d < Lk
    mask_dv = offs_dv < Lv
    cur_batch_seq_len = tl.load(B_Seqlen + cur_batch)
    q = tl.load(Q + cur_batch * stride_qbs + cur_head * stride_qh + offs_d, mask=mask_d, other=0.0).to(tl.float32)
    kv_len_per_split = tl.cdiv(cur_batch_seq_len, NUM_KV_SPLITS)
    split_kv_start = kv_len_per_split * split_kv_id
    split_kv_end = tl.minimum(split_kv_start + kv_len_per_split, cur_batch_seq_len)
    e_max = -float("inf")
    e_sum = 0.0
    acc = tl.zeros([BLOCK_DV], dtype=tl.float32)
    if split_kv_end > split_kv_start:
        for start_n in range(split_kv_start, split_kv_end, BLOCK_N):
            offs_n = start_n + tl.arange(0, BLOCK_N)
            inside = offs_n < split_kv_end
            page = tl.load(Block_table + stride_table_b * cur_batch + offs_n // PAGE_SIZE, mask=inside, other=0).to(tl.int64)
            slot = offs_n % PAGE_SIZE
            k_at = page[:, None] * stride_buf_kp + slot[:, None] * stride_buf_ks + cur_kv_head * stride_buf_kh + offs_d[None, :]
            k = tl.load(K_Buffer + k_at, mask=inside[:, None] & mask_d[None, :], other=0.0).to(tl.float32)
            if QUANTISED:
                k *= k_scale
            qk = tl.sum(q[None, :] * k, 1)
            qk *= sm_scale
            if logit_cap > 0:
                qk = logit_cap * tanh(qk / logit_cap)
            qk = tl.where(inside, qk, float("-inf"))
            v_at = page[:, None] * stride_buf_vp + slot[:, None] * stride_buf_vs + cur_kv_head * stride_buf_vh + offs_dv[None, :]
            v = tl.load(V_Buffer + v_at, mask=inside[:, None] & mask_dv[None, :], other=0.0).to(tl.float32)
            if QUANTISED:
                v *= v_scale
            n_e_max = tl.maximum(tl.max(qk, 0), e_max)
            re_scale = tl.exp(e_max - n_e_max)
            p = tl.exp(qk - n_e_max)
            acc *= re_scale
            acc += tl.sum(p[:, None] * v, 0)
            e_sum = e_sum * re_scale + tl.sum(p, 0)
            e_max = n_e_max
        offs_mid_o = cur_batch * stride_mid_ob + cur_head * stride_mid_oh + split_kv_id * stride_mid_os + offs_dv
        tl.store(Att_Out + offs_mid_o, acc / e_sum, mask=mask_dv)
        offs_mid_o_1 = (cur_batch * stride_mid_ob + cur_head * stride_mid_oh + split_kv_id * stride_mid_os) // Lv
        tl.store(Lse_Out + offs_mid_o_1, e_max + tl.log(e_sum))


@triton.jit
def paged_decode_reduce(
    Mid_O, Mid_Lse, O, B_Seqlen, Sinks, stride_mid_ob, stride_mid_oh, stride_mid_os, stride_obs, stride_oh,
    NUM_KV_SPLITS: tl.constexpr, BLOCK_DV: tl.constexpr, Lv: tl.constexpr, HAS_SINKS: tl.constexpr = False,
):
    cur_batch = tl.program_id(0)
    cur_head = tl.program_id(1)
    seq_len = tl.load(B_Seqlen + cur_batch)
    offs_d = tl.arange(0, BLOCK_DV)
    mask_d = offs_d < Lv
    e_sum = 0.0
    e_max = -float("inf")
    acc = tl.zeros([BLOCK_DV], dtype=tl.float32)
    offs_v = cur_batch * stride_mid_ob + cur_head * stride_mid_oh + offs_d
    offs_logic = (cur_batch * stride_mid_ob + cur_head * stride_mid_oh) // Lv
    for split_kv_id in range(0, NUM_KV_SPLITS):
        kv_len_per_split = tl.cdiv(seq_len, NUM_KV_SPLITS)
        split_kv_start = kv_len_per_split * split_kv_id
        split_kv_end = tl.minimum(split_kv_start + kv_len_per_split, seq_len)
        if split_kv_end > split_kv_start:
            tv = tl.load(Mid_O + offs_v + split_kv_id * stride_mid_os, mask=mask_d, other=0.0)
            tlogic = tl.load(Mid_Lse + offs_logic + split_kv_id * stride_mid_os // Lv)
            n_e_max = tl.maximum(tlogic, e_max)
            old_scale = tl.exp(e_max - n_e_max)
            acc *= old_scale
            exp_logic = tl.exp(tlogic - n_e_max)
            acc += exp_logic * tv
            e_sum = e_sum * old_scale + exp_logic
            e_max = n_e_max
    if HAS_SINKS:
        e_sum += tl.exp(tl.load(Sinks + cur_head) - e_max)
    tl.store(O + cur_batch * stride_obs + cur_head * stride_oh + offs_d, acc / e_sum, mask=mask_d)


@triton.jit
def cache_write(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slot_mapping_ptr, k_scale, v_scale,
    key_stride, value_stride, block_stride, page_stride, num_heads: tl.constexpr, head_size: tl.constexpr,
    block_size: tl.constexpr, QUANTISED: tl.constexpr, TILE_SIZE: tl.constexpr,
):
    """New keys and values into their slots of a paged cache, 8-bit where that is said; slots below zero are padding."""
    token_idx = tl.program_id(axis=0)
    slot_idx = tl.load(slot_mapping_ptr + token_idx).to(tl.int64)
    if slot_idx < 0:
        return
    tile_i = tl.program_id(axis=1)
    tile_offs = tl.arange(0, TILE_SIZE)
    tile_pos = tile_i * TILE_SIZE + tile_offs
    block_idx = slot_idx // block_size
    block_offset = slot_idx % block_size
    tgt_idx = block_idx * block_stride + block_offset * page_stride
    mask = tile_pos < num_heads * head_size
    key_tile = tl.load(key_ptr + token_idx * key_stride + tile_pos, mask=mask)
    value_tile = tl.load(value_ptr + token_idx * value_stride + tile_pos, mask=mask)
    if QUANTISED:
        k = key_tile.to(tl.float32) / tl.load(k_scale)
        v = value_tile.to(tl.float32) / tl.load(v_scale)
        k = tl.clamp(tl.where(k >= 0, tl.floor(k + 0.5), tl.ceil(k - 0.5)), -127.0, 127.0)
        v = tl.clamp(tl.where(v >= 0, tl.floor(v + 0.5), tl.ceil(v - 0.5)), -127.0, 127.0)
        tl.store(key_cache_ptr + tgt_idx + tile_pos, k.to(tl.int8), mask=mask)
        tl.store(value_cache_ptr + tgt_idx + tile_pos, v.to(tl.int8), mask=mask)
    else:
        tl.store(key_cache_ptr + tgt_idx + tile_pos, key_tile, mask=mask)
        tl.store(value_cache_ptr + tgt_idx + tile_pos, value_tile, mask=mask)


@triton.jit
def prefill_varlen(
    Q, K, V, Out, Lse, cu_seqlens, alibi_slopes, sm_scale, softcap,
    stride_qt, stride_qh, stride_kt, stride_kh, stride_vt, stride_vh, stride_ot, stride_oh, stride_lse_h,
    GROUP: tl.constexpr, D: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    WINDOW: tl.constexpr, HAS_ALIBI: tl.constexpr, HAS_SOFTCAP: tl.constexpr,
):
    """Sequences side by side, causal, only WINDOW tokens back, with biases that fall with distance."""
    seq, head, block = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    first = tl.load(cu_seqlens + seq)
    length = tl.load(cu_seqlens + seq + 1) - first
    if block * BLOCK_M >= length:
        return
    offs_m = block * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)
    d_mask = offs_d < D
    q_at = (first + offs_m)[:, None] * stride_qt + head * stride_qh + offs_d[None, :]
    q_mask = (offs_m < length)[:, None] & d_mask[None, :]
    q = tl.load(Q + q_at, mask=q_mask, other=0.0)
    slope = tl.load(alibi_slopes + head) if HAS_ALIBI else 0.0
    k_base = K + first.to(tl.int64) * stride_kt + (head // GROUP) * stride_kh
    v_base = V + first.to(tl.int64) * stride_vt + (head // GROUP) * stride_vh
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)
    lowest = tl.maximum(block * BLOCK_M - WINDOW + 1, 0) // BLOCK_N * BLOCK_N if WINDOW > 0 else 0
    highest = tl.minimum((block + 1) * BLOCK_M, length)
    for start in range(lowest, highest, BLOCK_N):
        n = start + offs_n
        k = tl.load(k_base + n[None, :] * stride_kt + offs_d[:, None], mask=(n < length)[None, :] & d_mask[:, None], other=0.0)
        s = tl.dot(q, k) * sm_scale
        if HAS_SOFTCAP:
            s = softcap * tanh(s / softcap)
        distance = offs_m[:, None] - n[None, :]
        if HAS_ALIBI:
            s -= slope * distance
        allowed = (distance >= 0) & (n < length)[None, :]
        if WINDOW > 0:
            allowed &= distance < WINDOW
        s = tl.where(allowed, s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        # A row may have seen nothing yet.
        m_safe = tl.where(m_new == float("-inf"), 0.0, m_new)
        p = tl.exp(s - m_safe[:, None])
        alpha = tl.exp(m_i - m_safe)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(v_base + n[:, None] * stride_vt + offs_d[None, :], mask=(n < length)[:, None] & d_mask[None, :], other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_new
    l_safe = tl.where(l_i == 0.0, 1.0, l_i)
    o_at = (first + offs_m)[:, None] * stride_ot + head * stride_oh + offs_d[None, :]
    tl.store(Out + o_at, acc / l_safe[:, None], mask=q_mask)
    tl.store(Lse + head * stride_lse_h + first + offs_m, m_i + tl.log2(l_safe) * LN2, mask=offs_m < length)


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, causal, sm_scale):
        head_dim = q.shape[-1]
        assert head_dim in {16, 32, 64, 128, 256}
        o = torch.empty_like(q)
        m = torch.empty(q.shape[:3], device=q.device, dtype=torch.float32)
        grid = lambda args: (triton.cdiv(q.shape[2], args["BLOCK_M"]), q.shape[0] * q.shape[1], 1)  # noqa: E731
        attention_forward[grid](
            q, k, v, sm_scale or 1 / math.sqrt(head_dim), m, o, *q.stride(), *k.stride(), *v.stride(), *o.stride(),
            q.shape[0], q.shape[1], k.shape[1], q.shape[2], HEAD_DIM=head_dim, STAGE=3 if causal else 1,
        )
        ctx.save_for_backward(q, k, v, o, m)
        return o
