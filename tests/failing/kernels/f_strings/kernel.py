import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = f'{x}'
    b = f'{1.5:.2q}'
    c = f'{tl.load}'
