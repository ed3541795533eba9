import triton
import triton.language as tl


@triton.autotune(configs=[{"BLOCK": 64}], key=["n"])
@triton.jit
def a(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=triton.Config({"BLOCK": 64}), key=["n"])
@triton.jit
def b(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config([("BLOCK", 64)])], key=["n"])
@triton.jit
def c(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": (64, 2)})], key=["n"])
@triton.jit
def d(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": tl.float32}), triton.Config({"BLOCK": 64}, num_warps=2.0)], key=["n"])
@triton.jit
def e(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
