import triton
import triton.language as tl


@triton.jit
def loops(x):
    total = x
    for i in range(0, 4):
        total += x
    return total


@triton.jit
def stores(x):
    tl.debug_barrier()
    return x


@triton.jit
def nothing(x):
    pass


@triton.jit
def constant(x):
    return 1


@triton.jit
def mixed(x, y):
    return x, y.to(tl.int32)


@triton.jit
def two(x, y):
    return x


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.sort(n)
    b = tl.sort(x_ptr + offs)
    m = tl.sort(x.to(tl.float8e5))
    c = tl.sort(x, 1)
    d = tl.sort(x, descending=n)
    e = tl.topk(x, 3)
    f = tl.topk(x, 32)
    g = tl.topk(x, n)
    h = tl.topk(x, 0)
    i = tl.topk(x)
    j = tl.bitonic_merge(x, dim=2)
    k = tl.map_elementwise(loops, x)
    o = tl.map_elementwise(stores, x)
    p = tl.map_elementwise(nothing, x)
    q = tl.map_elementwise(constant, x)
    r = tl.map_elementwise(mixed, x, pack=2)
    s = tl.map_elementwise(two, x)
    t = tl.map_elementwise(two, x, pack=3)
    u = tl.map_elementwise(two, x, pack=32)
    v = tl.map_elementwise(x, x)
    w = tl.map_elementwise(two)
    y = tl.map_elementwise(two, x, tl.arange(0, 8))
    z = tl.swizzle2d(x, n, "4", 4, 2)
