"""What tensor cores make of operands: tf32 and its three parts, floats of 8 bits, and numbers at the ends of their ranges."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.run import Array, assert_same_bits, build, compiled, described, numpy_dtype, run

from .test_dot import DOT, in_order
from .test_pipelines import MATMUL

#: Beside the targets of every test: products of single warps, and GPUs that have no tf32 or no 8 bits.
OTHERS = ("cpu:sm_75", "cpu:sm_80", "cpu:sm_89", "cpu:sm_120")

SHAPES = [(64, 16, 32), (16, 32, 16), (4, 8, 8), (128, 32, 64)]


def multiply(a: Array, b: Array, c: Array, options: str, target: str | None = None) -> Array:
    """``a @ b + c`` on the targets of every test, or on one more."""
    (m, k), n = a.shape, b.shape[1]
    arguments = {"a": a, "b": b, "c": c, "o": np.zeros((m, n), c.dtype)}
    source, const = DOT.replace("{options}", options), {"ACC": True, "M": m, "N": n, "K": k}
    if target is None:
        return run(source, arguments, const)["o"]
    return build(source, arguments, const, target=target)(arguments)["o"]


def cut(x: Array) -> Array:
    """f32 without the bits that tf32 lacks."""
    return (x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def nearest(x: Array) -> Array:
    """The nearest tf32, ties away from zero; all finite."""
    return cut((x.astype(np.float32).view(np.uint32) + np.uint32(0x1000)).view(np.float32))


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("options", ["input_precision='tf32'", "allow_tf32=True", "out_dtype=tl.float32"])
def test_tf32_leaves_bits_out(shape: tuple[int, int, int], options: str) -> None:
    """Unless a program says otherwise, and whether a tile is large enough for tensor cores or not; GPUs without tf32 multiply f32."""
    m, n, k = shape
    a, b, c = normal(1, m, k), normal(2, k, n), normal(3, m, n)
    wanted = in_order(cut(a), cut(b), c)
    assert_same_bits(multiply(a, b, c, options), wanted, "tf32")
    assert (wanted != in_order(a, b, c)).any()
    for target in OTHERS:
        made = multiply(a, b, c, options, target)
        assert_same_bits(made, in_order(a, b, c) if target == "cpu:sm_75" else wanted, target)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_ieee_leaves_nothing_out(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b, c = normal(1, m, k), normal(2, k, n), normal(3, m, n)
    for options in ("input_precision='ieee'", "allow_tf32=False"):
        assert_same_bits(multiply(a, b, c, options), in_order(a, b, c), options)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_three_products_of_tf32(shape: tuple[int, int, int]) -> None:
    """Triton's split and order, and nearly what f32 gives."""
    m, n, k = shape
    a, b, c = normal(1, m, k), normal(2, k, n), normal(3, m, n)
    found = multiply(a, b, c, "input_precision='tf32x3'")
    big_a, big_b, zero = nearest(a), nearest(b), np.zeros_like(c)
    small = in_order(cut(a - big_a), big_b, zero)
    small = in_order(big_a, cut(b - big_b), small)
    assert_same_bits(found, in_order(big_a, big_b, small) + c, "tf32x3")
    exact = a.astype(np.float64) @ b.astype(np.float64) + c
    size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) + np.abs(c)
    assert (np.abs(found - exact) <= size * 2.0**-19).all()
    assert (np.abs(multiply(a, b, c, "input_precision='tf32'") - exact) > size * 2.0**-19).any()


@pytest.mark.parametrize("turned", [(False, False), (False, True), (True, False)], ids=str)
@pytest.mark.parametrize("warps", [4, 8])
def test_three_products_in_a_loop(turned: tuple[bool, bool], warps: int) -> None:
    """Parts are made of what was copied, and turned on their way where it does not run along k."""
    m, n, k = 128, 32, 96
    a, b = normal(1, *((k, m) if turned[0] else (m, k))), normal(2, *((n, k) if turned[1] else (k, n)))
    source = MATMUL.replace("out_dtype=SUM", "input_precision='tf32x3'")
    arguments: dict[str, object] = {"a": a, "b": b, "c": np.zeros((m, n), np.float32), "M": m, "N": n, "K": k}
    strides = ((1, m) if turned[0] else (k, 1)) + ((1, k) if turned[1] else (n, 1))
    names = ("am", "ak", "bk", "bn")
    arguments |= dict(zip(names, strides, strict=True))
    assume = {x: {"div": 16} for x in ("a", "b", "c", "M", "N", "K")}
    assume |= {x: {"eq": 1} if s == 1 else {"div": 16} for x, s in zip(names, strides, strict=True)}
    const = {"BM": 128, "BN": 32, "BK": 32, "TA": turned[0], "TB": turned[1]}
    found = run(source, arguments, const, assume=assume, num_warps=warps, num_stages=3)["c"]
    left, right = (x.T if t else x for x, t in zip((a, b), turned, strict=True))
    exact = left.astype(np.float64) @ right.astype(np.float64)
    size = np.abs(left.astype(np.float64)) @ np.abs(right.astype(np.float64))
    assert (np.abs(found - exact) <= size * 2.0**-19).all()


BLOCKS = """
@triton.jit
def kernel(a, b, c, K, BK: tl.constexpr, TB: tl.constexpr):
    total = tl.zeros(c.block_shape, c.dtype)
    for k in range(0, K, BK):
        y = b.load([0, k]).T if TB else b.load([k, 0])
        total = tl.dot(a.load([0, k]), y, total, out_dtype=c.dtype)
    c.store([0, 0], total)
"""


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", ["f32", "i8", "f8e4m3", "f16"])
@pytest.mark.parametrize("warps", [4, 8])
def test_blocks_copied_by_the_hardware(name: str, turned: bool, warps: int) -> None:
    """Products read them where they land, if those run along k."""
    m, n, k, step = 128, 64, 320, 64
    out = "i32" if name == "i8" else "f32"
    rng = np.random.default_rng(warps)
    a, b = (rng.integers(-3, 4, s).astype(numpy_dtype(name)) for s in ((m, k), (n, k) if turned else (k, n)))
    c = np.zeros((m, n), numpy_dtype(out))
    blocks = ((m, step), (n, step) if turned else (step, n), (m, n))
    arguments: dict[str, object] = {
        x: described(v, s) for x, v, s in zip("abc", (a, b, c), blocks, strict=True)
    }
    arguments["K"] = k
    found = run(BLOCKS, arguments, {"BK": step, "TB": turned}, num_warps=warps)["c"]
    right = b.astype(np.float64)
    assert_same_bits(found, (a.astype(np.float64) @ (right.T if turned else right)).astype(c.dtype), name)
    ptx = compiled(BLOCKS, arguments, {"BK": step, "TB": turned}, "sm_90a", num_warps=warps).ptx
    assert ptx is not None
    assert "wgmma.mma_async" in ptx
    assert "cp.async.bulk.tensor" in ptx
    assert "ld.global" not in ptx


@pytest.mark.parametrize("precision", ["tf32", "tf32x3", "ieee"])
@pytest.mark.parametrize("shape", [(64, 8, 16), (4, 8, 16)], ids=str)
def test_what_is_not_finite(shape: tuple[int, int, int], precision: str) -> None:
    """An infinity has no small part; a NaN stays one; what is nearest to the largest f32 in tf32 is infinite."""
    m, n, k = shape
    a, b, c = np.ones((m, k), np.float32), np.ones((k, n), np.float32), np.zeros((m, n), np.float32)
    a[0, 3], a[1, 5], a[2, 0], b[7, 2], b[7, 3] = np.inf, np.nan, np.finfo(np.float32).max, -np.inf, 0
    a[3, 7] = -0.0
    found = multiply(a, b, c, f"input_precision='{precision}'")
    with np.errstate(invalid="ignore", over="ignore"):
        wanted = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
        if precision == "tf32":
            wanted[2] = (cut(a)[2].astype(np.float64) @ b).astype(np.float32)
        if precision == "tf32x3":
            wanted[2] = (nearest(a)[2].astype(np.float64) @ b).astype(np.float32)
            assert np.isinf(wanted[2, 0])
    assert_same_bits(found, wanted, precision)


@pytest.mark.parametrize("left", ["f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("right", ["f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("shape", [(64, 16, 64), (16, 16, 32), (4, 8, 16)], ids=str)
def test_every_float_of_8_bits(left: str, right: str, shape: tuple[int, int, int]) -> None:
    """All bit patterns, each in a row or column of its own beside ones that are exact in any order; products of both are exact in f32."""
    m, n, k = shape
    rng = np.random.default_rng(m)
    a = rng.integers(0, 256, (m, k), dtype=np.uint8).view(numpy_dtype(left))
    b = np.zeros((k, n), numpy_dtype(right))
    b[rng.integers(0, k, n), np.arange(n)] = rng.integers(1, 5, n).astype(numpy_dtype(right))
    c = np.zeros((m, n), np.float32)
    with np.errstate(invalid="ignore"):
        wanted = (a.astype(np.float64)[:, :, None] * b.astype(np.float64)[None]).sum(1).astype(np.float32)
    assert_same_bits(multiply(a, b, c, "input_precision='ieee'"), wanted, "every pattern")
    for target in OTHERS:
        assert_same_bits(multiply(a, b, c, "input_precision='ieee'", target), wanted, target)


@pytest.mark.parametrize("name", ["f8e4m3", "f8e5m2"])
def test_floats_of_8_bits_that_round(name: str) -> None:
    """Whether by tensor cores for them or, where a program limits their sums, by those for f16: k in order, each step rounded once."""
    a, b, c = (
        normal(1, 64, 64).astype(numpy_dtype(name)),
        normal(2, 64, 32).astype(numpy_dtype(name)),
        normal(3, 64, 32),
    )
    wanted = in_order(a.astype(np.float32), b.astype(np.float32), c)
    for options in ("input_precision='tf32'", "max_num_imprecise_acc=0", "max_num_imprecise_acc=32"):
        assert_same_bits(multiply(a, b, c, options), wanted, options)


@pytest.mark.parametrize("target", ["cpu:sm_80", "cpu:sm_90a"])
def test_integers_at_the_ends_of_their_range(target: str) -> None:
    """128 * 128 * k, and sums that wrap round."""
    a, b = np.full((64, 64), -128, np.int8), np.full((64, 16), -128, np.int8)
    b[:, 1] = 127
    c = np.full((64, 16), 2**31 - 1, np.int32)
    found = multiply(a, b, c, "out_dtype=tl.int32", target)
    with np.errstate(over="ignore"):
        wanted = (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32)
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("shape", [(16, 8, 8), (64, 32, 16), (4, 8, 8)], ids=str)
@pytest.mark.parametrize("num_warps", [1, 4])
def test_f64_sums_in_f64(shape: tuple[int, int, int], num_warps: int) -> None:
    """Beyond what f32 holds: whole numbers of 26 bits are exact in any order, others to a few units in the last place."""
    m, n, k = shape
    rng = np.random.default_rng(k)
    a, b, c = (rng.integers(-(2**24), 2**24, s).astype(np.float64) for s in ((m, k), (k, n), (m, n)))
    options = "input_precision='tf32'"
    assert_same_bits(multiply(a, b, c, options), a @ b + c, "whole")
    a, b, c = (rng.standard_normal(s) for s in ((m, k), (k, n), (m, n)))
    size = np.abs(a) @ np.abs(b) + np.abs(c)
    exact = a.astype(np.longdouble) @ b.astype(np.longdouble) + c
    for target in (None, *OTHERS):
        assert (np.abs(multiply(a, b, c, options, target) - exact) <= size * k * 2.0**-53).all()


def test_floats_of_8_bits_need_a_later_ptx_on_sm_89() -> None:
    """Versions of the PTX ISA before 8.4 have no such ``mma``."""
    arguments = dict.fromkeys("ab", np.zeros(8, numpy_dtype("f8e4m3")))
    arguments |= dict.fromkeys("co", np.zeros(8, np.float32))
    source, const = DOT.replace("{options}", ""), {"ACC": True, "M": 16, "N": 16, "K": 32}
    for ptx, instruction in (
        ("8.3", "m16n8k16.row.col.f32.f16.f16.f32"),
        ("8.4", "m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    ):
        made = compiled(source, arguments, const, "sm_89", ptx=ptx).ptx
        assert made is not None
        assert f"mma.sync.aligned.{instruction}" in made


INSTRUCTIONS = [
    ("sm_90a", "f32", "f32", "", (64, 16, 32), "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32"),
    ("sm_90a", "f8e4m3", "f32", "", (64, 16, 32), "wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3"),
    ("sm_90a", "f8e5m2", "f32", "", (64, 16, 32), "wgmma.mma_async.sync.aligned.m64n16k32.f32.e5m2.e5m2"),
    ("sm_90a", "i8", "i32", "", (64, 16, 32), "wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8"),
    ("sm_90a", "f8e4m3", "f32", "max_num_imprecise_acc=0", (64, 16, 32), "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"),
    ("sm_90a", "f32", "f32", "input_precision='ieee'", (64, 16, 32), "fma.rn.f32"),
    ("sm_90a", "f32", "f32", "", (16, 16, 32), "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("sm_80", "f32", "f32", "", (64, 16, 32), "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("sm_80", "f32", "f32", "input_precision='tf32x3'", (64, 16, 32), "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("sm_80", "f8e4m3", "f32", "", (64, 16, 32), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
    ("sm_89", "f8e4m3", "f32", "", (64, 16, 32), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
    ("sm_120", "f8e4m3", "f32", "", (64, 16, 32), "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    ("sm_100a", "f8e5m2", "f32", "", (64, 16, 32), "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"),
    ("sm_90a", "f64", "f64", "", (64, 16, 32), "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64"),
    ("sm_80", "f64", "f64", "", (64, 16, 32), "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"),
    ("sm_120", "f32", "f32", "", (64, 16, 32), "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("sm_90a", "f16", "f16", "", (64, 16, 32), "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16"),
    ("sm_90a", "f8e4m3", "f16", "", (64, 16, 32), "wgmma.mma_async.sync.aligned.m64n16k32.f16.e4m3.e4m3"),
    ("sm_80", "f16", "f16", "", (64, 16, 32), "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"),
    ("sm_120", "f8e4m3", "f16", "", (64, 16, 32), "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    ("sm_75", "f32", "f32", "", (64, 16, 32), "fma.rn.f32"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("target", "dtype", "total", "options", "shape", "instruction"),
    INSTRUCTIONS,
    ids=[f"{t}-{d}-{s}-{o}-{h[0]}" for t, d, s, o, h, _ in INSTRUCTIONS],
)
def test_what_multiplies(
    target: str, dtype: str, total: str, options: str, shape: tuple[int, int, int], instruction: str
) -> None:
    """And nothing else does."""
    m, n, k = shape
    arguments = dict.fromkeys("ab", np.zeros(8, numpy_dtype(dtype))) | dict.fromkeys(
        "co", np.zeros(8, numpy_dtype(total))
    )
    options = ", ".join(
        filter(None, [options, f"out_dtype=tl.{'int' if total == 'i32' else 'float'}{total[1:]}"])
    )
    source = DOT.replace("{options}", options)
    ptx = compiled(source, arguments, {"ACC": True, "M": m, "N": n, "K": k}, target).ptx
    assert ptx is not None
    assert instruction in ptx
    assert "fma.rn.f64" not in ptx
    for other in ("wgmma.mma_async", "mma.sync", "fma.rn.f32"):
        assert (other in ptx) == instruction.startswith(other), other
