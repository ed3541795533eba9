"""The same elements in other places."""

from __future__ import annotations

import math

import numpy as np

from tests.language import oracle
from tests.support.run import Array, numpy_dtype

from .registry import operation
from .writer import FP8, KINDS, LARGEST, Shape, Value, Writer, language

MOVED = (*oracle.ALL, *FP8)


@operation
def made(w: Writer) -> None:
    """Tiles of nothing: counted, full, empty."""
    kind = w.choose(["arange", "full", "zeros", "zeros_like"])
    shape: Shape = w.choose([s for s in KINDS if s])
    if kind == "arange":
        start = w.number(0, 9)
        w.emit(
            f"tl.arange({start}, {start + math.prod(shape)})",
            "i32",
            (math.prod(shape),),
            compute=lambda: np.arange(start, start + math.prod(shape)),
        )
        return
    if kind == "zeros_like":
        x = w.tile()
        w.emit("tl.zeros_like({0})", x.dtype, x.shape, x, compute=np.zeros_like)
        return
    dtype, number = w.dtype(oracle.ALL), w.number(0, 1) if kind == "full" else 0
    text = (
        f"tl.full({shape}, {number}, {language(dtype)})"
        if kind == "full"
        else f"tl.zeros({list(shape)}, dtype={language(dtype)})"
    )
    w.emit(text, dtype, shape, compute=lambda: np.full(shape, number, numpy_dtype(dtype)))


@operation
def reshapes(w: Writer) -> None:
    x = w.tile(MOVED)
    size = math.prod(x.shape)
    if w.chance(4) == 3:
        w.emit(w.choose(["tl.ravel({0})", "{0}.ravel()"]), x.dtype, (size,), x, compute=np.ravel)
        return
    shape = w.choose([s for s in KINDS if s and math.prod(s) == size] or [(1, size)])
    sides = ", ".join(map(str, shape))
    text = w.choose(
        [
            f"tl.reshape({{0}}, {sides})",
            f"{{0}}.reshape(({sides},))",
            f"tl.view({{0}}, ({sides},))",
            f"{{0}}.reshape({sides})",
        ]
    )
    w.emit(text, x.dtype, shape, x, compute=lambda a: a.reshape(shape))


@operation
def turns(w: Writer) -> None:
    """``tl.permute`` and ``tl.trans``."""
    x = w.tile(MOVED, 2)
    if w.maybe():
        text = w.choose(["tl.trans({0})", "{0}.T", "{0}.trans()"] if len(x.shape) == 2 else ["{0}.trans()"])
        last = (*x.shape[:-2], x.shape[-1], x.shape[-2])
        w.emit(text, x.dtype, last, x, compute=lambda a: np.swapaxes(a, -1, -2))
        return
    rest, order = list(range(len(x.shape))), []
    while rest:
        order.append(rest.pop(w.chance(len(rest))))
    dims = ", ".join(map(str, order))
    text = w.choose([f"tl.permute({{0}}, {dims})", f"{{0}}.permute({dims})", f"tl.permute({{0}}, ({dims}))"])
    w.emit(text, x.dtype, tuple(x.shape[a] for a in order), x, compute=lambda a: np.transpose(a, order))


@operation
def new_axes(w: Writer) -> None:
    x = w.value(MOVED, fits=lambda s: 1 <= len(s) < 5)
    axis = w.chance(len(x.shape) + 1)
    shape = (*x.shape[:axis], 1, *x.shape[axis:])
    at = ", ".join("None" if a == axis else ":" for a in range(len(shape)))
    text = w.choose([f"tl.expand_dims({{0}}, {axis})", f"{{0}}[{at}]", f"{{0}}.expand_dims({axis})"])
    w.emit(text, x.dtype, shape, x, compute=lambda a: np.expand_dims(a, axis))


@operation
def spreads(w: Writer) -> None:
    """``tl.broadcast_to`` and ``tl.broadcast``."""
    x = w.value(oracle.ALL, fits=lambda s: 1 in s or not s)
    shape = tuple(side if side > 1 else w.choose([2, 1, 4]) for side in x.shape) or w.choose(
        [(8,), (4, 8), (2, 2, 4)]
    )
    if math.prod(shape) > LARGEST:
        return
    if w.maybe() and x.shape:
        other = w.value(oracle.ALL, shape)
        both = (Value(w.fresh(), x.dtype, shape), Value(w.fresh(), other.dtype, shape))
        w.give("tl.broadcast({0}, {1})", both, x, other, compute=np.broadcast_arrays)
        return
    sides = ", ".join(map(str, shape))
    method = [f"{{0}}.broadcast_to({sides})"] * bool(x.shape)
    w.emit(
        w.choose([f"tl.broadcast_to({{0}}, ({sides},))", *method]),
        x.dtype,
        shape,
        x,
        compute=lambda a: np.broadcast_to(a, shape),
    )


def _pair(w: Writer, fits: int = LARGEST) -> tuple[Value, Value]:
    x = w.value(MOVED, fits=lambda s: bool(s) and len(s) < 5 and math.prod(s) * 2 <= fits)
    return x, w.value((x.dtype,), x.shape)


@operation
def joins(w: Writer) -> None:
    x, y = _pair(w)
    w.emit("tl.join({0}, {1})", x.dtype, (*x.shape, 2), x, y, compute=lambda a, b: np.stack([a, b], -1))


@operation
def splits(w: Writer) -> None:
    x = w.value(MOVED, fits=lambda s: len(s) > 1 and s[-1] == 2)
    shape = x.shape[:-1]
    both = (Value(w.fresh(), x.dtype, shape), Value(w.fresh(), x.dtype, shape))
    w.give(w.choose(["tl.split({0})", "{0}.split()"]), both, x, compute=lambda a: (a[..., 0], a[..., 1]))


@operation
def interleaves(w: Writer) -> None:
    x, y = _pair(w)
    shape = (*x.shape[:-1], x.shape[-1] * 2)
    w.emit(
        "tl.interleave({0}, {1})",
        x.dtype,
        shape,
        x,
        y,
        compute=lambda a, b: np.stack([a, b], -1).reshape(shape),
    )


@operation
def ends(w: Writer) -> None:
    """``tl.cat``, in whose order Triton promises nothing."""
    x = w.value(oracle.ALL, fits=lambda s: len(s) == 1 and s[0] * 2 <= LARGEST)
    y = w.value((x.dtype,), x.shape)
    w.emit(
        "tl.cat({0}, {1}, can_reorder=True)",
        x.dtype,
        (x.shape[0] * 2,),
        x,
        y,
        compute=lambda a, b: np.concatenate([a, b]),
    )


@operation
def flips(w: Writer) -> None:
    x = w.value(oracle.ALL, fits=lambda s: math.prod(s) > 1)  # Triton fails on one element
    axis = w.chance(len(x.shape))
    w.emit(
        w.choose([f"tl.flip({{0}}, {axis})", f"{{0}}.flip({axis - len(x.shape)})"]),
        x.dtype,
        x.shape,
        x,
        compute=lambda a: np.flip(a, axis),
    )


@operation
def picks(w: Writer) -> None:
    """``tl.gather``, by indices that are in bounds."""
    x = w.tile()
    axis = w.chance(len(x.shape))
    side = w.choose([x.shape[axis], 1, 2, 8])
    shape = (*x.shape[:axis], side, *x.shape[axis + 1 :])
    if math.prod(shape) > LARGEST:
        return
    index = w.value(("i32", "i64", "i16"), shape)
    mask = x.shape[axis] - 1
    index = w.emit(
        f"{{0}} & {mask}", index.dtype, shape, index, compute=lambda i: i & np.array(mask, i.dtype)
    )

    def compute(a: Array, i: Array) -> Array:
        return np.take_along_axis(a, i.astype(np.int64), axis)

    w.emit(
        w.choose([f"tl.gather({{0}}, {{1}}, {axis})", f"{{0}}.gather({{1}}, axis={axis})"]),
        x.dtype,
        shape,
        x,
        index,
        compute=compute,
    )


@operation
def grid_order(w: Writer) -> None:
    """``tl.swizzle2d`` and where a program stands."""
    i, j = Value(w.fresh(), "i32", ()), Value(w.fresh(), "i32", ())
    at = w.emit(
        w.choose(["tl.program_id(0) + 2", "tl.num_programs(0) + p"]),
        "i32",
        (),
        compute=lambda p: p + np.int32(2),
        uses=("p",),
    )

    def compute(at: Array) -> tuple[int, int]:
        # Rows in groups of two, and within a group column by column (of four rows and four columns).
        place = int(at) * 4 + 1
        group, within = divmod(place, 8)
        return group * 2 + within % 2, within // 2

    w.give("tl.swizzle2d({0}, 1, 4, 4, 2)", (i, j), at, compute=compute)
