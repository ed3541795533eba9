"""Dropout whose mask is made again in the backward pass, or kept as bits."""

import torch
import triton
import triton.language as tl


@triton.jit
def seeded_dropout(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    random = tl.rand(seed, offsets)
    x_keep = random > p
    output = tl.where(x_keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)


@triton.heuristics({"p": lambda args: args["p"], "N": lambda args: args["N"]})
@triton.jit(do_not_specialize=["philox_seed", "philox_offset"])
def dropout_four_at_a_time(X, Y, N, p, philox_seed, philox_offset, BLOCK: tl.constexpr):
    """Four random numbers a counter: a block has four pieces."""
    UNROLL: tl.constexpr = 4
    philox_seed = philox_seed.to(tl.int64)
    philox_offset = philox_offset.to(tl.int64)
    c0 = (philox_offset & 0xFFFFFFFF).to(tl.uint32)
    c1 = ((philox_offset >> 32) & 0xFFFFFFFF).to(tl.uint32)
    i4 = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c0 += i4
    _O = c0 * 0
    r0, r1, r2, r3 = tl.philox(philox_seed, c0, c1, _O, _O)
    r0 = tl.random.uint_to_uniform_float(r0)
    r1 = tl.random.uint_to_uniform_float(r1)
    r2 = tl.random.uint_to_uniform_float(r2)
    r3 = tl.random.uint_to_uniform_float(r3)
    mask0 = r0 > p
    mask1 = r1 > p
    mask2 = r2 > p
    mask3 = r3 > p
    p = 1.0 / (1.0 - p)
    off_0 = tl.program_id(0) * BLOCK * UNROLL + tl.arange(0, BLOCK)
    off_1 = off_0 + BLOCK
    off_2 = off_1 + BLOCK
    off_3 = off_2 + BLOCK
    x0 = tl.load(X + off_0, mask=off_0 < N, other=0.0, eviction_policy="evict_first")
    x1 = tl.load(X + off_1, mask=off_1 < N, other=0.0, eviction_policy="evict_first")
    x2 = tl.load(X + off_2, mask=off_2 < N, other=0.0, eviction_policy="evict_first")
    x3 = tl.load(X + off_3, mask=off_3 < N, other=0.0, eviction_policy="evict_first")
    y0 = x0 * p * mask0
    y1 = x1 * p * mask1
    y2 = x2 * p * mask2
    y3 = x3 * p * mask3
    tl.store(Y + off_0, y0, mask=off_0 < N, eviction_policy="evict_first")
    tl.store(Y + off_1, y1, mask=off_1 < N, eviction_policy="evict_first")
    tl.store(Y + off_2, y2, mask=off_2 < N, eviction_policy="evict_first")
    tl.store(Y + off_3, y3, mask=off_3 < N, eviction_policy="evict_first")


@triton.jit
def dropout_with_bits(x_ptr, y_ptr, bits_ptr, n, p, seed_ptr, seed_offset, WORDS: tl.constexpr):
    """The mask as bits of 32-bit words, packed by a sum of powers of two."""
    word = tl.program_id(0) * WORDS + tl.arange(0, WORDS)
    bit = tl.arange(0, 32)
    at = word[:, None] * 32 + bit[None, :]
    seed = tl.load(seed_ptr) + seed_offset
    keep = (tl.rand(seed, at) > p) & (at < n)
    x = tl.load(x_ptr + at, mask=keep, other=0.0)
    tl.store(y_ptr + at, x * (1.0 / (1.0 - p)), mask=at < n)
    packed = tl.sum(keep.to(tl.uint32) << bit[None, :].to(tl.uint32), axis=1)
    tl.store(bits_ptr + word, packed, mask=word * 32 < n)


@triton.jit
def dropout_backward_from_bits(dy_ptr, bits_ptr, dx_ptr, n, p, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    word = tl.load(bits_ptr + at // 32, mask=mask, other=0)
    keep = (word >> (at % 32).to(tl.uint32)) & 1
    dy = tl.load(dy_ptr + at, mask=mask & (keep != 0), other=0.0)
    tl.store(dx_ptr + at, dy / (1.0 - p), mask=mask)


def dropout(x, p, seed):
    output = torch.empty_like(x)
    assert x.is_contiguous()
    n_elements = x.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)  # noqa: E731
    seeded_dropout[grid](x, output, n_elements, p, seed, BLOCK_SIZE=1024)
    return output
