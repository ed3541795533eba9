# -*- coding: latin-1 -*-
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    s = 'é'; b = tl.lode(x_ptr)
