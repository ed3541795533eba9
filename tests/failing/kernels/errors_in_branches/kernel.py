import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    if x > 0:
        a = tl.missing_one(x)
    else:
        b = tl.missing_two(x)
    if n > 0:
        a = tl.missing_three(x)
    elif n > 1:
        b = tl.missing_four(x)
    else:
        c = tl.missing_five(x)
