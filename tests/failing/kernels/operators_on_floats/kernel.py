import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = x // 2
    b = x << 1
    c = x & 1
    d = ~x
    e = x ** 2
    f = x @ x
    g = 2 ** n
