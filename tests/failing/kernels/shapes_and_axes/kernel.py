import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 64)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = x.reshape(8, 8)
    a = tl.reshape(x, (4, 8))
    b = tl.reshape(x, (4, 12))
    c = tl.reshape(n, (1,))
    d = tl.trans(x)
    e = tl.trans(y, 0, 0)
    f = tl.permute(y, (0, 1, 2))
    g = tl.permute(y, (1,))
    h = tl.expand_dims(y, (0, 0))
    i = tl.expand_dims(y, 4)
    j = y.T.t
