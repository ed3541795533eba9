import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, bias_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.load(bias_ptr + offs)
    z = bias_ptr * 2
    w = tl.load(bias_ptr)
