import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.load(n)
    b = tl.load(offs)
    c = tl.load(5)
    tl.store(offs, x)
    tl.store(x_ptr + offs, x_ptr)
    tl.store(x_ptr, x)
