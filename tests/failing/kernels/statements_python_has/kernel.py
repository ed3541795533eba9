import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    try:
        y = x
    except ValueError:
        y = 0
    with tl.something:
        y = x
    raise ValueError('no')
    del y
    global counter
    import math
    from math import pi
    assert n > 3
    match n:
        case 1:
            y = x
