import triton
import triton.language as tl


from triton.language.extra import libdevice


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = libdevice.frobnicate(x)
    z = libdevice.tanhf(x)
    a = tl.math.tanh(x)
    b = tl.math.frobnicate(x)
    c = x.tanh()
