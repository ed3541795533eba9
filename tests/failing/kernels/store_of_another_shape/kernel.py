import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.zeros((4, 16), tl.float32)
    tl.store(x_ptr + offs, y)
    tl.store(x_ptr + tl.arange(0, 8), x)
