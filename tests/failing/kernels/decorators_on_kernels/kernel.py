import triton
import triton.language as tl


def wrapped(f):
    return f


@triton.autotune(configs=[], key=["n"])
@triton.jit
@wrapped
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
