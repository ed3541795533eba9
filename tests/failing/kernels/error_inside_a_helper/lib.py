import triton
import triton.language as tl


@triton.jit
def middle(v, k):
    w = v + k
    return inner(w[:, None], v)


@triton.jit
def inner(a, b):
    return tl.dot(a, b)
