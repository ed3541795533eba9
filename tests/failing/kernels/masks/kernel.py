import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.load(x_ptr + offs, mask=x)
    b = tl.load(x_ptr, mask=offs < n)
    c = tl.load(x_ptr + offs, other=0.0)
    d = tl.load(x_ptr, mask=n > 1, other=x)
    tl.store(x_ptr + offs, x, mask=offs)
    tl.store(x_ptr + offs, x, mask='all')
