import triton
import triton.language as tl


@triton.jit
def fact(k):
    return fact(k - 1) * k


@triton.jit
def even(k):
    return odd(k - 1)


@triton.jit
def odd(k):
    return even(k - 1)


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = fact(n)
    z = even(n)
