import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
	é = 'ü'; 名前 = '文字'; x = tl.lode(x_ptr)
	if n > 0:
		y = 'é'; tl.stor(x_ptr, 1.0)
