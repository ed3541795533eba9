import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, SIZES: tl.constexpr, TABLE: tl.constexpr):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = x + SIZES[0]
