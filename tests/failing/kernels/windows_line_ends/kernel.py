import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    a = 1
    b = tl.lode(x_ptr)
