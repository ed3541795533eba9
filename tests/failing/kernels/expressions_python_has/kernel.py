import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = lambda v: v
    b = [k for k in range(3)]
    c = {k: 1 for k in range(3)}
    d = {1, 2}
    e = {"a": 1}
    f = (k for k in range(3))
    g = (h := 3)
    i = 3j
    j = b"bytes"
    k = ...
