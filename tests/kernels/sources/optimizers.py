"""Steps of optimizers over flat parameters: bf16 weights with f32 state, stochastic rounding, 8-bit state."""

import torch
import triton
import triton.language as tl

from .common import add


@triton.jit
def stochastic_bf16(x, seed, offsets):
    """f32 to bf16: up with the probability that lies in the bits that are cut off."""
    noise = tl.randint(seed, offsets) & 0xFFFF
    bits = x.to(tl.uint32, bitcast=True)
    rounded = (bits + noise) & 0xFFFF0000
    return rounded.to(tl.float32, bitcast=True).to(tl.bfloat16)


@triton.jit
def adamw_step(
    param_ptr, grad_ptr, exp_avg_ptr, exp_avg_sq_ptr, max_exp_avg_sq_ptr, master_ptr, found_inf_ptr, grad_scale_ptr,
    lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2_sqrt, n_elements, seed,
    AMSGRAD: tl.constexpr, MAXIMIZE: tl.constexpr, DECOUPLED: tl.constexpr, STOCHASTIC: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    """Adam, decoupled decay or not, in place; master_ptr holds f32 weights where they are kept."""
    if found_inf_ptr is not None:
        if tl.load(found_inf_ptr) != 0.0:
            return
    pid = tl.program_id(0).to(tl.int64)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    grad = tl.load(grad_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    if grad_scale_ptr is not None:
        grad = grad / tl.load(grad_scale_ptr)
    if MAXIMIZE:
        grad = -grad
    if master_ptr is not None:
        param = tl.load(master_ptr + offsets, mask=mask, other=0.0)
    else:
        param = tl.load(param_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    if DECOUPLED:
        param = param * (1.0 - lr * weight_decay)
    else:
        grad = grad + weight_decay * param
    m = tl.load(exp_avg_ptr + offsets, mask=mask, other=0.0)
    v = tl.load(exp_avg_sq_ptr + offsets, mask=mask, other=0.0)
    m = m + (1.0 - beta1) * (grad - m)
    v = beta2 * v + (1.0 - beta2) * grad * grad
    if AMSGRAD:
        highest = tl.maximum(tl.load(max_exp_avg_sq_ptr + offsets, mask=mask, other=0.0), v)
        tl.store(max_exp_avg_sq_ptr + offsets, highest, mask=mask)
        denominator = tl.sqrt(highest) / bias_correction2_sqrt + eps
    else:
        denominator = tl.sqrt(v) / bias_correction2_sqrt + eps
    param = param - (lr / bias_correction1) * (m / denominator)
    tl.store(exp_avg_ptr + offsets, m, mask=mask)
    tl.store(exp_avg_sq_ptr + offsets, v, mask=mask)
    if master_ptr is not None:
        tl.store(master_ptr + offsets, param, mask=mask)
    if STOCHASTIC:
        tl.store(param_ptr + offsets, stochastic_bf16(param, seed, offsets.to(tl.int32)), mask=mask)
    else:
        tl.store(param_ptr + offsets, param.to(param_ptr.dtype.element_ty), mask=mask)


@triton.jit
def lion_step(p_ptr, grad_ptr, exp_avg_ptr, lr, wd, beta1, beta2, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    offset_p_ptr = p_ptr + offsets
    offset_grad_ptr = grad_ptr + offsets
    offset_exp_avg_ptr = exp_avg_ptr + offsets
    p = tl.load(offset_p_ptr, mask=mask)
    grad = tl.load(offset_grad_ptr, mask=mask)
    exp_avg = tl.load(offset_exp_avg_ptr, mask=mask)
    p = p * (1 - lr * wd)
    diff = exp_avg - grad
    update = diff * beta1 + grad
    can_update = update != 0
    update_sign = tl.where(update > 0, -lr, lr)
    p = p + update_sign * can_update
    exp_avg = diff * beta2 + grad
    tl.store(offset_p_ptr, p, mask=mask)
    tl.store(offset_exp_avg_ptr, exp_avg, mask=mask)


@triton.jit
def sgd_momentum(
    param_ptr, grad_ptr, buffer_ptr, lr, momentum, dampening, weight_decay, n_elements, first_step: tl.int1,
    NESTEROV: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    p = tl.load(param_ptr + offsets, mask=mask).to(tl.float32)
    g = tl.load(grad_ptr + offsets, mask=mask).to(tl.float32)
    g += weight_decay * p
    if first_step:
        buffer = g
    else:
        buffer = momentum * tl.load(buffer_ptr + offsets, mask=mask) + (1.0 - dampening) * g
    tl.store(buffer_ptr + offsets, buffer, mask=mask)
    step = g + momentum * buffer if NESTEROV else buffer
    tl.store(param_ptr + offsets, p - lr * step, mask=mask)


@triton.jit
def adafactor_moments(
    grad_ptr, row_ptr, col_sums_ptr, beta2, eps, R, C, stride_r, BLOCK_C: tl.constexpr,
):
    """A row's part of the second moment; sums for the columns' part by atomics."""
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, C, BLOCK_C):
        cols = start + tl.arange(0, BLOCK_C)
        mask = cols < C
        g = tl.load(grad_ptr + row * stride_r + cols, mask=mask, other=0.0).to(tl.float32)
        squares = tl.where(mask, g * g + eps, 0.0)
        total += tl.sum(squares, axis=0)
        tl.atomic_add(col_sums_ptr + cols, squares / R, mask=mask, sem="relaxed")
    old = tl.load(row_ptr + row)
    tl.store(row_ptr + row, beta2 * old + (1.0 - beta2) * total / C)


@triton.jit
def adafactor_update(
    param_ptr, grad_ptr, row_ptr, col_ptr, row_mean_ptr, lr, clip, R, C, stride_r, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    cols = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    mask = (rows < R) & (cols < C)
    at = rows * stride_r + cols
    g = tl.load(grad_ptr + at, mask, 0.0).to(tl.float32)
    r = tl.load(row_ptr + rows, mask=rows < R, other=1.0) / tl.load(row_mean_ptr)
    c = tl.load(col_ptr + cols, mask=cols < C, other=1.0)
    update = g * tl.rsqrt(r) * tl.rsqrt(c)
    update = tl.clamp(update, -clip, clip)
    p = tl.load(param_ptr + at, mask, 0.0).to(tl.float32)
    tl.store(param_ptr + at, (p - lr * update).to(param_ptr.dtype.element_ty), mask)


@triton.jit
def dequantise_state(q, absmax):
    return q.to(tl.float32) * (absmax / 127.0)


@triton.jit
def quantise_state(x):
    absmax = tl.max(tl.abs(x), axis=1, keep_dims=True)
    scaled = x / tl.maximum(absmax, 1e-12) * 127.0
    return tl.where(scaled >= 0, tl.floor(scaled + 0.5), tl.ceil(scaled - 0.5)).to(tl.int8), absmax


@triton.jit
def momentum_8bit(
    p_ptr, g_ptr, state_ptr, absmax_ptr, lr, beta, n, GROUP: tl.constexpr, GROUPS: tl.constexpr,
):
    """Momentum as 8-bit integers, a scale for each GROUP of them."""
    groups = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS)
    at = groups[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    mask = at < n
    absmax = tl.load(absmax_ptr + groups, mask=groups * GROUP < n, other=0.0)[:, None]
    m = dequantise_state(tl.load(state_ptr + at, mask=mask, other=0), absmax)
    g = tl.load(g_ptr + at, mask=mask, other=0.0).to(tl.float32)
    m = beta * m + (1.0 - beta) * g
    p = tl.load(p_ptr + at, mask=mask, other=0.0)
    tl.store(p_ptr + at, p - lr * m, mask=mask)
    q, absmax = quantise_state(tl.where(mask, m, 0.0))
    tl.store(state_ptr + at, q, mask=mask)
    tl.store(absmax_ptr + groups[:, None], absmax, mask=groups[:, None] * GROUP < n)


@triton.jit
def squared_norms(
    a_ptr, b_ptr, c_ptr, sizes_ptr, out_ptr, has_inf_ptr, BLOCK: tl.constexpr, PIECES: tl.constexpr,
):
    """Sums of squares of three tensors; program_id(1) says which, a branch on it which pointer."""
    which = tl.program_id(1)
    size = tl.load(sizes_ptr + which)
    if which == 0:
        base = a_ptr
    elif which == 1:
        base = b_ptr
    else:
        base = c_ptr
    squares = tl.zeros((BLOCK,), tl.float32)
    first = tl.program_id(0) * BLOCK * PIECES
    for piece in tl.static_range(PIECES):
        at = first + piece * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(base + at, mask=at < size, other=0.0).to(tl.float32)
        squares += x * x
    total = tl.reduce(squares, 0, add)
    if total != total or total == float("inf"):
        tl.atomic_max(has_inf_ptr, 1)
    if first < size:
        tl.atomic_add(out_ptr + which, total)


@torch.no_grad()
def step(params, grads, state, lr, betas, eps, weight_decay, t):
    for p, g, (m, v, master) in zip(params, grads, state):
        n = p.numel()
        adamw_step[(triton.cdiv(n, 1024),)](
            p, g, m, v, None, master, None, None, lr, betas[0], betas[1], eps, weight_decay,
            1 - betas[0] ** t, (1 - betas[1] ** t) ** 0.5, n, t,
            AMSGRAD=False, MAXIMIZE=False, DECOUPLED=True, STOCHASTIC=False, BLOCK_SIZE=1024,
        )
