import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = x_ptr + x_ptr
    b = x_ptr * 2
    c = n - x_ptr
    d = x_ptr + 1.5
    e = x_ptr + x
    f = -x_ptr
    g = x_ptr < x_ptr
    h = ~x_ptr
