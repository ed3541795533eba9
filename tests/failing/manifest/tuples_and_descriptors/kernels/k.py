import triton
import triton.language as tl


@triton.jit
def k(ptrs, a, n, BM: tl.constexpr, BN: tl.constexpr):
    pass


@triton.jit
def l(ptrs, a_desc, n):
    pass
