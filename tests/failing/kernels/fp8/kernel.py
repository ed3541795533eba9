import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n):
    i = tl.arange(0, 16)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    a = x + x
    b = x * 2.0
    c = -x
    d = x > 0
    e = tl.abs(x)
    f = tl.maximum(x, x)
    g = tl.sum(x, 0)
    h = tl.exp(x)
    tl.atomic_add(x_ptr + i, x)
    j = x + y
    k = tl.where(n > 0, x, 0.0)
