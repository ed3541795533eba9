import triton
import triton.language as tl


import os

DEBUG = os.environ.get('DEBUG')
SCALE = 1.0 / torch_scale()


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    if DEBUG:
        y = x + 1
    z = x * SCALE
