import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.lode(x_ptr + offs)
    tl.stor(x_ptr + offs, y)
