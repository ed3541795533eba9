"""Mathematical functions: how far they are from the truth, and their special values."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.support import accuracy
from tests.support.accuracy import FORMATS, FUNCTIONS, computed, errors, ulps
from tests.support.run import Array, assert_same_bits, numpy_dtype

INF, NAN, PI = float("inf"), float("nan"), math.pi
FLOATS = ["f32", "f64"]
#: A GPU has an instruction of its own for it.
APPROXIMATE = {"rsqrt"}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f not in APPROXIMATE])
def test_errors(function: str, name: str) -> None:
    """No function is off by two units in the last place, but those of Bessel. (docs/accuracy.md has what was measured.)"""
    offs, arguments = errors(function, name, 2000, seed=11)
    assert len(offs) > 1200
    worst = int(np.argmax(offs))
    limit = FUNCTIONS[function].limit if name == "f64" else 2.0
    assert offs[worst] < limit, f"{function}({', '.join(repr(a[worst]) for a in arguments)})"


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", sorted(APPROXIMATE))
def test_errors_where_a_gpu_approximates(function: str, name: str) -> None:
    offs, _ = errors(function, name, 2000, seed=11)
    assert max(offs) < 2


HALF_LN2 = math.log(2) / 2
#: Where a function's reduction or formula changes.
SEAMS: dict[str, list[float]] = {
    "exp": [HALF_LN2, -HALF_LN2, 3 * HALF_LN2],
    "expm1": [HALF_LN2, -HALF_LN2, 3 * HALF_LN2, -17.3, -37.4],
    "log1p": [math.sqrt(2) - 1, math.sqrt(0.5) - 1, 1.0, 3.0],
    "log10": [math.sqrt(2), math.sqrt(0.5), 1.0, 10.0],
    "sin": [PI / 4, PI / 2, 3 * PI / 4, PI, 65536.0, 2.0**29],
    "cos": [PI / 4, PI / 2, 3 * PI / 4, PI, 65536.0, 2.0**29],
    "tan": [PI / 4, PI / 2, 3 * PI / 4, PI, 65536.0, 2.0**29],
    "sinpi": [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 1e6],
    "cospi": [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 1e6],
    "atan": [math.sqrt(2) - 1, 1.0, math.sqrt(2) + 1, 2.0**28, 2.0**57],
    "asin": [0.382683432, 0.70710678, 0.9238795],
    "acos": [0.382683432, 0.70710678, 0.9238795, -0.382683432, -0.70710678],
    "tanh": [HALF_LN2 / 2, 0.5, 9.0, 13.5, 20.0, 28.0],
    "sinh": [HALF_LN2, 3 * HALF_LN2, 87.0, 700.0],
    "asinh": [2.0**25, 2.0**54, 0.4142, 1.0],
    "acosh": [1.0 + 2.0**-10, 2.0**25, 2.0**54, 1.5],
    "atanh": [0.17157, 0.333, 0.9],
    "erf": [0.5, 4.0, 6.0, -0.5],
    "erfc": [0.5, -0.5, 9.2, 10.05, 26.5, 27.2],
    "erfcx": [0.5, -0.5, 2.0**14, 2.0**29, -9.0],
    "erfinv": [0.5, 0.9966, 0.9999, -0.5],
    "erfcinv": [0.5, 1.5, 0.01, 3.2e-16, 0.999, 1.001],
    "normcdfinv": [0.25, 0.75, 0.01, 1.6e-16, 0.499, 0.501],
    "tgamma": [1.0, 2.0, 4.0, 10.0, 0.5, 3.0, -0.5, -1.5, 30.0],
    "lgamma": [0.9375, 1.0625, 1.9375, 2.0625, 4.0, 10.0, 1.0, 2.0],
    "normcdf": [0.70710678, -0.70710678, -12.9, -37.5, 5.0],
    "cbrt": [1.0, 2.0, 4.0, 8.0, 27.0],
    "rcbrt": [1.0, 2.0, 4.0, 8.0, 27.0],
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", SEAMS)
def test_errors_at_seams(function: str, name: str) -> None:
    """On both sides of where a formula changes, float by float."""
    dtype = numpy_dtype(name)
    steps = np.arange(-40, 40)
    parts: list[Array] = []
    for seam in SEAMS[function]:
        pattern = np.array(seam, dtype).view(f"i{dtype.itemsize}")
        parts.append((pattern + steps.astype(pattern.dtype)).view(dtype))
    x = np.concatenate(parts)
    if function == "acosh":
        x = x[x >= 1]
    if function == "erfinv":
        x = x[np.abs(x) < 1]
    what = FUNCTIONS[function]
    [found] = computed({"r": what.text}, {"x": x}).values()
    with mpmath.workprec(160):
        exact = [what.exact(mpmath.mpf(v)) for v in x.astype(np.float64).tolist()]
        assert max(ulps(found, exact, name)) < 2


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", ["sin", "cos", "tan"])
def test_angles_nearest_to_quarter_turns(function: str, name: str) -> None:
    """For each exponent, multiples of π/2 as floats: what is left of the angle is as small as it gets.

    Continued fractions of 2^e / (π/2) find the numerators m for which m 2^e comes nearest (Muller, "Elementary Functions", chapter 9).
    """
    precision, _, highest = FORMATS[name]
    found: list[float] = []
    with mpmath.workprec(highest + 300):
        for exponent in range(0, highest - precision, 1 if name == "f32" else 7):
            ratio = mpmath.ldexp(1, exponent) / (mpmath.pi / 2)
            before, now, x = 1, 0, ratio
            while True:
                whole = int(mpmath.floor(x))
                before, now = now, whole * now + before
                x = 1 / (x - whole)
                # Denominators of the convergents: m times the ratio is nearly whole.
                if now >= 1 << precision:
                    break
                found.append(float(mpmath.ldexp(now, exponent)))
    dtype = numpy_dtype(name)
    x = np.array(found, dtype)
    x = x[np.isfinite(x)]
    what = FUNCTIONS[function]
    [result] = computed({"r": what.text}, {"x": x}).values()
    with mpmath.workprec(200):
        exact = [what.exact(mpmath.mpf(v)) for v in x.astype(np.float64).tolist()]
        assert min(abs(e) for e in exact) < mpmath.ldexp(1, -precision - 3), "so near they come"
        assert max(ulps(result, exact, name)) < 2


def test_every_exponent() -> None:
    """One number of each binade, denormals among them: nothing goes wrong far from 1."""
    for name in FLOATS:
        precision, lowest, highest = FORMATS[name]
        dtype = numpy_dtype(name)
        x = np.ldexp(np.array(1.37, dtype), np.arange(lowest - precision + 2, highest)).astype(dtype)
        for function in ("sin", "cos", "tan", "log10", "log1p", "atan", "asinh", "cbrt", "rcbrt", "sinh", "tanh", "erf", "expm1"):  # fmt: skip
            what = FUNCTIONS[function]
            [found] = computed({"r": what.text}, {"x": x}).values()
            with mpmath.workprec(160):
                exact = [what.exact(mpmath.mpf(v)) if abs(v) < 1e6 or function not in ("sinh", "expm1") else mpmath.mpf("1e400") for v in x.astype(np.float64).tolist()]  # fmt: skip
                assert max(ulps(found, exact, name)) < 2, function


SAME = [(0.0, 0.0), (-0.0, -0.0), (NAN, NAN)]
ENDS = [(INF, INF), (-INF, -INF)]
NOT_INFINITE = [(INF, NAN), (-INF, NAN)]
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "tl.sin": [*SAME, *NOT_INFINITE],
    "tl.cos": [(0.0, 1.0), (-0.0, 1.0), (NAN, NAN), *NOT_INFINITE],
    "tl.erf": [*SAME, (INF, 1.0), (-INF, -1.0), (7.0, 1.0), (-7.0, -1.0)],
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e30, INF), (-1e30, 0.0)],
    "exp2": [(0.0, 1.0), (3.0, 8.0), (-2.0, 0.25), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e30, INF), (-1e30, 0.0)],
    "exp10": [(0.0, 1.0), (-0.0, 1.0), (2.0, 100.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e30, INF), (-1e30, 0.0)],
    "expm1": [*SAME, (INF, INF), (-INF, -1.0), (-1e30, -1.0), (1e30, INF), (1e-30, 1e-30)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)],
    "log2": [(1.0, 0.0), (8.0, 3.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)],
    "log10": [(1.0, 0.0), (1000.0, 3.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)],
    "log1p": [*SAME, (-1.0, -INF), (INF, INF), (-2.0, NAN), (-INF, NAN), (1e-30, 1e-30)],
    "sin": [*SAME, *NOT_INFINITE],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (NAN, NAN), *NOT_INFINITE],
    "tan": [*SAME, *NOT_INFINITE],
    "sinpi": [*SAME, *NOT_INFINITE, (0.5, 1.0), (1.0, 0.0), (-1.0, -0.0), (1.5, -1.0), (-2.5, -1.0), (1e30, 0.0), (3.0, 0.0)],
    "cospi": [(0.0, 1.0), (-0.0, 1.0), (NAN, NAN), *NOT_INFINITE, (0.5, 0.0), (1.5, 0.0), (1.0, -1.0), (-1.0, -1.0), (2.0, 1.0), (1e30, 1.0)],
    "asin": [*SAME, (1.5, NAN), (-1.5, NAN), *NOT_INFINITE, (1.0, PI / 2), (-1.0, -PI / 2), (1e-30, 1e-30)],
    "acos": [(1.0, 0.0), (0.0, PI / 2), (-1.0, PI), (1.5, NAN), (-1.5, NAN), (NAN, NAN), *NOT_INFINITE],
    "atan": [*SAME, (INF, PI / 2), (-INF, -PI / 2), (1.0, PI / 4), (1e-30, 1e-30)],
    "sinh": [*SAME, *ENDS, (1e30, INF), (-1e30, -INF)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN), (1e30, INF)],
    "tanh": [*SAME, (INF, 1.0), (-INF, -1.0), (1e30, 1.0), (-1e30, -1.0), (1e-30, 1e-30)],
    "asinh": [*SAME, *ENDS],
    "acosh": [(1.0, 0.0), (INF, INF), (0.5, NAN), (-1.0, NAN), (-INF, NAN), (NAN, NAN)],
    "atanh": [*SAME, (1.0, INF), (-1.0, -INF), (1.5, NAN), (-2.0, NAN), *NOT_INFINITE],
    "erf": [*SAME, (INF, 1.0), (-INF, -1.0)],
    "erfc": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (NAN, NAN), (40.0, 0.0), (-40.0, 2.0)],
    "erfcx": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, INF), (NAN, NAN), (-1e30, INF)],
    "erfinv": [*SAME, (1.0, INF), (-1.0, -INF), (1.5, NAN), (-1.5, NAN), *NOT_INFINITE],
    "erfcinv": [(1.0, 0.0), (0.0, INF), (-0.0, INF), (2.0, -INF), (2.5, NAN), (-1.0, NAN), (NAN, NAN), *NOT_INFINITE],
    "normcdfinv": [(0.5, 0.0), (0.0, -INF), (1.0, INF), (1.5, NAN), (-1.0, NAN), (NAN, NAN), *NOT_INFINITE],
    "tgamma": [(1.0, 1.0), (2.0, 1.0), (5.0, 24.0), (0.0, INF), (-0.0, -INF), (-1.0, NAN), (-2.0, NAN), (-1e30, NAN), (INF, INF), (-INF, NAN), (NAN, NAN), (1e30, INF), (-200.5, -0.0), (-199.5, 0.0)],
    "lgamma": [(1.0, 0.0), (2.0, 0.0), (0.0, INF), (-0.0, INF), (-1.0, INF), (-1e30, INF), (INF, INF), (-INF, INF), (NAN, NAN)],
    "normcdf": [(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (1e30, 1.0), (-1e30, 0.0)],
    "cbrt": [*SAME, *ENDS, (8.0, 2.0), (-27.0, -3.0)],
    "rcbrt": [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, -0.0), (NAN, NAN), (8.0, 0.5)],
}  # fmt: skip


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", SPECIAL)
def test_special_values(function: str, name: str) -> None:
    x, wanted = (
        np.array(column).astype(numpy_dtype(name)) for column in zip(*SPECIAL[function], strict=True)
    )
    [found] = computed({"r": FUNCTIONS[function].text}, {"x": x}).values()
    assert_same_bits(found, wanted, function)


VALUES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, INF, -INF, NAN, 1e30, -1e30, 5e-39]
#: C's results for pairs of special numbers (C17, annex F), by NumPy.
OF_TWO: dict[str, Any] = {"pow": np.power, "atan2": np.arctan2, "hypot": np.hypot}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", OF_TWO)
def test_special_values_of_two(function: str, name: str) -> None:
    dtype = numpy_dtype(name)
    x, y = (np.array(v).astype(dtype) for v in zip(*[(a, b) for a in VALUES for b in VALUES], strict=True))
    [found] = computed({"r": FUNCTIONS[function].text}, {"x": x, "y": y}).values()
    with np.errstate(all="ignore"):
        wanted = OF_TWO[function](x.astype(np.float64), y.astype(np.float64)).astype(dtype)
    # What is exact, infinite or no number must be so; the rest is near.
    assert_same_bits(np.isnan(found), np.isnan(wanted), function)
    assert_same_bits(np.signbit(found[~np.isnan(found)]), np.signbit(wanted[~np.isnan(wanted)]), function)
    np.testing.assert_allclose(found, wanted, rtol=float(np.finfo(dtype).eps), atol=0)


@pytest.mark.parametrize("name", FLOATS)
def test_lgamma_of_negative_numbers(name: str) -> None:
    """Its zeros there are no numbers of the format: near them the error is small beside 1."""
    generator = np.random.default_rng(4)
    dtype = numpy_dtype(name)
    zeros = [-2.4570247382208006, -2.7476826467274127, -3.1435808883499799, -3.9552942848585979]
    around = [z + generator.uniform(-1e-3, 1e-3, 50) for z in zeros]
    x = np.concatenate([generator.uniform(-40, 0, 500), generator.uniform(-4000, 0, 200), *around]).astype(
        dtype
    )
    x = x[x != np.floor(x)]
    [found] = computed({"r": "libdevice.lgamma(x_v)"}, {"x": x}).values()
    eps = mpmath.mpf(float(np.finfo(dtype).eps))
    with mpmath.workprec(300):
        for argument, result in zip(
            x.astype(np.float64).tolist(), found.astype(np.float64).tolist(), strict=True
        ):
            exact = mpmath.log(abs(mpmath.pi / mpmath.sinpi(mpmath.mpf(argument)))) - mpmath.loggamma(
                1 - mpmath.mpf(argument)
            )
            assert abs(mpmath.mpf(result) - exact) <= eps * max(abs(exact), 1), argument


@pytest.mark.parametrize("name", FLOATS)
def test_whole_powers(name: str) -> None:
    """pow with an i32 exponent, of every size."""
    generator = np.random.default_rng(0)
    dtype = numpy_dtype(name)
    x = np.concatenate([generator.uniform(-3, 3, 500), 1 + generator.uniform(-1, 1, 500) * 2.0 ** -generator.integers(5, 20, 500)]).astype(dtype)  # fmt: skip
    n = np.concatenate([generator.integers(-40, 40, 500), generator.integers(-(2**20), 2**20, 500)]).astype(
        np.int32
    )
    special = [(0.0, 0), (0.0, 3), (-0.0, 3), (-0.0, -3), (0.0, -2), (INF, -1), (-INF, 3), (-INF, -3), (NAN, 0), (NAN, 2), (1.0, 2**31 - 1), (-1.0, 2**31 - 1), (-1.0, -(2**31))]  # fmt: skip
    wanted = [1.0, 0.0, -0.0, -INF, INF, 0.0, -INF, -0.0, 1.0, NAN, 1.0, -1.0, 1.0]
    x = np.concatenate([x, np.array([a for a, _ in special], dtype)])
    n = np.concatenate([n, np.array([b for _, b in special], np.int32)])
    [found] = computed({"r": "libdevice.pow(x_v, y_v)"}, {"x": x, "y": n}).values()
    with mpmath.workprec(160):
        exact = [
            mpmath.power(a, b)
            for a, b in zip(x[:1000].astype(np.float64).tolist(), n[:1000].tolist(), strict=True)
        ]
        assert max(ulps(found[:1000], exact, name)) < 2
    assert_same_bits(found[1000:], np.array(wanted, dtype), "pow")


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("sides", [3, 4])
def test_lengths_of_vectors(sides: int, name: str) -> None:
    generator = np.random.default_rng(sides)
    dtype = numpy_dtype(name)
    columns = [accuracy.anywhere(generator, 400, name)[:300] for _ in range(sides)]
    for c in columns:
        c[:150] = generator.standard_normal(150).astype(dtype)
        c[150:152] = [0.0, INF]
    columns[0][152:154] = [INF, NAN]
    columns[1][152:154] = [NAN, 1.0]
    inputs = dict(zip("xyzw", columns, strict=False))
    arguments = ", ".join(f"{v}_v" for v in inputs)
    found = computed(
        {"n": f"libdevice.norm{sides}d({arguments})", "r": f"libdevice.rnorm{sides}d({arguments})"}, inputs
    )
    rest = np.r_[0:150, 154:300]
    with mpmath.workprec(160):
        exact = [mpmath.sqrt(sum(mpmath.mpf(v) ** 2 for v in row)) for row in zip(*(c[rest].astype(np.float64).tolist() for c in columns), strict=True)]  # fmt: skip
        assert max(ulps(found["n"][rest], exact, name)) < 2
        assert max(ulps(found["r"][rest], [1 / e for e in exact], name)) < 2
    assert_same_bits(found["n"][150:154], np.array([0.0, INF, INF, NAN], dtype), "norm")
    assert_same_bits(found["r"][150:154], np.array([INF, 0.0, 0.0, NAN], dtype), "rnorm")


@pytest.mark.parametrize("name", FLOATS)
def test_symmetries(name: str) -> None:
    """Odd and even functions are so to the last bit, as are a function of the language and its twin of libdevice."""
    generator = np.random.default_rng(9)
    x = np.concatenate(
        [accuracy.anywhere(generator, 500, name), generator.uniform(-9, 9, 500).astype(numpy_dtype(name))]
    )
    odd = (
        "sin",
        "tan",
        "sinpi",
        "asin",
        "atan",
        "sinh",
        "tanh",
        "asinh",
        "atanh",
        "erf",
        "erfinv",
        "cbrt",
        "rcbrt",
    )
    even = ("cos", "cospi", "cosh")
    texts = {f: f"libdevice.{f}(x_v)" for f in (*odd, *even)} | {
        f"tl_{f}": f"tl.{f}(x_v)" for f in ("sin", "cos", "erf")
    }
    found, mirrored = computed(texts, {"x": x}), computed(texts, {"x": -x})
    for f in odd:
        assert_same_bits(mirrored[f], -found[f], f)
    for f in even:
        assert_same_bits(mirrored[f], found[f], f)
    for f in ("sin", "cos", "erf"):
        assert_same_bits(found[f"tl_{f}"], found[f], f)
