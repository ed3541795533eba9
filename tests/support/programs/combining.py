"""Many elements that become one, or run up to each; order; counts; products; random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce as fold
from typing import Any

import numpy as np

from tests.language import oracle, test_dot_scaled, test_sorting
from tests.language.test_random_numbers import philox4x32
from tests.language.test_reductions import EXTREMA, SUMS
from tests.support.run import Array, numpy_dtype

from .registry import operation
from .writer import FP8, PROGRAMS, Shape, Value, Writer, language

BITS = ("i1", *oracle.INTEGERS)


def _axis(w: Writer, x: Value, *, everything: bool = True) -> tuple[int | None, bool, Shape]:
    """An axis or none, whether it is kept, and the shape of what is left."""
    axis = w.choose([*range(len(x.shape)), *([None] * everything)])
    keep = w.maybe() and axis is not None
    if axis is None:
        return None, False, ()
    return axis, keep, (*x.shape[:axis], *([1] * keep), *x.shape[axis + 1 :])


def _written(axis: int | None, keep: bool) -> str:
    return f", axis={axis}{', keep_dims=True' if keep else ''}" if axis is not None else ""


def along(a: Array, axis: int | None, combine: Callable[[Array, Array], Array]) -> Array:
    """All elements along an axis, combined two at a time."""
    rows = a.reshape(-1) if axis is None else np.moveaxis(a, axis, 0)
    return np.asarray(fold(combine, [np.asarray(r) for r in rows]))


def _wide(dtype: str, table: dict[str, str]) -> str:
    return table.get(dtype, dtype)


def _bounded(w: Writer, x: Value, shape: Shape) -> Value:
    """Where all elements become one scalar, the interpreter fails on sums that its type does not hold."""
    if shape or not w.rules.tame or x.dtype not in oracle.INTEGERS:
        return x
    return w.emit("{0} & 7", x.dtype, x.shape, x, compute=lambda a: a & np.array(7, a.dtype))


@operation
def sums(w: Writer) -> None:
    """``tl.sum``: exact of integers; of floats NumPy knows the sum, and how far another order may be from it."""
    x = w.tile()
    axis, keep, shape = _axis(w, x)
    x = _bounded(w, x, shape)
    dtype = _wide(x.dtype, SUMS)
    text = w.choose(["tl.sum({0}%s)", "{0}.sum(%s)"])
    written = _written(axis, keep)
    text = text % (written if text.startswith("tl") else written.removeprefix(", "))
    if x.dtype not in oracle.FLOATS:
        w.emit(
            text,
            dtype,
            shape,
            x,
            compute=lambda a: along(
                oracle.cast(a, dtype), axis, lambda p, q: oracle.binary("+", p, q, dtype)
            ),
        )
        return
    w.emit(text, dtype, shape, x, compute=lambda a: _sum(a, axis, a.dtype), near=True)


def _error(dtype: Any) -> float:
    return {2: 2.0**-7, 4: 2.0**-23, 8: 2.0**-52}[np.dtype(dtype).itemsize]


def _sum(a: Array, axis: int | None, dtype: Any) -> tuple[Array, Array]:
    wide = a.astype(np.float64)
    size = np.abs(wide).sum(axis)
    error = size * _error(dtype) * max(8, math.prod(a.shape))
    return wide.sum(axis), np.where(np.isfinite(size) & (size < float(_largest(dtype))), error, np.inf)


def _largest(dtype: Any) -> float:
    return {2: 6e4, 4: 1e38, 8: 1e307}[np.dtype(dtype).itemsize]


@operation
def extremes(w: Writer) -> None:
    """``tl.max`` and ``tl.min``: NaN loses, and -0.0 is below 0.0."""
    x = w.tile(oracle.INTEGERS if w.rules.tame else oracle.ALL)
    axis, keep, shape = _axis(w, x)
    dtype = _wide(x.dtype, EXTREMA)
    name = w.choose(["max", "min"])
    op = {"max": "maximum", "min": "minimum"}[name]
    w.emit(
        f"tl.{name}({{0}}{_written(axis, keep)})",
        dtype,
        shape,
        x,
        compute=lambda a: along(oracle.cast(a, dtype), axis, lambda p, q: oracle.binary(op, p, q, dtype)),
    )


def _numbers(w: Writer, x: Value) -> Value:
    """Without NaN and -0.0, whose place among others is not Triton's to say."""
    if x.dtype not in oracle.FLOATS:
        return x
    return w.emit(
        "tl.where({0} == {0}, {0} + 0.0, 0.0).to({0}.dtype)",
        x.dtype,
        x.shape,
        x,
        compute=lambda a: np.where(a == a, a + np.zeros((), a.dtype), np.zeros((), a.dtype)),
    )


@operation
def places(w: Writer) -> None:
    """Where the extremes are: the first of equal ones."""
    x = _numbers(w, w.tile((*oracle.INTEGERS, *oracle.FLOATS)))
    axis, keep, shape = _axis(w, x, everything=False)
    assert axis is not None
    name = w.choose(["max", "min"])

    def where(a: Array) -> Array:
        exact = a if a.dtype.kind in "iu" else a.astype(np.float64)
        return (np.argmax if name == "max" else np.argmin)(exact, axis)

    if w.maybe():
        w.emit(f"tl.arg{name}({{0}}{_written(axis, keep)})", "i32", shape, x, compute=where)
        return
    dtype = {"bf16": "f32"}.get(x.dtype, x.dtype)
    both = (Value(w.fresh(), dtype, shape), Value(w.fresh(), "i32", shape))

    def compute(a: Array) -> tuple[Array, Array]:
        at = where(a)
        return np.take_along_axis(a, np.expand_dims(at, axis), axis), at

    w.give(f"tl.{name}({{0}}{_written(axis, keep)}, return_indices=True)", both, x, compute=compute)


@operation
def bits(w: Writer) -> None:
    """``tl.xor_sum`` and ``tl.reduce_or``."""
    x = w.tile(oracle.INTEGERS)
    axis, keep, shape = _axis(w, x)
    name, op = w.choose([("xor_sum", np.bitwise_xor), ("reduce_or", np.bitwise_or)])
    written = _written(axis, keep) or (", axis=None" if name == "reduce_or" else "")
    w.emit(f"tl.{name}({{0}}{written})", x.dtype, shape, x, compute=lambda a: along(a, axis, op))


#: Functions of two values that commute, and of two pairs; and of one that does not.
PRODUCT = "def NAME(a, b):\n    return a * b"
SMALLER = "def NAME(a, b):\n    return tl.where(a < b, a, b)"
PAIRS = "def NAME(a, b, c, d):\n    return a + c, tl.maximum(b, d)"
LATEST = "def NAME(a, b):\n    return tl.where(b >= 0, b, a)"
RECURRENCE = "def NAME(a, b, c, d):\n    return a * c, b * c + d"


@operation
def own_reductions(w: Writer) -> None:
    """``tl.reduce`` by a function of the kernel's own, of a tile or of two."""
    x = w.tile(("i32", "i64", "u32"))
    axis, keep, shape = _axis(w, x)
    x = _bounded(w, x, shape)
    kind = w.choose(
        [
            *([PRODUCT] * bool(shape or not w.rules.tame)),
            SMALLER,
            *([PAIRS] * (axis is not None or not w.rules.tame)),
        ]
    )
    name, kept = w.helper(kind), ", keep_dims=True" if keep else ""
    if kind != PAIRS:
        combine = np.multiply if kind == PRODUCT else np.minimum
        w.emit(
            f"tl.reduce({{0}}, {axis}, {name}{kept})",
            x.dtype,
            shape,
            x,
            compute=lambda a: along(a, axis, combine),
        )
        return
    y = w.value((x.dtype,), x.shape)
    both = (Value(w.fresh(), x.dtype, shape), Value(w.fresh(), x.dtype, shape))
    w.give(
        f"tl.reduce(({{0}}, {{1}}), {axis}, {name}{kept})",
        both,
        x,
        y,
        compute=lambda a, b: (along(a, axis, np.add), along(b, axis, np.maximum)),
    )


def running(arrays: tuple[Array, ...], axis: int, reverse: bool, combine: Callable[..., Any]) -> list[Array]:
    """A scan, one element after the other."""
    rows = [np.moveaxis(np.flip(a, axis) if reverse else a, axis, 0).copy() for a in arrays]
    for n in range(1, len(rows[0])):
        found = combine(*(r[n - 1] for r in rows), *(r[n] for r in rows))
        for r, f in zip(rows, found, strict=True):
            r[n] = f
    return [np.flip(np.moveaxis(r, 0, axis), axis) if reverse else np.moveaxis(r, 0, axis) for r in rows]


@operation
def running_sums(w: Writer) -> None:
    """``tl.cumsum`` and ``tl.cumprod``."""
    name = w.choose(["cumsum", "cumprod"])
    x = w.tile(oracle.INTEGERS if name == "cumprod" else (*BITS, "f32", "f64", "f16"))
    axis, reverse = w.chance(len(x.shape)), w.maybe()
    dtype = x.dtype if name == "cumprod" else _wide(x.dtype, SUMS)
    text = w.choose([f"tl.{name}({{0}}, {axis}, reverse={reverse})", f"{{0}}.{name}({axis}, {reverse})"])
    if x.dtype in oracle.FLOATS:

        def near(a: Array) -> tuple[Array, Array]:
            wide = a.astype(np.float64)
            (found,) = running((wide,), axis, reverse, lambda p, q: (p + q,))
            (size,) = running((np.abs(wide),), axis, reverse, lambda p, q: (p + q,))
            return found, np.where(size < _largest(a.dtype), size * _error(a.dtype) * 64, np.inf)

        w.emit(text, dtype, x.shape, x, compute=near, near=True)
        return
    combine = np.multiply if name == "cumprod" else np.add
    w.emit(
        text,
        dtype,
        x.shape,
        x,
        compute=lambda a: running((oracle.cast(a, dtype),), axis, reverse, lambda p, q: (combine(p, q),))[0],
    )


@operation
def own_scans(w: Writer) -> None:
    """``tl.associative_scan`` of a tile, or of two by a function that does not commute."""
    x = w.tile(("i32", "i64"))
    axis, reverse = w.chance(len(x.shape)), w.maybe()
    if w.maybe():
        name = w.helper(LATEST)
        text = w.choose(
            [
                f"tl.associative_scan({{0}}, {axis}, {name}, reverse={reverse})",
                f"{{0}}.associative_scan({axis}, {name}, {reverse})",
            ]
        )
        w.emit(
            text,
            x.dtype,
            x.shape,
            x,
            compute=lambda a: running((a,), axis, reverse, lambda p, q: (np.where(q >= 0, q, p),))[0],
        )
        return
    y, name = w.value((x.dtype,), x.shape), w.helper(RECURRENCE)
    both = (Value(w.fresh(), x.dtype, x.shape), Value(w.fresh(), x.dtype, x.shape))
    w.give(
        f"tl.associative_scan(({{0}}, {{1}}), {axis}, {name}, reverse={reverse})", both, x, y,
        compute=lambda a, b: running((a, b), axis, reverse, lambda a, b, c, d: (a * c, b * c + d)),
    )  # fmt: skip


@operation
def orders(w: Writer) -> None:
    """``tl.sort``, ``tl.topk`` and ``tl.bitonic_merge``, along the last axis."""
    x = w.value(oracle.INTEGERS if w.rules.tame else oracle.ALL, fits=lambda s: bool(s) and 2 <= s[-1] <= 64)
    kind = w.choose(["sort", "topk", "merge"])
    down = kind == "topk" or w.maybe()

    def ordered(a: Array) -> Array:
        found = test_sorting.in_order(a, a.ndim - 1)
        return np.flip(found, -1) if down else found

    if kind == "topk":
        k = w.choose(
            [k for k in (1, 2, 4, 8) if k < x.shape[-1] and k * math.prod(x.shape[:-1]) > 1] or [x.shape[-1]]
        )
        dtype = test_sorting.NARROW.get(x.dtype, x.dtype) if k < x.shape[-1] else x.dtype
        w.emit(
            f"tl.topk({{0}}, {k})",
            dtype,
            (*x.shape[:-1], k),
            x,
            compute=lambda a: oracle.cast(ordered(a)[..., :k], dtype),
        )
    elif kind == "sort":
        w.emit(f"tl.sort({{0}}, descending={down})", x.dtype, x.shape, x, compute=ordered)
    else:
        up = w.emit(
            "tl.sort({0}, descending=False)",
            x.dtype,
            x.shape,
            x,
            compute=lambda a: test_sorting.in_order(a, a.ndim - 1),
        )
        w.emit(f"tl.bitonic_merge({{0}}, descending={down})", x.dtype, x.shape, up, compute=ordered)


@operation
def counts(w: Writer) -> None:
    """``tl.histogram``, of numbers that have a bin."""
    # Of 64 bits the interpreter makes counts that do not fit where they are put.
    x = w.value(("i32", "u32", *(["i64"] * (not w.rules.tame))), fits=lambda s: len(s) == 1)
    bins = w.choose([16, 8, 32])
    inside = w.emit(
        f"{{0}} & {bins - 1}", x.dtype, x.shape, x, compute=lambda a: a & np.array(bins - 1, a.dtype)
    )
    if w.maybe():
        w.emit(
            w.choose([f"tl.histogram({{0}}, {bins})", f"{{0}}.histogram({bins})"]),
            "i32",
            (bins,),
            inside,
            compute=lambda a: np.bincount(a.astype(np.int64), minlength=bins),
        )
        return
    mask = w.value(("i1",), x.shape)
    w.emit(
        f"tl.histogram({{0}}, {bins}, mask={{1}})",
        "i32",
        (bins,),
        inside,
        mask,
        compute=lambda a, m: np.bincount(a[m].astype(np.int64), minlength=bins),
    )


@operation
def products(w: Writer) -> None:
    """``tl.dot`` of small whole numbers, which no order and no width of accumulators can change."""
    dtype = w.dtype(("f16", "bf16", "f32", "i8", "f64", *FP8))
    m, n, k = w.choose([16, 8, 32, 2]), w.choose([16, 8, 4]), 32 if dtype in ("i8", *FP8) else 16
    count = w.choose([(), (2,), (4,)])
    seed = w.chance(1 << 16)
    generator = np.random.default_rng(seed)
    a, b = (
        generator.integers(-3, 4, (PROGRAMS, *count, *s)).astype(numpy_dtype(dtype)) for s in ((m, k), (k, n))
    )
    x, y, shape = _operand(w, dtype, a), _operand(w, dtype, b), (*count, m, n)
    out = {"i8": "i32", "f64": "f64"}.get(dtype, "f32")

    def compute(a: Array, b: Array, *c: Array) -> Array:
        return a.astype(np.float64) @ b.astype(np.float64) + (c[0] if c else 0)

    options = ", input_precision='ieee'" if dtype == "f32" else ""
    if out != "f32":
        options = f", out_dtype={language(out)}"
    if w.maybe():
        c = w.load(out, shape, generator.integers(-9, 9, (PROGRAMS, *shape)).astype(numpy_dtype(out)))
        w.emit(f"tl.dot({{0}}, {{1}}, {{2}}{options})", out, shape, x, y, c, compute=compute)
    else:
        w.emit(f"tl.dot({{0}}, {{1}}{options})", out, shape, x, y, compute=compute)


def _operand(w: Writer, dtype: str, array: Array) -> Value:
    """A factor as it lies in memory, or turned round."""
    if w.maybe():
        return w.load(dtype, array.shape[1:], array)
    turned = np.ascontiguousarray(np.swapaxes(array, -1, -2))
    x = w.load(dtype, turned.shape[1:], turned)
    text = "tl.permute({0}, 0, 2, 1)" if len(x.shape) == 3 else "tl.trans({0})"
    return w.emit(text, dtype, array.shape[1:], x, compute=lambda a: np.swapaxes(a, -1, -2))


#: Formats of microscaling, and the dtypes that programs load them as.
FORMATS = {"e4m3": "f8e4m3", "e2m1": "u8", "bf16": "bf16", "e5m2": "f8e5m2", "fp16": "f16"}


@operation
def scaled_products(w: Writer) -> None:
    """``tl.dot_scaled``, of numbers and scales whose products and sums are exact."""
    there = [f for f, dtype in FORMATS.items() if dtype in w.rules.dtypes]
    lhs, rhs = w.choose(there), w.choose(there)
    if {lhs, rhs} == {"bf16", "fp16"}:  # there is no format for both
        return
    m, n, k = 16, w.choose([16, 8]), w.choose([32, 64])
    along, fast, seed = [f != "e2m1" or w.maybe() for f in (lhs, rhs)], w.maybe(), w.chance(1 << 16)
    left, a = _of_format(lhs, (m, k), seed, int(along[0]))
    right, b = _of_format(rhs, (k, n), seed + PROGRAMS, int(not along[1]))
    operands = [_loaded(w, held) for held in (left, right)]
    scales = ["None", "None"]
    for i, side in enumerate((m, n)):
        if w.maybe():
            scale = test_dot_scaled.scales((PROGRAMS, side, k // 32), seed + i)
            scales[i] = f"{{{len(operands)}}}"
            operands.append(w.load("u8", scale.shape[1:], scale))
            power = test_dot_scaled.powers(scale).repeat(32, 2)
            a, b = (a * power, b) if i == 0 else (a, b * np.swapaxes(power, 1, 2))
    wanted = a @ b
    options = f", fast_math={fast}, lhs_k_pack={along[0]}, rhs_k_pack={along[1]}"
    if w.maybe():
        c = np.random.default_rng(seed).integers(-9, 9, wanted.shape).astype(np.float32)
        options = f", {{{len(operands)}}}{options}"
        operands.append(w.load("f32", (m, n), c))
        wanted = wanted + c
    w.emit(
        f"tl.dot_scaled({{0}}, {scales[0]}, '{lhs}', {{1}}, {scales[1]}, '{rhs}'{options})", "f32", (m, n), *operands,
        compute=lambda *arrays: wanted[int(arrays[-1])], uses=("p",),
    )  # fmt: skip


def _of_format(name: str, shape: tuple[int, int], seed: int, pack: int) -> tuple[Array, Array]:
    """An operand for each program: as it lies in memory, and the values."""
    held, values = zip(
        *(test_dot_scaled.operand(name, shape, seed + p, pack=pack) for p in range(PROGRAMS)), strict=True
    )
    return np.stack(held), np.stack(values).astype(np.float64)


def _loaded(w: Writer, held: Array) -> Value:
    """An operand as its own dtype, or as bytes."""
    if w.maybe() and oracle.name_of(held) in FP8:
        held = held.view(np.uint8)
    return w.load(oracle.name_of(held), held.shape[1:], held)


@operation
def soft_maxima(w: Writer) -> None:
    """``tl.softmax``."""
    x = w.value(("f32",), fits=lambda s: len(s) == 1)

    def compute(a: Array) -> tuple[Array, Any]:
        wide = a.astype(np.float64)
        powers = np.exp(wide - wide.max())
        found = powers / powers.sum()
        return found, np.where(np.isfinite(wide).all(), 1e-5, np.inf)

    w.emit("tl.softmax({0})", "f32", x.shape, x, compute=compute, near=True)


@operation
def random_bits(w: Writer) -> None:
    """Philox: of a seed and an offset an element, always the same."""
    x = w.value(("i32", "u32"), fits=lambda s: 1 <= len(s) <= 2)
    seed, rounds = w.number(0, 1000), w.choose([10, 7, 6])

    def words(a: Array) -> list[Array]:
        zero = np.zeros(a.shape, np.uint32)
        return philox4x32((a.astype(np.uint32), zero, zero, zero), seed, rounds)

    kind = w.choose(["randint", "randint4x", "rand", "rand4x", "philox"])
    floats = kind in ("rand", "rand4x")
    dtype = "f32" if floats else "u32"
    finish: Callable[[Array], Array] = uniform if floats else (lambda a: a)
    if kind.endswith("4x") or kind == "philox":
        four = [Value(w.fresh(), dtype, x.shape) for _ in range(4)]
        text = (
            f"tl.{kind}({seed}, {{0}}, n_rounds={rounds})"
            if kind != "philox"
            else f"tl.philox({seed}, {{0}}.to(tl.uint32), 0, 0, 0, {rounds})"
        )
        if kind == "philox":
            text = text.replace(", 0, 0, 0,", ", {1}, {1}, {1},")
            zero = w.emit(
                "{0}.to(tl.uint32) * 0", "u32", x.shape, x, compute=lambda a: np.zeros(a.shape, np.uint32)
            )
            w.give(text, four, x, zero, compute=lambda a, _: words(a))
        else:
            w.give(text, four, x, compute=lambda a: [finish(word) for word in words(a)])
        return
    w.emit(
        f"tl.{kind}({seed}, {{0}}, n_rounds={rounds})",
        dtype,
        x.shape,
        x,
        compute=lambda a: finish(words(a)[0]),
    )


def uniform(a: Array) -> Array:
    """From 0 to below 1: what a word, taken as signed and without its sign, is of 2**31."""
    signed = a.view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


@operation
def even_numbers(w: Writer) -> None:
    x = w.value(("i32",), fits=lambda s: len(s) == 1)
    w.emit("tl.uint_to_uniform_float({0})", "f32", x.shape, x, compute=lambda a: uniform(a.astype(np.uint32)))


@operation
def normal_numbers(w: Writer) -> None:
    """What words become by Box and Muller's way is the tests' of random numbers to say; a GPU takes its own square root."""
    x = w.value(("i32",), fits=lambda s: len(s) == 1)
    unknown = lambda *_: (np.zeros(x.shape), np.inf)  # noqa: E731
    for text in w.choose(
        [
            ("tl.randn(7, {0})",),
            ("tl.pair_uniform_to_normal(tl.rand(1, {0}), tl.rand(2, {0}))[0]", "tl.randn4x(1, {0})[3]"),
        ]
    ):
        w.emit(text, "f32", x.shape, x, compute=unknown, near=True)


@operation
def constants(w: Writer) -> None:
    """What is known when compiling."""
    x = w.tile()
    n = w.number(1, 100)
    power = 1 << (n - 1).bit_length()
    w.emit(
        f"tl.cdiv({n}, 8) + len({{0}}.shape) + {{0}}.shape[0] + p",
        "i32",
        (),
        x,
        uses=("p",),
        compute=lambda a, p: p + np.int32(-(-n // 8) + a.ndim + a.shape[0]),
        before=[f"tl.static_assert(triton.next_power_of_2({n}) == {power})"],
    )
