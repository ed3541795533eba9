import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    wide = n.to(tl.int64)
    p = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    q = tl.make_block_ptr(x_ptr + offs, (n,), (1,), (0,), (16,), (0,))
    r = tl.make_block_ptr(x_ptr, (n,), (n, 1), (0, 0), (16, 16), (1, 0))
    s = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (wide, 0), (16, 16), (1, 0))
    t = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0.5), (16, 16), (1, 0))
    u = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (16, 24), (1, 0))
    v = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (16, 16), (0, 0))
    a = tl.load(p, mask=offs < n)
    b = tl.load(p, boundary_check=(0, 2))
    c = tl.load(p, boundary_check=(0,), padding_option="zeros")
    d = tl.load(x_ptr + offs, boundary_check=(0,))
    tl.store(p, 1.0, mask=offs < n)
    w = tl.advance(p, 16)
    o = tl.advance(x_ptr, (16,))
    e = p + 1
    for i in range(n):
        p = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
