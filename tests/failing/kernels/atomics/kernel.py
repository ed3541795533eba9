import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, h_ptr, b_ptr):
    offs = tl.arange(0, 16)
    a = tl.atomic_add(n, 1)
    b = tl.atomic_add(b_ptr, 1)
    c = tl.atomic_max(h_ptr, 1.0)
    d = tl.atomic_and(x_ptr, 1)
    e = tl.atomic_add(x_ptr, offs)
    f = tl.atomic_add(x_ptr + offs, 1.0, mask=offs)
    g = tl.atomic_add(x_ptr + offs, 1.0, sem="relax")
    h = tl.atomic_add(x_ptr + offs, 1.0, scope="block")
    i = tl.atomic_cas(b_ptr, 0, 1)
    j = tl.atomic_cas(x_ptr, 0, x_ptr)
    k = tl.atomic_add(x_ptr, x_ptr)
    m = tl.atomic_add(x_ptr, 1.0, mask=offs < n)
