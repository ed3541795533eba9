import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.zeros((16,), tl.float32)
    if n > 3:
        y = tl.sum(x)
    tl.store(x_ptr + offs, y)
