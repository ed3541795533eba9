"""Pointers that are computed: from integers and back, to other elements, chosen, and kept in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.language import oracle
from tests.support.run import Array, numpy_dtype

from .registry import operation, outermost
from .writer import FP8, PROGRAMS, Shape, Step, Value, Writer, language, offsets, pointer

LOADED = (*oracle.ALL, *FP8)
SHAPES: tuple[Shape, ...] = ((16,), (), (4, 8), (64,), (2, 4, 8), (8, 16))


@operation
def computed_addresses(w: Writer) -> None:
    """An address, and so many bytes beside it."""
    index = w.tile(("i32", "i64", "u8"))
    dtype = w.dtype(LOADED)
    array, name = w.array(dtype, (32,)), w.fresh("x")
    at = w.emit("{0} & 31", index.dtype, index.shape, index, compute=lambda i: i & np.array(31, i.dtype))
    base = w.choose([f"{name}.to(tl.int64)", f"tl.cast({name}, tl.uint64).to(tl.int64)"])
    w.emit(
        f"tl.load(({base} + {{0}} * {array.itemsize}).to({pointer(dtype)}))", dtype, index.shape, at,
        compute=lambda i: array[i.astype(np.int64)], reads={name: array},
    )  # fmt: skip


@operation
def distances(w: Writer) -> None:
    """How far apart elements lie, in bytes."""
    dtype, shape, step = w.dtype(LOADED), w.choose([(16,), (64,), (8,)]), w.number(1, 5)
    array, name = w.array(dtype, (8,)), w.fresh("x")
    w.emit(
        f"({name} + {step} * tl.arange(0, {shape[0]})).to(tl.int64) - {name}.to(tl.int64)", "i64", shape,
        compute=lambda: np.arange(shape[0]) * (step * array.itemsize), reads={name: array},
    )  # fmt: skip


def _of_width(w: Writer, among: tuple[str, ...], than: str) -> str:
    return w.dtype([d for d in among if numpy_dtype(d).itemsize != numpy_dtype(than).itemsize])


@operation
def other_elements(w: Writer) -> None:
    """The bytes of an array, as numbers of another width."""
    held, shape = w.dtype(oracle.INTEGERS), w.choose([(16,), (4, 8), (64,)])
    read = _of_width(w, oracle.INTEGERS if w.rules.tame else (*oracle.INTEGERS, *oracle.FLOATS), held)
    size = math.prod(shape)
    count = size * numpy_dtype(read).itemsize // numpy_dtype(held).itemsize
    array, name = w.array(held, (PROGRAMS, count)), w.fresh("x")
    seen = np.ascontiguousarray(array).view(numpy_dtype(read)).reshape(PROGRAMS, *shape)
    to = w.choose([f"{name}.to({pointer(read)})", f"tl.cast({name}, {pointer(read)}, bitcast=True)"])
    w.emit(
        f"tl.load({to} + p * {size} + {offsets(shape)})", read, shape,
        compute=lambda p: seen[int(p)], uses=("p",), reads={name: array},
    )  # fmt: skip


@outermost
def other_stores(w: Writer) -> None:
    """Numbers, into bytes or into words."""
    x = w.tile(oracle.INTEGERS)  # what bits a NaN has is not fixed
    size = math.prod(x.shape)
    held = _of_width(w, oracle.UNSIGNED, x.dtype)
    if size * numpy_dtype(x.dtype).itemsize % numpy_dtype(held).itemsize:
        return
    count = size * numpy_dtype(x.dtype).itemsize // numpy_dtype(held).itemsize
    name = w.fresh("o")
    line = f"tl.store(({name} + p * {count}).to({pointer(x.dtype)}) + {offsets(x.shape)}, {x.name})"

    def compute(p: Array, x: Array, memory: Array) -> tuple[Array]:
        after = memory.copy()
        after[int(p)] = np.ascontiguousarray(x).reshape(-1).view(memory.dtype)
        return (after,)

    w.add(Step((line,), (), ("p", x.name), compute, writes={name: w.array(held, (PROGRAMS, count))}))


def _two(w: Writer, shape: Shape) -> tuple[str, tuple[Array, Array], tuple[str, str], str]:
    """Two arguments of one dtype: it, what they hold, their names, and where a program's elements lie."""
    dtype = w.dtype(LOADED)
    arrays = (w.array(dtype, (PROGRAMS, *shape)), w.array(dtype, (PROGRAMS, *shape)))
    return dtype, arrays, (w.fresh("x"), w.fresh("x")), f"p * {math.prod(shape)} + {offsets(shape)}"


@operation
def chosen_pointers(w: Writer) -> None:
    """Each element from one of two arrays."""
    mask = w.value(("i1",), fits=bool)
    dtype, (a, b), (x, y), at = _two(w, mask.shape)
    text = w.choose(
        [
            f"tl.load(tl.where({{0}}, {x} + {at}, {y} + {at}))",
            f"tl.load(tl.where({{0}}, {x}.to(tl.int64), {y}.to(tl.int64)).to({pointer(dtype)}) + {at})",
        ]
    )
    w.emit(
        text, dtype, mask.shape, mask,
        compute=lambda m, p: np.where(m, a[int(p)], b[int(p)]), uses=("p",), reads={x: a, y: b},
    )  # fmt: skip


@operation
def pointers_of_branches(w: Writer) -> None:
    """One of two arrays for a whole program, or an address in one."""
    shape = w.choose(SHAPES)
    dtype, (a, b), (x, y), at = _two(w, shape)
    here = w.fresh("q")
    before = w.choose(
        [
            [f"{here} = {x} if p == 1 else {y}"],
            [f"{here} = {y}", "if p == 1:", f"    {here} = {x}"],
            [f"{here} = {y}.to(tl.int64)", "if p > 0:", f"    {here} = {x}.to(tl.int64)"],
        ]
    )
    taken = here if "int64" not in before[0] else f"{here}.to({pointer(dtype)})"
    w.emit(
        f"tl.load({taken} + {at})", dtype, shape, uses=("p",), reads={x: a, y: b}, before=before,
        compute=lambda p: (a if p == 1 else b)[int(p)],
    )  # fmt: skip


@operation
def walks(w: Writer) -> None:
    """A tile of pointers, or an address, that a loop moves on."""
    dtype, shape, turns = w.dtype(("i32", "f64", "u8", "i64", "f32")), w.choose(SHAPES), w.number(0, 3)
    array, name, at = w.array(dtype, (turns + PROGRAMS, *shape)), w.fresh("x"), w.fresh("q")
    size = math.prod(shape)
    start, here, step = w.choose(
        [
            (f"{name} + {offsets(shape)}", at, size),
            (f"{name}.to(tl.int64)", f"{at}.to({pointer(dtype)}) + {offsets(shape)}", size * array.itemsize),
        ]
    )
    total = Value(w.fresh(), dtype, shape)
    none = f"tl.zeros({list(shape)}, {language(dtype)})" if shape else f"(p * 0).to({language(dtype)})"
    lines = (
        f"{at} = {start}", f"{total.name} = {none}", f"for {w.fresh('i')} in range(p + {turns}):",
        f"    {total.name} = {total.name} + tl.load({here})", f"    {at} += {step}",
    )  # fmt: skip

    def compute(p: Array) -> tuple[Array]:
        found = np.zeros(shape, array.dtype)
        for n in range(int(p) + turns):
            found = oracle.binary("+", found, array[n], dtype)
        return (found,)

    w.add(Step(lines, (total,), ("p",), compute, {name: array}))


@outermost
def address_tables(w: Writer) -> None:
    """Two addresses, put into memory and found there again; they are others on every run, so none is left."""
    shape = w.choose(SHAPES)
    dtype, arrays, (x, y), at = _two(w, shape)
    table, found = w.fresh("o"), Value(w.fresh(), dtype, shape)
    index: list[Value] = []
    if w.rules.tame or w.maybe():  # the interpreter knows no pointers to pointers
        put, take = ".to(tl.int64)", f".to({pointer(dtype)})"
        first = f"{table} + p * {PROGRAMS}"
        if shape and w.maybe():
            index.append(w.value(("i32",), shape))
    else:
        put, take = "", ""
        first = f"({table} + p * {PROGRAMS}).to(tl.pointer_type({pointer(dtype)}))"
    which = f"({index[0].name} & 1)" if index else "(1 - p)"
    lines = (
        f"tl.store({first}, {x}{put})", f"tl.store({first} + 1, {y}{put})", "tl.debug_barrier()",
        f"{found.name} = tl.load(tl.load({first} + {which}){take} + {at})", "tl.debug_barrier()",
        f"tl.store({table} + p * {PROGRAMS} + tl.arange(0, 2), 0)",
    )  # fmt: skip

    def compute(p: Array, *rest: Any) -> tuple[Array, Array]:
        *indices, memory = rest
        place = indices[0] & 1 if indices else np.array(1 - int(p))
        return np.where(place == 0, *(a[int(p)] for a in arrays)), memory

    writes = {table: np.zeros(PROGRAMS * 2, np.int64)}
    uses = ("p", *(v.name for v in index))
    w.add(Step(lines, (found,), uses, compute, dict(zip((x, y), arrays, strict=True)), writes))
