import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    s = 'half
