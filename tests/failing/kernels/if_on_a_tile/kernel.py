import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    if x > 0:
        x = -x
    y = 1 if x > 0 else 2
    z = x if x_ptr else x
