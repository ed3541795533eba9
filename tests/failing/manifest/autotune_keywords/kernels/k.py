import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": 64})], keys=["n"])
@triton.jit
def a(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warp=8)], key=["n"])
@triton.jit
def b(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": 64}, sub_groups=8)], key=["n"])
@triton.jit
def c(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(key=["n"])
@triton.jit
def d(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune
@triton.jit
def e(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=["n"])
@triton.autotune(configs=[triton.Config({"BLOCK": 32})], key=["n"])
@triton.jit
def f(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config(num_warps=4)], key=["n"])
@triton.jit
def g(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
