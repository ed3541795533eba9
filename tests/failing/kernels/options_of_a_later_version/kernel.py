import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.load(x_ptr + offs, boundary_check=(0,), padding_option='zero')
    z = tl.max(x, axis=0, return_indices=True)
