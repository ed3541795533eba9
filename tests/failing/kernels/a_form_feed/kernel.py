import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    a = 1

    s = ' '
    b = tl.lode(x_ptr)
