import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def both(a, b):
    return a, b


@triton.jit
def wide(a, b):
    return (a + b).to(tl.float64)


@triton.jit
def branches(a, b):
    if a > b:
        return a
    return b


@triton.jit
def loads(a, b):
    tl.debug_barrier()
    return a


@triton.jit
def wrong(a, b):
    return a + c


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.reduce(x, 0, n)
    b = tl.reduce(x, 0, both)
    c = tl.reduce(x, 0, wide)
    d = tl.reduce(x, 0, branches)
    e = tl.reduce(x, 0, loads)
    f = tl.reduce(x, 0, wrong)
    g = tl.reduce((x, offs[:, None]), 0, add)
    h = tl.reduce((x, offs), 0, add)
    i = tl.reduce(x, 1, add)
    j = tl.argmax(x, None)
    k = tl.xor_sum(x)
    m = tl.softmax(offs)
    o = tl.associative_scan(x, 0, both)
    p = tl.cumsum(x, 1)
    q = tl.associative_scan((x, offs[:, None]), 0, add)
