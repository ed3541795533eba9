import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    for k in tl.static_range(1_000_000_000):
        pass
    y = tl.lode(x_ptr)
