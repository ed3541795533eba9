import triton
import triton.language as tl


@triton.jit
def helper(v, k):
    w = v << k
    return w + undefined_too


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.lode(x_ptr + offs)
    b = a + 1
    c = undefined + b
    for k in range(n):
        d = x + tl.arange(0, 8)
        e = d * 2
        if k > 3:
            f = x ** 2
        else:
            f = tl.exp(offs)
    g = helper(x, 1)
    h = g + 1
    while n > 0:
        pass
    tl.store(x_ptr + offs, x, mask=x)
