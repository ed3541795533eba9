import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, h):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.exp(h)
    b = tl.sqrt(offs)
    c = tl.log(x_ptr)
    d = tl.fma(offs, offs, offs)
    e = tl.clamp(offs, 0, 3)
    f = tl.maximum(x_ptr, 0)
    g = tl.abs(x_ptr)
    i = tl.maximum(x, 0.0, propagate_nan='yes')
