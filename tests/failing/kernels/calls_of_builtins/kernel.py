import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.load()
    b = tl.load(x_ptr, msk=True)
    c = tl.arange(0)
    d = tl.where(x > 0, x)
    e = x.sum(0, 1, 2, 3, 4)
    f = tl.program_id(axis=3)
    g = tl.program_id(0.5)
