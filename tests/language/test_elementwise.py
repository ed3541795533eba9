"""Operators and functions on each element: shifts, signs, comparisons, choices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from teenybuild.diagnostics import UserError
from tests.support.elementwise import evaluate, language_dtype
from tests.support.run import Array, Typed, assert_same_bits, numpy_dtype

from . import oracle


@pytest.mark.parametrize("name", oracle.INTEGERS)
def test_shifts(name: str) -> None:
    """Every amount below the width; signed numbers shift their sign in."""
    bits = oracle.width(name)
    x = np.repeat(oracle.values(name, 24), bits)
    n = np.tile(np.arange(bits), 24).astype(x.dtype)
    found = evaluate(
        {
            "left": ("x << n", name),
            "right": ("x >> n", name),
            "by_two": ("x << 2", name),
            "back": ("x >> 3", name),
        },
        {"x": x, "n": n},
    )
    assert_same_bits(found["left"], np.left_shift(x, n), "<<")
    assert_same_bits(found["right"], np.right_shift(x, n), ">>")
    assert_same_bits(found["by_two"], np.left_shift(x, np.array(2, x.dtype)), "<< 2")
    assert_same_bits(found["back"], np.right_shift(x, np.array(3, x.dtype)), ">> 3")


@pytest.mark.parametrize("name", oracle.ALL)
def test_unary(name: str) -> None:
    x = oracle.values(name, 512)
    expressions = {
        "minus": ("-x", name),
        "plus": ("+x", name),
        "not_": ("not x", "i1"),
        "abs": ("tl.abs(x)", name),
    }
    if name not in oracle.FLOATS:
        expressions["invert"] = ("~x", name)
    found = evaluate(expressions, {"x": x})
    zero = np.zeros_like(x)
    assert_same_bits(
        found["minus"], oracle.binary("-", zero, x, name), "-x"
    )  # 0 - x: -(0.0) is 0.0, as in Triton
    assert_same_bits(found["plus"], x, "+x")
    assert_same_bits(found["not_"], x == 0, "not x")
    with np.errstate(over="ignore"):
        assert_same_bits(found["abs"], np.abs(x), "abs")
    if "invert" in found:
        assert_same_bits(found["invert"], ~x, "~x")


@pytest.mark.parametrize(
    ("left", "right"), list(itertools.product(("i1", "i32", "u8", "f32", "bf16"), repeat=2)), ids="-".join
)
def test_and_or_not(left: str, right: str) -> None:
    """``and`` and ``or`` work on truth, element by element."""
    x, y = oracle.pairs(left, right, 256)
    found = evaluate(
        {"both": ("x and y", "i1"), "either": ("x or y", "i1"), "three": ("x and y and not x", "i1")},
        {"x": x, "y": y},
    )
    a, b = oracle.cast(x, "i1"), oracle.cast(y, "i1")
    assert_same_bits(found["both"], a & b, "and")
    assert_same_bits(found["either"], a | b, "or")
    assert_same_bits(found["three"], np.zeros_like(a), "never")


@pytest.mark.parametrize(("left", "right"), list(itertools.product(oracle.ALL, repeat=2)), ids="-".join)
def test_where(left: str, right: str) -> None:
    """Both values promote; the condition is any dtype's truth."""
    x, y = oracle.pairs(left, right, 256)
    c = oracle.values("i1", 256)
    dtype = oracle.promote(left, right)
    assert dtype is not None
    found = evaluate(
        {
            "chosen": ("tl.where(c, x, y)", dtype),
            "by_value": ("tl.where(x, x, y)", dtype),
            "scalar": ("tl.where(s, x, y)", dtype),
        },
        {"x": x, "y": y, "c": c, "s": Typed(True, "i1")},
    )
    a, b = oracle.cast(x, dtype), oracle.cast(y, dtype)
    assert_same_bits(found["chosen"], np.where(c, a, b), "where")
    assert_same_bits(found["by_value"], np.where(oracle.cast(x, "i1"), a, b), "where x")
    assert_same_bits(found["scalar"], a, "where scalar")


@pytest.mark.parametrize("name", oracle.FLOATS)
def test_comparisons_of_special_numbers(name: str) -> None:
    """NaN is unequal to everything, zeros are equal, infinities are in order."""
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0**-14]).astype(numpy_dtype(name))
    x, y = np.repeat(special, 8), np.tile(special, 8)
    found = evaluate(
        {f"r{n}": (f"x {op} y", "i1") for n, op in enumerate(oracle.COMPARISONS)}, {"x": x, "y": y}
    )
    for n, op in enumerate(oracle.COMPARISONS):
        assert_same_bits(found[f"r{n}"], oracle.BINARY[op][0](x, y), op)


@pytest.mark.parametrize("name", oracle.FLOATS)
def test_clamp(name: str) -> None:
    x = oracle.values(name, 256)
    low, high = np.full_like(x, -1.5), np.full_like(x, 2.25)
    wide = oracle.meet_number("maximum", name, -1.5)  # the numbers are of f32
    assert wide is not None
    found = evaluate(
        {
            "plain": ("tl.clamp(x, -1.5, 2.25)", wide),
            "nan": ("tl.clamp(x, -1.5, 2.25, propagate_nan=tl.PropagateNan.ALL)", wide),
        },
        {"x": x},
    )
    for result, suffix in (("plain", ""), ("nan", "_nan")):
        up = oracle.binary(f"maximum{suffix}", x, low, wide)
        assert_same_bits(found[result], oracle.binary(f"minimum{suffix}", up, high, wide), result)


def _fma(x: Array, y: Array, z: Array) -> Array:
    """x · y + z rounded once, by exact rationals."""
    from fractions import Fraction

    name = oracle.name_of(x)
    exact = [
        float(p * q + r)
        if name == "f64"
        else float(oracle.round_to(np.array([Fraction(p) * Fraction(q) + Fraction(r)], object), name)[0])
        for p, q, r in zip(
            x.astype(np.float64).tolist(),
            y.astype(np.float64).tolist(),
            z.astype(np.float64).tolist(),
            strict=True,
        )
    ]
    return np.array(exact, x.dtype)


def test_fma_rounds_once() -> None:
    generator = np.random.default_rng(3)
    x = (1 + generator.integers(0, 1 << 23, 256) * 2.0**-23).astype(np.float32)
    y = (1 + generator.integers(0, 1 << 23, 256) * 2.0**-23).astype(np.float32)
    z = -(x * y)  # what is left is the product's rounding error
    found = evaluate({"r": ("tl.fma(x, y, z)", "f32"), "two": ("x * y + z", "f32")}, {"x": x, "y": y, "z": z})
    assert_same_bits(found["r"], _fma(x, y, z), "fma")
    assert_same_bits(found["two"], found["r"], "x * y + z is fused")
    plain = evaluate({"two": ("x * y + z", "f32")}, {"x": x, "y": y, "z": z}, enable_fp_fusion=False)
    assert_same_bits(plain["two"], x * y + z, "x * y + z without fusion")
    assert not np.array_equal(plain["two"], found["two"])


FUSED = {
    "x * y + z": _fma,
    "z + x * y": _fma,
    "x * y - z": lambda x, y, z: _fma(x, y, -z),
    "z - x * y": lambda x, y, z: _fma(-x, y, z),
    "x - y * z": lambda x, y, z: _fma(-y, z, x),
    "x * 3.0 + 1.0": lambda x, y, z: _fma(x, np.full_like(x, 3), np.full_like(x, 1)),
}


@pytest.mark.parametrize("text", FUSED)
def test_what_is_fused(text: str) -> None:
    x, y, z = (np.random.default_rng(n).standard_normal(200).astype(np.float32) for n in range(3))
    found = evaluate({"r": (text, "f32")}, {"x": x, "y": y, "z": z})
    assert_same_bits(found["r"], FUSED[text](x, y, z), text)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_narrow_floats_round_after_every_operation(name: str) -> None:
    x, y = oracle.pairs(name, name, 400)
    z = oracle.values(name, 400, seed=9)
    found = evaluate({"r": ("x * y + z", name), "s": ("(x - y) * (x + z)", name)}, {"x": x, "y": y, "z": z})
    with np.errstate(all="ignore"):
        assert_same_bits(found["r"], x * y + z, "x * y + z")
        assert_same_bits(found["s"], (x - y) * (x + z), "(x - y) * (x + z)")


@pytest.mark.parametrize("name", oracle.SIGNED)
def test_division_never_traps(name: str) -> None:
    """By zero there is no defined result, and the smallest by -1 overflows: neither may stop the program."""
    limits = np.iinfo(numpy_dtype(name))
    x = np.array([limits.min, limits.min, 5, -5], numpy_dtype(name))
    y = np.array([-1, 0, 0, -1], numpy_dtype(name))
    found = evaluate({"q": ("x // y", name), "r": ("x % y", name)}, {"x": x, "y": y})
    assert found["q"][3] == 5
    assert found["r"][3] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x % p", "cannot take the remainder of"),
        ("~x", "~ is for integers"),
        ("x & 1", "& is for integers"),
        ("x << 1", "<< is for integers"),
        ("x // 2", "// is for integers"),
        ("x ** 2", r"\*\* is not an operation on run-time values"),
    ],
)
def test_floats_refuse(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        evaluate(
            {"r": (text.replace("p", "x_arg"), "f32")}, {"x": oracle.values("f32", 4)}, check_dtypes=False
        )


def test_scalars_alone() -> None:
    """An expression of scalars only, stored by one lane."""
    found = evaluate(
        {"r": ("x + (a * 3 - b) // 2 % 5", "i32"), "s": ("x * 0 + (c > 1.5).to(tl.int32)", "i32")},
        {"x": np.zeros(4, np.int32), "a": Typed(7, "i32"), "b": Typed(-4, "i32"), "c": Typed(2.5, "f16")},
    )
    assert found["r"].tolist() == [(7 * 3 + 4) // 2 % 5] * 4
    assert found["s"].tolist() == [1] * 4


def test_language_dtypes_have_their_widths() -> None:
    for name in oracle.ALL:
        width = oracle.width(name)
        found = evaluate(
            {"r": (f"x + {language_dtype(name)}.primitive_bitwidth", "i32")}, {"x": np.zeros(2, np.int32)}
        )
        assert found["r"].tolist() == [width] * 2


@pytest.mark.parametrize("left", oracle.INTEGERS)
@pytest.mark.parametrize("right", oracle.INTEGERS)
def test_the_left_sides_sign_decides_how_bits_are_shifted(left: str, right: str) -> None:
    """Whatever the two are promoted to; amounts are within the left side's width."""
    dtype = oracle.promote_integers(left, right)
    x = oracle.values(left, 64)
    amounts = (np.arange(64) % oracle.width(left)).astype(numpy_dtype(right))
    found = evaluate({"r": ("x >> y", dtype)}, {"x": x, "y": amounts})["r"]
    wide = oracle.cast(x, dtype)
    signed = wide.view(f"i{wide.itemsize}") if left in oracle.SIGNED else wide.view(f"u{wide.itemsize}")
    wanted = np.right_shift(signed, amounts.astype(signed.dtype)).view(wide.dtype)
    assert_same_bits(found, wanted, f"{left} >> {right}")
