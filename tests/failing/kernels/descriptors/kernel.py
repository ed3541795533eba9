import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    d = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [8, 16])
    tl.make_tensor_descriptor(x_ptr, [n, n], [1, n], [8, 16])
    tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [8, 2])
    tl.make_tensor_descriptor(x_ptr, [n, n], [1], [8, 16])
    tl.make_tensor_descriptor(x_ptr, [n] * 6, [1] * 6, [1, 1, 1, 1, 1, 8])
    tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [8, 16], padding_option="Nan")
    tl.make_tensor_descriptor(n, [n, n], [n, 1], [8, 16])
    a = d.load([0])
    b = d.lod([0, 0])
    c = d.load([0, n.to(tl.int64)])
    d.store([0, 0], tl.zeros([16, 16], tl.float32))
    e = d.gather(tl.arange(0, 8), 0)
    f = tl.load_tensor_descriptor(x_ptr, [0, 0])
    one = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [1, 16])
    g = one.gather(tl.arange(0, 4), 0)
    h = one.gather(n, 0)
    i = tl.load(d)
    j = d + 1
