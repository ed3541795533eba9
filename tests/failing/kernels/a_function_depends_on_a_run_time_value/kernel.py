import triton
import triton.language as tl


@triton.jit
def one(x):
    return x


@triton.jit
def two(x):
    return -x


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    f = one if n > 3 else two
    tl.store(x_ptr + offs, f(x))
