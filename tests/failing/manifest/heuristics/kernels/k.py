import triton
import triton.language as tl

import torch

@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def a(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.heuristics({"EVEN": lambda args: args["m"] > 0})
@triton.jit
def b(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.heuristics({"EVEN": lambda args: torch.cuda.is_available()})
@triton.jit
def c(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.heuristics({"EVN": lambda args: True})
@triton.jit
def d(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.heuristics({"EVEN": True})
@triton.jit
def e(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.heuristics(value={"EVEN": lambda args: True})
@triton.jit
def f(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.heuristics(make())
@triton.jit
def g(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)


@triton.heuristics({"EVEN": lambda args: (1, args["BLOCK"])})
@triton.jit
def h(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0.0)
