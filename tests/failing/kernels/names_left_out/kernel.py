import triton
import triton.language as tl


from triton.language.extra.cuda import gdc_wait, globaltimer, smit


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = x.to(tl.float8e4b15)
    gdc_wait()
    t = globaltimer()
    s = smit()
