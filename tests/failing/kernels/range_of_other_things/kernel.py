import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    for a in range(1.5):
        pass
    for b in range(0, n, 0):
        pass
    for c in range(x):
        pass
    for d in x:
        pass
    for e in 5:
        pass
    for f in range():
        pass
    for g in range(x_ptr):
        pass
    for h in tl.range(1, 2, 3, 4, 5, 6, 7, 8, 9, 10):
        pass
    for i in range(0, 10**30):
        pass
