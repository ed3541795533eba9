"""Operators, conversions and functions, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.language import oracle
from tests.language.test_fp8 import rounded
from tests.support.run import Array, numpy_dtype

from .registry import operation
from .writer import FP8, LARGEST, Shape, Value, Writer, language

REAL = ("f32", "f64")
BITS = ("i1", *oracle.INTEGERS)


def mate(w: Writer, x: Value, dtypes: tuple[str, ...] = oracle.ALL) -> tuple[Value, Shape]:
    """A second operand, and the shape of both together."""

    def fits(shape: Shape) -> bool:
        try:
            return math.prod(np.broadcast_shapes(shape, x.shape)) <= max(LARGEST, math.prod(x.shape))
        except ValueError:
            return False

    y = w.value(dtypes, None if w.maybe() else x.shape, fits=fits)
    return y, np.broadcast_shapes(x.shape, y.shape)


def together(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that are of one shape, of arrays that can be brought to one."""
    return lambda *arrays: compute(*(a.copy() for a in np.broadcast_arrays(*arrays)))


@operation
def operators(w: Writer) -> None:
    """An operator, ``tl.maximum`` or ``tl.minimum``."""
    op = w.choose(list(oracle.BINARY))
    _operate(w, op, oracle.spell(op, "{0}", "{1}"))


@operation
def named_operators(w: Writer) -> None:
    """``tl.add``, ``tl.sub`` and ``tl.mul``."""
    op, name = w.choose([("+", "add"), ("-", "sub"), ("*", "mul")])
    unchecked = w.choose(["", ", sanitize_overflow=False"])
    _operate(w, op, f"tl.{name}({{0}}, {{1}}{unchecked})")


def _operate(w: Writer, op: str, text: str) -> None:
    _, takes, division = oracle.BINARY[op]
    among = oracle.ALL if takes == "any" else ("i1", *oracle.INTEGERS)
    if w.rules.tame and op.startswith(("max", "min")):
        among = oracle.INTEGERS  # zeros below zero and NaN
    x = w.value(among)
    y, shape = mate(w, x, among)
    dtype = oracle.meet(op, x.dtype, y.dtype)
    if dtype is None or (w.rules.tame and dtype == "i1" and op in "+-"):
        return
    if division:
        one = "True" if dtype == "i1" else "1"
        y = w.emit(
            f"tl.where({{0}}.to({language(dtype)}) == 0, {one}, {{0}}.to({language(dtype)}))", dtype, y.shape, y,
            compute=lambda y: oracle.nonzero(oracle.cast(y, dtype)),
        )  # fmt: skip
    given = "i1" if op in oracle.COMPARISONS else dtype
    w.emit(
        text,
        given,
        shape,
        x,
        y,
        compute=together(lambda a, b: oracle.binary(op, a, b, dtype)),
    )


@operation
def numbers(w: Writer) -> None:
    """A value and a number that stands in the source, on either side."""
    number = w.choose([0, 1, 2, 7, -3, 0.5, -3.25, 1e10, 3000000000, True])
    op = w.choose(["+", "*", "-", "<", "maximum", "=="])
    x = w.value(oracle.INTEGERS if w.rules.tame else oracle.ALL)
    if x.dtype in oracle.INTEGERS and isinstance(number, int):
        limits = np.iinfo(numpy_dtype(x.dtype))
        if not limits.min <= number <= limits.max:
            return
    if x.dtype == "i1" and op in "+-*" and oracle.number_dtype(number) == "i1" and w.rules.tame:
        return
    dtype = oracle.meet_number(op, x.dtype, number)
    assert dtype is not None
    own = {bool: np.bool_, float: np.float64}.get(type(number), numpy_dtype(oracle.number_dtype(number)))
    right = np.full(x.shape, number, own)
    given = "i1" if op in oracle.COMPARISONS else dtype
    if w.maybe():
        text, swap = oracle.spell(op, "{0}", f"({number!r})"), False
    else:
        text, swap = oracle.spell(op, f"({number!r})", "{0}"), True
    w.emit(
        text,
        given,
        x.shape,
        x,
        compute=lambda a: oracle.binary(op, *((right, a) if swap else (a, right)), dtype),
    )


@operation
def division(w: Writer) -> None:
    """``/``, and its functions; of f32 a GPU's is not rounded correctly, so there is a name for each kind."""
    x = w.value(oracle.ALL)
    y, shape = mate(w, x)
    dtype = oracle.promote(x.dtype, y.dtype, division=True)
    if dtype is None:
        return
    given = dtype if dtype in oracle.FLOATS else "f32"
    w.emit("{0} / {1}", given, shape, x, y, compute=together(lambda a, b: oracle.divide(a, b, dtype)))


@operation
def rounded_division(w: Writer) -> None:
    x = w.value(("f64", "f32"))
    y, shape = mate(w, x, (x.dtype,))
    text = "{0} / {1}" if x.dtype == "f64" else "tl.div_rn({0}, {1})"
    w.emit(text, x.dtype, shape, x, y, compute=together(lambda a, b: oracle.divide(a, b, x.dtype)))


@operation
def remainder(w: Writer) -> None:
    """``%`` of floats, which is C's fmod."""
    x = w.value(REAL)
    y, shape = mate(w, x, REAL)
    dtype = oracle.promote(x.dtype, y.dtype, division=True)
    assert dtype is not None
    w.emit("{0} % {1}", dtype, shape, x, y, compute=together(lambda a, b: oracle.remainder(a, b, dtype)))


@operation
def shifts(w: Writer) -> None:
    x = w.value(oracle.INTEGERS)
    op, by = w.choose(["<<", ">>"]), w.number(0, oracle.width(x.dtype) - 1)
    shift = np.left_shift if op == "<<" else np.right_shift
    if w.maybe():
        w.emit(f"{{0}} {op} {by}", x.dtype, x.shape, x, compute=lambda a: shift(a, np.array(by, a.dtype)))
        return
    y, shape = mate(w, x, (x.dtype,))
    mask = oracle.width(x.dtype) - 1
    w.emit(
        f"{{0}} {op} ({{1}} & {mask})",
        x.dtype,
        shape,
        x,
        y,
        compute=together(lambda a, b: shift(a, b & np.array(mask, b.dtype))),
    )


@operation
def unary(w: Writer) -> None:
    op = w.choose(["minus", "abs", "invert"])
    x = w.value(
        oracle.ALL
        if op == "abs"
        else (*oracle.INTEGERS, *oracle.FLOATS)
        if op == "minus"
        else ("i1", *oracle.INTEGERS)
    )
    if op == "minus":
        w.emit(
            "-{0}", x.dtype, x.shape, x, compute=lambda a: oracle.binary("-", np.zeros_like(a), a, x.dtype)
        )
    elif op == "abs":
        w.emit(w.choose(["tl.abs({0})", "{0}.abs()"]), x.dtype, x.shape, x, compute=np.abs)
    elif not (w.rules.tame and x.dtype not in oracle.SIGNED):
        w.emit("~{0}", x.dtype, x.shape, x, compute=np.invert)


@operation
def logic(w: Writer) -> None:
    """``not``, ``and``, ``or``: of tiles too, element by element."""
    op, x = w.choose(["not", "and", "or"]), w.value(("i1",))
    if op == "not":
        w.emit("not {0}", "i1", x.shape, x, compute=np.logical_not)
        return
    y, compute = w.value(oracle.ALL, x.shape), np.logical_and if op == "and" else np.logical_or
    y = w.emit("{0} > 1", "i1", x.shape, y, compute=lambda a: a > np.ones((), a.dtype))
    w.emit(f"{{0}} {op} {{1}}", "i1", x.shape, x, y, compute=compute)


@operation
def not_of_numbers(w: Writer) -> None:
    """``not``, of what is no truth value."""
    x = w.value((*oracle.INTEGERS, *oracle.FLOATS))
    w.emit("not {0}", "i1", x.shape, x, compute=lambda a: a == np.zeros((), a.dtype))


@operation
def choices(w: Writer) -> None:
    """``tl.where``."""
    c = w.value(("i1",))
    x, shape = mate(w, c)
    y = w.value(oracle.ALL, x.shape)
    dtype = oracle.promote(x.dtype, y.dtype)
    assert dtype is not None
    w.emit(
        "tl.where({0}, {1}, {2})",
        dtype,
        shape,
        c,
        x,
        y,
        compute=lambda c, a, b: np.where(c, oracle.cast(a, dtype), oracle.cast(b, dtype)),
    )


@operation
def clamps(w: Writer) -> None:
    x = w.value(REAL)
    nan = not w.rules.tame and w.maybe()
    low, high = -w.number(0, 3) - 0.5, w.number(0, 3) + 0.5

    def compute(a: Array) -> Array:
        found = np.where(a < low, np.array(low, a.dtype), np.where(a > high, np.array(high, a.dtype), a))
        return np.where(np.isnan(a), a if nan else np.array(low, a.dtype), found)

    w.emit(
        f"tl.clamp({{0}}, {low}, {high}{', propagate_nan=tl.PropagateNan.ALL' if nan else ''})",
        x.dtype,
        x.shape,
        x,
        compute=compute,
    )


@operation
def multiply_add(w: Writer) -> None:
    """``tl.fma``, whose one rounding NumPy lacks: f32 in f64 is exact but for the last sum."""
    x = w.value(("f32",))
    y, z = w.value(("f32",), x.shape), w.value(("f32",), x.shape)

    def compute(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
        product = a.astype(np.float64) * b.astype(np.float64)
        found = (product + c.astype(np.float64)).astype(np.float32)
        # The interpreter rounds the product too.
        return found, _ulps(found, 1) + (_ulps(product.astype(np.float32), 1) if w.rules.tame else 0)

    w.emit("tl.fma({0}, {1}, {2})", "f32", x.shape, x, y, z, compute=compute, near=True)


def _cast(a: Array, to: str) -> Array:
    """As the oracles have it; floats of 8 bits are exact in all the others."""
    if to in FP8:
        return rounded(a, to)
    if oracle.name_of(a) in FP8:
        return a.astype(np.float32).astype(numpy_dtype(to))
    return oracle.cast(a, to)


@operation
def casts(w: Writer) -> None:
    """To every dtype; between floats of 8 bits and integers Triton has none."""
    x = w.value((*oracle.ALL, *FP8))
    to = w.dtype((*oracle.ALL, *FP8))
    if (x.dtype in FP8 and (to in BITS or to == x.dtype)) or (to in FP8 and x.dtype in BITS):
        return
    if w.rules.tame and x.dtype in oracle.FLOATS and to in oracle.INTEGERS:
        text = "tl.where(tl.abs({0}) < 100, tl.abs({0}), 1).to({0}.dtype)"
        x = w.emit(
            text,
            x.dtype,
            x.shape,
            x,
            compute=lambda a: np.where(np.abs(a) < 100, np.abs(a), np.ones((), a.dtype)),
        )
    text = w.choose(["{0}.to(D)", "tl.cast({0}, D)"]).replace("D", language(to))
    w.emit(text, to, x.shape, x, compute=lambda a: _cast(a, to))


@operation
def bitcasts(w: Writer) -> None:
    """Bits as they are. What bits a NaN has is not fixed, so there is none."""
    x = w.value((*oracle.INTEGERS, *oracle.FLOATS))
    same = [
        d
        for d in (*oracle.INTEGERS, *oracle.FLOATS)
        if numpy_dtype(d).itemsize == numpy_dtype(x.dtype).itemsize
    ]
    to = w.dtype(same)
    if x.dtype in oracle.FLOATS:
        x = w.emit(
            "tl.where({0} == {0}, {0}, 0.0).to({0}.dtype)",
            x.dtype,
            x.shape,
            x,
            compute=lambda a: np.where(a == a, a, np.zeros((), a.dtype)),
        )
    w.emit(
        f"{{0}}.to({language(to)}, bitcast=True)", to, x.shape, x, compute=lambda a: a.view(numpy_dtype(to))
    )


def _ulps(a: Array, count: float) -> Array:
    """So many units in the last place, at least of the smallest normal number; nothing is known of infinities."""
    info = np.finfo(a.dtype)
    size = np.maximum(np.abs(a), info.tiny) * float(info.eps) * count
    return np.where(np.isfinite(size), size, 0.0).astype(np.float64)


#: Functions of f32 and f64: how many units in the last place they are from NumPy's, or 0 where they are exact.
FUNCTIONS: dict[str, tuple[Callable[[Array], Array], int]] = {
    "tl.floor": (np.floor, 0),
    "tl.ceil": (np.ceil, 0),
    "tl.sqrt": (np.sqrt, 0),
    "tl.exp": (np.exp, 6),
    "tl.exp2": (np.exp2, 6),
    "tl.log": (np.log, 6),
    "tl.log2": (np.log2, 6),
    "tl.sin": (np.sin, 6),
    "tl.cos": (np.cos, 6),
    "tl.rsqrt": (lambda a: 1 / np.sqrt(a), 6),
    "tl.sigmoid": (lambda a: 1 / (1 + np.exp(-a)), 8),
    "tl.erf": (np.vectorize(math.erf, otypes=[np.float64]), 6),
}


def _function(w: Writer, names: list[str]) -> None:
    name = w.choose(names)
    function, error = FUNCTIONS[name]
    x = w.value(REAL)
    bare = name.removeprefix("tl.")
    spellings = [f"{name}({{0}})"]
    if not w.rules.tame:  # the interpreter has no such methods
        spellings += [f"{{0}}.{bare}()", *([f"tl.math.{bare}({{0}})"] * (bare != "sigmoid"))]
    text = w.choose(spellings)
    if not error:
        w.emit(text, x.dtype, x.shape, x, compute=function)
        return

    def compute(a: Array) -> tuple[Array, Array]:
        found = function(a.astype(np.float64)).astype(a.dtype)
        # Where a function has no finite value, ours may be right or not: tests of functions tell.
        return found, np.where(np.isfinite(found) & (np.abs(a) < 1e4), _ulps(found, error), np.inf)

    w.emit(text, x.dtype, x.shape, x, compute=compute, near=True)


#: Those that a GPU has instructions for, which are not as good.
QUICK = ("tl.exp", "tl.exp2", "tl.sqrt", "tl.rsqrt", "tl.sigmoid")


@operation
def functions(w: Writer) -> None:
    _function(w, [name for name in FUNCTIONS if name not in QUICK])


@operation
def approximate_functions(w: Writer) -> None:
    """Which a GPU has instructions for."""
    _function(w, [*QUICK])


@operation
def correctly_rounded(w: Writer) -> None:
    x = w.value(("f32",))
    w.emit("tl.sqrt_rn({0})", "f32", x.shape, x, compute=np.sqrt)


@operation
def quick_division(w: Writer) -> None:
    """``tl.fdiv``."""
    x = w.value(REAL)
    y = w.value((x.dtype,), x.shape)
    w.emit("tl.fdiv({0}, {1})", x.dtype, x.shape, x, y, compute=lambda a, b: oracle.divide(a, b, x.dtype))


@operation
def high_products(w: Writer) -> None:
    """``tl.umulhi``, of unsigned integers in Triton's sense: bits."""
    x = w.value(("u32", "u64"))
    y = w.value((x.dtype,), x.shape)
    width = oracle.width(x.dtype)
    exact = np.vectorize(lambda a, b: (int(a) * int(b)) >> width, otypes=[object])
    w.emit("tl.umulhi({0}, {1})", x.dtype, x.shape, x, y, compute=exact)


@operation
def rounded_up(w: Writer) -> None:
    """``tl.cdiv`` by a constant."""
    x = w.value(("i32", "i64", "u32"))
    by = w.number(1, 9)
    small = w.emit("{0} & 1023", x.dtype, x.shape, x, compute=lambda a: a & np.array(1023, a.dtype))
    w.emit(
        f"tl.cdiv({{0}}, {by})",
        x.dtype,
        x.shape,
        small,
        compute=lambda a: (a + np.array(by - 1, a.dtype)) // np.array(by, a.dtype),
    )


@operation
def python_functions(w: Writer) -> None:
    """Python's own ``min``, ``max`` and ``abs``, of scalars."""
    x = w.value(("i32", "i64"), ())
    op, by = w.choose(["min", "max", "abs"]), w.number(-5, 5)
    function = {"min": np.minimum, "max": np.maximum, "abs": lambda a, _: np.abs(a)}[op]
    text = "abs({0})" if op == "abs" else f"{op}({{0}}, {by})"
    w.emit(text, x.dtype, (), x, compute=lambda a: function(a, np.array(by, a.dtype)))


MAPPED = """def NAME(a, b):
    if a < b:
        return a - b, b
    c = a + b
    if b < 3:
        c = c * 2
    return c, a"""


@operation
def mapped(w: Writer) -> None:
    """``tl.map_elementwise`` of a function that branches."""
    x = w.tile(("i32", "i64"))
    y = w.value((x.dtype,), x.shape)
    name = w.helper(MAPPED)

    def first(a: Array, b: Array) -> Array:
        return np.where(a < b, a - b, np.where(b < 3, (a + b) * np.array(2, a.dtype), a + b))

    pair = (Value(w.fresh(), x.dtype, x.shape), Value(w.fresh(), x.dtype, x.shape))
    w.give(
        f"tl.map_elementwise({name}, {{0}}, {{1}})",
        pair,
        x,
        y,
        compute=lambda a, b: (first(a, b), np.where(a < b, b, a)),
    )


@operation
def hints(w: Writer) -> None:
    """What a compiler may take for true, and is."""
    side, number = w.choose([8, 16, 32]), w.choose([1, 4, 8])
    hint = w.choose(["multiple_of", "max_contiguous", "max_constancy"])
    text, array = {
        "multiple_of": (f"tl.arange(0, {side}) * {number}", np.arange(side) * number),
        "max_contiguous": (f"tl.arange(0, {side}) + 3", np.arange(side) + 3),
        "max_constancy": (f"tl.arange(0, {side}) // {number}", np.arange(side) // number),
    }[hint]
    w.emit(
        f"tl.{hint}({text}, {number})",
        "i32",
        (side,),
        compute=lambda: array,
        before=[w.choose([f"tl.assume(p < {number + 1})", "tl.debug_barrier()"])],
    )
