import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    x[3] = 0.0
    x.value = 1
    x[0] += 1
    a, *b = (1, 2, 3)
