import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    for k in range(oops):
        a = tl.missing_one(x)
        x = x + 1
        b = tl.missing_two(x)
    for k in range(n):
        c = tl.missing_three(x)
        for j in range(k):
            d = tl.missing_four(k, j)
