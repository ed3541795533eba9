"""Pooling along one axis and two, forward and backward, and resizing."""

import triton
import triton.language as tl


@triton.jit
def max_pool2d_forward(
    x_ptr, y_ptr, places_ptr, H, W, OH, OW, KH: tl.constexpr, KW: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr,
    PH: tl.constexpr, PW: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr,
):
    """The largest of each window and where it is in the plane."""
    plane = tl.program_id(2).to(tl.int64)
    oh = tl.program_id(0) * BLOCK_H + tl.arange(0, BLOCK_H)
    ow = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    best = tl.full((BLOCK_H, BLOCK_W), float("-inf"), dtype=tl.float32)
    place = tl.full((BLOCK_H, BLOCK_W), -1, dtype=tl.int64)
    for i in tl.static_range(0, KH):
        for j in tl.static_range(0, KW):
            ih = oh * SH - PH + i * DH
            iw = ow * SW - PW + j * DW
            inside = ((ih >= 0) & (ih < H))[:, None] & ((iw >= 0) & (iw < W))[None, :]
            at = ih[:, None] * W + iw[None, :]
            x = tl.load(x_ptr + plane * H * W + at, mask=inside, other=float("-inf")).to(tl.float32)
            better = x > best
            best = tl.where(better, x, best)
            place = tl.where(better, at.to(tl.int64), place)
    mask = (oh < OH)[:, None] & (ow < OW)[None, :]
    to = plane * OH * OW + oh[:, None] * OW + ow[None, :]
    tl.store(y_ptr + to, best.to(y_ptr.dtype.element_ty), mask=mask)
    tl.store(places_ptr + to, place, mask=mask)


@triton.jit
def max_pool2d_backward(dy_ptr, places_ptr, dx_ptr, in_size, out_size, BLOCK: tl.constexpr):
    """Windows overlap: gradients meet in atomics."""
    plane = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < out_size
    place = tl.load(places_ptr + plane * out_size + at, mask=mask, other=-1)
    dy = tl.load(dy_ptr + plane * out_size + at, mask=mask, other=0.0)
    tl.atomic_add(dx_ptr + plane * in_size + place, dy, mask=mask & (place >= 0), sem="relaxed")


@triton.jit
def avg_pool2d_forward(
    x_ptr, y_ptr, H, W, OH, OW, KH: tl.constexpr, KW: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr, PH: tl.constexpr,
    PW: tl.constexpr, COUNT_PADDING: tl.constexpr, DIVISOR: tl.constexpr, BLOCK: tl.constexpr,
):
    plane = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    oh, ow = at // OW, at % OW
    total = tl.zeros((BLOCK,), tl.float32)
    count = tl.zeros((BLOCK,), tl.int32)
    for i in range(KH):
        for j in range(KW):
            ih, iw = oh * SH - PH + i, ow * SW - PW + j
            inside = (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
            x = tl.load(x_ptr + plane * H * W + ih * W + iw, mask=inside & (at < OH * OW), other=0.0)
            total += x.to(tl.float32)
            count += inside.to(tl.int32)
    if DIVISOR is not None:
        y = total / DIVISOR
    elif COUNT_PADDING:
        y = total / (KH * KW)
    else:
        y = total / count.to(tl.float32)
    tl.store(y_ptr + plane * OH * OW + at, y, mask=at < OH * OW)


@triton.jit
def adaptive_avg_pool1d(x_ptr, y_ptr, L, OL, BLOCK_O: tl.constexpr, BLOCK_L: tl.constexpr):
    """Windows whose sizes differ: from floor(o L / O) to ceil((o + 1) L / O)."""
    row = tl.program_id(0)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    first = (o * L) // OL
    last = ((o + 1) * L + OL - 1) // OL
    longest = tl.max(last - first)
    total = tl.zeros((BLOCK_O,), tl.float32)
    for start in range(0, longest, BLOCK_L):
        at = first[:, None] + start + tl.arange(0, BLOCK_L)[None, :]
        mask = (at < last[:, None]) & (o < OL)[:, None]
        total += tl.sum(tl.load(x_ptr + row * L + at, mask=mask, other=0.0).to(tl.float32), axis=1)
    tl.store(y_ptr + row * OL + o, total / (last - first), mask=o < OL)


@triton.jit
def sequence_pool(x_ptr, lengths_ptr, y_ptr, T, D, stride_b, MODE: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    """Mean, maximum or last of the tokens that a sequence has."""
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    n = tl.load(lengths_ptr + b)
    base = x_ptr + b.to(tl.int64) * stride_b
    if MODE == "last":
        y = tl.load(base + (n - 1) * D + d, mask=d < D, other=0.0).to(tl.float32)
    else:
        lowest = float("-inf") if MODE == "max" else 0.0
        acc = tl.full((BLOCK_D,), lowest, tl.float32)
        for start in range(0, n, BLOCK_T):
            t = start + tl.arange(0, BLOCK_T)
            x = tl.load(base + t[:, None] * D + d[None, :], mask=(t[:, None] < n) & (d[None, :] < D), other=lowest).to(tl.float32)
            acc = tl.maximum(acc, tl.max(x, 0)) if MODE == "max" else acc + tl.sum(x, 0)
        y = acc / n if MODE == "mean" else acc
    tl.store(y_ptr + b * D + d, y, mask=d < D)


@triton.jit
def upsample_bilinear(x_ptr, y_ptr, H, W, OH, OW, scale_h, scale_w, BLOCK: tl.constexpr):
    """Corners not aligned: places between pixels' middles."""
    plane = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < OH * OW
    fh = tl.maximum(((at // OW).to(tl.float32) + 0.5) * scale_h - 0.5, 0.0)
    fw = tl.maximum(((at % OW).to(tl.float32) + 0.5) * scale_w - 0.5, 0.0)
    h0 = tl.minimum(tl.floor(fh).to(tl.int32), H - 1)
    w0 = tl.minimum(tl.floor(fw).to(tl.int32), W - 1)
    h1, w1 = tl.minimum(h0 + 1, H - 1), tl.minimum(w0 + 1, W - 1)
    ah, aw = fh - h0, fw - w0
    base = x_ptr + plane * H * W
    top = (1.0 - aw) * tl.load(base + h0 * W + w0, mask, 0.0) + aw * tl.load(base + h0 * W + w1, mask, 0.0)
    bottom = (1.0 - aw) * tl.load(base + h1 * W + w0, mask, 0.0) + aw * tl.load(base + h1 * W + w1, mask, 0.0)
    tl.store(y_ptr + plane * OH * OW + at, (1.0 - ah) * top + ah * bottom, mask=mask)
