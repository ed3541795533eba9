import triton
import triton.language as tl


@triton.jit
def half(v):
    return v >> 1.5


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = half(x)
    z = half(offs)
    w = half(n)
