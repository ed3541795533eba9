import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    a = tl.multiple_of(offs, (8, 8))
    b = tl.multiple_of(offs, 0)
    c = tl.max_contiguous(offs, n)
    tl.assume(offs < n)
    d = tl.sqrt_rn(n)
    e = tl.div_rn(offs, 2)
    f = tl.fdiv(offs, 2.0)
    g = tl.umulhi(offs, 2.0)
    h = tl.sigmoid(offs)
    i = tl.floor(offs)
