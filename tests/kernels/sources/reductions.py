"""Reductions other than sums: places of extremes, moments, counts."""

import triton
import triton.language as tl

from .common import welford


@triton.jit
def argmax_rows(x_ptr, values_ptr, places_ptr, M, N, stride_m, BM: tl.constexpr, BN: tl.constexpr):
    """The largest of long rows and its place: chunks' winners against the winner so far; of equal ones the first."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    best = tl.full((BM,), float("-inf"), tl.float32)
    place = tl.zeros((BM,), tl.int64)
    for start in range(0, N, BN):
        cols = start + tl.arange(0, BN)
        mask = (rows < M)[:, None] & (cols < N)[None, :]
        x = tl.load(x_ptr + rows[:, None] * stride_m + cols[None, :], mask=mask, other=float("-inf")).to(tl.float32)
        top, at = tl.max(x, axis=1, return_indices=True)
        better = top > best
        place = tl.where(better, at + start, place)
        best = tl.where(better, top, best)
    tl.store(values_ptr + rows, best, mask=rows < M)
    tl.store(places_ptr + rows, place, mask=rows < M)


@triton.jit
def nearest_codes(x_ptr, codes_ptr, out_ptr, distance_ptr, N, D, CODES: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr):
    """For each vector the nearest of a codebook, by argmin over [BN, CODES]."""
    rows = tl.program_id(0) * BN + tl.arange(0, BN)
    codes = tl.arange(0, CODES)
    distance = tl.zeros((BN, CODES), tl.float32)
    for start in range(0, D, BD):
        for k in tl.static_range(BD):
            inside = start + k < D
            x = tl.load(x_ptr + rows * D + start + k, mask=(rows < N) & inside, other=0.0)
            c = tl.load(codes_ptr + codes * D + start + k, mask=inside, other=0.0)
            d = x[:, None] - c[None, :]
            distance += d * d
    tl.store(out_ptr + rows, tl.argmin(distance, axis=1), mask=rows < N)
    tl.store(distance_ptr + rows, tl.min(distance, axis=1), mask=rows < N)


@triton.jit
def variance_all(x_ptr, partial_ptr, n, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    """Mean, sum of squares and count of a program's part."""
    pid = tl.program_id(0)
    mean = tl.zeros((BLOCK,), tl.float32)
    m2 = tl.zeros((BLOCK,), tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    for turn in tl.static_range(TURNS):
        at = (pid * TURNS + turn) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        delta = x - mean
        weight_new = weight + 1.0
        mean_new = mean + delta / weight_new
        m2 = tl.where(mask, m2 + delta * (x - mean_new), m2)
        mean = tl.where(mask, mean_new, mean)
        weight = tl.where(mask, weight_new, weight)
    m, s, w = tl.reduce((mean, m2, weight), 0, welford)
    tl.store(partial_ptr + pid * 3, m)
    tl.store(partial_ptr + pid * 3 + 1, s)
    tl.store(partial_ptr + pid * 3 + 2, w)


@triton.jit
def variance_finish(partial_ptr, mean_ptr, var_ptr, n_parts, correction, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n_parts
    m = tl.load(partial_ptr + at * 3, mask=mask, other=0.0)
    s = tl.load(partial_ptr + at * 3 + 1, mask=mask, other=0.0)
    w = tl.load(partial_ptr + at * 3 + 2, mask=mask, other=0.0)
    m, s, w = tl.reduce((m, s, w), axis=0, combine_fn=welford)
    tl.store(mean_ptr, m)
    tl.store(var_ptr, s / (w - correction))


@triton.jit
def count_values(x_ptr, counts_ptr, n, low, high, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """How many values lie in each of equal bins, counted in the program first."""
    bins = tl.arange(0, BINS)
    counts = tl.zeros((BINS,), tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < n
        x = tl.load(x_ptr + at, mask=mask, other=0.0)
        bin = ((x - low) * (BINS / (high - low))).to(tl.int32)
        bin = tl.where(x == high, BINS - 1, bin)
        inside = mask & (x >= low) & (x <= high)
        hits = inside[:, None] & (bin[:, None] == bins[None, :])
        counts += tl.sum(hits.to(tl.int32), axis=0)
    tl.atomic_add(counts_ptr + bins, counts, mask=counts > 0)


@triton.jit
def bincount(x_ptr, weights_ptr, out_ptr, n, BLOCK: tl.constexpr, HAS_WEIGHTS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    value = tl.load(x_ptr + at, mask=mask, other=0)
    if HAS_WEIGHTS:
        tl.atomic_add(out_ptr + value, tl.load(weights_ptr + at, mask=mask, other=0.0), mask=mask)
    else:
        tl.atomic_add(out_ptr + value, 1, mask=mask)


@triton.jit
def any_all(x_ptr, any_ptr, all_ptr, parity_ptr, N, stride, BLOCK: tl.constexpr):
    """Of rows of integers: whether any is not 0, whether all are not, and the exclusive or of all."""
    row = tl.program_id(0)
    some = tl.zeros((BLOCK,), tl.int32)
    every = tl.full((BLOCK,), 1, tl.int32)
    odd = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + cols, mask=cols < N, other=0)
        some |= (x != 0).to(tl.int32)
        every &= ((x != 0) | (cols >= N)).to(tl.int32)
        odd ^= x
    tl.store(any_ptr + row, tl.max(some, 0) != 0)
    tl.store(all_ptr + row, tl.min(every, 0) != 0)
    tl.store(parity_ptr + row, tl.xor_sum(odd, 0))
