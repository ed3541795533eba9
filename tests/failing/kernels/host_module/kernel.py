import triton
import triton.language as tl


import numpy as np
import torch


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = torch.sum(x)
    z = np.float32(1)
