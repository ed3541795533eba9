import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    a = tl.rand(0.5, offs)
    b = tl.rand(n, x)
    c = tl.philox(n, offs, offs.to(tl.int64), 0, 0)
    d = tl.randint(n, offs, n_rounds=n)
    e = tl.uint_to_uniform_float(offs.to(tl.int16))
    f = tl.random.ran(n, offs)
