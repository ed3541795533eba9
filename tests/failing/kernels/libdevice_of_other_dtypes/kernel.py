import triton
import triton.language as tl


from triton.language.extra import libdevice


@triton.jit
def kernel(x_ptr, y_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.load(y_ptr + offs, mask=offs < n)
    a = libdevice.tanh(x)
    b = libdevice.pow(y, 2.0)
    c = libdevice.pow(y, offs.to(tl.int64))
    d = libdevice.exp(x_ptr)
    e = libdevice.isfinited(x.to(tl.float32))
    f = libdevice.fast_sinf(y)
    g = libdevice.popc(offs.to(tl.uint32))
    h = libdevice.tanh(y, y)
    i = libdevice.hypot(tl.load(y_ptr + tl.arange(0, 8)), y)
    j = tl.sin(x)
    k = tl.erf(offs)
    l = tl.pair_uniform_to_normal(y, "a")
    m = libdevice.tanh("a")
