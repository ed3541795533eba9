import triton
import triton.language as tl


@triton.jit
def concat(ptrs, widths, out_ptr, BLOCK: tl.constexpr):
    pass


@triton.jit
def gemm(a, b, c, epilogue, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pass
