import triton
import triton.language as tl


@triton.jit
def scaled(v, factor, *, shift=0, kind: tl.constexpr = 'a'):
    return v * factor + shift


@triton.jit
def any_number(*values):
    return values


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = scaled(x)
    b = scaled(x, 1, 2)
    c = scaled(x, 2, shft=1)
    d = scaled(x, 2, v=x)
    e = scaled(x, 2, kind=n)
    f = any_number(x)
    g = scaled(*x)
    h = scaled(x, **{'factor': 2})
