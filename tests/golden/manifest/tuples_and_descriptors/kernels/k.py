import triton
import triton.language as tl


@triton.jit
def concat(ptrs, widths, out_ptr, BLOCK: tl.constexpr):
    pass


@triton.jit
def gemm(a, b, c, epilogue, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pass


@triton.heuristics({"HAS_BIAS": lambda args: args["epilogue"][1] is not None, "EVEN": lambda args: args["epilogue"][0][1] % 8 == 0})
@triton.jit
def biased(x_ptr, epilogue, HAS_BIAS: tl.constexpr, EVEN: tl.constexpr):
    pass
