"""Mixture of experts: routing, counting and sorting tokens by atomics, and products over each expert's rows."""

import torch
import triton
import triton.language as tl

from .common import silu


@triton.jit
def route_top_k(
    logits_ptr, bias_ptr, weights_ptr, experts_ptr, probs_ptr, n_tokens, stride_t,
    EXPERTS: tl.constexpr, BLOCK_E: tl.constexpr, BLOCK_T: tl.constexpr, TOP_K: tl.constexpr, RENORMALISE: tl.constexpr,
    SCORING: tl.constexpr, HAS_BIAS: tl.constexpr,
):
    """Scores of tokens, and TOP_K times the best that has not been taken."""
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    e = tl.arange(0, BLOCK_E)
    mask = (t[:, None] < n_tokens) & (e[None, :] < EXPERTS)
    x = tl.load(logits_ptr + t[:, None] * stride_t + e[None, :], mask=mask, other=float("-inf")).to(tl.float32)
    if SCORING == "softmax":
        # Rows that are not there are all -inf.
        top = tl.maximum(tl.max(x, axis=1, keep_dims=True), -1e30)
        scores = tl.exp(x - top)
        scores = scores / tl.maximum(tl.sum(scores, axis=1, keep_dims=True), 1e-20)
    elif SCORING == "sigmoid":
        scores = tl.where(mask, 1.0 / (1.0 + tl.exp(-x)), 0.0)
    else:
        tl.static_assert(False, "scores are softmax or sigmoid")
    if probs_ptr is not None:
        tl.store(probs_ptr + t[:, None] * EXPERTS + e[None, :], scores, mask=mask)
    left = tl.where(mask, scores, float("-inf"))
    if HAS_BIAS:
        left += tl.load(bias_ptr + e, mask=e < EXPERTS, other=0.0)[None, :]
    total = tl.zeros((BLOCK_T,), tl.float32)
    for k in tl.static_range(TOP_K):
        best = tl.argmax(left, axis=1)
        hit = e[None, :] == best[:, None]
        w = tl.sum(tl.where(hit, scores, 0.0), axis=1)
        tl.store(weights_ptr + t * TOP_K + k, w, mask=t < n_tokens)
        tl.store(experts_ptr + t * TOP_K + k, best.to(tl.int32), mask=t < n_tokens)
        left = tl.where(hit, float("-inf"), left)
        total += w
    if RENORMALISE:
        tl.debug_barrier()
        for k in tl.static_range(TOP_K):
            at = weights_ptr + t * TOP_K + k
            tl.store(at, tl.load(at, mask=t < n_tokens, other=0.0) / total, mask=t < n_tokens)


@triton.jit
def count_tokens(experts_ptr, counts_ptr, n, EXPERTS: tl.constexpr, BLOCK: tl.constexpr):
    """How many tokens each expert has: counted in the program, then added."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    expert = tl.load(experts_ptr + at, mask=at < n, other=-1)
    bins = tl.arange(0, EXPERTS)
    counts = tl.sum((expert[:, None] == bins[None, :]).to(tl.int32), axis=0)
    tl.atomic_add(counts_ptr + bins, counts, mask=counts != 0, sem="relaxed", scope="gpu")


@triton.jit
def align_blocks(counts_ptr, starts_ptr, total_ptr, block_experts_ptr, EXPERTS: tl.constexpr, BLOCK_M: tl.constexpr, MAX_BLOCKS: tl.constexpr):
    """Where each expert's rows begin when every expert has whole blocks, and whose each block is."""
    e = tl.arange(0, EXPERTS)
    counts = tl.load(counts_ptr + e)
    padded = (counts + BLOCK_M - 1) // BLOCK_M * BLOCK_M
    ends = tl.cumsum(padded, axis=0)
    tl.store(starts_ptr + e, ends - padded)
    total = tl.sum(padded, axis=0)
    tl.store(total_ptr, total)
    block = tl.arange(0, MAX_BLOCKS)
    # The expert of a block is how many end at or before where it begins.
    owner = tl.sum((ends[None, :] <= (block * BLOCK_M)[:, None]).to(tl.int32), axis=1)
    tl.store(block_experts_ptr + block, tl.where(block * BLOCK_M < total, owner, -1))


@triton.jit
def assign_slots(experts_ptr, starts_ptr, taken_ptr, sorted_ptr, slots_ptr, n, BLOCK: tl.constexpr):
    """Each token and expert a slot of its own: tickets drawn by atomics, in any order."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    expert = tl.load(experts_ptr + at, mask=mask, other=0)
    ticket = tl.atomic_add(taken_ptr + expert, 1, mask=mask)
    slot = tl.load(starts_ptr + expert, mask=mask, other=0) + ticket
    tl.store(sorted_ptr + slot, at, mask=mask)
    tl.store(slots_ptr + at, slot, mask=mask)


@triton.jit
def gather_rows(x_ptr, sorted_ptr, out_ptr, n_sorted, n_pairs, D, TOP_K: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    pair = tl.load(sorted_ptr + row)
    cols = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    real = pair < n_pairs
    x = tl.load(x_ptr + (pair // TOP_K).to(tl.int64) * D + cols, mask=(cols < D) & real, other=0.0)
    tl.store(out_ptr + row.to(tl.int64) * D + cols, x, mask=cols < D)


@triton.jit
def combine_rows(y_ptr, slots_ptr, weights_ptr, out_ptr, D, stride_y, TOP_K: tl.constexpr, BLOCK_D: tl.constexpr, HAS_WEIGHTS: tl.constexpr):
    """out[token] = sum of its experts' rows, weighted."""
    token = tl.program_id(0)
    for start in tl.range(0, D, BLOCK_D):
        cols = start + tl.arange(0, BLOCK_D)
        total = tl.zeros((BLOCK_D,), tl.float32)
        for k in tl.static_range(TOP_K):
            slot = tl.load(slots_ptr + token * TOP_K + k).to(tl.int64)
            y = tl.load(y_ptr + slot * stride_y + cols, mask=cols < D, other=0.0).to(tl.float32)
            if HAS_WEIGHTS:
                y *= tl.load(weights_ptr + token * TOP_K + k)
            total += y
        tl.store(out_ptr + token * D + cols, total, mask=cols < D)


@triton.jit
def write_zeros(c_ptr, stride_cm, stride_cn, pid_n, N, offs_token, token_mask, BLOCK_SIZE_M, BLOCK_SIZE_N, compute_type):
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=compute_type)
    offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + stride_cm * offs_token[:, None] + stride_cn * offs_cn[None, :]
    c_mask = token_mask[:, None] & (offs_cn[None, :] < N)
    tl.store(c_ptrs, accumulator, mask=c_mask)


@triton.jit
def fused_moe(
    a_ptr, b_ptr, c_ptr, b_bias_ptr, a_scale_ptr, b_scale_ptr, topk_weights_ptr, sorted_token_ids_ptr, expert_ids_ptr,
    num_tokens_post_padded_ptr,
    N, K, EM, num_valid_tokens,
    stride_am, stride_ak, stride_be, stride_bk, stride_bn, stride_cm, stride_cn, stride_bse, stride_bsn, stride_bbe, stride_bbn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
    MUL_ROUTED_WEIGHT: tl.constexpr, top_k: tl.constexpr, compute_type: tl.constexpr, use_int8_w8a16: tl.constexpr,
    HAS_BIAS: tl.constexpr, GATED: tl.constexpr,
):
    """C[pair] = A[pair // top_k] @ B[expert of the pair's block]; blocks of nobody's expert are zeros.

    GATED: B's columns are gates and, N further, what they gate.
    """
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(EM, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs = tl.arange(0, BLOCK_SIZE_M).to(tl.int64)
    num_tokens_post_padded = tl.load(num_tokens_post_padded_ptr)
    if pid_m * BLOCK_SIZE_M >= num_tokens_post_padded:
        return
    offs_token_id = pid_m * BLOCK_SIZE_M + offs
    offs_token = tl.load(sorted_token_ids_ptr + offs_token_id)
    token_mask = offs_token < num_valid_tokens
    off_experts = tl.load(expert_ids_ptr + pid_m).to(tl.int64)
    if off_experts == -1:
        write_zeros(c_ptr, stride_cm, stride_cn, pid_n, N, offs_token, token_mask, BLOCK_SIZE_M, BLOCK_SIZE_N, compute_type)
        return
    offs_bn = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N).to(tl.int64)) % N
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (offs_token[:, None] // top_k * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + off_experts * stride_be + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    if use_int8_w8a16:
        b_scale = tl.load(b_scale_ptr + off_experts * stride_bse + offs_bn[None, :] * stride_bsn)
        if GATED:
            up_scale = tl.load(b_scale_ptr + off_experts * stride_bse + (offs_bn + N)[None, :] * stride_bsn)
    if HAS_BIAS:
        bias = tl.load(b_bias_ptr + off_experts * stride_bbe + offs_bn * stride_bbn)
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    if GATED:
        up = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
        up_ptrs = b_ptrs + N * stride_bn
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        k_mask = offs_k < K - k * BLOCK_SIZE_K
        a = tl.load(a_ptrs, mask=token_mask[:, None] & k_mask[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=k_mask[:, None], other=0.0)
        if use_int8_w8a16:
            accumulator = tl.dot(a, b.to(compute_type), acc=accumulator)
        else:
            accumulator += tl.dot(a, b)
        if GATED:
            b = tl.load(up_ptrs, mask=k_mask[:, None], other=0.0)
            up += tl.dot(a, b.to(a.dtype))
            up_ptrs += BLOCK_SIZE_K * stride_bk
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk
    if use_int8_w8a16:
        accumulator = accumulator * b_scale
        if GATED:
            up = up * up_scale
    if HAS_BIAS:
        accumulator = accumulator + bias[None, :]
    if GATED:
        accumulator = silu(accumulator) * up
    if MUL_ROUTED_WEIGHT:
        moe_weight = tl.load(topk_weights_ptr + offs_token, mask=token_mask, other=0)
        accumulator = accumulator * moe_weight[:, None]
    accumulator = accumulator.to(compute_type)
    offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + stride_cm * offs_token[:, None] + stride_cn * offs_cn[None, :]
    c_mask = token_mask[:, None] & (offs_cn[None, :] < N)
    tl.store(c_ptrs, accumulator, mask=c_mask)


@triton.jit
def load_balancing_loss(probs_ptr, counts_ptr, loss_ptr, n_tokens, coefficient, EXPERTS: tl.constexpr, BLOCK_T: tl.constexpr):
    """coefficient * EXPERTS * sum over experts of (share of tokens) (mean probability)"""
    e = tl.arange(0, EXPERTS)
    total = tl.zeros((BLOCK_T, EXPERTS), tl.float32)
    for start in range(0, n_tokens, BLOCK_T):
        t = start + tl.arange(0, BLOCK_T)
        total += tl.load(probs_ptr + t[:, None] * EXPERTS + e[None, :], mask=t[:, None] < n_tokens, other=0.0)
    mean = tl.sum(total, axis=0) / n_tokens
    share = tl.load(counts_ptr + e) / n_tokens
    tl.store(loss_ptr, coefficient * EXPERTS * tl.sum(mean * share, axis=0))


def moe_align(topk_ids, block_size, num_experts):
    counts = torch.zeros(num_experts, dtype=torch.int32, device=topk_ids.device)
    count_tokens[(triton.cdiv(topk_ids.numel(), 256),)](topk_ids, counts, topk_ids.numel(), EXPERTS=num_experts, BLOCK=256)
    return counts
