import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, v):
    tl.store(x_ptr, v)
