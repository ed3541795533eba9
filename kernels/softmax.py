"""Softmax over the rows of a matrix."""

import triton
import triton.language as tl


@triton.jit
def softmax(out_ptr, x_ptr, row_stride, n_columns, BLOCK_SIZE: tl.constexpr):
    """Rows that fit one block: read once, written once."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * row_stride + columns, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * row_stride + columns, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def softmax_long(out_ptr, x_ptr, row_stride, n_columns, BLOCK_SIZE: tl.constexpr):
    """Rows of any length: one pass finds the maximum and the sum of each column's part, a second writes."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    x_row = x_ptr + row * row_stride
    out_row = out_ptr + row * row_stride
    # Finite, so that a lane that has seen nothing but -inf yet does not compute inf - inf.
    highest = tl.full((BLOCK_SIZE,), -3.0e38, dtype=tl.float32)
    total = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for start in range(0, n_columns, BLOCK_SIZE):
        mask = start + columns < n_columns
        x = tl.load(x_row + start + columns, mask=mask, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(highest, x)
        total = total * tl.exp(highest - higher) + tl.exp(x - higher)
        highest = higher
    peak = tl.max(highest, axis=0)
    total_all = tl.sum(total * tl.exp(highest - peak), axis=0)
    for start in range(0, n_columns, BLOCK_SIZE):
        mask = start + columns < n_columns
        x = tl.load(x_row + start + columns, mask=mask, other=-float("inf")).to(tl.float32)
        tl.store(out_row + start + columns, tl.exp(x - peak) / total_all, mask=mask)
