import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.load(x_ptr + 0) + tl.load(x_ptr + 1) + tl.load(x_ptr + 2) + tl.load(x_ptr + 3) + tl.load(x_ptr + 4) + tl.load(x_ptr + 5) + tl.load(x_ptr + 6) + tl.load(x_ptr + 7) + tl.load(x_ptr + 8) + tl.load(x_ptr + 9) + tl.load(x_ptr + 10) + tl.load(x_ptr + 11) + tl.load(x_ptr + 12) + tl.load(x_ptr + 13) + tl.load(x_ptr + 14) + tl.load(x_ptr + 15) + tl.load(x_ptr + 16) + tl.load(x_ptr + 17) + tl.load(x_ptr + 18) + tl.load(x_ptr + 19) + tl.lode(x_ptr) + tl.load(x_ptr + 0) + tl.load(x_ptr + 1) + tl.load(x_ptr + 2) + tl.load(x_ptr + 3) + tl.load(x_ptr + 4) + tl.load(x_ptr + 5) + tl.load(x_ptr + 6) + tl.load(x_ptr + 7) + tl.load(x_ptr + 8) + tl.load(x_ptr + 9) + tl.load(x_ptr + 10) + tl.load(x_ptr + 11) + tl.load(x_ptr + 12) + tl.load(x_ptr + 13) + tl.load(x_ptr + 14) + tl.load(x_ptr + 15) + tl.load(x_ptr + 16) + tl.load(x_ptr + 17) + tl.load(x_ptr + 18) + tl.load(x_ptr + 19)
