import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.arange(0, 32)
    z = x + y
    w = tl.where(x > 0, y, 0)
    v = x[:, None] + y[:, None]
