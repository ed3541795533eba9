import triton
import triton.language as tl


from triton.language.extra import libdevice
from triton.language.extra.cuda import globaltimer


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = libdevice.j0(x)
    z = libdevice.fma_rz(x, x, x)
    t = globaltimer()
