import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=3),
        triton.Config({"BLOCK": 64}, num_stages=0),
        triton.Config({"BLOCK": 64}, maxnreg=1024),
    ],
    key=["n"],
)
@triton.jit
def a(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_ctas=2)], key=["n"])
@triton.jit
def b(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
