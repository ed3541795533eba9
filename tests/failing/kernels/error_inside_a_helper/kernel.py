import triton
import triton.language as tl


from lib import middle


@triton.jit
def outer(v, k):
    return middle(v, k) + 1


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = outer(x, n)
    tl.store(x_ptr + offs, y)
