import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.arange(0, 100)
    b = tl.zeros((3, 4), tl.float32)
    c = tl.full((0,), 1.0, tl.float32)
    d = tl.arange(0, 0)
    e = tl.arange(4, 2)
