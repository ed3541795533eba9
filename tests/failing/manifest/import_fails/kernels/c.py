import triton
import triton.language as tl


import sys

sys.exit(3)


@triton.jit
def c(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
