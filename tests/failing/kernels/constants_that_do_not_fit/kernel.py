import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, LIMIT: tl.constexpr = 4):
    small = n.to(tl.int8)
    for i in range(n):
        small = 300
    half = n.to(tl.float16)
    if n > 0:
        half = 1e10
    whole = tl.full((4,), 1.5, tl.int32)
    a = n << 32
    b = n // 0
    c = tl.dot(tl.zeros((16, 16), tl.float16), tl.zeros((16, 16), tl.float16), out_dtype=tl.int32)
    d = tl.float8e5(n)
    e = tl.full((4,), 1, dtype=tl.float32, dtype=tl.int32)
    if n > 0:
        LIMIT = 8
    for LIMIT in range(n):
        pass
    tl.static_assert(kernel)
