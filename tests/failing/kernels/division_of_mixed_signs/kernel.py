import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, u):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = n // u
    b = u % n
    c = offs / u
