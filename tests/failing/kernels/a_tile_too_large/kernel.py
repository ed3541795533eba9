import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.zeros((2048, 2048), tl.float32)
    b = tl.arange(0, 1 << 30)
