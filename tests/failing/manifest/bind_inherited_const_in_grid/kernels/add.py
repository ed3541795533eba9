@triton.jit
def add(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr, ROUND: tl.constexpr = True):
    pass


@triton.jit
def add_scaled(a_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    pass
