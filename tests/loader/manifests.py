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

#: One kernel of each kind: absent arguments and number types, strides and configs, every scalar, no grid, names that collide,
#: one target only.
ZOO = """
[build]
targets = ["sm_90a", "cpu"]

[kernel.affine]
source = "elementwise.py"
args = { x_ptr = "*D", bias_ptr = "B", out_ptr = "*D", n = "N", scale = "D", negate = "i1" }
dtypes = { D = ["f32", "f16", "bf16", "f64"], B = ["*f32", "none"], N = ["i32", "i64"] }
const = { BLOCK = 64 }
grid = ["cdiv(n, BLOCK)"]
outputs = ["out_ptr"]

[kernel.transpose_copy]
source = "elementwise.py"
args = { x_ptr = "*i32", out_ptr = "*i32", rows = "i32", columns = "i32", stride_row = "i32", stride_column = "i32" }
configs = [{ BM = 16, BN = 32, num_warps = 4 }, { BM = 32, BN = 16, num_warps = 8 }]
grid = ["cdiv(rows, BM)", "cdiv(columns, BN)"]
outputs = ["out_ptr"]

[kernel.scalars]
source = "elementwise.py"
args = { out_ptr = "*f64", flag = "i1", a = "i8", b = "u8", c = "i16", d = "u16", e = "i32", f = "u32", g = "i64", h = "u64", p = "f16", q = "bf16", r = "f32", s = "f64" }
grid = [1]
outputs = ["out_ptr"]

[kernel.where_am_i]
source = "elementwise.py"
args = { out_ptr = "*i32" }
outputs = ["out_ptr"]

[kernel.uneven]
source = "elementwise.py"
args = { out_ptr = "*i32", most = "i32" }
outputs = ["out_ptr"]

[kernel.nothing]
source = "elementwise.py"
grid = [3]

[kernel.awkward]
source = "elementwise.py"
args = { grid = "i32", stream = "i32", target = "i32", self = "i32", out_ptr = "*i32" }
const = { auto = [1, 2], cdiv = 3 }
grid = ["cdiv(grid, cdiv)"]
outputs = ["out_ptr"]

[kernel.only_gpu]
source = "elementwise.py"
function = "where_am_i"
args = { out_ptr = "*i32" }
grid = [1]
outputs = ["out_ptr"]
targets = ["sm_90a", "sm_80"]

[kernel.only_host]
source = "elementwise.py"
function = "where_am_i"
args = { out_ptr = "*i32" }
grid = [1]
outputs = ["out_ptr"]
targets = ["cpu:sm_90a"]

[kernel.count_rows]
source = "elementwise.py"
args = { x_ptr = "*f32", out_ptr = "*f32", n = "i32" }
const = { BLOCK = [32768] }
assume = { n = { eq = 1 } }
outputs = ["out_ptr"]
targets = ["cpu"]

[kernel.large_rows]
source = "elementwise.py"
function = "count_rows"
args = { x_ptr = "*f32", out_ptr = "*f32", n = "i32" }
const = { BLOCK = [32768] }
assume = { n = { div = 4 } }
outputs = ["out_ptr"]
targets = ["cpu"]
"""

#: Arguments that are tuples of several lengths, tuples in tuples, and tensor descriptors.
NESTED = """
[build]
targets = ["sm_90a", "cpu"]

[kernel.concat]
source = "nested.py"
args = { ptrs = "P", widths = "W", shape = "(i32, i32)", out_ptr = "*i32" }
dtypes = { P = ["(*i32, *i32)", "(*i32, *i32, *i32)"], W = ["(i32, i32)", "(i32, i32, i32)"] }
const = { BLOCK = 64 }
exclude = [{ P = "(*i32, *i32)", W = "(i32, i32, i32)" }, { P = "(*i32, *i32, *i32)", W = "(i32, i32)" }]
grid = ["shape[0]", "cdiv(shape[1], BLOCK)"]
outputs = ["out_ptr"]

[kernel.affine_of]
source = "nested.py"
args = { work = "((*D, *D), B, D)", n = "i32" }
dtypes = { D = ["f32", "f16"], B = ["*f32", "none"] }
const = { BLOCK = 128 }
grid = ["cdiv(n, BLOCK)"]
assume = { "work[0]" = "auto" }
outputs = ["work[0][1]"]

[kernel.shift]
source = "nested.py"
args = { source = "desc<D[BM, BN]>", target = "desc<D[BM, BN]>", by = "i32" }
dtypes = { D = ["f32", "f16"] }
configs = [{ BM = 16, BN = 32 }, { BM = 8, BN = 16 }]
grid = ["cdiv(target.shape[0], BM)", "cdiv(target.shape[1], BN)"]
assume = { "source.shape[1]" = "auto" }
outputs = ["target"]
"""

NEIGHBOURS = """
[build]
targets = ["sm_90a", "cpu"]

[kernel.neighbours]
source = "neighbours.py"
args = { x_ptr = "*f32", out_ptr = "*f32", arrived_ptr = "*i32", sum_ptr = "*f32" }
const = { BLOCK = 256 }
options = { launch_cooperative_grid = true }
outputs = ["out_ptr", "sum_ptr"]
mutates = ["arrived_ptr"]
"""
