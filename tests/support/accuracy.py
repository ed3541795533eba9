"""How far functions are from the truth: measured in units of the last place, against mpmath."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from .run import Array, numpy_dtype, run

#: (bits of precision, exponent of the smallest normal number, of the largest).
FORMATS = {"f32": (24, -126, 127), "f64": (53, -1022, 1023)}

PREAMBLE = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n\n"
BLOCK = 256


def computed(expressions: Mapping[str, str], inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Expressions of tiles, element by element, over arrays of any length; the results have the dtype of the first input."""
    first = next(iter(inputs.values()))
    n = len(first)
    arguments: dict[str, object] = dict(inputs)
    arguments |= {f"out_{name}": np.zeros(n, first.dtype) for name in expressions}
    lines = ["i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"]
    lines += [f"{name}_v = tl.load({name} + i, mask=i < n, other=1)" for name in inputs]
    for name, text in expressions.items():
        lines.append(f"tl.store(out_{name} + i, {text}, mask=i < n)")
    body = "\n".join(f"    {line}" for line in lines)
    source = f"{PREAMBLE}@triton.jit\ndef kernel({', '.join(arguments)}, n, BLOCK: tl.constexpr):\n{body}\n"
    found = run(source, arguments | {"n": n}, {"BLOCK": BLOCK}, (-(-n // BLOCK),))
    return {name: found[f"out_{name}"] for name in expressions}


def ulps(found: Array, exact: list[Any], name: str) -> list[float]:
    """Errors in units of the last place of the exact result; an overflow must give infinity or the largest number."""
    precision, lowest, _ = FORMATS[name]
    largest = mpmath.mpf(float(np.finfo(found.dtype).max))
    limit = largest * (1 + mpmath.ldexp(1, -precision - 1))
    offs: list[float] = []
    for result, wanted in zip(found.astype(np.float64).tolist(), exact, strict=True):
        if abs(wanted) > limit:
            offs.append(0.0 if abs(result) >= largest and (result > 0) == (wanted > 0) else float("inf"))
            continue
        if not np.isfinite(result):
            near = abs(wanted) > largest * (1 - mpmath.ldexp(4, -precision))
            offs.append(1.0 if near and (result > 0) == (wanted > 0) else float("inf"))
            continue
        exponent = lowest
        if wanted:
            exponent = max(mpmath.frexp(wanted)[1] - 1, lowest)
        unit = mpmath.ldexp(1, exponent - precision + 1)
        offs.append(float(abs(mpmath.mpf(result) - wanted) / unit))
    return offs


Draw = Callable[[np.random.Generator, int, str], tuple[Array, ...]]


@dataclass(frozen=True)
class Sample:
    """Random arguments of a format: ``draw(generator, count, format)``, and in words where they lie."""

    words: str
    draw: Draw


@dataclass(frozen=True)
class Measured:
    """A function: how kernels call it on ``x_v`` (and ``y_v``), what it is, where to look at it, and by how much it may be off."""

    text: str
    exact: Callable[..., Any]
    sample: Sample
    limit: float = 2.0


def anywhere(generator: np.random.Generator, count: int, name: str) -> Array:
    """Finite numbers of every magnitude and both signs, denormals among them."""
    size = numpy_dtype(name).itemsize
    x = generator.integers(0, 256, (2 * count, size), np.uint8).view(numpy_dtype(name)).reshape(-1)
    return x[np.isfinite(x)][:count]


def mixed(*intervals: tuple[float, float], positive: bool = False, inside: float | None = None) -> Sample:
    """A quarter of all magnitudes (positive, or of those within ±``inside``), the rest over intervals, some of it near their ends."""

    def draw(generator: np.random.Generator, count: int, name: str) -> tuple[Array, ...]:
        dtype = numpy_dtype(name)
        wide = anywhere(generator, count // 4, name)
        if positive:
            wide = np.abs(wide)
        if inside is not None:
            wide = wide[np.abs(wide) <= inside]
        parts = [wide]
        for low, high in intervals:
            parts.append(generator.uniform(low, high, count // (2 * len(intervals))).astype(dtype))
            # Near the ends, by every power of two.
            for end, towards in ((low, 1.0), (high, -1.0)):
                step = 2.0 ** generator.uniform(-FORMATS[name][0] - 2, 0, count // (8 * len(intervals)))
                parts.append((end + towards * step * (high - low)).astype(dtype))
        return (np.concatenate(parts),)

    sign = "positive, " if positive else ""
    limit = "" if inside is None else f" up to {inside:g}"
    spans = ", ".join(f"[{low:g}, {high:g}]" for low, high in intervals)
    return Sample(f"{sign}all magnitudes{limit}; {spans}", draw)


def pairs(x: Sample, y: Sample) -> Sample:
    """Two arguments, each from its own sample, in random company."""

    def draw(generator: np.random.Generator, count: int, name: str) -> tuple[Array, ...]:
        (a,), (b,) = x.draw(generator, count, name), y.draw(generator, count, name)
        n = min(len(a), len(b))
        return generator.permutation(a)[:n], generator.permutation(b)[:n]

    return Sample(x.words if x is y else f"x: {x.words}; y: {y.words}", draw)


def _norm(x: Any, y: Any) -> Any:
    return mpmath.sqrt(x * x + y * y)


def _normcdf(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def _erfcx(x: Any) -> Any:
    if x > 1000:
        # The asymptotic series (DLMF 7.12.1): e^(x^2) is no number here.
        terms = 1 - 1 / (2 * x**2) + 3 / (4 * x**4) - 15 / (8 * x**6) + 105 / (16 * x**8)
        return terms / (x * mpmath.sqrt(mpmath.pi))
    return mpmath.exp(x * x) * mpmath.erfc(x)


def _erfcinv(q: Any) -> Any:
    """Newton's method on log erfc, from erfc(y) = e^(-y^2) / (y sqrt(π)) or from mpmath's erfinv."""
    if q > 0.25:
        return mpmath.erfinv(1 - q)
    y = mpmath.sqrt(-mpmath.log(q))
    for _ in range(100):
        value = mpmath.erfc(y)
        step = (mpmath.log(value) - mpmath.log(q)) * value * mpmath.sqrt(mpmath.pi) * mpmath.exp(y * y) / 2
        y += step
        if abs(step) < mpmath.ldexp(y, -100):
            break
    return y


def _by_magnitude(most: float) -> Draw:
    """Between 0 and ``most``: half of it evenly, half with exponents evenly."""

    def draw(generator: np.random.Generator, count: int, name: str) -> tuple[Array, ...]:
        evenly = generator.uniform(0, most, count // 2)
        small = 2.0 ** generator.uniform(FORMATS[name][1] - FORMATS[name][0], 0, count // 2)
        x = np.concatenate([evenly, small]).astype(numpy_dtype(name))
        return (x[(x > 0) & (x < most)],)

    return draw


def _cbrt(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


_TRIG = mixed((-8.0, 8.0), (-1e5, 1e5))
_AROUND_0 = mixed((-1.0, 1.0), (-100.0, 100.0))
_UNIT = mixed((-1.0, 1.0), inside=1.0)
_POSITIVE = mixed((0.0, 4.0), positive=True)


def _exp_range(base: float) -> Sample:
    """To where the power of ``base`` leaves the format, on both sides."""

    def draw(generator: np.random.Generator, count: int, name: str) -> tuple[Array, ...]:
        precision, lowest, highest = FORMATS[name]
        edge = np.log(2) / np.log(base)
        ends = ((lowest - precision) * edge, (highest + 1) * edge)
        return mixed(ends, (-1.0, 1.0), inside=1000.0).draw(generator, count, name)

    return Sample("all magnitudes up to 1000; from underflow to overflow; [-1, 1]", draw)


#: Where the Bessel functions are waves, only the absolute error is small (tests/language/test_bessel.py).
_BELOW_8 = mixed((-8.0, 8.0), (-2.5, 2.5), inside=7.99)
_POSITIVE_BELOW_8 = mixed((0.0, 8.0), (0.0, 2.5), positive=True, inside=7.99)
#: What NVIDIA's table of errors allows them, in f64.
_BESSEL, _MODIFIED_BESSEL = 7.0, 6.0


def _unary(
    name: str, exact: Callable[[Any], Any], sample: Sample, limit: float = 2.0
) -> tuple[str, Measured]:
    return name, Measured(f"libdevice.{name}(x_v)", exact, sample, limit)


#: Every function that is measured.
FUNCTIONS: dict[str, Measured] = dict(
    [
        ("tl.sin", Measured("tl.sin(x_v)", mpmath.sin, _TRIG)),
        ("tl.cos", Measured("tl.cos(x_v)", mpmath.cos, _TRIG)),
        ("tl.erf", Measured("tl.erf(x_v)", mpmath.erf, mixed((-6.0, 6.0), (-0.6, 0.6)))),
        _unary("exp", mpmath.exp, _exp_range(np.e)),
        _unary("exp2", lambda x: mpmath.power(2, x), _exp_range(2)),
        _unary("exp10", lambda x: mpmath.power(10, x), _exp_range(10)),
        _unary("expm1", mpmath.expm1, _exp_range(np.e)),
        _unary("log", mpmath.log, _POSITIVE),
        _unary("log2", lambda x: mpmath.log(x, 2), _POSITIVE),
        _unary("log10", lambda x: mpmath.log(x, 10), _POSITIVE),
        _unary("log1p", mpmath.log1p, mixed((-1.0, 2.0), (-0.4, 0.4), positive=True)),
        _unary("sin", mpmath.sin, _TRIG),
        _unary("cos", mpmath.cos, _TRIG),
        _unary("tan", mpmath.tan, _TRIG),
        _unary("sinpi", mpmath.sinpi, _AROUND_0),
        _unary("cospi", mpmath.cospi, _AROUND_0),
        _unary("asin", mpmath.asin, _UNIT),
        _unary("acos", mpmath.acos, _UNIT),
        _unary("atan", mpmath.atan, _AROUND_0),
        _unary("sinh", mpmath.sinh, _exp_range(np.e)),
        _unary("cosh", mpmath.cosh, _exp_range(np.e)),
        _unary("tanh", mpmath.tanh, mixed((-1.0, 1.0), (-22.0, 22.0))),
        _unary("asinh", mpmath.asinh, _AROUND_0),
        _unary("acosh", mpmath.acosh, mixed((1.0, 2.0), (1.0, 1e4), positive=True)),
        _unary("atanh", mpmath.atanh, _UNIT),
        _unary("erf", mpmath.erf, mixed((-6.0, 6.0), (-0.6, 0.6))),
        _unary("erfc", mpmath.erfc, mixed((-6.0, 28.0), (-1.0, 6.0), inside=30.0)),
        _unary("erfcx", _erfcx, mixed((-9.0, 28.0), (-1.0, 6.0), positive=True)),
        _unary("erfinv", mpmath.erfinv, _UNIT),
        _unary("erfcinv", _erfcinv, Sample("(0, 2), half of it by magnitude", _by_magnitude(2.0))),
        _unary("normcdfinv", lambda p: -mpmath.sqrt(2) * _erfcinv(2 * p), Sample("(0, 1), half of it by magnitude", _by_magnitude(1.0))),
        _unary("tgamma", mpmath.gamma, mixed((0.0, 180.0), (-20.0, 20.0), (-180.0, 0.0), inside=180.0)),
        _unary("lgamma", lambda x: mpmath.log(mpmath.gamma(x)) if x < 2 else mpmath.loggamma(x), mixed((0.0, 4.0), (0.0, 200.0), (0.9, 2.1), positive=True)),
        _unary("normcdf", _normcdf, mixed((-39.0, 9.0), (-3.0, 3.0), inside=40.0)),
        _unary("cbrt", _cbrt, _AROUND_0),
        _unary("rcbrt", lambda x: 1 / _cbrt(x), _AROUND_0),
        _unary("sqrt", mpmath.sqrt, _POSITIVE),
        _unary("rsqrt", lambda x: 1 / mpmath.sqrt(x), _POSITIVE),
        _unary("j0", lambda x: mpmath.besselj(0, x), _BELOW_8, _BESSEL),
        _unary("j1", lambda x: mpmath.besselj(1, x), _BELOW_8, _BESSEL),
        _unary("y0", lambda x: mpmath.bessely(0, x), _POSITIVE_BELOW_8, _BESSEL),
        _unary("y1", lambda x: mpmath.bessely(1, x), _POSITIVE_BELOW_8, _BESSEL),
        _unary("cyl_bessel_i0", lambda x: mpmath.besseli(0, x), mixed((-8.0, 8.0), (-90.0, 90.0), (-714.0, 714.0), inside=800.0), _MODIFIED_BESSEL),
        _unary("cyl_bessel_i1", lambda x: mpmath.besseli(1, x), mixed((-8.0, 8.0), (-90.0, 90.0), (-714.0, 714.0), inside=800.0), _MODIFIED_BESSEL),
        ("pow", Measured("libdevice.pow(x_v, y_v)", mpmath.power, pairs(_POSITIVE, mixed((-20.0, 20.0), (-200.0, 200.0))))),
        ("atan2", Measured("libdevice.atan2(x_v, y_v)", mpmath.atan2, pairs(_AROUND_0, _AROUND_0))),
        ("hypot", Measured("libdevice.hypot(x_v, y_v)", _norm, pairs(_AROUND_0, _AROUND_0))),
        ("rhypot", Measured("libdevice.rhypot(x_v, y_v)", lambda x, y: 1 / _norm(x, y), pairs(_AROUND_0, _AROUND_0))),
    ]
)  # fmt: skip


def errors(function: str, name: str, count: int, seed: int = 0) -> tuple[list[float], tuple[Array, ...]]:
    """Errors of a function in a format at about ``count`` random arguments, and the arguments."""
    what = FUNCTIONS[function]
    generator = np.random.default_rng([seed, *function.encode()])
    arguments = what.sample.draw(generator, count, name)
    keep = np.ones(len(arguments[0]), bool)
    if function in ("y0", "y1"):
        keep &= (arguments[0] > 0) & (arguments[0] < 8)
    if function in ("j0", "j1"):
        keep &= np.abs(arguments[0]) < 8
    if function in ("rcbrt", "log", "log2", "log10", "rsqrt", "rhypot", "pow", "atan2", "lgamma", "tgamma"):
        keep &= arguments[0] != 0
    if function == "tgamma":
        keep &= (arguments[0] > 0) | (arguments[0] != np.floor(arguments[0]))
    if function == "log1p":
        keep &= arguments[0] > -1
    if function in ("erfinv", "atanh"):
        keep &= np.abs(arguments[0]) < 1
    if function in ("asin", "acos"):
        keep &= np.abs(arguments[0]) <= 1
    if function == "acosh":
        keep &= arguments[0] >= 1
    arguments = tuple(a[keep] for a in arguments)
    [found] = computed({"r": what.text}, dict(zip("xy", arguments, strict=False))).values()
    with mpmath.workprec(200 if function != "erfinv" else 120):
        exact = [
            what.exact(*(mpmath.mpf(v) for v in row))
            for row in zip(*(a.astype(np.float64).tolist() for a in arguments), strict=True)
        ]
        return ulps(found, exact, name), arguments
