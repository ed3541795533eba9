import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a, b = x
    c, d = (1, 2, 3)
    e, f = tl.load(x_ptr), 1, 2
    g = (*x, 1)
