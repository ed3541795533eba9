import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, y_ptr):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.where(n > 0, x_ptr, 1)
    b = tl.where(x > 0, offs, x_ptr)
    d = tl.where(n > 0, x_ptr, y_ptr)
    e = tl.where(n > 0, x_ptr + offs, x_ptr)
    f = x_ptr if n > 0 else y_ptr
    g = x_ptr if n > 0 else 0
