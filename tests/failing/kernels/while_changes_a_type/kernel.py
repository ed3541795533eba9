import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    total = 0
    k = n
    while k > 0:
        total += tl.load(x_ptr + k)
        k = k.to(tl.int64) // 2
        last = k
    tl.store(x_ptr, total + last)
