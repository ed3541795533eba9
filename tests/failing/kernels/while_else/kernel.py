import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    k = n
    while k > 0:
        k = k // 2
    else:
        k = 1
    tl.store(x_ptr, k)
