import functools

import triton
import triton.language as tl


def twice(f):
    return lambda x: f(f(x))


@triton.jit
@twice
def increment(x):
    return x + 1


@functools.cache
def plain(x):
    return x


again = triton.jit(plain)
four = triton.jit(4)


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = increment(x)
    z = plain(x)
    w = again(x)
    v = x + four
