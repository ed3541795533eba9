import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    a = tl.load(x_ptr + offs, cache_modifier=".cs")
    b = tl.load(x_ptr + offs, cache_modifier=".cg", eviction_policy="evict_first")
    c = tl.load(x_ptr + offs, eviction_policy="evict_lats")
    d = tl.load(x_ptr + offs, volatile=n)
    tl.store(x_ptr + offs, 1.0, cache_modifier=".ca")
    tl.store(x_ptr + offs, 1.0, cache_modifier=3)
