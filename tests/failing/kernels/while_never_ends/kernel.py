import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    while True:
        x += undefined
        if tl.max(x) > 0:
            break
    tl.store(x_ptr + offs, x)
