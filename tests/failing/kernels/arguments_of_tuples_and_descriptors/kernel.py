import triton
import triton.language as tl


@triton.jit
def kernel(ptrs, d, n):
    offs = tl.arange(0, 16)
    a = tl.load(ptrs + offs)
    b = tl.load(ptrs[2] + offs)
    c = tl.load(ptrs[n] + offs)
    e, f, g = ptrs
    h = ptrs[1] + 1
    i = d.load([0, 0, 0])
    j = d.load([0])
    d.store([0, 0], tl.zeros([4, 8], tl.float32))
    k = d.base
    m = tl.load(d)
    tl.static_assert(d.block_shape[0] == 8)
    o = d.shape[2]
    ptrs[0] = ptrs[1]
