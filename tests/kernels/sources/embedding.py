"""Rows looked up by index, and gradients that go back to where they came from by atomics."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_forward(
    embeddings_ptr, indices_ptr, output_ptr, n_elements, embedding_dim: tl.constexpr, BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    start_m = pid_m * BLOCK_SIZE_M
    start_n = pid_n * BLOCK_SIZE_N
    offsets_m = start_m + tl.arange(0, BLOCK_SIZE_M)
    mask_m = offsets_m < n_elements
    indices = tl.load(indices_ptr + offsets_m, mask=mask_m, other=0)
    offsets_n = start_n + tl.arange(0, BLOCK_SIZE_N)
    mask_n = offsets_n < embedding_dim
    embedding_offsets = indices[:, None] * embedding_dim + offsets_n[None, :]
    embeddings = tl.load(embeddings_ptr + embedding_offsets, mask=mask_m[:, None] & mask_n[None, :], other=0.0)
    output_offsets = offsets_m[:, None] * embedding_dim + offsets_n[None, :]
    tl.store(output_ptr + output_offsets, embeddings, mask=mask_m[:, None] & mask_n[None, :])


@triton.jit
def embedding_backward(
    grad_output_ptr, grad_weight_ptr, indices_ptr, counts_ptr, n_elements, padding_idx, embedding_dim: tl.constexpr,
    HAS_PADDING: tl.constexpr, SCALE_BY_FREQUENCY: tl.constexpr, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offsets_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    mask_m = offsets_m < n_elements
    indices = tl.load(indices_ptr + offsets_m, mask=mask_m, other=0)
    if HAS_PADDING:
        mask_m = mask_m & (indices != padding_idx)
    offsets_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    mask = mask_m[:, None] & (offsets_n < embedding_dim)[None, :]
    grad = tl.load(grad_output_ptr + offsets_m[:, None] * embedding_dim + offsets_n[None, :], mask=mask, other=0.0).to(tl.float32)
    if SCALE_BY_FREQUENCY:
        counts = tl.load(counts_ptr + indices, mask=mask_m, other=1)
        grad = grad / counts[:, None].to(tl.float32)
    tl.atomic_add(grad_weight_ptr + indices[:, None] * embedding_dim + offsets_n[None, :], grad, mask=mask)


@triton.jit
def embedding_bag(
    weight_ptr, indices_ptr, offsets_ptr, per_sample_ptr, out_ptr, D, stride_w, BLOCK_D: tl.constexpr, MODE: tl.constexpr,
):
    """Sum, mean or maximum of the rows of a bag, which may be empty."""
    bag = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = cols < D
    first = tl.load(offsets_ptr + bag)
    last = tl.load(offsets_ptr + bag + 1)
    if MODE == "max":
        total = tl.full((BLOCK_D,), float("-inf"), tl.float32)
    else:
        total = tl.zeros((BLOCK_D,), tl.float32)
    for i in range(first, last):
        index = tl.load(indices_ptr + i).to(tl.int64)
        row = tl.load(weight_ptr + index * stride_w + cols, mask=mask, other=0.0).to(tl.float32)
        if per_sample_ptr is not None:
            row *= tl.load(per_sample_ptr + i)
        if MODE == "max":
            total = tl.maximum(total, row)
        else:
            total += row
    if MODE == "mean":
        total = total / tl.maximum(last - first, 1)
    elif MODE == "max":
        total = tl.where(last > first, total, 0.0)
    tl.store(out_ptr + bag * D + cols, total, mask=mask)


@triton.jit
def index_select(
    in_ptr, index_ptr, out_ptr, outer, selected, inner, axis_size, BLOCK: tl.constexpr, CHECK: tl.constexpr,
):
    """out[o, j, i] = in[o, index[j], i]; indices below zero count from the end, those outside give 0."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < outer * selected * inner
    i = at % inner
    j = (at // inner) % selected
    o = at // (inner * selected)
    index = tl.load(index_ptr + j, mask=mask, other=0)
    index = tl.where(index < 0, index + axis_size, index)
    if CHECK:
        inside = (index >= 0) & (index < axis_size)
        mask_in = mask & inside
    else:
        mask_in = mask
    value = tl.load(in_ptr + (o * axis_size + index) * inner + i, mask=mask_in, other=0.0)
    tl.store(out_ptr + at, value, mask=mask)


@triton.jit
def scatter_reduce_rows(src_ptr, index_ptr, out_ptr, count_ptr, N, D, BLOCK_D: tl.constexpr, REDUCE: tl.constexpr):
    """out[index[n]] combined with src[n], counts of each row beside."""
    n = tl.program_id(0)
    target = tl.load(index_ptr + n)
    if target >= 0:
        for start in range(0, D, BLOCK_D):
            cols = start + tl.arange(0, BLOCK_D)
            mask = cols < D
            x = tl.load(src_ptr + n * D + cols, mask=mask, other=0)
            to = out_ptr + target * D + cols
            if REDUCE == "sum":
                tl.atomic_add(to, x, mask=mask, sem="relaxed")
            elif REDUCE == "amax":
                tl.atomic_max(to, x, mask=mask, sem="relaxed")
            else:
                tl.atomic_min(to, x, mask=mask, sem="relaxed")
        tl.atomic_add(count_ptr + target, 1)


class EmbeddingFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight, indices):
        shape, flat = indices.shape, indices.view(-1)
        output = torch.empty(flat.shape[0], weight.shape[1], device=weight.device, dtype=weight.dtype)
        m = triton.next_power_of_2(min(128, weight.shape[1]))
        grid = (triton.cdiv(flat.shape[0], m), triton.cdiv(weight.shape[1], m))
        embedding_forward[grid](weight, flat, output, flat.shape[0], embedding_dim=weight.shape[1], BLOCK_SIZE_M=m, BLOCK_SIZE_N=m)
        return output.view(*shape, -1)
