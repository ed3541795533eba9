"""exp, exp2, log, log2, sqrt, rsqrt of f32 and f64: their errors in units of the last place, against mpmath."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.support.elementwise import evaluate
from tests.support.run import Array, assert_same_bits, numpy_dtype

INF, NAN = float("inf"), float("nan")

#: By function: how mpmath computes it, and the most it may be off. (0.5: correctly rounded.)
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "exp": (mpmath.exp, 2),
    "exp2": (lambda x: mpmath.power(2, x), 2),
    "log": (mpmath.log, 2),
    "log2": (lambda x: mpmath.log(x, 2), 2),
    "sqrt": (mpmath.sqrt, 0.5),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), 2),
}
FORMATS = {"f32": (24, -126, 127), "f64": (53, -1022, 1023)}


def ulp(value: Any, name: str) -> Any:
    """The distance of neighbouring numbers of a format around a positive real."""
    precision, lowest, _ = FORMATS[name]
    exponent = max(int(mpmath.floor(mpmath.log(value, 2))), lowest) if value else lowest
    return mpmath.ldexp(1, exponent - precision + 1)


def errors(function: str, name: str, x: Array) -> list[float]:
    """Errors in ULP of a function at finite arguments whose results are finite; an overflow must round to infinity."""
    compute, _ = FUNCTIONS[function]
    [found] = evaluate({"r": (f"tl.{function}(x)", name)}, {"x": x}).values()
    largest = mpmath.mpf(float(np.finfo(x.dtype).max))
    offs: list[float] = []
    with mpmath.workprec(160):
        for argument, result in zip(
            x.astype(np.float64).tolist(), found.astype(np.float64).tolist(), strict=True
        ):
            exact = compute(mpmath.mpf(argument))
            if abs(exact) > largest:
                assert result in (INF, float(largest)), f"{function}({argument!r}) is {result!r}"
                continue
            assert np.isfinite(result), f"{function}({argument!r}) is {result!r}"
            offs.append(float(abs(mpmath.mpf(result) - exact) / ulp(abs(exact), name)))
    return offs


def arguments(function: str, name: str, count: int) -> Array:
    """Random arguments over the whole domain, around 1 and 0, and at the function's own edges."""
    precision, lowest, highest = FORMATS[name]
    generator = np.random.default_rng(len(function))
    dtype = numpy_dtype(name)
    if function in ("exp", "exp2"):
        scale = np.log(2.0) if function == "exp" else 1.0
        wide = generator.uniform((lowest - precision) * scale, (highest + 1) * scale, count)
        near = generator.standard_normal(count // 4)
        tiny = generator.standard_normal(count // 8) * 2.0 ** generator.integers(lowest, 0, count // 8)
        halves = np.arange(-40, 40) * 0.5 * scale
        return np.concatenate([wide, near, tiny, halves]).astype(dtype)
    size = dtype.itemsize
    positive = generator.integers(0, 256, (2 * count, size), np.uint8).view(f"u{size}").reshape(
        -1
    ) >> np.array(1, f"u{size}")
    wide = positive.view(dtype)
    wide = wide[np.isfinite(wide) & (wide > 0)][:count]
    near = 1 + generator.standard_normal(count // 4) * 2.0 ** generator.integers(-20, -1, count // 4)
    powers = 2.0 ** np.arange(lowest - precision + 2, highest)
    denormal = 2.0**lowest * generator.uniform(0, 1, count // 8)
    around = np.concatenate([np.nextafter(np.array(1, dtype), np.array(t, dtype))[None] for t in (0, 2)])
    found = np.concatenate(
        [wide.astype(np.float64), near, powers, denormal, around.astype(np.float64)]
    ).astype(dtype)
    return found[found > 0]


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_errors(function: str, name: str) -> None:
    offs = errors(function, name, arguments(function, name, 3000))
    assert len(offs) > 2000
    assert max(offs) <= FUNCTIONS[function][1] * 1.0000001


SPECIAL: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e30, INF), (-1e30, 0.0)],
    "exp2": [
        (0.0, 1),
        (-0.0, 1),
        (1.0, 2),
        (-1.0, 0.5),
        (10.0, 1024),
        (-3.0, 0.125),
        (INF, INF),
        (-INF, 0.0),
        (NAN, NAN),
        (1e30, INF),
        (-1e30, 0.0),
    ],
    "log": [
        (1.0, 0.0),
        (0.0, -INF),
        (-0.0, -INF),
        (INF, INF),
        (-1.0, NAN),
        (-INF, NAN),
        (NAN, NAN),
        (-1e-40, NAN),
    ],
    "log2": [
        (1.0, 0.0),
        (2.0, 1),
        (0.125, -3),
        (1024.0, 10),
        (0.0, -INF),
        (-0.0, -INF),
        (INF, INF),
        (-1.0, NAN),
        (-INF, NAN),
        (NAN, NAN),
    ],
    "sqrt": [(0.0, 0.0), (-0.0, -0.0), (1.0, 1), (4.0, 2), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)],
    "rsqrt": [
        (1.0, 1),
        (4.0, 0.5),
        (0.0, INF),
        (-0.0, -INF),
        (INF, 0.0),
        (-1.0, NAN),
        (-INF, NAN),
        (NAN, NAN),
    ],
}


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("function", SPECIAL)
def test_special_values(function: str, name: str) -> None:
    dtype = numpy_dtype(name)
    x, wanted = (np.array(column).astype(dtype) for column in zip(*SPECIAL[function], strict=True))
    [found] = evaluate({"r": (f"tl.{function}(x)", name)}, {"x": x}).values()
    assert_same_bits(found, wanted, function)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_whole_powers_are_exact(name: str) -> None:
    """2^n for every n the format has, and back."""
    precision, lowest, highest = FORMATS[name]
    n = np.arange(lowest - precision + 1, highest + 1)
    x = n.astype(numpy_dtype(name))
    powers = np.ldexp(np.ones(len(n), x.dtype), n)
    found = evaluate({"up": ("tl.exp2(x)", name), "down": ("tl.log2(p)", name)}, {"x": x, "p": powers})
    assert_same_bits(found["up"], powers, "exp2")
    assert_same_bits(found["down"], x, "log2")


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_sqrt_is_correctly_rounded(name: str) -> None:
    """By exact squares: no neighbour is nearer."""
    x = arguments("sqrt", name, 1000)
    [found] = evaluate({"r": ("tl.sqrt(x)", name)}, {"x": x}).values()
    for argument, root in zip(x, found, strict=True):
        low, high = (Fraction(float(np.nextafter(root, np.array(to, x.dtype)))) for to in (0, INF))
        middle = Fraction(float(root))
        assert ((low + middle) / 2) ** 2 <= Fraction(float(argument)) <= ((high + middle) / 2) ** 2


def test_functions_are_monotonic_near_their_seams() -> None:
    """Where the argument's reduction changes interval, results do not step back by more than their error."""
    x = np.float32(np.log(2) / 2) * (1 + np.arange(-500, 500, dtype=np.float32) * np.float32(2.0**-23))
    found = evaluate({"exp": ("tl.exp(x)", "f32"), "log": ("tl.log(x + 1.0)", "f32")}, {"x": x})
    for array in found.values():
        assert (np.diff(array.astype(np.float64)) >= -2 * np.spacing(np.abs(array[:-1]))).all()


def test_every_exponent_of_f32() -> None:
    """log and rsqrt at one number of each binade: nothing goes wrong far from 1."""
    x = np.ldexp(np.float32(1.37), np.arange(-148, 127)).astype(np.float32)
    for function in ("log", "log2", "rsqrt"):
        assert max(errors(function, "f32", x)) <= 2
