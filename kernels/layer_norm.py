"""Layer normalisation."""

import triton
import triton.language as tl


@triton.jit
def layer_norm(
    x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, row_stride, n_columns, eps, BLOCK_SIZE: tl.constexpr
):
    """out = (x - mean) * rstd * weight + bias for each row that fits one block; mean and rstd are kept for backward"""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * row_stride + columns, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n_columns
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / n_columns
    rstd = 1.0 / tl.sqrt(variance + eps)
    weight = tl.load(weight_ptr + columns, mask=mask).to(tl.float32)
    bias = tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * row_stride + columns, centred * rstd * weight + bias, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
