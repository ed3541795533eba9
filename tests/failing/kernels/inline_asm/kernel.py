import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.load(x_ptr + tl.arange(0, 16))
    y = tl.load(x_ptr + tl.arange(0, 32))
    a = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r", [x], tl.float32, True, 1)
    b = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], (tl.float32, tl.float32), True, 1)
    c = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=q,r", [x], tl.float32, True, 1)
    d = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], tl.float32, True, 3)
    e = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r,r", [x, y], tl.float32, True, 1)
    f = tl.inline_asm_elementwise(x, "=r,r", [x], tl.float32, True, 1)
    g = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x.to(tl.float16)], tl.float16, True, 4)
