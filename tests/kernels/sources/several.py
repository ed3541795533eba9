"""One launch over several tensors at once, which are passed as tuples of pointers."""

import torch
import triton
import triton.language as tl


def concat(tensors, dim=-1):
    rows = tensors[0].shape[0]
    widths = tuple(t.shape[1] for t in tensors)
    out = torch.empty((rows, sum(widths)), device=tensors[0].device, dtype=tensors[0].dtype)
    grid = (rows, triton.cdiv(max(widths), 256))
    concat_columns[grid](tuple(tensors), widths, out, out.shape[1], BLOCK=256)
    return out


@triton.jit
def concat_columns(in_ptrs, widths, out_ptr, out_width, BLOCK: tl.constexpr):
    """[rows, w0], [rows, w1], ... side by side."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    start = 0
    for i in tl.static_range(len(in_ptrs)):
        inside = cols < widths[i]
        x = tl.load(in_ptrs[i] + row * widths[i] + cols, mask=inside)
        tl.store(out_ptr + row * out_width + start + cols, x, mask=inside)
        start += widths[i]


@triton.jit
def adamw_update(p, g, m, v, lr, beta1, beta2, eps, weight_decay, correction1, correction2):
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    step = (m / correction1) / (tl.sqrt(v / correction2) + eps)
    return p - lr * (step + weight_decay * p), m, v


@triton.jit
def multi_tensor_adamw(
    params, grads, exp_avgs, exp_avg_sqs, sizes, hyper, scale_ptr, BLOCK: tl.constexpr,
):
    """AdamW over tensors of different sizes, one for each place along the second axis of the grid."""
    lr, (beta1, beta2), eps, weight_decay, correction1, correction2 = hyper
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    which = tl.program_id(1)
    scale = 1.0
    if scale_ptr is not None:
        scale = 1.0 / tl.load(scale_ptr)
    for i in tl.static_range(len(params)):
        if which == i:
            mask = offs < sizes[i]
            p = tl.load(params[i] + offs, mask=mask).to(tl.float32)
            g = tl.load(grads[i] + offs, mask=mask).to(tl.float32) * scale
            m = tl.load(exp_avgs[i] + offs, mask=mask)
            v = tl.load(exp_avg_sqs[i] + offs, mask=mask)
            p, m, v = adamw_update(p, g, m, v, lr, beta1, beta2, eps, weight_decay, correction1, correction2)
            tl.store(params[i] + offs, p.to(params[i].dtype.element_ty), mask=mask)
            tl.store(exp_avgs[i] + offs, m, mask=mask)
            tl.store(exp_avg_sqs[i] + offs, v, mask=mask)


@triton.jit
def gather_strided(x, shape, strides, out_ptr, BLOCK: tl.constexpr):
    """A strided array of any number of axes, made contiguous."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rest = offs
    at = tl.zeros([BLOCK], tl.int64)
    numel = 1
    for i in tl.static_range(len(shape)):
        axis: tl.constexpr = len(shape) - 1 - i
        at += (rest % shape[axis]).to(tl.int64) * strides[axis]
        rest = rest // shape[axis]
        numel *= shape[axis]
    tl.store(out_ptr + offs, tl.load(x + at, mask=offs < numel), mask=offs < numel)
