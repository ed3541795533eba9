import triton
import triton.language as tl


@triton.jit
def a(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@wrapped
@triton.jit
def b(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


tuned = 3


@triton.heuristics({"BLOCK": lambda args: 64})
@triton.jit
def c(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
