import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = n(3)
    b = x(1)
    c = tl(1)
    d = 'text'(1)
    e = tl.float32(1, 2)
