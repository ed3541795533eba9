"""Sums along rows and along columns of a matrix."""

import triton
import triton.language as tl


@triton.jit
def row_sum(out_ptr, x_ptr, row_stride, n_columns, BLOCK_SIZE: tl.constexpr):
    """out[i] = sum over j of x[i, j], in f32"""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    total = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for start in range(0, n_columns, BLOCK_SIZE):
        mask = start + columns < n_columns
        total += tl.load(x_ptr + row * row_stride + start + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


@triton.jit
def column_sum(out_ptr, x_ptr, row_stride, n_rows, n_columns, BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr):
    """out[j] = sum over i of x[i, j], in f32; one program a block of columns"""
    columns = tl.program_id(0) * BLOCK_COLUMNS + tl.arange(0, BLOCK_COLUMNS)
    rows = tl.arange(0, BLOCK_ROWS)
    total = tl.zeros((BLOCK_ROWS, BLOCK_COLUMNS), dtype=tl.float32)
    for start in range(0, n_rows, BLOCK_ROWS):
        at = start + rows
        mask = (at[:, None] < n_rows) & (columns[None, :] < n_columns)
        pointers = x_ptr + at[:, None] * row_stride + columns[None, :]
        total += tl.load(pointers, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + columns, tl.sum(total, axis=0), mask=columns < n_columns)
