@triton.jit
def add(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr, ROUND: tl.constexpr, UNROLL: tl.constexpr = 4):
    pass

EPS, NAME, COUNT, FLAG = 1e-5, "name", 1, True


@triton.jit
def scale(x_ptr, bias, n, ALPHA, BLOCK: tl.constexpr):
    pass


@triton.jit
def nothing():
    pass


@triton.jit
def long(n, C: tl.constexpr, B: tl.constexpr, A: tl.constexpr):
    pass
