import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    grid = x[:, None] + x[None, :]
    a = tl.join(x, offs)
    b = tl.join(x, grid[:, :, None] + tl.arange(0, 2))
    c = tl.join(x, "x")
    d = tl.split(x)
    e = tl.split(n)
    f = x.split(1)
    g = tl.interleave(x, n)
    h = tl.cat(x, tl.arange(0, 8).to(tl.float32))
    i = tl.cat(grid, grid, can_reorder=True)
    j = tl.cat(x, offs, can_reorder=True)
    k = tl.cat(x, x, can_reorder=n)
    o = tl.flip(x, 1)
    p = tl.flip(n)
    q = tl.flip(x, n)
    r = tl.gather(x, x, 0)
    s = tl.gather(x, offs, 1)
    t = tl.gather(grid, offs, 0)
    u = tl.gather(grid, offs[:, None], 0)
    v = tl.gather(x, 3, 0)
    w = tl.gather(x, offs)
    y = tl.histogram(x, 16)
    z = tl.histogram(offs[:, None], 16)
    aa = tl.histogram(offs, 12)
    bb = tl.histogram(offs, n)
    cc = tl.histogram(offs, 16, mask=offs)
    dd = tl.histogram(offs, 16, mask=grid > 0)
    ee = tl.histogram(offs, 0)
    ff = tl.histogram(offs, 1 << 21)
