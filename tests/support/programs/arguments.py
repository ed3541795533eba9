"""Arguments that hold several: tuples of arrays, numbers, descriptors and other tuples."""

from __future__ import annotations

import math

import numpy as np

from tests.language import oracle
from tests.support.run import Array, Described, Typed

from .memory import window
from .registry import operation, outermost
from .writer import PROGRAMS, Shape, Step, Value, Writer, offsets

SHAPES: tuple[Shape, ...] = ((16,), (), (4, 8), (64,), (2, 4, 8))


@operation
def numbers_of_the_launch(w: Writer) -> None:
    """Scalars that are passed: as Python has them, or with a dtype."""
    dtype, name = w.dtype(("i32", "f32") if w.rules.tame else oracle.ALL), w.fresh("n")
    number = w.array(dtype, (1,))[0]
    value = number.item() if w.rules.tame else Typed(number.item(), dtype)
    w.emit(name, dtype, (), reads={name: value}, compute=lambda: number)


@operation
def tuple_arguments(w: Writer) -> None:
    """One entry and a number, wherever they stand; or all entries, one after the other."""
    shape, name = w.choose(SHAPES), w.fresh("t")
    at = f"p * {math.prod(shape)} + {offsets(shape)}"
    if w.maybe():
        arrays = tuple(
            w.array(w.dtype(("i32", "u8", "i64", "i16")), (PROGRAMS, *shape)) for _ in range(w.number(1, 3))
        )
        total = Value(w.fresh(), "i64", shape)
        first, i = f"tl.load({name}[0] + {at}).to(tl.int64)", w.fresh("i")
        lines = (
            f"{total.name} = {first}", f"for {i} in tl.static_range(1, len({name})):",
            f"    {total.name} += tl.load({name}[{i}] + {at})",
        )  # fmt: skip
        w.add(
            Step(lines, (total,), ("p",), lambda p: (sum(a[int(p)].astype(np.int64) for a in arrays),), {name: arrays})
        )  # fmt: skip
        return
    dtype = w.dtype((*oracle.INTEGERS, "f32", "f64"))
    array, other, number = w.array(dtype, (PROGRAMS, *shape)), w.array("i8", (3,)), w.number(-4, 9)
    value, entry, place = w.choose(
        [
            ((array, number), f"{name}[0]", f"{name}[1]"),
            ((other, (number, array), None), f"{name}[1][1]", f"{name}[1][0]"),
            ((None, number, (array, 0.5)), f"{name}[-1][0]", f"(0 if {name}[0] is not None else {name}[1])"),
        ]
    )
    given = oracle.promote(dtype, "i32")
    assert given is not None
    w.emit(
        f"tl.load({entry} + {at}) + {place}", given, shape, uses=("p",), reads={name: value},
        compute=lambda p: oracle.binary("+", array[int(p)], np.full(shape, number, np.int32), given),
    )  # fmt: skip


@operation
def tuples_of_descriptors(w: Writer) -> None:
    """Blocks of several matrices, each of its own size."""
    name, dtype, block, row = (
        w.fresh("t"),
        w.dtype(("f32", "i32", "f64")),
        w.choose([(4, 8), (8, 16)]),
        w.number(-2, 6),
    )
    arrays = [w.array(dtype, (w.number(3, 9), 16)) for _ in range(2)]
    parts = tuple(Described(a, (len(a), 13), (16, 1), block) for a in arrays)
    w.emit(
        f"{name}[0].load([{row}, 8]) + {name}[1].load([{name}[0].shape[0] - 2, 0])", dtype, block, reads={name: parts},
        compute=lambda: oracle.binary(
            "+", window(arrays[0][:, :13], (row, 8), block, 0), window(arrays[1][:, :13], (len(arrays[0]) - 2, 0), block, 0), dtype
        ),
    )  # fmt: skip


@outermost
def tuple_results(w: Writer) -> None:
    """What is stored through entries of a tuple, or through a descriptor in one."""
    x, name = w.value(oracle.ALL, w.choose([(4, 8), (8, 16)])), w.fresh("t")
    rows, columns = x.shape
    size, wide = rows * columns, 16 // w.array(x.dtype, (1,)).itemsize <= columns
    flat, kept = w.array(x.dtype, (PROGRAMS, rows, columns)), w.array("i32", (PROGRAMS,))
    described = wide and x.dtype != "i1" and w.maybe()
    entry = Described(flat, flat.shape, (size, columns, 1), (1, rows, columns)) if described else flat
    lines = (
        f"{name}[0][0].store([p, 1, 0], {x.name}[None, :, :])"
        if described
        else f"tl.store({name}[0][0] + p * {size} + {offsets(x.shape)}, {x.name})",
        f"tl.store({name}[1] + p, {name}[0][1] - p)",
    )

    def compute(p: Array, x: Array, memory: Array, numbers: Array) -> tuple[Array, Array]:
        after, counted = memory.copy(), numbers.copy()
        if described:  # the last row falls outside
            after[int(p), 1:] = x[:-1]
        else:
            after[int(p)] = x
        counted[int(p)] = 5 - p
        return after, counted

    w.add(Step(lines, (), ("p", x.name), compute, writes={name: ((entry, 5), kept)}))
