"""libdevice: what is exact (rounding, signs, exponents, remainders, integers, conversions, rounding modes), how it is found and what it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.support.accuracy import anywhere
from tests.support.elementwise import evaluate
from tests.support.run import Array, Typed, assert_same_bits, numpy_dtype, run

INF, NAN = float("inf"), float("nan")
PROLOGUE = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n\n"
FLOATS = ["f32", "f64"]


def evaluated(text: str, inputs: dict[str, Array | Typed], dtype: str) -> Array:
    """``text`` of libdevice, element by element."""
    return evaluate({"r": (f"libdevice.{text}", dtype)}, inputs, prologue=PROLOGUE)["r"]


def numbers(name: str, count: int = 500, seed: int = 0) -> Array:
    """Numbers of every magnitude, of ordinary ones, and the ones that are special."""
    generator = np.random.default_rng(seed)
    dtype = numpy_dtype(name)
    info = np.finfo(dtype)
    special = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, INF, -INF, NAN, info.max, -info.max, info.tiny, info.smallest_subnormal]  # fmt: skip
    plain = generator.standard_normal(count // 2) * 10.0 ** generator.integers(-3, 12, count // 2)
    halves = generator.integers(-50, 50, 40) * 0.5
    wide = anywhere(generator, count // 2, name)
    return np.concatenate([np.array(special, dtype), wide, plain.astype(dtype), halves.astype(dtype)])


def _logb(x: Array) -> Array:
    exponent = (np.frexp(x)[1] - 1).astype(x.dtype)
    return np.where(x == 0, -INF, np.where(np.isnan(x), NAN, np.where(np.isinf(x), INF, exponent)))


def _round(x: Array) -> Array:
    whole = np.floor(np.abs(x))
    return np.copysign(np.where(np.abs(x) - whole >= 0.5, whole + 1, whole), x)


EXACT: dict[str, Callable[[Array], Array]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": _round,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "logb": _logb,
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", EXACT)
def test_exact_functions(function: str, name: str) -> None:
    x = numbers(name)
    with np.errstate(all="ignore"):
        wanted = EXACT[function](x).astype(x.dtype)
    assert_same_bits(evaluated(f"{function}(x)", {"x": x}, name), wanted, function)


def _remainder(a: float, b: float) -> float:
    try:
        return math.remainder(a, b)
    except ValueError:
        return NAN


def _fdim(a: float, b: float) -> float:
    return NAN if math.isnan(a) or math.isnan(b) else 0.0 if a <= b else a - b


EXACT_OF_TWO: dict[str, Callable[[Array, Array], Array]] = {
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "fmod": np.fmod,
    "remainder": np.vectorize(_remainder, otypes=[np.float64]),
    "fdim": lambda x, y: np.where(np.isnan(x) | np.isnan(y), NAN, np.where(x <= y, 0, x - y)),
}


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("function", EXACT_OF_TWO)
def test_exact_functions_of_two(function: str, name: str) -> None:
    x = numbers(name)
    y = np.concatenate([np.random.default_rng(1).permutation(x)[:-40], x[-40:]])
    with np.errstate(all="ignore"):
        wanted = EXACT_OF_TWO[function](x, y).astype(x.dtype)
    assert_same_bits(evaluated(f"{function}(x, y)", {"x": x, "y": y}, name), wanted, function)


@pytest.mark.parametrize("name", FLOATS)
def test_remainders_of_near_neighbours(name: str) -> None:
    """Quotients around halves, where the nearest whole number is a matter of the last bit."""
    generator = np.random.default_rng(3)
    y = generator.uniform(0.1, 4, 400).astype(numpy_dtype(name))
    x = (y * (generator.integers(-9, 9, 400) * 0.5).astype(y.dtype)).astype(y.dtype)
    wanted = np.array([_remainder(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)], y.dtype)
    assert_same_bits(evaluated("remainder(x, y)", {"x": x, "y": y}, name), wanted, "remainder")


@pytest.mark.parametrize("name", FLOATS)
def test_predicates(name: str) -> None:
    x = numbers(name)
    finite = "finitef" if name == "f32" else "isfinited"
    texts = {
        "nan": ("libdevice.isnan(x)", "i1"),
        "inf": ("libdevice.isinf(x)", "i1"),
        "finite": (f"libdevice.{finite}(x)", "i1"),
        "sign": ("libdevice.signbit(x)", "i32"),
        "exponent": ("libdevice.ilogb(x)", "i32"),
    }
    found = evaluate(texts, {"x": x}, prologue=PROLOGUE)
    np.testing.assert_array_equal(found["nan"], np.isnan(x))
    np.testing.assert_array_equal(found["inf"], np.isinf(x))
    np.testing.assert_array_equal(found["finite"], np.isfinite(x))
    np.testing.assert_array_equal(found["sign"] != 0, np.signbit(x))
    lowest, highest = -(2**31), 2**31 - 1
    exponent = np.where((x == 0) | np.isnan(x), lowest, np.where(np.isinf(x), highest, np.frexp(x)[1] - 1))
    np.testing.assert_array_equal(found["exponent"], exponent)


@pytest.mark.parametrize("function", ["ldexp", "scalbn"])
@pytest.mark.parametrize("name", FLOATS)
def test_ldexp_rounds_once(function: str, name: str) -> None:
    x = numbers(name, 1000)
    generator = np.random.default_rng(2)
    n = generator.integers(-2300, 2300, len(x)).astype(np.int32)
    n[::3] = generator.integers(-160, 160, len(n[::3]))
    n[:4] = [2**31 - 1, -(2**31), 5, 0]
    wanted = np.empty_like(x)
    for k, (a, b) in enumerate(zip(x.tolist(), n.tolist(), strict=True)):
        try:
            # Python's rounds once, to f64; to f32 by way of an exact f64, where that is one.
            wanted[k] = math.ldexp(a, max(min(b, 5000), -5000))
        except OverflowError:
            wanted[k] = math.copysign(INF, a)
    with np.errstate(all="ignore"):
        assert_same_bits(evaluated(f"{function}(x, n)", {"x": x, "n": n}, name), wanted, function)


# Integers -----------------------------------------------------------------------------------------------------


def integers(name: str, seed: int = 0) -> Array:
    generator = np.random.default_rng(seed)
    dtype = numpy_dtype(name)
    wide = generator.integers(0, 256, (200, dtype.itemsize), np.uint8).view(dtype).reshape(-1)
    few = (1 << generator.integers(0, 8 * dtype.itemsize, 50).astype(object)).astype(f"u{dtype.itemsize}")
    info = np.iinfo(dtype)
    return np.concatenate([wide, few.astype(dtype), np.array([0, 1, info.max, info.min], dtype)])


def _signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def _lowest_bit(v: int) -> int:
    return (v & -v).bit_length()


@pytest.mark.parametrize("name", ["i32", "i64"])
def test_bits_of_integers(name: str) -> None:
    x = integers(name)
    width = 8 * x.dtype.itemsize
    patterns = [v & ((1 << width) - 1) for v in x.tolist()]
    texts = {n: (f"libdevice.{n}(x)", "i32") for n in ("clz", "popc", "ffs")}
    found = evaluate(
        texts | {"brev": ("libdevice.brev(x)", name), "abs": ("libdevice.abs(x)", name)},
        {"x": x},
        prologue=PROLOGUE,
    )
    assert found["clz"].tolist() == [width - v.bit_length() for v in patterns]
    assert found["popc"].tolist() == [v.bit_count() for v in patterns]
    assert found["ffs"].tolist() == [_lowest_bit(v) for v in patterns]
    assert found["brev"].tolist() == [_signed(int(f"{v:0{width}b}"[::-1], 2), width) for v in patterns]
    assert found["abs"].tolist() == [_signed(abs(v), width) for v in x.tolist()]


@pytest.mark.parametrize("name", ["i32", "u32", "i64", "u64"])
def test_upper_halves(name: str) -> None:
    x, y = integers(name), integers(name, 1)[::-1].copy()
    width = 8 * x.dtype.itemsize
    wanted = np.array([(a * b) >> width for a, b in zip(x.tolist(), y.tolist(), strict=True)], x.dtype)
    np.testing.assert_array_equal(evaluated("mulhi(x, y)", {"x": x, "y": y}, name), wanted)


@pytest.mark.parametrize("name", ["i32", "u32"])
def test_averages_and_differences(name: str) -> None:
    x, y, z = integers(name), integers(name, 1)[::-1].copy(), integers("u32", 2)
    texts = {f: (f"libdevice.{f}(x, y)", name) for f in ("hadd", "rhadd", "mul24")}
    found = evaluate(
        texts | {"sad": ("libdevice.sad(x, y, z)", name)}, {"x": x, "y": y, "z": z}, prologue=PROLOGUE
    )

    def cut(v: int) -> int:
        return _signed(v, 32) if name == "i32" else v & 0xFFFFFFFF

    def low(v: int) -> int:
        return _signed(v, 24) if name == "i32" else v & 0xFFFFFF

    rows = list(zip(x.tolist(), y.tolist(), z.tolist(), strict=True))
    assert found["hadd"].tolist() == [(a + b) >> 1 for a, b, _ in rows]
    assert found["rhadd"].tolist() == [(a + b + 1) >> 1 for a, b, _ in rows]
    assert found["mul24"].tolist() == [cut(low(a) * low(b)) for a, b, _ in rows]
    assert found["sad"].tolist() == [cut(abs(a - b) + c) for a, b, c in rows]


def test_chosen_bytes() -> None:
    x, y, s = integers("i32"), integers("i32", 1), integers("i32", 2)
    found = evaluated("byte_perm(x, y, s)", {"x": x, "y": y, "s": s}, "i32")
    for a, b, choice, result in zip(x.tolist(), y.tolist(), s.tolist(), found.tolist(), strict=True):
        stored = (a & 0xFFFFFFFF).to_bytes(4, "little") + (b & 0xFFFFFFFF).to_bytes(4, "little")
        chosen: list[int] = []
        for i in range(4):
            nibble = (choice >> (4 * i)) & 15
            byte = stored[nibble & 7]
            chosen.append((0xFF if byte & 0x80 else 0) if nibble & 8 else byte)
        assert result == int.from_bytes(bytes(chosen), "little", signed=True)


def test_bit_casts() -> None:
    x, y, n, m = numbers("f32", 200), numbers("f64", 200), integers("i32")[:200], integers("i64")[:200]
    x, y, count = x[:200], y[:200], 200
    texts = {
        "a": ("libdevice.float_as_int(x)", "i32"),
        "b": ("libdevice.float_as_uint(x)", "i32"),
        "c": ("libdevice.double_as_longlong(y)", "i64"),
        "d": ("libdevice.int_as_float(n)", "f32"),
        "e": ("libdevice.uint_as_float(n.to(tl.uint32))", "f32"),
        "f": ("libdevice.longlong_as_double(m)", "f64"),
        "g": ("libdevice.double2loint(y)", "i32"),
        "h": ("libdevice.double2hiint(y)", "i32"),
        "whole": ("libdevice.hiloint2double(libdevice.double2hiint(y), libdevice.double2loint(y))", "f64"),
    }
    found = evaluate(texts, {"x": x, "y": y, "n": n, "m": m}, prologue=PROLOGUE)
    assert len(found["a"]) == count
    np.testing.assert_array_equal(found["a"], x.view(np.int32))
    np.testing.assert_array_equal(found["b"], x.view(np.int32))
    np.testing.assert_array_equal(found["c"], y.view(np.int64))
    assert_same_bits(found["d"], n.view(np.float32), "int_as_float")
    assert_same_bits(found["e"], n.view(np.float32), "uint_as_float")
    assert_same_bits(found["f"], m.view(np.float64), "longlong_as_double")
    np.testing.assert_array_equal(found["g"], y.view(np.int32)[::2])
    np.testing.assert_array_equal(found["h"], y.view(np.int32)[1::2])
    assert_same_bits(found["whole"], y, "hiloint2double")


# Roundings ----------------------------------------------------------------------------------------------------

MODES = ["rn", "rz", "rd", "ru"]


def rounded(value: Fraction, mode: str, name: str) -> float:
    """An exact number that is not 0, rounded to a format."""
    precision, lowest, highest = {"f32": (24, -126, 127), "f64": (53, -1022, 1023)}[name]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, lowest) - precision + 1)
    scaled = value / unit
    whole = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}[mode](scaled)
    largest = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** highest
    result, sign = whole * unit, 1 if value > 0 else -1
    if abs(result) > largest:
        outward = mode == "rn" or ((mode == "ru") == (value > 0) and mode != "rz")
        return sign * (INF if outward else float(largest))
    return sign * float(abs(result))


def _finite(name: str, seed: int) -> Array:
    x = np.random.default_rng(seed).permutation(numbers(name, 600, seed))
    return x[np.isfinite(x)][:400]


OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_arithmetic_rounds_as_it_says(operation: str, name: str, mode: str) -> None:
    x, y = _finite(name, 1), _finite(name, 2)
    # Products and quotients of numbers as they come mostly leave the range: half of them are of ordinary size.
    y[::2] = np.random.default_rng(5).uniform(-3, 3, len(y[::2])).astype(y.dtype)
    x[::4] = np.random.default_rng(6).uniform(-3, 3, len(x[::4])).astype(x.dtype)
    found = evaluated(f"{operation}_{mode}(x, y)", {"x": x, "y": y}, name)
    checked = 0
    for a, b, result in zip(x.tolist(), y.tolist(), found.tolist(), strict=True):
        if operation == "div" and b == 0:
            assert math.isnan(result) if a == 0 else math.isinf(result)
            continue
        exact = OPERATIONS[operation](Fraction(a), Fraction(b))
        if exact:
            assert result == rounded(exact, mode, name), f"{a!r} {operation} {b!r}"
            checked += 1
        else:
            assert result == 0
    assert checked > 300


@pytest.mark.parametrize("name", FLOATS)
def test_zeros_and_infinities_under_directed_rounding(name: str) -> None:
    values = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]
    x, y = (
        np.array(v, numpy_dtype(name)) for v in zip(*[(a, b) for a in values for b in values], strict=True)
    )
    with np.errstate(all="ignore"):
        for text, wanted in (("add", x + y), ("sub", x - y), ("mul", x * y), ("div", x / y)):
            for mode in ("rz", "ru", "rd"):
                expected = wanted
                if mode == "rd" and text in ("add", "sub"):
                    other = y if text == "add" else -y
                    cancels = (wanted == 0) & ~(
                        (x == 0) & (other == 0) & (np.signbit(x) == np.signbit(other))
                    )
                    expected = np.where(cancels, np.array(-0.0, x.dtype), wanted)
                found = evaluated(f"{text}_{mode}(x, y)", {"x": x, "y": y}, name)
                assert_same_bits(found, expected, f"{text}_{mode}")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLOATS)
def test_roots_and_reciprocals_round_as_they_say(name: str, mode: str) -> None:
    x = _finite(name, 3)
    found = evaluated(f"rcp_{mode}(x)", {"x": x}, name)
    for a, result in zip(x.tolist(), found.tolist(), strict=True):
        if a:
            assert result == rounded(1 / Fraction(a), mode, name), a
    found = evaluated(f"sqrt_{mode}(x)", {"x": np.abs(x)}, name)
    for a, result in zip(np.abs(x).tolist(), found, strict=True):
        low, high = (Fraction(float(np.nextafter(result, np.array(t, x.dtype)))) for t in (0, INF))
        middle, square = Fraction(float(result)), Fraction(a)
        if mode == "rn":
            assert ((low + middle) / 2) ** 2 <= square <= ((middle + high) / 2) ** 2
        elif mode == "ru":
            assert square <= middle**2
            assert a == 0 or low**2 < square
        else:
            assert middle**2 <= square < high**2


def test_reciprocal_roots_are_correctly_rounded() -> None:
    """Two binades float by float in part, where each pattern of results occurs, and numbers from anywhere."""
    generator = np.random.default_rng(12)
    dense = generator.integers(0x3F800000, 0x40800000, 4000).astype(np.int32).view(np.float32)
    wide = np.abs(anywhere(generator, 500, "f32"))
    x = np.concatenate([dense, wide[wide > 0]])
    found = evaluated("rsqrt_rn(x)", {"x": x}, "f32")
    for a, result in zip(x.tolist(), found, strict=True):
        low, high = (Fraction(float(np.nextafter(result, np.float32(t)))) for t in (0, INF))
        middle = Fraction(float(result))
        assert ((low + middle) / 2) ** 2 * Fraction(a) <= 1 <= ((middle + high) / 2) ** 2 * Fraction(a)
    x, wanted = (np.array(v, np.float32) for v in ([0.0, -0.0, INF, -1.0, NAN], [INF, -INF, 0.0, NAN, NAN]))
    assert_same_bits(evaluated("rsqrt_rn(x)", {"x": x}, "f32"), wanted, "rsqrt_rn")


@pytest.mark.parametrize("mode", MODES)
def test_conversions_to_integers(mode: str) -> None:
    ways = {
        "int": ("i32", 31, True),
        "uint": ("i32", 32, False),
        "ll": ("i64", 63, True),
        "ull": ("i64", 64, False),
    }
    whole = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}[mode]
    for source, name in (("float", "f32"), ("double", "f64")):
        x = numbers(name, 300)
        texts = {to: (f"libdevice.{source}2{to}_{mode}(x)", dtype) for to, (dtype, _, _) in ways.items()}
        found = evaluate(texts, {"x": x}, prologue=PROLOGUE)
        for to, (dtype, bits, signed) in ways.items():
            lowest, highest = (-(1 << bits) if signed else 0), (1 << bits) - 1
            width = int(dtype[1:])
            for value, result in zip(x.tolist(), found[to].tolist(), strict=True):
                if math.isnan(value):
                    wanted = 0
                elif math.isinf(value):
                    wanted = highest if value > 0 else lowest
                else:
                    wanted = min(max(whole(Fraction(value)), lowest), highest)
                assert result == _signed(wanted, width), f"{source}2{to}_{mode}({value!r})"


@pytest.mark.parametrize("name", FLOATS)
def test_rounding_to_integers(name: str) -> None:
    """To the nearest, halves to the even one or away from zero; what is too large saturates, NaN gives 0."""
    x = numbers(name, 300)
    texts = {f: (f"libdevice.{f}(x)", "i64") for f in ("llrint", "llround")}
    found = evaluate(texts, {"x": x}, prologue=PROLOGUE)
    for function, way in (("llrint", np.rint), ("llround", _round)):
        for value, whole, result in zip(x.tolist(), way(x).tolist(), found[function].tolist(), strict=True):
            if math.isnan(value):
                wanted = 0
            elif math.isinf(value):
                wanted = 2**63 - 1 if value > 0 else -(2**63)
            else:
                wanted = min(max(int(whole), -(2**63)), 2**63 - 1)
            assert result == wanted, f"{function}({value!r})"


@pytest.mark.parametrize("mode", MODES)
def test_conversions_to_floats(mode: str) -> None:
    ways = [("int", "i32", "float"), ("uint", "u32", "float"), ("ll", "i64", "float"), ("ull", "u64", "float"), ("ll", "i64", "double"), ("ull", "u64", "double")]  # fmt: skip
    ways += [("int", "i32", "double"), ("uint", "u32", "double")] if mode == "rn" else []
    for source, dtype, to in ways:
        n = integers(dtype)
        name = "f32" if to == "float" else "f64"
        found = evaluated(f"{source}2{to}_{mode}(n)", {"n": n}, name)
        for value, result in zip(n.tolist(), found.tolist(), strict=True):
            assert result == (rounded(Fraction(value), mode, name) if value else 0.0), (
                f"{source}2{to}_{mode}({value})"
            )
    x = numbers("f64", 600)
    found = evaluated(f"double2float_{mode}(x)", {"x": x}, "f32")
    for value, result in zip(x.tolist(), found.tolist(), strict=True):
        if math.isnan(value):
            assert math.isnan(result)
        elif math.isinf(value) or value == 0:
            assert result == value
        else:
            assert result == rounded(Fraction(value), mode, "f32"), value


@pytest.mark.parametrize("name", FLOATS)
def test_fused_multiply_add(name: str) -> None:
    x, y, z = _finite(name, 7), _finite(name, 8), _finite(name, 9)
    y = np.random.default_rng(5).uniform(-3, 3, len(y)).astype(y.dtype)
    for text in ("fma", "fma_rn"):
        found = evaluated(f"{text}(x, y, z)", {"x": x, "y": y, "z": z}, name)
        for a, b, c, result in zip(x.tolist(), y.tolist(), z.tolist(), found.tolist(), strict=True):
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            assert result == (rounded(exact, "rn", name) if exact else 0.0)


def _triples(name: str) -> tuple[Array, Array, Array]:
    """Where fused steps are hard: everything cancels but the last bits, one part is nothing beside the other, all is denormal, or overflows."""
    rng = np.random.default_rng(3)
    dtype = numpy_dtype(name)
    info = np.finfo(dtype)
    x, y, z = _finite(name, 7), _finite(name, 8), _finite(name, 9)
    few = rng.uniform(-3, 3, 300).astype(dtype)
    many = (few * 10.0 ** rng.integers(-36, 36, 300)).astype(dtype)
    with np.errstate(all="ignore"):
        near = -(few * few[::-1]) * (1 + rng.integers(-2, 3, 300) * info.eps)
        tiny = (rng.integers(-40, 40, 300) * info.smallest_subnormal).astype(dtype)
        root = np.sqrt(info.tiny).astype(dtype)
        parts = [
            (x, rng.uniform(-3, 3, len(x)), z),
            (x, y, z),
            (few, few[::-1], near),
            (few, few[::-1], near * (2.0 ** rng.integers(-80, 80, 300))),
            (many, many[::-1], -(many * many[::-1])),
            (few * root, few[::-1] * root, tiny),
            (few * root, few[::-1] * root * info.eps, tiny),
            (tiny, few, -tiny),
            (few * root, few[::-1] * root * info.eps * info.eps, few),
            (few, np.ones(300), many),
            (few * np.sqrt(info.max), few[::-1] * np.sqrt(info.max), few * info.max / 3),
            (rng.integers(-4, 5, 300), rng.integers(-4, 5, 300), rng.integers(-9, 10, 300)),
        ]
        columns = [np.concatenate([np.asarray(p[i]).astype(dtype) for p in parts]) for i in range(3)]
    keep = np.isfinite(columns[0]) & np.isfinite(columns[1]) & np.isfinite(columns[2])
    a, b, c = (column[keep] for column in columns)
    return a, b, c


@pytest.mark.parametrize("mode", ["rz", "rd", "ru"])
@pytest.mark.parametrize("name", FLOATS)
def test_fused_multiply_add_rounds_as_it_says(name: str, mode: str) -> None:
    x, y, z = _triples(name)
    found = evaluated(f"fma_{mode}(x, y, z)", {"x": x, "y": y, "z": z}, name)
    for a, b, c, result in zip(x.tolist(), y.tolist(), z.tolist(), found.tolist(), strict=True):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        wanted = rounded(exact, mode, name) if exact else 0.0
        assert result == wanted, f"{a!r} * {b!r} + {c!r}: {result!r}, not {wanted!r}"


@pytest.mark.parametrize("name", FLOATS)
def test_zeros_and_infinities_of_fused_multiply_add(name: str) -> None:
    values = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN]
    x, y, z = (
        np.array(v, numpy_dtype(name))
        for v in zip(*[(a, b, c) for a in values for b in values for c in values], strict=True)
    )
    with np.errstate(all="ignore"):
        nearest = x * y + z
        same = ((x == 0) | (y == 0)) & (z == 0) & (np.signbit(x) ^ np.signbit(y) == np.signbit(z))
    down = np.where((nearest == 0) & ~same, np.array(-0.0, x.dtype), nearest)
    for mode, wanted in (("rz", nearest), ("ru", nearest), ("rd", down)):
        found = evaluated(f"fma_{mode}(x, y, z)", {"x": x, "y": y, "z": z}, name)
        assert_same_bits(found, wanted, f"fma_{mode}")


def test_reciprocals_of_upper_halves() -> None:
    """20 bits, the lower half 0, denormals nothing: as ``rcp.approx.ftz.f64`` says."""
    x = numbers("f64", 2000)
    found = evaluated("rcp64h(x)", {"x": x}, "f64")
    assert not (found[~np.isnan(x)].view(np.int64) & 0xFFFFFFFF).any()
    info = np.finfo(np.float64)
    with np.errstate(all="ignore"):
        flushed = np.where(np.abs(x) < info.tiny, np.copysign(0, x), x)
        wanted = 1 / flushed
        wanted = np.where(np.abs(wanted) < info.tiny, np.copysign(0, wanted), wanted)
    plain = np.isfinite(wanted) & (wanted != 0)
    off = np.abs(found[plain] / wanted[plain] - 1)
    # At the edge of the normal range either side of it will do.
    assert (off[np.abs(wanted[plain]) > 4 * info.tiny] < 2.0**-19).all()
    np.testing.assert_array_equal(found[~plain], wanted[~plain])
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(x)]), np.signbit(x[~np.isnan(x)]))


def test_saturation() -> None:
    x = numbers("f32")
    wanted = np.where(np.isnan(x), np.float32(0), np.clip(x, np.float32(0), np.float32(1)))
    found = evaluated("saturatef(x)", {"x": x}, "f32")
    np.testing.assert_array_equal(found, wanted)


def test_fast_functions() -> None:
    """On the host the accurate ones; on a GPU its approximate instructions, within what is said of those."""
    generator = np.random.default_rng(4)
    x = generator.uniform(0.1, 3, 1000).astype(np.float32)
    y = generator.uniform(-3, 3, 1000).astype(np.float32)
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    truth: dict[str, tuple[str, Any]] = {
        "sin": ("fast_sinf(y)", np.sin(wide_y)),
        "cos": ("fast_cosf(y)", np.cos(wide_y)),
        "tan": ("fast_tanf(x * 0.5)", np.tan((x * np.float32(0.5)).astype(np.float64))),
        "exp": ("fast_expf(y)", np.exp(wide_y)),
        "exp10": ("fast_exp10f(y)", 10.0**wide_y),
        "log": ("fast_logf(x)", np.log(wide_x)),
        "log2": ("fast_log2f(x)", np.log2(wide_x)),
        "log10": ("fast_log10f(x)", np.log10(wide_x)),
        "pow": ("fast_powf(x, y)", wide_x**wide_y),
        "div": ("fast_dividef(y, x)", wide_y / wide_x),
    }
    found = evaluate(
        {n: (f"libdevice.{text}", "f32") for n, (text, _) in truth.items()},
        {"x": x, "y": y},
        prologue=PROLOGUE,
    )
    for name, (_, wanted) in truth.items():
        np.testing.assert_allclose(found[name], wanted, rtol=3e-6, atol=1e-6, err_msg=name)


# How it is found ----------------------------------------------------------------------------------------------

IMPORTS = {
    "extra": "from triton.language.extra import libdevice",
    "cuda": "from triton.language.extra.cuda import libdevice",
    "as": "import triton.language.extra.libdevice as libdevice",
    "ours": "from teenybuild.language.extra import libdevice",
    "attribute": "libdevice = tl.extra.libdevice",
    "cuda_attribute": "libdevice = tl.extra.cuda.libdevice",
    "whole": "import triton.language.extra.cuda.libdevice as libdevice",
}
TANH = """
@triton.jit
def kernel(x, o):
    i = tl.arange(0, 64)
    tl.store(o + i, {call}(tl.load(x + i)))
"""


def _tanh(head: str, call: str) -> None:
    source = f"import triton\nimport triton.language as tl\n{head}\n\n{TANH.replace('{call}', call)}"
    x = np.linspace(-3, 3, 64).astype(np.float32)
    found = run(source, {"x": x, "o": np.zeros_like(x)})["o"]
    np.testing.assert_allclose(found, np.tanh(x.astype(np.float64)), rtol=3e-7)


@pytest.mark.parametrize("way", IMPORTS)
def test_ways_to_import_it(way: str) -> None:
    _tanh(IMPORTS[way], "libdevice.tanh")


VERSIONS = """
from packaging.version import Version

if Version(triton.__version__) >= Version("3.0.0"):
    try:
        from triton.language.extra.libdevice import tanh
    except ModuleNotFoundError:
        from triton.language.extra.cuda.libdevice import tanh
else:
    from triton.language.math import tanh
"""
FALLBACK = """
try:
    from triton.language.math import tanh
except ImportError:
    from triton.language.extra.libdevice import tanh
"""


@pytest.mark.parametrize("head", [VERSIONS, FALLBACK], ids=["versions", "fallback"])
def test_imports_for_several_versions_of_triton(head: str) -> None:
    """A way that imports what the language has not is for another version."""
    _tanh(head, "tanh")


SCALARS = """
@triton.jit
def kernel(o, x, n):
    tl.store(o, libdevice.pow(x, n))
    tl.store(o + 1, libdevice.pow(x, 3.0))
    tile = tl.full([4, 1], x, tl.float32)
    row = tl.full([1, 4], 2.0, tl.float32)
    both = libdevice.hypot(tile, row)
    tl.static_assert(both.shape == [4, 4])
    tl.store(o + 2 + tl.arange(0, 4)[:, None] * 4 + tl.arange(0, 4)[None, :], libdevice.hypot(both, x))
"""


def test_scalars_and_shapes_that_broadcast() -> None:
    found = run(
        PROLOGUE + SCALARS, {"o": np.zeros(18, np.float32), "x": Typed(1.5, "f32"), "n": Typed(-2, "i32")}
    )["o"]
    wanted = [1.5**-2, 1.5**3, *[math.sqrt(1.5**2 + 4 + 1.5**2)] * 16]
    np.testing.assert_allclose(found, wanted, rtol=2e-7)
