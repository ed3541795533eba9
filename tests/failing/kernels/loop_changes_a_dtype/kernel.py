import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    acc = 0
    total = tl.zeros((16,), tl.int32)
    for k in range(n):
        acc = acc + 0.5
        total = total + x
    tl.store(x_ptr + offs, total + acc)
