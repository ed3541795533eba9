import triton
import triton.language as tl


@triton.jit
def kernel(values, d):
    pass
