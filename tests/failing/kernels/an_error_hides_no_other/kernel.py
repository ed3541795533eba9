import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.lode(x_ptr)
    z = y + 1
    w = z * 2
    if y > 1:
        w = tl.missing_one(w)
    for k in range(y):
        w = tl.missing_two(w)
    tl.store(y, w)
    q = tl.missing_three(x)
