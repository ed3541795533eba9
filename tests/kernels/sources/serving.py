"""Kernels of an inference server: long, with an argument for everything."""

import torch
import triton
import triton.language as tl

from .common import LOG2E, silu, softplus, tanh


@triton.jit
def find_sequence(starts_ptr, target, num_seqs, BLOCK_Q: tl.constexpr, BY_BLOCKS: tl.constexpr):
    """The sequence that a block of queries (or a token) is of; each sequence begins a block of its own."""
    left: tl.int32 = 0
    right = num_seqs
    while left < right:
        middle = (left + right) // 2
        value = tl.load(starts_ptr + middle)
        first = value // BLOCK_Q + middle if BY_BLOCKS else value
        if first <= target:
            left = middle + 1
        else:
            right = middle
    return left - 1


@triton.jit
def load_page_tile(cache_ptr, at, mask, scale_ptr, like, QUANTISED: tl.constexpr):
    """A tile of keys or values in the queries' dtype."""
    x = tl.load(cache_ptr + at, mask=mask, other=0)
    if QUANTISED:
        if like.dtype.is_fp32():
            x = x.to(tl.float32) * tl.load(scale_ptr)
        else:
            x = (x.to(tl.float32) * tl.load(scale_ptr)).to(like.dtype)
    return x


@triton.jit
def unified_attention(
    output_ptr,  # [tokens, heads, head size]
    query_ptr,  # [tokens, heads, head size]
    key_cache_ptr,  # [pages, page size, kv heads, head size]
    value_cache_ptr,  # [pages, page size, kv heads, head size]
    sink_ptr,  # [heads], or None
    block_tables_ptr,  # [sequences, most pages of one]
    seq_lens_ptr,  # [sequences]
    alibi_slopes_ptr,  # [heads], or None
    qq_bias_ptr,  # [queries, queries], or None
    scale,
    k_scale_ptr,
    v_scale_ptr,
    out_scale_ptr,
    softcap,
    num_query_heads: tl.constexpr,
    num_queries_per_kv: tl.constexpr,
    block_table_stride: tl.int64,
    query_stride_0: tl.int64,
    query_stride_1: tl.int64,
    output_stride_0: tl.int64,
    output_stride_1: tl.int64,
    qq_bias_stride_0: tl.int64,
    BLOCK_SIZE: tl.constexpr,
    TILE_SIZE: tl.constexpr,
    HEAD_SIZE: tl.constexpr,
    HEAD_SIZE_PADDED: tl.constexpr,
    USE_ALIBI_SLOPES: tl.constexpr,
    USE_QQ_BIAS: tl.constexpr,
    USE_SOFTCAP: tl.constexpr,
    USE_SINKS: tl.constexpr,
    SLIDING_WINDOW: tl.constexpr,
    stride_k_cache_0: tl.int64,
    stride_k_cache_1: tl.int64,
    stride_k_cache_2: tl.int64,
    stride_k_cache_3: tl.constexpr,
    stride_v_cache_0: tl.int64,
    stride_v_cache_1: tl.int64,
    stride_v_cache_2: tl.int64,
    stride_v_cache_3: tl.constexpr,
    query_start_len_ptr,  # [sequences + 1]
    BLOCK_Q: tl.constexpr,
    num_seqs: tl.int32,
    BLOCK_M: tl.constexpr,
    QUANTISED_CACHE: tl.constexpr,
    QUANTISED_OUTPUT: tl.constexpr,
    INT8_MIN: tl.constexpr = -127.0,
    INT8_MAX: tl.constexpr = 127.0,
):
    """Prefill and decoding in one: BLOCK_Q queries of a sequence with all heads that share their keys, BLOCK_M rows in all."""
    q_block_global_idx = tl.program_id(0)
    kv_head_idx = tl.program_id(1)

    # Which sequence, and which of its blocks.
    seq_idx = find_sequence(query_start_len_ptr, q_block_global_idx, num_seqs, BLOCK_Q, True)
    q_block_start_idx = tl.load(query_start_len_ptr + seq_idx) // BLOCK_Q + seq_idx
    q_block_local_idx = q_block_global_idx - q_block_start_idx
    cur_batch_in_all_start_index = tl.load(query_start_len_ptr + seq_idx)
    cur_batch_in_all_stop_index = tl.load(query_start_len_ptr + seq_idx + 1)
    cur_batch_query_len = cur_batch_in_all_stop_index - cur_batch_in_all_start_index
    if q_block_local_idx * BLOCK_Q >= cur_batch_query_len:
        return

    # Rows are queries times heads.
    offs_m = tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, HEAD_SIZE_PADDED)
    offs_t = tl.arange(0, TILE_SIZE)
    query_pos = q_block_local_idx * BLOCK_Q + offs_m // num_queries_per_kv
    query_offset_0 = cur_batch_in_all_start_index + query_pos
    query_offset_1 = kv_head_idx * num_queries_per_kv + offs_m % num_queries_per_kv
    query_offset = (
        query_offset_0[:, None] * query_stride_0 + query_offset_1[:, None] * query_stride_1 + offs_d[None, :]
    )
    dim_mask = tl.where(offs_d < HEAD_SIZE, 1, 0).to(tl.int1)
    query_mask_0 = tl.where(query_pos < cur_batch_query_len, 1, 0).to(tl.int1)
    query_mask_1 = tl.where(query_offset_1 < num_query_heads, 1, 0).to(tl.int1)
    Q = tl.load(
        query_ptr + query_offset,
        mask=dim_mask[None, :] & query_mask_0[:, None] & query_mask_1[:, None],
        other=0.0,
    )
    block_table_offset = seq_idx * block_table_stride

    # What has been seen: where there are sinks, they are the first of it.
    if not USE_SINKS:
        M = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
        L = tl.zeros([BLOCK_M], dtype=tl.float32)
    else:
        M = tl.load(sink_ptr + query_offset_1, mask=query_mask_1, other=float("-inf")).to(tl.float32)
        L = tl.full([BLOCK_M], 1.0, dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_SIZE_PADDED], dtype=tl.float32)

    seq_len = tl.load(seq_lens_ptr + seq_idx)
    # Tokens of the sequence before these queries.
    context_len = seq_len - cur_batch_query_len
    if USE_ALIBI_SLOPES:
        alibi_slope = tl.load(alibi_slopes_ptr + query_offset_1, mask=query_mask_1, other=0.0)
    if USE_QQ_BIAS:
        qq_bias_row_ptrs = qq_bias_ptr + query_pos[:, None] * qq_bias_stride_0

    # The last key that any row of the block sees, and with a window the first.
    max_seq_prefix_len = context_len + q_block_local_idx * BLOCK_Q + (BLOCK_M - 1) // num_queries_per_kv + 1
    max_seq_prefix_len = tl.minimum(max_seq_prefix_len, seq_len)
    num_tiles = tl.cdiv(max_seq_prefix_len, TILE_SIZE)
    tile_start = 0
    tile_end = num_tiles
    if SLIDING_WINDOW > 0:
        qpos_lo = q_block_local_idx * BLOCK_Q
        qpos_hi = tl.minimum(qpos_lo + (BLOCK_M - 1) // num_queries_per_kv, cur_batch_query_len - 1)
        first_allowed_key = context_len + qpos_lo - SLIDING_WINDOW + 1
        last_allowed_key = context_len + qpos_hi
        tile_start = tl.maximum(0, first_allowed_key // TILE_SIZE)
        tile_end = tl.minimum((last_allowed_key // TILE_SIZE) + 1, num_tiles)
        tile_start = tl.where(first_allowed_key < 0, 0, tile_start)

    for j in range(tile_start, tile_end):
        seq_offset = j * TILE_SIZE + offs_t
        tile_mask = seq_offset < max_seq_prefix_len
        physical_block_idx = tl.load(
            block_tables_ptr + block_table_offset + seq_offset // BLOCK_SIZE, mask=tile_mask, other=0
        ).to(tl.int64)
        v_offset = (
            physical_block_idx[:, None] * stride_v_cache_0
            + kv_head_idx * stride_v_cache_2
            + offs_d[None, :] * stride_v_cache_3
            + (seq_offset % BLOCK_SIZE)[:, None] * stride_v_cache_1
        )
        k_offset = (
            physical_block_idx[None, :] * stride_k_cache_0
            + kv_head_idx * stride_k_cache_2
            + offs_d[:, None] * stride_k_cache_3
            + (seq_offset % BLOCK_SIZE)[None, :] * stride_k_cache_1
        )
        K = load_page_tile(key_cache_ptr, k_offset, dim_mask[:, None] & tile_mask[None, :], k_scale_ptr, Q, QUANTISED_CACHE)
        V = load_page_tile(value_cache_ptr, v_offset, dim_mask[None, :] & tile_mask[:, None], v_scale_ptr, Q, QUANTISED_CACHE)

        seq_mask = seq_offset[None, :] < context_len + query_pos[:, None] + 1
        S = tl.zeros(shape=(BLOCK_M, TILE_SIZE), dtype=tl.float32)
        S += scale * tl.dot(Q, K)
        if USE_SOFTCAP:
            S = softcap * tanh(S / softcap)
        S = tl.where(query_mask_1[:, None] & query_mask_0[:, None] & seq_mask, S, float("-inf"))
        if SLIDING_WINDOW > 0:
            S = tl.where((context_len + query_pos[:, None] - seq_offset) < SLIDING_WINDOW, S, float("-inf"))
        if USE_ALIBI_SLOPES:
            S += alibi_slope[:, None] * (seq_offset - context_len)
        if USE_QQ_BIAS:
            # Between queries only: keys that are queries of this call.
            key_rel_pos = seq_offset - context_len
            is_query_key = key_rel_pos >= 0 and key_rel_pos < qq_bias_stride_0
            qq_bias = tl.load(
                qq_bias_row_ptrs + key_rel_pos[None, :],
                mask=is_query_key[None, :] & query_mask_0[:, None],
                other=0.0,
            )
            S += qq_bias

        # Rows that have seen nothing yet have no maximum.
        m_j = tl.maximum(M, tl.max(S, axis=1))
        m_j = tl.where(m_j > float("-inf"), m_j, 0.0)
        P = tl.exp(S - m_j[:, None])
        l_j = tl.sum(P, axis=1)
        alpha = tl.exp(M - m_j)
        acc = acc * alpha[:, None]
        L = L * alpha + l_j
        M = m_j
        acc += tl.dot(P.to(V.dtype), V)

    acc = acc / L[:, None]
    if QUANTISED_OUTPUT:
        acc = acc * tl.load(out_scale_ptr)
        acc = tl.where(acc >= 0, tl.floor(acc + 0.5), tl.ceil(acc - 0.5))
        acc = tl.clamp(acc, INT8_MIN, INT8_MAX)
    output_offset = (
        query_offset_0[:, None] * output_stride_0 + query_offset_1[:, None] * output_stride_1 + offs_d[None, :]
    )
    tl.store(
        output_ptr + output_offset,
        acc.to(output_ptr.dtype.element_ty),
        mask=dim_mask[None, :] & query_mask_0[:, None] & query_mask_1[:, None],
    )


@triton.jit
def chunk_scan(
    cb_ptr, x_ptr, z_ptr, out_ptr, out_x_ptr, dt_ptr, dA_cumsum_ptr, seq_idx_ptr, C_ptr, states_ptr, D_ptr, initstates_ptr,
    # Sizes
    chunk_size, hdim, dstate, batch, seqlen, nheads_ngroups_ratio,
    # Strides
    stride_cb_batch, stride_cb_chunk, stride_cb_head, stride_cb_csize_m, stride_cb_csize_k,
    stride_x_batch, stride_x_seqlen, stride_x_head, stride_x_hdim,
    stride_z_batch, stride_z_seqlen, stride_z_head, stride_z_hdim,
    stride_out_batch, stride_out_seqlen, stride_out_head, stride_out_hdim,
    stride_dt_batch, stride_dt_chunk, stride_dt_head, stride_dt_csize,
    stride_dA_cs_batch, stride_dA_cs_chunk, stride_dA_cs_head, stride_dA_cs_csize,
    stride_seq_idx_batch, stride_seq_idx_seqlen,
    stride_C_batch, stride_C_seqlen, stride_C_head, stride_C_dstate,
    stride_states_batch, stride_states_chunk, stride_states_head, stride_states_hdim, stride_states_dstate,
    stride_D_head,
    # Switches and tiles
    IS_CAUSAL: tl.constexpr,
    HAS_D: tl.constexpr,
    D_HAS_HDIM: tl.constexpr,
    HAS_Z: tl.constexpr,
    HAS_SEQ_IDX: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    BLOCK_SIZE_DSTATE: tl.constexpr,
):
    """Outputs of a state-space model in chunks: from the state before the chunk, and from what lies in it (C B^T decayed, times x)."""
    pid_bc = tl.program_id(axis=1)
    pid_c = pid_bc // batch
    pid_b = pid_bc - pid_c * batch
    pid_h = tl.program_id(axis=2)
    num_pid_n = tl.cdiv(hdim, BLOCK_SIZE_N)
    pid_m = tl.program_id(axis=0) // num_pid_n
    pid_n = tl.program_id(axis=0) % num_pid_n
    cb_ptr += pid_b * stride_cb_batch + pid_c * stride_cb_chunk + (pid_h // nheads_ngroups_ratio) * stride_cb_head
    x_ptr += pid_b * stride_x_batch + pid_c * chunk_size * stride_x_seqlen + pid_h * stride_x_head
    dt_ptr += pid_b * stride_dt_batch + pid_c * stride_dt_chunk + pid_h * stride_dt_head
    dA_cumsum_ptr += pid_b * stride_dA_cs_batch + pid_c * stride_dA_cs_chunk + pid_h * stride_dA_cs_head
    C_ptr += pid_b * stride_C_batch + pid_c * chunk_size * stride_C_seqlen + (pid_h // nheads_ngroups_ratio) * stride_C_head
    prev_states_ptr = states_ptr + pid_b * stride_states_batch + pid_c * stride_states_chunk + pid_h * stride_states_head
    if HAS_SEQ_IDX:
        seq_idx_ptr += pid_b * stride_seq_idx_batch + pid_c * chunk_size * stride_seq_idx_seqlen

    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    dA_cs_m = tl.load(dA_cumsum_ptr + offs_m * stride_dA_cs_csize, mask=offs_m < chunk_size, other=0.0).to(tl.float32)
    chunk_size_limit = min(chunk_size, seqlen - pid_c * chunk_size)
    if HAS_SEQ_IDX:
        # The sequence that was going on when the chunk began; tokens of others know nothing of the state.
        seq_idx_prev = tl.load(seq_idx_ptr - stride_seq_idx_seqlen, mask=pid_c >= 1, other=0)
        seq_idx_m = tl.load(seq_idx_ptr + offs_m * stride_seq_idx_seqlen, mask=offs_m < chunk_size_limit, other=-1)
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)

    # From the state.
    offs_k_dstate = tl.arange(0, BLOCK_SIZE_DSTATE if BLOCK_SIZE_DSTATE <= 128 else BLOCK_SIZE_K)
    C_ptrs = C_ptr + (offs_m[:, None] * stride_C_seqlen + offs_k_dstate[None, :] * stride_C_dstate)
    prev_states_ptrs = prev_states_ptr + (
        offs_n[None, :] * stride_states_hdim + offs_k_dstate[:, None] * stride_states_dstate
    )
    if not HAS_SEQ_IDX:
        scale_m = tl.exp(dA_cs_m)
    else:
        scale_m = tl.where(seq_idx_m == seq_idx_prev, tl.exp(dA_cs_m), 0.0)
    if BLOCK_SIZE_DSTATE <= 128:
        C = tl.load(C_ptrs, mask=(offs_m[:, None] < chunk_size_limit) & (offs_k_dstate[None, :] < dstate), other=0.0)
        prev_states = tl.load(prev_states_ptrs, mask=(offs_k_dstate[:, None] < dstate) & (offs_n[None, :] < hdim), other=0.0)
        prev_states = prev_states.to(C_ptr.dtype.element_ty)
        acc = tl.dot(C, prev_states) * scale_m[:, None]
    else:
        for k in range(0, dstate, BLOCK_SIZE_K):
            C = tl.load(C_ptrs, mask=(offs_m[:, None] < chunk_size_limit) & (offs_k_dstate[None, :] < dstate - k), other=0.0)
            prev_states = tl.load(prev_states_ptrs, mask=(offs_k_dstate[:, None] < dstate - k) & (offs_n[None, :] < hdim), other=0.0)
            acc += tl.dot(C, prev_states.to(C_ptr.dtype.element_ty))
            C_ptrs += BLOCK_SIZE_K * stride_C_dstate
            prev_states_ptrs += BLOCK_SIZE_K * stride_states_dstate
        acc *= scale_m[:, None]

    # From the chunk itself.
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    cb_ptrs = cb_ptr + (offs_m[:, None] * stride_cb_csize_m + offs_k[None, :] * stride_cb_csize_k)
    x_ptrs = x_ptr + (offs_k[:, None] * stride_x_seqlen + offs_n[None, :] * stride_x_hdim)
    dt_ptrs = dt_ptr + offs_k * stride_dt_csize
    dA_cumsum_ptrs = dA_cumsum_ptr + offs_k * stride_dA_cs_csize
    K_MAX = chunk_size_limit if not IS_CAUSAL else min((pid_m + 1) * BLOCK_SIZE_M, chunk_size_limit)
    for k in range(0, K_MAX, BLOCK_SIZE_K):
        cb = tl.load(cb_ptrs, mask=(offs_m[:, None] < chunk_size) & (offs_k[None, :] < chunk_size - k), other=0.0).to(tl.float32)
        dA_cs_k = tl.load(dA_cumsum_ptrs, mask=offs_k < chunk_size - k, other=0.0).to(tl.float32)
        # Behind the diagonal the difference is positive: what overflows there is masked, and must not be infinite before.
        cb *= tl.exp(tl.minimum(dA_cs_m[:, None] - dA_cs_k[None, :], 0.0))
        dt_k = tl.load(dt_ptrs, mask=offs_k < chunk_size - k, other=0.0).to(tl.float32)
        cb *= dt_k
        if IS_CAUSAL:
            mask = offs_m[:, None] >= k + offs_k[None, :]
            cb = tl.where(mask, cb, 0.0)
        if HAS_SEQ_IDX:
            seq_idx_k = tl.load(
                seq_idx_ptr + (k + offs_k) * stride_seq_idx_seqlen, mask=offs_k < chunk_size_limit - k, other=-2
            )
            cb = tl.where(seq_idx_m[:, None] == seq_idx_k[None, :], cb, 0.0)
        cb = cb.to(x_ptr.dtype.element_ty)
        x = tl.load(x_ptrs, mask=(offs_k[:, None] < chunk_size_limit - k) & (offs_n[None, :] < hdim), other=0.0)
        acc += tl.dot(cb, x)
        cb_ptrs += BLOCK_SIZE_K * stride_cb_csize_k
        x_ptrs += BLOCK_SIZE_K * stride_x_seqlen
        dt_ptrs += BLOCK_SIZE_K * stride_dt_csize
        dA_cumsum_ptrs += BLOCK_SIZE_K * stride_dA_cs_csize

    offs_out_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_out_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    out_mask = (offs_out_m[:, None] < chunk_size_limit) & (offs_out_n[None, :] < hdim)
    if HAS_D:
        if D_HAS_HDIM:
            D = tl.load(D_ptr + pid_h * stride_D_head + offs_n, mask=offs_n < hdim, other=0.0).to(tl.float32)
        else:
            D = tl.load(D_ptr + pid_h * stride_D_head).to(tl.float32)
        x_residual = tl.load(
            x_ptr + (offs_m[:, None] * stride_x_seqlen + offs_n[None, :] * stride_x_hdim), mask=out_mask, other=0.0
        ).to(tl.float32)
        acc += x_residual * D
    if HAS_Z:
        out_x_ptr += pid_b * stride_out_batch + pid_c * chunk_size * stride_out_seqlen + pid_h * stride_out_head
        out_x_ptrs = out_x_ptr + (stride_out_seqlen * offs_out_m[:, None] + offs_out_n[None, :])
        tl.store(out_x_ptrs, acc, mask=out_mask)
        z_ptr += pid_b * stride_z_batch + pid_c * chunk_size * stride_z_seqlen + pid_h * stride_z_head
        z_ptrs = z_ptr + (stride_z_seqlen * offs_out_m[:, None] + stride_z_hdim * offs_out_n[None, :])
        z = tl.load(z_ptrs, mask=out_mask, other=0.0).to(tl.float32)
        acc *= silu(z)
    out_ptr += pid_b * stride_out_batch + pid_c * chunk_size * stride_out_seqlen + pid_h * stride_out_head
    out_ptrs = out_ptr + (stride_out_seqlen * offs_out_m[:, None] + offs_out_n[None, :] * stride_out_hdim)
    tl.store(out_ptrs, acc, mask=out_mask)


@triton.jit
def chunk_cumsum(
    dt_ptr, A_ptr, dt_bias_ptr, dt_out_ptr, dA_cumsum_ptr, batch, seqlen, nheads, chunk_size, dt_min, dt_max,
    stride_dt_batch, stride_dt_seqlen, stride_dt_head, stride_A_head, stride_dt_bias_head,
    stride_dt_out_batch, stride_dt_out_chunk, stride_dt_out_head, stride_dt_out_csize,
    DT_SOFTPLUS: tl.constexpr, HAS_DT_BIAS: tl.constexpr, BLOCK_SIZE_H: tl.constexpr, BLOCK_SIZE_CHUNK: tl.constexpr,
):
    """Time steps made positive and clamped, and running sums of their decays inside chunks."""
    pid_b = tl.program_id(axis=0)
    pid_c = tl.program_id(axis=1).to(tl.int64)
    pid_h = tl.program_id(axis=2)
    dt_ptr += pid_b * stride_dt_batch + pid_c * chunk_size * stride_dt_seqlen
    out = pid_b * stride_dt_out_batch + pid_c * stride_dt_out_chunk
    offs_h = pid_h * BLOCK_SIZE_H + tl.arange(0, BLOCK_SIZE_H)
    offs_c = tl.arange(0, BLOCK_SIZE_CHUNK)
    limit = min(chunk_size, seqlen - pid_c * chunk_size)
    mask = (offs_h[:, None] < nheads) & (offs_c[None, :] < limit)
    dt = tl.load(dt_ptr + offs_h[:, None] * stride_dt_head + offs_c[None, :] * stride_dt_seqlen, mask=mask, other=0.0).to(tl.float32)
    if HAS_DT_BIAS:
        dt += tl.load(dt_bias_ptr + offs_h * stride_dt_bias_head, mask=offs_h < nheads, other=0.0).to(tl.float32)[:, None]
    if DT_SOFTPLUS:
        dt = tl.where(dt <= 20.0, softplus(dt), dt)
    dt = tl.clamp(dt, dt_min, dt_max)
    dt = tl.where(mask, dt, 0.0)
    at = out + offs_h[:, None] * stride_dt_out_head + offs_c[None, :] * stride_dt_out_csize
    mask_out = (offs_h[:, None] < nheads) & (offs_c[None, :] < chunk_size)
    tl.store(dt_out_ptr + at, dt, mask=mask_out)
    A = tl.load(A_ptr + offs_h * stride_A_head, mask=offs_h < nheads, other=0.0).to(tl.float32)
    tl.store(dA_cumsum_ptr + at, tl.cumsum(dt * A[:, None], axis=1), mask=mask_out)


@triton.jit
def penalise_and_sample(
    logits_ptr, counts_ptr, prompt_mask_ptr, temperature_ptr, top_token_ptr, logprob_ptr, seeds_ptr, allowed_ptr,
    presence, frequency, repetition, vocab, stride_logits, stride_words, position,
    BLOCK: tl.constexpr, HAS_GRAMMAR: tl.constexpr, GREEDY: tl.constexpr,
):
    """A token for each row: penalties for what was said, a bit mask of what a grammar allows, and noise that samples (Gumbel's)."""
    row = tl.program_id(0)
    base = logits_ptr + row.to(tl.int64) * stride_logits
    temperature = tl.load(temperature_ptr + row)
    seed = tl.load(seeds_ptr + row)
    best = float("-inf")
    token = 0
    m = float("-inf")
    s = 0.0
    chosen = 0.0
    for start in tl.range(0, vocab, BLOCK, num_stages=2):
        at = start + tl.arange(0, BLOCK)
        mask = at < vocab
        x = tl.load(base + at, mask=mask, other=float("-inf")).to(tl.float32)
        count = tl.load(counts_ptr + row * vocab + at, mask=mask, other=0)
        in_prompt = tl.load(prompt_mask_ptr + row * vocab + at, mask=mask, other=0) != 0
        seen = (count > 0) | in_prompt
        x = tl.where(seen, tl.where(x > 0, x / repetition, x * repetition), x)
        x -= frequency * count + presence * (count > 0)
        if HAS_GRAMMAR:
            word = tl.load(allowed_ptr + row * stride_words + at // 32, mask=mask, other=0)
            x = tl.where(((word >> (at % 32)) & 1) != 0, x, float("-inf"))
        if not GREEDY:
            x = x / temperature
        # Padding and what is not allowed are -inf alike.
        top = tl.maximum(m, tl.max(x, 0))
        safe = tl.where(top == float("-inf"), 0.0, top)
        s = s * tl.exp(m - safe) + tl.sum(tl.exp(x - safe), 0)
        m = top
        if GREEDY:
            noisy = x
        else:
            u = tl.rand(seed, position * vocab + at)
            noisy = x - tl.log2(-tl.log2(tl.maximum(u, 1e-7)) / LOG2E) / LOG2E
        value, index = tl.max(noisy, axis=0, return_indices=True)
        if value > best:
            best = value
            token = start + index
            chosen = tl.sum(tl.where(at == token, x, 0.0), 0)
    tl.store(top_token_ptr + row, token.to(tl.int64))
    tl.store(logprob_ptr + row, chosen - (m + tl.log(s)))


def context_attention(q, k_cache, v_cache, out, cu_seqlens_q, seqused_k, softmax_scale, window_size, block_table, softcap):
    block_q = 16 // (q.shape[1] // k_cache.shape[2])
    num_seqs = len(seqused_k)
    total = q.shape[0] // block_q + num_seqs
    assert q.element_size() >= 2, "queries of 8 bits are not supported"
    return torch.empty_like(q), total, num_seqs, softmax_scale, window_size, block_table, softcap, v_cache, out, cu_seqlens_q
