import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    offs = tl.arange(0, 16)
    x = tl.load(x_ptr + offs, mask=offs < n)
    y = tl.where(
        x > 0,
        (x +
         tl.zeros((8,),
                  tl.float32)),
        0.0,
    )
    z = tl.lode(
        x_ptr,
    )
