import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.sum(x, axis=1)
    b = tl.sum(3)
    c = tl.max(x, axis=n)
    d = tl.sum(x_ptr + offs)
    e = x.sum(axis=0, keep_dims=n)
