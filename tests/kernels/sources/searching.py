"""Loops that end when they end: searches, locks, queues of work, iterations that converge."""

import triton
import triton.language as tl

from .common import sigmoid


@triton.jit
def searchsorted(boundaries_ptr, x_ptr, out_ptr, n_boundaries, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    """Binary search, all lanes until the last one has found its place."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask, other=0.0)
    low = tl.zeros((BLOCK,), tl.int32)
    high = tl.zeros((BLOCK,), tl.int32) + n_boundaries
    while tl.max(high - low) > 0:
        middle = (low + high) // 2
        searching = low < high
        boundary = tl.load(boundaries_ptr + middle, mask=mask & searching, other=0.0)
        if RIGHT:
            goes_right = boundary <= x
        else:
            goes_right = boundary < x
        low = tl.where(searching & goes_right, middle + 1, low)
        high = tl.where(searching & (goes_right == 0), middle, high)
    tl.store(out_ptr + at, low.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_backward_locked(
    DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUP_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr,
):
    """dx of a row; its part of dw and db is added to one of GROUP_SIZE_M rows of sums, which a lock guards."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    X += row * stride
    DY += row * stride
    DX += row * stride
    lock_id = row % GROUP_SIZE_M
    Lock += lock_id
    Count = Lock + GROUP_SIZE_M
    DW = DW + lock_id * N + cols
    DB = DB + lock_id * N + cols
    x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    xhat = (x - mean) * rstd
    wdy = w * dy
    xhat = tl.where(mask, xhat, 0.0)
    wdy = tl.where(mask, wdy, 0.0)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    dx = (wdy - (xhat * c1 + c2)) * rstd
    tl.store(DX + cols, dx, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = (dy).to(w.dtype)
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    # The first store does not accumulate.
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial_dw += tl.load(DW, mask=mask)
        partial_db += tl.load(DB, mask=mask)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)
    # All lanes have written before another program may.
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@triton.jit
def work_queue(x_ptr, y_ptr, next_ptr, taken_ptr, tiles, n, BLOCK: tl.constexpr):
    """Programs draw tiles from a counter until there are none."""
    count = 0
    tile = tl.atomic_add(next_ptr, 1)
    while tile < tiles:
        at = tile * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=0.0)
        tl.store(y_ptr + at, x * sigmoid(x), mask=at < n)
        count += 1
        tile = tl.atomic_add(next_ptr, 1)
    tl.atomic_add(taken_ptr, count)


@triton.jit
def sinkhorn(logits_ptr, out_ptr, turns_ptr, N: tl.constexpr, tolerance, most):
    """Rows and columns of a matrix made to sum to 1 in turn, until they do."""
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    p = tl.exp(tl.load(logits_ptr + tl.program_id(0) * N * N + at))
    error = 1.0
    turn = 0
    while (error > tolerance) & (turn < most):
        p = p / tl.sum(p, axis=1)[:, None]
        p = p / tl.sum(p, axis=0)[None, :]
        error = tl.max(tl.abs(tl.sum(p, axis=1) - 1.0))
        turn += 1
    tl.store(out_ptr + tl.program_id(0) * N * N + at, p)
    tl.store(turns_ptr + tl.program_id(0), turn)


@triton.jit
def top_p_threshold(probs_ptr, out_ptr, threshold_ptr, p, n, stride, BLOCK: tl.constexpr):
    """Nucleus sampling by bisection: the largest threshold whose probabilities sum to p or more; the rest become 0."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(probs_ptr + row * stride + cols, mask=mask, other=0.0)
    low = 0.0
    high = tl.max(x, axis=0)
    # The largest alone may be enough.
    if tl.sum(tl.where(x >= high, x, 0.0), axis=0) >= p:
        low = high
    turn = 0
    while (turn < 40) & (high - low > 1e-9):
        middle = (low + high) * 0.5
        if tl.sum(tl.where(x >= middle, x, 0.0), axis=0) >= p:
            low = middle
        else:
            high = middle
        turn += 1
    kept = tl.where(x >= low, x, 0.0)
    tl.store(out_ptr + row * stride + cols, kept / tl.sum(kept, axis=0), mask=mask)
    tl.store(threshold_ptr + row, low)


@triton.jit
def linked_lists(next_ptr, value_ptr, head_ptr, sum_ptr, length_ptr):
    """Sums along lists of nodes; -1 ends one."""
    pid = tl.program_id(0)
    node = tl.load(head_ptr + pid)
    total = 0
    length = 0
    while node >= 0:
        tl.device_assert(length < 1000, "a list that goes round")
        total += tl.load(value_ptr + node)
        node = tl.load(next_ptr + node)
        length += 1
    tl.store(sum_ptr + pid, total)
    tl.store(length_ptr + pid, length)
