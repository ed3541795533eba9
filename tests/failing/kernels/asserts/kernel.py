import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.static_assert(BLOCK % 32 == 0, f'BLOCK is {BLOCK}')
    assert BLOCK > 16
    assert BLOCK > 16, 'too small'
    assert n > 0
    tl.static_assert(n > 0)
