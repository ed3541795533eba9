"""Products of tiles: shapes from 1×1 up, every float dtype, accumulators, exact numbers and rounding ones."""

from __future__ import annotations

import numpy as np
import pytest

from teenybuild.diagnostics import UserError
from tests.support.run import Array, assert_same_bits, build, numpy_dtype, run

from . import oracle

DOT = """
@triton.jit
def kernel(a, b, c, o, ACC: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    at = m[:, None] * N + n[None, :]
    if ACC:
        z = tl.dot(x, y, tl.load(c + at), {options})
    else:
        z = tl.dot(x, y, {options})
    tl.store(o + at, z)
"""


def whole(name: str, shape: tuple[int, ...], seed: int) -> Array:
    """Small whole numbers: products and their sums are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(numpy_dtype(name))


def dot(
    a: Array,
    b: Array,
    c: Array | None,
    out: str,
    *,
    options: str = "input_precision='ieee'",
    num_warps: int = 4,
) -> Array:
    (m, k), n = a.shape, b.shape[1]
    acc = c if c is not None else np.zeros(1, numpy_dtype(out))
    found = run(
        DOT.replace("{options}", options),
        {"a": a, "b": b, "c": acc, "o": np.zeros((m, n), numpy_dtype(out))},
        {"ACC": c is not None, "M": m, "N": n, "K": k},
        num_warps=num_warps,
    )
    return found["o"]


SHAPES = [
    (1, 1, 1), (1, 1, 8), (1, 8, 1), (8, 1, 1), (2, 2, 2), (4, 8, 2), (1, 64, 16), (64, 1, 16),
    (16, 16, 16), (16, 32, 64), (64, 16, 4), (32, 32, 1), (128, 64, 32),
]  # fmt: skip


@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_shapes(shape: tuple[int, int, int], num_warps: int) -> None:
    m, n, k = shape
    a, b, c = whole("f32", (m, k), 1), whole("f32", (k, n), 2), whole("f32", (m, n), 3)
    assert_same_bits(dot(a, b, None, "f32", num_warps=num_warps), a @ b, "a @ b")
    assert_same_bits(dot(a, b, c, "f32", num_warps=num_warps), a @ b + c, "a @ b + c")


@pytest.mark.parametrize("name", oracle.FLOATS)
@pytest.mark.parametrize("shape", [(16, 16, 16), (4, 32, 8)], ids=lambda s: "x".join(map(str, s)))
def test_dtypes(name: str, shape: tuple[int, int, int]) -> None:
    """f64 sums in f64, everything else in f32 unless it is told otherwise."""
    m, n, k = shape
    out = "f64" if name == "f64" else "f32"
    a, b = whole(name, (m, k), 1), whole(name, (k, n), 2)
    c = whole(out, (m, n), 3)
    wanted = (a.astype(np.float64) @ b.astype(np.float64) + c).astype(numpy_dtype(out))
    assert_same_bits(dot(a, b, c, out), wanted, name)
    assert_same_bits(dot(a, b, None, out), (wanted - c).astype(wanted.dtype), name)


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (16, 16, 32), (64, 32, 16)], ids=lambda s: "x".join(map(str, s))
)
def test_integers_of_8_bits_sum_in_32(shape: tuple[int, int, int], num_warps: int) -> None:
    """Signed, over the whole range; sums wrap."""
    m, n, k = shape
    rng = np.random.default_rng()
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (k, n)))
    c = rng.integers(-(2**31), 2**31, (m, n)).astype(np.int32)
    product = a.astype(np.int32) @ b.astype(np.int32)
    assert dot(a, b, None, "i32", num_warps=num_warps).tolist() == product.tolist()
    with np.errstate(over="ignore"):
        total = (product.astype(np.int64) + c).astype(np.int32)
    options = "out_dtype=tl.int32"
    assert dot(a, b, c, "i32", options=options, num_warps=num_warps).tolist() == total.tolist()


@pytest.mark.parametrize("name", ["f16", "bf16", "i8"])
@pytest.mark.parametrize("num_warps", [1, 2, 8, 16])
@pytest.mark.parametrize(
    "shape",
    [(16, 8, 16), (64, 32, 16), (16, 128, 64), (128, 16, 32), (32, 32, 128)],
    ids=lambda s: "x".join(map(str, s)),
)
def test_tensor_cores(shape: tuple[int, int, int], num_warps: int, name: str) -> None:
    """Of small whole numbers, whose sums no order and no width of accumulators can change."""
    m, n, k = shape
    out = "i32" if name == "i8" else "f32"
    a, b, c = whole(name, (m, k), 1), whole(name, (k, n), 2), whole(out, (m, n), 3)
    wanted = a.astype(numpy_dtype(out)) @ b.astype(numpy_dtype(out)) + c
    options = f"input_precision='ieee', out_dtype=tl.{'int32' if name == 'i8' else 'float32'}"
    assert_same_bits(dot(a, b, c, out, options=options, num_warps=num_warps), wanted, "a @ b + c")


def test_an_f16_accumulator() -> None:
    """Summed in f32, rounded once at the end."""
    a, b = (np.random.default_rng(n).standard_normal((32, 32)).astype(np.float16) for n in range(2))
    c = np.random.default_rng(2).standard_normal((32, 32)).astype(np.float16)
    options = "input_precision='ieee', out_dtype=tl.float16"
    total = in_order(a.astype(np.float32), b.astype(np.float32), c.astype(np.float32))
    assert_same_bits(dot(a, b, c, "f16", options=options), total.astype(np.float16), "f16")


def in_order(a: Array, b: Array, c: Array) -> Array:
    """k in order, each step one fused multiply-add in f32 (exact in f64: 24 + 24 bits and one rounding to odd is not needed)."""
    total = c.astype(np.float32)
    for k in range(a.shape[1]):
        product = a[:, k, None].astype(np.float64) * b[None, k, :].astype(np.float64)
        exact_high = product + total.astype(np.float64)
        # f64 holds the product exactly; the sum may be inexact, and is then repaired to round once.
        back = exact_high - product
        error = (product - (exact_high - back)) + (total.astype(np.float64) - back)
        nudged = np.where(
            error > 0,
            np.nextafter(exact_high, np.inf),
            np.where(error < 0, np.nextafter(exact_high, -np.inf), exact_high),
        )
        odd = np.where(
            (exact_high.view(np.int64) & 1) == 1, exact_high, np.where(error == 0, exact_high, nudged)
        )
        total = odd.astype(np.float32)
    return total


def test_k_is_summedin_order_with_fused_steps() -> None:
    """The definition that every target keeps to: nothing is left to chance."""
    generator = np.random.default_rng(4)
    a, b = (
        generator.standard_normal((16, 64)).astype(np.float32),
        generator.standard_normal((64, 16)).astype(np.float32),
    )
    c = generator.standard_normal((16, 16)).astype(np.float32)
    assert_same_bits(dot(a, b, c, "f32"), in_order(a, b, c), "in order")


BATCHED = """
@triton.jit
def kernel(a, b, c, o, ACC: tl.constexpr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, m, n, k = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i * M * K + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b + i * K * N + k[None, :, None] * N + n[None, None, :])
    at = i * M * N + m[None, :, None] * N + n[None, None, :]
    if ACC:
        z = tl.dot(x, y, tl.load(c + at), {options})
    else:
        z = tl.dot(x, y, {options})
    tl.store(o + at, z)
"""


def dots(
    a: Array, b: Array, c: Array | None, out: str, options: str = "input_precision='ieee'", **how: int
) -> Array:
    (count, m, k), n = a.shape, b.shape[2]
    found = run(
        BATCHED.replace("{options}", options),
        {
            "a": a,
            "b": b,
            "c": c if c is not None else np.zeros(1, numpy_dtype(out)),
            "o": np.zeros((count, m, n), numpy_dtype(out)),
        },
        {"ACC": c is not None, "B": count, "M": m, "N": n, "K": k},
        **how,
    )
    return found["o"]


@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize(
    "shape",
    [(1, 4, 4, 4), (2, 1, 1, 1), (2, 16, 16, 16), (4, 1, 8, 16), (8, 8, 1, 2), (4, 16, 32, 8), (64, 2, 2, 4), (16, 32, 16, 1)],
    ids=lambda s: "x".join(map(str, s)),
)  # fmt: skip
def test_several_matrices(shape: tuple[int, int, int, int], num_warps: int) -> None:
    """Along a first axis: each times its own."""
    count, m, n, k = shape
    a, b, c = whole("f32", (count, m, k), 1), whole("f32", (count, k, n), 2), whole("f32", (count, m, n), 3)
    assert_same_bits(dots(a, b, None, "f32", num_warps=num_warps), a @ b, "a @ b")
    assert_same_bits(dots(a, b, c, "f32", num_warps=num_warps), a @ b + c, "a @ b + c")


@pytest.mark.parametrize("name", ["f16", "f32", "f64", "i8", "f8e4m3"])
@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize(
    "shape", [(2, 16, 8, 32), (8, 32, 16, 64), (1, 16, 16, 32)], ids=lambda s: "x".join(map(str, s))
)
def test_tensor_cores_of_several_matrices(
    shape: tuple[int, int, int, int], num_warps: int, name: str
) -> None:
    """Warps share out the matrices, and what is left of each."""
    count, m, n, k = shape
    out = {"f64": "f64", "i8": "i32"}.get(name, "f32")
    a, b, c = whole(name, (count, m, k), 1), whole(name, (count, k, n), 2), whole(out, (count, m, n), 3)
    wanted = (a.astype(np.float64) @ b.astype(np.float64) + c).astype(numpy_dtype(out))
    options = f"input_precision='tf32', out_dtype=tl.{'int32' if name == 'i8' else 'float32'}"
    assert_same_bits(dots(a, b, c, out, options, num_warps=num_warps), wanted, name)


@pytest.mark.parametrize("name", [*oracle.FLOATS, "i8"])
@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3"])
def test_dtypes_of_several_matrices(name: str, precision: str) -> None:
    out = {"f64": "f64", "i8": "i32"}.get(name, "f32")
    a, b, c = whole(name, (4, 8, 16), 1), whole(name, (4, 16, 32), 2), whole(out, (4, 8, 32), 3)
    wanted = (a.astype(np.float64) @ b.astype(np.float64) + c).astype(numpy_dtype(out))
    options = f"input_precision='{precision}', out_dtype=tl.{'int32' if name == 'i8' else 'float32'}"
    assert_same_bits(dots(a, b, c, out, options), wanted, name)


def test_several_matrices_round_as_one() -> None:
    """The same order of the same steps, f16 accumulators among them."""
    rng = np.random.default_rng(7)
    a, b, c = (rng.standard_normal(s).astype(np.float16) for s in ((2, 16, 32), (2, 32, 8), (2, 16, 8)))
    options = "input_precision='ieee', out_dtype=tl.float16"
    for i, found in enumerate(dots(a, b, c, "f16", options)):
        assert_same_bits(found, dot(a[i], b[i], c[i], "f16", options=options), f"matrix {i}")


ATTENTION = """
@triton.jit
def kernel(q, k, v, o, H: tl.constexpr, S: tl.constexpr, D: tl.constexpr):
    h, s, d = tl.arange(0, H)[:, None, None], tl.arange(0, S), tl.arange(0, D)
    at = h * S * D + s[None, :, None] * D + d[None, None, :]
    p = tl.dot(tl.load(q + at), tl.permute(tl.load(k + at), 0, 2, 1), input_precision="ieee")
    p = p - tl.max(p, axis=2)[:, :, None]
    tl.store(o + at, tl.dot(p.to(tl.float16), tl.load(v + at).to(tl.float16)))
"""


@pytest.mark.parametrize("shape", [(2, 16, 8), (4, 4, 32)])
def test_products_of_all_heads(shape: tuple[int, int, int]) -> None:
    q, k, v = (whole("f32", shape, n) for n in range(3))
    found = run(
        ATTENTION,
        {"q": q, "k": k, "v": v, "o": np.zeros(shape, np.float32)},
        dict(zip("HSD", shape, strict=True)),
    )
    p = q.astype(np.float64) @ k.transpose(0, 2, 1)
    p = (p - p.max(2)[:, :, None]).astype(np.float16).astype(np.float64)
    assert_same_bits(found["o"], (p @ v).astype(np.float32), "heads")


MATMUL = """
@triton.jit
def kernel(a, b, o, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + m[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        left = K - i * BK
        x = tl.load(pa, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(pb, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc, input_precision="ieee")
        pa += BK
        pb += BK * N
    tl.store(o + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))
"""


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("size", [(1, 1, 1), (33, 17, 65), (64, 64, 64)], ids=lambda s: "x".join(map(str, s)))
def test_matmul_with_a_loop(size: tuple[int, int, int], name: str) -> None:
    """Pointers and an accumulator carried through a loop; edges masked."""
    m, n, k = size
    a, b = whole(name, (m, k), 1), whole(name, (k, n), 2)
    found = run(
        MATMUL,
        {"a": a, "b": b, "o": np.zeros((m, n), np.float16), "M": m, "N": n, "K": k},
        {"BM": 32, "BN": 16, "BK": 32},
        (-(-m // 32), -(-n // 16)),
    )
    assert_same_bits(found["o"], (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16), "matmul")


TWICE = """
@triton.jit
def kernel(a, b, v, o, M: tl.constexpr, S: tl.constexpr):
    m = tl.arange(0, M)
    at = m[:, None] * M + m[None, :]
    p = tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee")
    p = p * S + tl.max(p, axis=1)[:, None]
    q = tl.dot(p.to(tl.float16), tl.load(v + at), out_dtype=tl.float32)
    tl.store(o + at, q)
"""


@pytest.mark.parametrize("size", [2, 16, 64])
def test_a_product_of_a_product(size: int) -> None:
    """As in attention: the first product, changed and reduced, is an operand of the second."""
    a, b, v = (whole("f32", (size, size), n) for n in range(3))
    a[a > 1], b[b < -1] = 1, -1
    v16 = v.astype(np.float16)
    found = run(
        TWICE, {"a": a, "b": b, "v": v16, "o": np.zeros((size, size), np.float32)}, {"M": size, "S": 0.5}
    )
    p = a.astype(np.float64) @ b
    p = p * 0.5 + p.max(1)[:, None]
    assert_same_bits(found["o"], (p.astype(np.float16).astype(np.float64) @ v).astype(np.float32), "twice")


ERRORS = [
    ("tl.dot(x, x.to(tl.float16))", "one float dtype"),
    ("tl.dot(x.to(tl.int32), x.to(tl.int32))", "one float dtype"),
    ("tl.dot(x, r)", "2-D tiles"),
    ("tl.dot(x, x[None, :, :])", "2-D tiles"),
    ("tl.dot(x[None, :, :], tl.zeros((2, 4, 4), tl.float32))", "1 matrices and 2"),
    ("tl.dot(x, 2.0)", "takes a tile"),
    ("tl.dot(x, tl.zeros((8, 4), tl.float32))", "inner sides 4 and 8 differ"),
    ("tl.dot(x, x, tl.zeros((4, 8), tl.float32))", "accumulator of tl.dot is a tile of f32"),
    ("tl.dot(x, x, out_dtype=tl.bfloat16)", "sums in f32, not in bf16"),
    ("tl.dot(x, x, input_precision='tf33')", "input_precision is ieee, tf32 or tf32x3"),
    ("tl.dot(x, x, input_precision=3)", "input_precision is a string"),
    ("tl.dot(x, x, input_precision='ieee', allow_tf32=True)", "not both"),
    ("tl.dot(x, x, max_num_imprecise_acc=-4)", "a number of sums, got"),
    ("tl.dot(x.to(tl.float8e5), x.to(tl.float8e5), max_num_imprecise_acc=5)", "only 4 products are summed"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_what_cannot_be_multiplied(text: str, message: str) -> None:
    source = f"""@triton.jit
def kernel(o):
    r = tl.arange(0, 4).to(tl.float32)
    x = tl.zeros((4, 4), tl.float32)
    y = {text}
"""
    with pytest.raises(UserError, match=message):
        build(source, {"o": np.zeros(1, np.float32)})
