import triton
import triton.language as tl


@triton.jit
async def kernel(x_ptr, n):
    pass
