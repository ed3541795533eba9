import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, b8):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = b8 + 300
    b = offs + 10**30
    c = tl.full((16,), -1, tl.uint8)
    d = tl.full((16,), 10**400, tl.float32)
    e = 1 << 100000
    f = 1 / 0
    g = 'a' * 1000000
    h = (-8) ** 0.5
    i = b8 == 128
