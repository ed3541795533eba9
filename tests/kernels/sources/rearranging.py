"""Kernels that sort, join, split and look up inside a tile."""

import triton
import triton.language as tl


@triton.jit
def rope_by_split(x_ptr, cos_ptr, sin_ptr, y_ptr, T, stride_t, BT: tl.constexpr, D: tl.constexpr):
    """Neighbours turned: read side by side, split, turned, joined again."""
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    base = tl.program_id(1) * D
    d = tl.arange(0, D)
    h = tl.arange(0, D // 2)
    mask = (t < T)[:, None]
    x = tl.load(x_ptr + t[:, None] * stride_t + base + d[None, :], mask=mask, other=0.0).to(tl.float32)
    a, b = tl.split(tl.reshape(x, (BT, D // 2, 2)))
    c = tl.load(cos_ptr + t[:, None] * (D // 2) + h[None, :], mask=mask, other=1.0)
    s = tl.load(sin_ptr + t[:, None] * (D // 2) + h[None, :], mask=mask, other=0.0)
    y = tl.reshape(tl.join(a * c - b * s, b * c + a * s), (BT, D))
    tl.store(y_ptr + t[:, None] * stride_t + base + d[None, :], y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def sparsemax(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr):
    """The nearest point of the simplex: sorted, running sums, a threshold."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=-1e30)
    z = tl.sort(x, descending=True)
    total = tl.cumsum(tl.where(cols < n, z, 0.0), 0)
    k = (cols + 1).to(tl.float32)
    inside = (1.0 + k * z > total) & (cols < n)
    count = tl.sum(inside.to(tl.int32), 0)
    tau = (tl.sum(tl.where(inside, z, 0.0), 0) - 1.0) / count
    tl.store(y_ptr + row * stride + cols, tl.maximum(x - tau, 0.0), mask=cols < n)


@triton.jit
def top_k_values(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=float("-inf"))
    tl.store(out_ptr + row * K + tl.arange(0, K), tl.topk(x, K))


@triton.jit
def unpack_nibbles(packed_ptr, table_ptr, scale_ptr, out_ptr, n_bytes, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Two numbers a byte, each an index of a table of 16, as 4-bit floats are kept."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(packed_ptr + at, mask=at < n_bytes, other=0)
    table = tl.load(table_ptr + tl.arange(0, 16))
    both = tl.interleave((byte >> 4).to(tl.int32), (byte & 0xF).to(tl.int32))
    value = tl.gather(table, both, 0)
    to = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    mask = to < 2 * n_bytes
    scale = tl.load(scale_ptr + to // GROUP, mask=mask, other=0.0)
    tl.store(out_ptr + to, value * scale, mask=mask)


@triton.jit
def reverse_sequences(x_ptr, lengths_ptr, y_ptr, T, stride, BLOCK: tl.constexpr):
    """The first tokens of each row the other way round, padding where it was."""
    row = tl.program_id(0)
    length = tl.load(lengths_ptr + row)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols + length - BLOCK, mask=cols + length >= BLOCK, other=0)
    tl.store(y_ptr + row * stride + cols, tl.flip(x, 0), mask=cols < length)
    rest = tl.load(x_ptr + row * stride + cols, mask=(cols >= length) & (cols < T), other=0)
    tl.store(y_ptr + row * stride + cols, rest, mask=(cols >= length) & (cols < T))


@triton.jit
def histogram_rows(x_ptr, out_ptr, n, stride, BINS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    counts = tl.zeros((BINS,), tl.int32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n
        x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0)
        counts += tl.histogram(x, BINS, mask=mask)
    tl.store(out_ptr + row * BINS + tl.arange(0, BINS), counts)
