import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = x.to(tl.int8, bitcast=True)
    b = x.to('int32')
    c = x_ptr.to(tl.int32)
    d = x.to(x_ptr.dtype)
    e = x.to(tl.float8e5)
    f = x.to(tl.float16, fp_downcast_rounding='rtz')
    g = x.to()
