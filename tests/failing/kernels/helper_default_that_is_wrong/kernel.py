import triton
import triton.language as tl


import torch


@triton.jit
def scaled(v, factor=torch.pi):
    return v * factor


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = scaled(x)
