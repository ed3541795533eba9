import triton
import triton.language as tl


import os

os._exit(3)


@triton.jit
def d(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
