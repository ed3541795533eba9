import triton
X = 3
