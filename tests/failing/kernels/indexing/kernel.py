import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = x[0]
    b = x[1:3]
    c = x[:, :]
    d = x[:, None, None, :]
    e = n[3]
    f = (1, 2)[5]
    g = (1, 2)[n]
    h = (1, 2)[::0]
    i = 'text'[9]
    j = (1, 2)[n:]
