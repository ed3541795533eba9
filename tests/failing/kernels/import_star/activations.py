import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x


@triton.jit
def _hidden(x):
    return x
