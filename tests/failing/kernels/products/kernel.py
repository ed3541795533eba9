import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    m = x[:, None]
    a = tl.dot(x, x)
    b = tl.dot(m, m)
    c = tl.dot(m, x[None, :].to(tl.float16))
    d = tl.dot(m, x[None, :], input_precision='tf33')
    e = tl.dot(m, x[None, :], tl.zeros((16, 8), tl.float32))
    f = tl.dot(offs[:, None], offs[None, :])
