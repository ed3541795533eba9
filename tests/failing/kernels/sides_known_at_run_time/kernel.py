import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.arange(0, n)
    b = tl.zeros((n,), tl.float32)
    c = tl.zeros((4.0,), tl.float32)
    d = tl.zeros((16,), 'float32')
    e = tl.zeros((16,), tl.float8e5)
