import triton
import triton.language as tl


import sys

if sys.version_info > (3, 12):
    SIZE = 8
else:
    SIZE = 4


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = x * SIZE
