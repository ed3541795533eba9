import triton
import triton.language as tl


from activations import *
from nowhere import *


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = silu(x)
    z = _hidden(x)
    w = sillu(x)
