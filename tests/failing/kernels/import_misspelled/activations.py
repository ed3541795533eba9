import triton
import triton.language as tl


@triton.jit
def silu_(x):
    return x
