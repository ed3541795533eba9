import triton
import triton.language as tl


@triton.jit
def gen(v):
    yield v


def deep(v):
    import math
    return v


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = gen(x)
    z = deep(x)
