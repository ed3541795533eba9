"""Small kernels that the loader's tests build and run."""

import triton
import triton.language as tl


@triton.jit
def vector_add(a_ptr, b_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    a = tl.load(a_ptr + offs, mask=mask)
    b = tl.load(b_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, a + b, mask=mask)


@triton.jit
def affine(x_ptr, bias_ptr, out_ptr, n, scale, negate, BLOCK: tl.constexpr):
    """``x * scale + bias``, negated where asked; without a bias where there is none."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    y = tl.load(x_ptr + offs, mask=mask) * scale
    if bias_ptr is not None:
        y += tl.load(bias_ptr + offs, mask=mask)
    if negate:
        y = -y
    tl.store(out_ptr + offs, y, mask=mask)


@triton.jit
def transpose_copy(x_ptr, out_ptr, rows, columns, stride_row, stride_column, BM: tl.constexpr, BN: tl.constexpr):
    """A dense copy of a matrix with any strides, a tile a program."""
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    x = tl.load(x_ptr + i[:, None] * stride_row + j[None, :] * stride_column, mask=mask)
    tl.store(out_ptr + i[:, None] * columns + j[None, :], x, mask=mask)


@triton.jit
def scalars(out_ptr, flag, a, b, c, d, e, f, g, h, p, q, r, s):
    """Every number as it arrived, one after the other."""
    tl.store(out_ptr + 0, flag.to(tl.float64))
    tl.store(out_ptr + 1, a.to(tl.float64))
    tl.store(out_ptr + 2, b.to(tl.float64))
    tl.store(out_ptr + 3, c.to(tl.float64))
    tl.store(out_ptr + 4, d.to(tl.float64))
    tl.store(out_ptr + 5, e.to(tl.float64))
    tl.store(out_ptr + 6, f.to(tl.float64))
    tl.store(out_ptr + 7, g.to(tl.float64))
    tl.store(out_ptr + 8, h.to(tl.float64))
    tl.store(out_ptr + 9, p.to(tl.float64))
    tl.store(out_ptr + 10, q.to(tl.float64))
    tl.store(out_ptr + 11, r.to(tl.float64))
    tl.store(out_ptr + 12, s.to(tl.float64))


@triton.jit
def where_am_i(out_ptr):
    """Each program's place: which it is, of how many."""
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    at = out_ptr + 6 * ((z * ny + y) * nx + x)
    tl.store(at + 0, x)
    tl.store(at + 1, y)
    tl.store(at + 2, z)
    tl.store(at + 3, nx)
    tl.store(at + 4, ny)
    tl.store(at + 5, nz)


@triton.jit
def uneven(out_ptr, most):
    """Programs that take very different times: number n adds up 0 to n, many times over."""
    pid = tl.program_id(0)
    total = 0
    for i in range(0, (pid * most) % 1009):
        total += (i * pid) % 7
    tl.store(out_ptr + pid, total)


@triton.jit
def count_rows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """The sum of each row of n columns."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


@triton.jit
def nothing():
    """A kernel without arguments."""
    tl.program_id(0)


@triton.jit
def awkward(grid, stream, target, self, out_ptr, auto: tl.constexpr, cdiv: tl.constexpr):
    """Names that the loader has a use for itself."""
    tl.store(out_ptr + tl.program_id(0), grid + 10 * stream + 100 * target + 1000 * self + auto + cdiv)


@triton.jit
def shifted(x_ptr, out_ptr, n, BY: tl.constexpr, TWICE: tl.constexpr, MODE: tl.constexpr, BLOCK: tl.constexpr):
    """``x + BY``, twice where asked; negated in mode ``"down"``. Constants of every kind."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    y = tl.load(x_ptr + offs, mask=mask) + BY
    if TWICE:
        y += BY
    if MODE == "down":
        y = -y
    tl.store(out_ptr + offs, y, mask=mask)
