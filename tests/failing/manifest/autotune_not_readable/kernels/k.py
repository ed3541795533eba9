import triton
import triton.language as tl
import os

import torch

FAST = os.environ.get("FAST") == "1"
SIZES = [32]
SIZES.append(len(os.environ))
WIDE = torch.cuda.get_device_capability()[0] >= 9


def keep(config):
    return config.kwargs["BLOCK"] < limit()


def limit():
    return torch.cuda.get_device_properties(0).shared_memory


def grow(n):
    return grow(n + 1)


@triton.autotune(configs=[triton.Config({"BLOCK": 64 if FAST else 32})], key=["n"])
@triton.jit
def a(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in SIZES], key=["n"])
@triton.jit
def b(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": 128 if WIDE else 64})], key=["n"])
@triton.jit
def c(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=list(filter(keep, [triton.Config({"BLOCK": 64})])), key=["n"])
@triton.jit
def d(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in {32, 64}], key=["n"])
@triton.jit
def e(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=grow(1), key=["n"])
@triton.jit
def f(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.autotune(configs=[triton.Config({"BLOCK": 64 // 0})], key=["n"])
@triton.jit
def g(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
