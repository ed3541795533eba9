import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = 0 < n < 10
    b = n is 3
    c = x == None
    d = x in (1, 2)
    e = (x, 1) == (x, 1)
    f = x > 'text'
    g = 'a' < 1
