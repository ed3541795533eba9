"""Pieces that several kernel files of a project share."""

from importlib.metadata import version

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)
SQRT_2_OVER_PI = tl.constexpr(0.7978845608028654)
MAX_FUSED_SIZE = 65536


def compare_version(package, compare, target):
    """Whether the version of a package that is installed compares so."""
    return compare([int(n) for n in version(package).split(".")[:2]], [int(n) for n in target.split(".")[:2]])


def is_npu_available():
    return hasattr(torch, "npu") and torch.npu.is_available()


def calculate_settings(n):
    """Block size and warps for rows of n elements."""
    block = triton.next_power_of_2(n)
    if block > MAX_FUSED_SIZE:
        raise RuntimeError(f"rows of {n} elements do not fit {MAX_FUSED_SIZE}")
    return block, 4 if block < 2048 else 8 if block < 8192 else 16


def contiguous(fn):
    """Calls fn with its tensors made contiguous."""

    def inner(*args, **kwargs):
        return fn(*[a.contiguous() if isinstance(a, torch.Tensor) else a for a in args], **kwargs)

    return inner


@triton.jit
def sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def silu(x):
    return x * sigmoid(x)


@triton.jit
def tanh(x):
    # By exp of a number that is not positive: nothing overflows.
    e = tl.exp(-2.0 * tl.abs(x))
    t = (1.0 - e) / (1.0 + e)
    return tl.where(x < 0, -t, t)


@triton.jit
def softplus(x):
    return tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))


@triton.jit
def gelu_tanh(x):
    return 0.5 * x * (1.0 + tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))


@triton.jit
def gelu_tanh_grad(x):
    inner = SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)
    t = tanh(inner)
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * SQRT_2_OVER_PI * (1.0 + 3 * 0.044715 * x * x)


@triton.jit
def apply_activation(x, ACTIVATION: tl.constexpr):
    """x through the function of that name; None for none."""
    if ACTIVATION == "relu":
        x = tl.maximum(x, 0.0)
    elif ACTIVATION == "leaky_relu":
        x = tl.where(x >= 0, x, 0.01 * x)
    elif ACTIVATION == "gelu":
        x = gelu_tanh(x)
    elif ACTIVATION == "silu" or ACTIVATION == "swish":
        x = silu(x)
    elif ACTIVATION == "sigmoid":
        x = sigmoid(x)
    elif ACTIVATION == "squared_relu":
        x = tl.maximum(x, 0.0)
        x = x * x
    else:
        tl.static_assert(ACTIVATION is None, "no such activation")
    return x


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def welford(mean_a, m2_a, weight_a, mean_b, m2_b, weight_b):
    """Mean, sum of squared differences and count of two sets together."""
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * weight_a * share, weight


@triton.jit
def online_softmax(m_a, s_a, m_b, s_b):
    """Maximum and sum of exponentials of two sets together."""
    m = tl.maximum(m_a, m_b)
    # Where both saw only -inf, there is nothing to scale.
    safe = tl.where(m == float("-inf"), 0.0, m)
    return m, s_a * tl.exp(m_a - safe) + s_b * tl.exp(m_b - safe)


@triton.jit
def grouped_tile(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Which tile a program has, when programs go down GROUP_M rows of tiles before they go right."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * tiles_n
    group = pid // width
    size = min(tiles_m - group * GROUP_M, GROUP_M)
    inside = pid % width
    return group * GROUP_M + inside % size, inside // size
