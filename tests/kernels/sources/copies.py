"""Data moved about: transposes, concatenation, padding, masks, ranges."""

import triton
import triton.language as tl


@triton.jit
def transpose_2d(x_ptr, y_ptr, M, N, stride_xm, stride_yn, BM: tl.constexpr, BN: tl.constexpr):
    """y = x^T by tiles, both sides read and written along their rows."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    x = tl.load(x_ptr + rows[:, None] * stride_xm + cols[None, :], mask=(rows[:, None] < M) & (cols[None, :] < N))
    tl.store(y_ptr + cols[:, None] * stride_yn + rows[None, :], tl.trans(x), mask=(cols[:, None] < N) & (rows[None, :] < M))


@triton.jit
def permute_heads(x_ptr, y_ptr, S, H, D, stride_b, BS: tl.constexpr, BH: tl.constexpr, BD: tl.constexpr):
    """[B, S, H, D] to [B, H, S, D], a block of three axes at once."""
    s = tl.program_id(0) * BS + tl.arange(0, BS)
    h = tl.program_id(1) * BH + tl.arange(0, BH)
    d = tl.arange(0, BD)
    base = tl.program_id(2).to(tl.int64) * stride_b
    mask = (s < S)[:, None, None] & (h < H)[None, :, None] & (d < D)[None, None, :]
    x = tl.load(x_ptr + base + (s[:, None, None] * H + h[None, :, None]) * D + d[None, None, :], mask=mask, other=0.0)
    y = tl.permute(x, (1, 0, 2))
    mask_y = (h < H)[:, None, None] & (s < S)[None, :, None] & (d < D)[None, None, :]
    tl.store(y_ptr + base + (h[:, None, None] * S + s[None, :, None]) * D + d[None, None, :], y, mask=mask_y)


@triton.jit
def concatenate_rows(
    a_ptr, b_ptr, c_ptr, out_ptr, size_a, size_b, size_c, stride_a, stride_b, stride_c, stride_out, BLOCK: tl.constexpr,
    INTO: tl.constexpr,
):
    """The last axes of three arrays side by side; INTO says in which order, a tuple of pointers and sizes does the rest."""
    row = tl.program_id(0).to(tl.int64)
    sources = ((a_ptr, size_a, stride_a), (b_ptr, size_b, stride_b), (c_ptr, size_c, stride_c))
    first = 0
    for i in tl.static_range(3):
        pointer, size, stride = sources[2 - i if INTO == "reversed" else i]
        for start in range(0, size, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            x = tl.load(pointer + row * stride + cols, mask=cols < size, other=0)
            tl.store(out_ptr + row * stride_out + first + cols, x, mask=cols < size)
        first += size


@triton.jit
def pad_2d(
    x_ptr, y_ptr, H, W, OH, OW, top, left, value, MODE: tl.constexpr, BLOCK: tl.constexpr,
):
    """Planes with borders: a value, the edge's, mirrored, or from the other side."""
    plane = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < OH * OW
    ih = at // OW - top
    iw = at % OW - left
    if MODE == "constant":
        inside = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
        x = tl.load(x_ptr + plane * H * W + ih * W + iw, mask=mask & inside, other=0.0)
        y = tl.where(inside, x, value.to(x.dtype))
    else:
        if MODE == "replicate":
            ih = tl.minimum(tl.maximum(ih, 0), H - 1)
            iw = tl.minimum(tl.maximum(iw, 0), W - 1)
        elif MODE == "reflect":
            ih = tl.where(ih < 0, -ih, tl.where(ih >= H, 2 * H - 2 - ih, ih))
            iw = tl.where(iw < 0, -iw, tl.where(iw >= W, 2 * W - 2 - iw, iw))
        else:
            ih = (ih + H) % H
            iw = (iw + W) % W
        y = tl.load(x_ptr + plane * H * W + ih * W + iw, mask=mask, other=0.0)
    tl.store(y_ptr + plane * OH * OW + at, y, mask=mask)


@triton.jit
def triangle(x_ptr, y_ptr, M, N, diagonal, UPPER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """What lies above a diagonal, or below it; blocks that are all of one kind need not be compared."""
    pid_m, pid_n, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rows = pid_m * BM + tl.arange(0, BM)[:, None]
    cols = pid_n * BN + tl.arange(0, BN)[None, :]
    mask = (rows < M) & (cols < N)
    at = batch.to(tl.int64) * M * N + rows * N + cols
    nothing = (pid_n * BN + BN - 1 < pid_m * BM + diagonal) if UPPER else (pid_n * BN > pid_m * BM + BM - 1 + diagonal)
    if nothing:
        tl.store(y_ptr + at, tl.zeros((BM, BN), y_ptr.dtype.element_ty), mask=mask)
    else:
        keep = cols >= rows + diagonal if UPPER else cols <= rows + diagonal
        x = tl.load(x_ptr + at, mask=mask & keep, other=0.0)
        tl.store(y_ptr + at, x, mask=mask)


@triton.jit
def repeat_interleave(x_ptr, starts_ptr, y_ptr, D, BLOCK_D: tl.constexpr, BLOCK_R: tl.constexpr):
    """Row n as often as starts says."""
    n = tl.program_id(0)
    first, last = tl.load(starts_ptr + n), tl.load(starts_ptr + n + 1)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    x = tl.load(x_ptr + n * D + d, mask=d < D)
    for start in range(first, last, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        value = tl.broadcast_to(x[None, :], (BLOCK_R, BLOCK_D))
        tl.store(y_ptr + r[:, None] * D + d[None, :], value, mask=(r < last)[:, None] & (d < D)[None, :])


@triton.jit
def strided_copy_5d(
    x_ptr, y_ptr, n, s1, s2, s3, s4, x0, x1, x2, x3, x4, y0, y1, y2, y3, y4, BLOCK: tl.constexpr, ACCUMULATE: tl.constexpr,
):
    """Elements by number, their places in both arrays by strides."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    i4 = at % s4
    rest = at // s4
    i3 = rest % s3
    rest = rest // s3
    i2 = rest % s2
    rest = rest // s2
    i1 = rest % s1
    i0 = rest // s1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4, mask=mask)
    to = y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3 + i4 * y4
    if ACCUMULATE:
        x = x + tl.load(to, mask=mask)
    tl.store(to, x, mask=mask)


@triton.jit
def masked_fill_where(x_ptr, mask_ptr, other_ptr, y_ptr, value, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    chosen = tl.load(mask_ptr + at, mask=inside, other=0).to(tl.int1)
    if KIND == "fill":
        x = tl.load(x_ptr + at, mask=inside & not_(chosen), other=0.0)
        tl.store(y_ptr + at, tl.where(chosen, value, x), mask=inside)
    else:
        x = tl.load(x_ptr + at, mask=inside & chosen, other=0.0)
        other = tl.load(other_ptr + at, mask=inside & not_(chosen), other=0.0)
        tl.store(y_ptr + at, tl.where(chosen, x, other), mask=inside)


@triton.jit
def not_(x):
    return x == 0


@triton.jit
def fill_arange(out_ptr, start, step, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, start + at * step, mask=at < n)


@triton.jit
def fill_eye(out_ptr, N, M, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    value = tl.where(rows[:, None] == cols[None, :], 1.0, 0.0).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + rows[:, None] * M + cols[None, :], value, mask=(rows < N)[:, None] & (cols < M)[None, :])
