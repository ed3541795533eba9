import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, stride, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = x
