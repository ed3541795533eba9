"""Kernels whose arguments are tuples and tensor descriptors."""

import triton
import triton.language as tl


@triton.jit
def concat(ptrs, widths, shape, out_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    start = 0
    for i in tl.static_range(len(ptrs)):
        inside = columns < widths[i]
        x = tl.load(ptrs[i] + row * widths[i] + columns, mask=inside)
        tl.store(out_ptr + row * shape[1] + start + columns, x, mask=inside)
        start += widths[i]


@triton.jit
def affine_of(work, n, BLOCK: tl.constexpr):
    (x_ptr, out_ptr), bias, factor = work
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(x_ptr + i, mask=i < n).to(tl.float32) * factor
    if bias is not None:
        y += tl.load(bias + i, mask=i < n)
    tl.store(out_ptr + i, y.to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def shift(source, target, by, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([i, j], source.load([i + by, j]))
