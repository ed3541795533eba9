"""The Bessel functions: far out, near their zeros, of other orders, and at the ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.support.accuracy import computed, ulps
from tests.support.elementwise import evaluate
from tests.support.run import Array, numpy_dtype

INF, NAN = float("inf"), float("nan")
FLOATS = ["f32", "f64"]
PROLOGUE = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n\n"

EXACT: dict[str, Callable[[Any], Any]] = {
    "j0": lambda x: mpmath.besselj(0, x),
    "j1": lambda x: mpmath.besselj(1, x),
    "y0": lambda x: mpmath.bessely(0, x),
    "y1": lambda x: mpmath.bessely(1, x),
}


def unit(name: str) -> float:
    """By how much values around 1 may be off: half a unit of f32, some of f64."""
    return 6e-8 if name == "f32" else 2e-15


def exact_of(function: Callable[..., Any], *arguments: Array) -> list[Any]:
    with mpmath.workprec(200):
        rows = zip(*(a.tolist() for a in arguments), strict=True)
        return [function(*(int(v) if isinstance(v, int) else mpmath.mpf(v) for v in row)) for row in rows]


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", EXACT)
def test_waves(function: str, name: str) -> None:
    """From 8 to arguments that are far beyond their own last digit's worth of turns."""
    rng = np.random.default_rng(1)
    far = 10.0 ** rng.uniform(0.9, 30, 200)
    x = np.concatenate([rng.uniform(7.5, 60, 300), far]).astype(numpy_dtype(name))
    [found] = computed({"r": f"libdevice.{function}(x_v)"}, {"x": x}).values()
    for at, got, wanted in zip(x.tolist(), found.tolist(), exact_of(EXACT[function], x), strict=True):
        assert abs(got - wanted) < unit(name), at


ZEROS = {
    "j0": lambda k: mpmath.besseljzero(0, k),
    "j1": lambda k: mpmath.besseljzero(1, k),
    "y0": lambda k: mpmath.besselyzero(0, k),
    "y1": lambda k: mpmath.besselyzero(1, k),
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", EXACT)
def test_zeros_below_8_keep_their_digits(function: str, name: str) -> None:
    with mpmath.workprec(120):
        zeros = [z for k in (1, 2, 3) if (z := ZEROS[function](k)) < 8]
    steps = np.arange(-30, 30)
    parts: list[Array] = []
    for zero in zeros:
        at = np.array(float(zero), numpy_dtype(name))
        bits = at.view(f"i{at.itemsize}")
        parts.append((bits + steps.astype(bits.dtype)).view(at.dtype))
        parts.append((float(zero) * (1 + np.geomspace(1e-6, 0.3, 20))).astype(at.dtype))
    x = np.concatenate(parts)
    x = x[x < 8]
    [found] = computed({"r": f"libdevice.{function}(x_v)"}, {"x": x}).values()
    assert max(ulps(found, exact_of(EXACT[function], x.astype(np.float64)), name)) < (
        7 if name == "f64" else 2
    )


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", ["jn", "yn"])
def test_other_orders(function: str, name: str) -> None:
    """Orders below x and above it, side by side in one tile; what is tiny or huge is right in its digits."""
    rng = np.random.default_rng(2)
    count = 256
    n = rng.integers(0, 129, count).astype(np.int32)
    n[::4] = rng.integers(0, 6, len(n[::4]))
    x = np.concatenate([rng.uniform(0, 8, 64), rng.uniform(8, 300, 128), n[192:] * rng.uniform(0.8, 1.2, 64)])
    x = x.astype(numpy_dtype(name))
    x[x == 0] = 1
    if function == "jn":
        x[1::2] *= -1
    exact = exact_of(mpmath.besselj if function == "jn" else mpmath.bessely, n, x.astype(np.float64))
    found = evaluate({"r": (f"libdevice.{function}(n, x)", name)}, {"n": n, "x": x}, prologue=PROLOGUE)["r"]
    largest = float(np.finfo(x.dtype).max)
    for i, (got, wanted) in enumerate(zip(found.tolist(), exact, strict=True)):
        if abs(wanted) > largest:
            assert got == (INF if wanted > 0 else -INF)
        else:
            assert abs(got - wanted) < unit(name) * max(1, abs(wanted)) * max(1, int(n[i]) / 8), (n[i], x[i])
    small = np.abs(x) < n
    relative = [
        abs(g - w) / abs(w)
        for g, w, s in zip(found.tolist(), exact, small, strict=True)
        if s and 1e-30 < abs(w) < 1e30
    ]
    assert len(relative) > 20
    assert max(relative) < (1e-12 if name == "f64" else 2e-7)


@pytest.mark.parametrize("name", FLOATS)
def test_ends(name: str) -> None:
    x = np.array([0.0, -0.0, INF, -INF, NAN, -1.0, 1e-30], numpy_dtype(name))
    texts = {
        f: (f"libdevice.{f}(x)", name) for f in ("j0", "j1", "y0", "y1", "cyl_bessel_i0", "cyl_bessel_i1")
    }
    found = {f: a.tolist() for f, a in evaluate(texts, {"x": x}, prologue=PROLOGUE).items()}
    tiny = float(x[-1])
    below = {f: float(EXACT[f](1)) for f in ("j0", "j1")}
    wanted = {
        "j0": [1, 1, 0, 0, NAN, below["j0"], 1],
        "j1": [0.0, -0.0, 0.0, -0.0, NAN, -below["j1"], tiny / 2],
        "y0": [-INF, -INF, 0, NAN, NAN, NAN, float(mpmath.bessely(0, tiny))],
        "y1": [-INF, -INF, 0, NAN, NAN, NAN, float(mpmath.bessely(1, tiny))],
        "cyl_bessel_i0": [1, 1, INF, INF, NAN, float(mpmath.besseli(0, 1)), 1],
        "cyl_bessel_i1": [0.0, -0.0, INF, -INF, NAN, -float(mpmath.besseli(1, 1)), tiny / 2],
    }
    for function, values in wanted.items():
        np.testing.assert_allclose(
            found[function],
            np.array(values, x.dtype),
            rtol=3e-7 if name == "f32" else 2e-15,
            err_msg=function,
        )
        assert np.signbit(found[function][:2]).tolist() == np.signbit(values[:2]).tolist(), function


@pytest.mark.parametrize("name", FLOATS)
def test_ends_of_other_orders(name: str) -> None:
    n = np.array([-1, -1, 0, 1, 2, 3, 5, 2, 3, 2, 2, 40, 2, 1000], np.int32)
    x = np.array([1, 0, 0, 0, 0, -0.0, INF, 1e-20, 1e-20, NAN, -1, 1e-3, -INF, 3.0], numpy_dtype(name))
    found = evaluate(
        {"j": ("libdevice.jn(n, x)", name), "y": ("libdevice.yn(n, x)", name)},
        {"n": n, "x": x},
        prologue=PROLOGUE,
    )
    small = float(x[7])
    j = [
        NAN,
        NAN,
        1,
        0,
        0,
        -0.0,
        0,
        small * small / 8,
        small**3 / 48,
        NAN,
        float(mpmath.besselj(2, 1)),
        float(mpmath.besselj(40, float(x[11]))),
        0,
        0,
    ]
    y = [
        NAN,
        NAN,
        -INF,
        -INF,
        -INF,
        -INF,
        0,
        -4 / (np.pi * small * small),
        float(mpmath.bessely(3, small)),
        NAN,
        NAN,
        float(mpmath.bessely(40, float(x[11]))),
        NAN,
        -INF,
    ]
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(
            found["j"], np.array(j).astype(x.dtype), rtol=1e-6 if name == "f32" else 1e-13
        )
        np.testing.assert_allclose(
            found["y"], np.array(y).astype(x.dtype), rtol=1e-6 if name == "f32" else 1e-13
        )
