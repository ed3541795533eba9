"""Manifests that several tests build. Each is built once a process."""

VECTOR_ADD = """
[build]
targets = ["sm_90a", "cpu"]

[kernel.vector_add]
source = "elementwise.py"
args = { a_ptr = "*D", b_ptr = "*D", out_ptr = "*D", n_elements = "i32" }
dtypes = { D = ["f32", "f16", "bf16"] }
const = { BLOCK_SIZE = [128, 1024] }
grid = ["cdiv(n_elements, BLOCK_SIZE)"]
assume = { a_ptr = { div = 16 }, n_elements = "auto" }
exclude = [{ D = "bf16", BLOCK_SIZE = 128 }]
outputs = ["out_ptr"]
"""
