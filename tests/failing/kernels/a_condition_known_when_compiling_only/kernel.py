import triton
import triton.language as tl


import torch


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    if n > 3 and BIG:
        y = x
    if torch.cuda.is_available():
        y = x
