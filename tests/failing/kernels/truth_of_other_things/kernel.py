import triton
import triton.language as tl


@triton.jit
def helper():
    return 1


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    if tl.load:
        x += 1
    if not tl:
        x += 1
    y = x and x_ptr
    z = tl.float32 if helper else 3
