"""Loads under masks, blocks, descriptors, stores and atomics: what memory gives and keeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.language import oracle
from tests.support.run import Array, Described

from .registry import operation, outermost
from .writer import FP8, PROGRAMS, Step, Value, Writer, offsets, pointer

#: What atomics take, and blocks of at least 16 bytes.
WIDE = ("i32", "u32", "i64", "u64")


@operation
def loads(w: Writer) -> None:
    """Another argument."""
    w.load(
        w.dtype((*oracle.ALL, *FP8)),
        w.choose([(16,), (), (4, 8), (64,), (2, 4, 8), (16, 16), (2, 2, 4, 2, 2), (4, 1, 16)]),
    )


@operation
def masked_loads(w: Writer) -> None:
    """Where the mask is off, ``other``, or zero."""
    mask = w.value(("i1",), fits=bool)
    dtype = w.dtype((*oracle.ALL, *FP8))
    array, other = w.array(dtype, (PROGRAMS, *mask.shape)), w.choose([None, 1, 0])
    if dtype in FP8 or dtype == "i1":
        other = None
    name, size = w.fresh("x"), math.prod(mask.shape)
    said = f", other={other}" if other is not None else ""

    def compute(m: Array, p: Array) -> Array:
        return np.where(m, array[int(p)], np.array(other or 0, array.dtype))

    w.emit(
        f"tl.load({name} + p * {size} + {offsets(mask.shape)}, mask={{0}}{said})", dtype, mask.shape, mask,
        compute=compute, uses=("p",), reads={name: array},
    )  # fmt: skip


@operation
def scattered_loads(w: Writer) -> None:
    """Elements wherever a tile of integers says."""
    index = w.tile(("i32", "i64", "u8"))
    dtype = w.dtype(oracle.ALL)
    array, name = w.array(dtype, (32,)), w.fresh("x")
    at = w.emit("{0} & 31", index.dtype, index.shape, index, compute=lambda i: i & np.array(31, i.dtype))
    w.emit(
        f"tl.load({name} + {{0}})",
        dtype,
        index.shape,
        at,
        compute=lambda i: array[i.astype(np.int64)],
        reads={name: array},
    )


def window(array: Array, at: tuple[int, int], block: tuple[int, int], pad: float) -> Array:
    """A block of a matrix, and padding around it."""
    rows, columns = at[0] + np.arange(block[0]), at[1] + np.arange(block[1])
    inside = ((rows >= 0) & (rows < array.shape[0]))[:, None] & ((columns >= 0) & (columns < array.shape[1]))[
        None, :
    ]
    found = array[
        np.clip(rows, 0, array.shape[0] - 1)[:, None], np.clip(columns, 0, array.shape[1] - 1)[None, :]
    ]
    return np.where(inside, found, np.array(pad, array.dtype))


@operation
def blocks(w: Writer) -> None:
    """Block pointers, moved on, across the edges of a matrix."""
    dtype = w.dtype(("f32", "f16", "i32", "bf16", "i8", "i64"))
    rows, columns, block = w.number(5, 12), w.number(6, 20), w.choose([(4, 8), (8, 16), (16, 4)])
    array, name, pointer = w.array(dtype, (rows, columns)), w.fresh("x"), w.fresh("q")
    at, moved = (w.number(0, 6), w.number(-3, 9)), (w.number(-4, 6), w.number(0, 9))
    nan = dtype in oracle.FLOATS and not w.rules.tame and w.maybe()
    before = [
        f"{pointer} = tl.make_block_ptr({name}, ({rows}, {columns}), ({columns}, 1), ({at[0]}, {at[1]}), {block}, (1, 0))"
    ]
    if w.maybe():
        before.append(
            f"{pointer} = {w.choose([f'tl.advance({pointer}, {moved})', f'{pointer}.advance({moved})'])}"
        )
        at = (at[0] + moved[0], at[1] + moved[1])
    padding = "nan" if nan else "zero"
    w.emit(
        f'tl.load({pointer}, boundary_check=(0, 1), padding_option="{padding}")', dtype, block,
        compute=lambda: window(array, at, block, math.nan if nan else 0), reads={name: array}, before=before,
    )  # fmt: skip


def _descriptor(
    w: Writer, made: str, name: str, array: Array, block: tuple[int, ...], padding: str = "zero"
) -> tuple[list[str], dict[str, Any]]:
    """Lines that make a descriptor of a matrix from an argument, and the argument; no lines where that is a descriptor itself."""
    if w.maybe():
        strides = [s // array.itemsize for s in array.strides]
        return [], {made: Described(array, array.shape, strides, block, padding)}
    rows, columns = array.shape
    said = f"shape=[{rows}, {columns}], strides=[{columns}, 1], block_shape={list(block)}"
    outside = f', padding_option="{padding}"' if padding != "zero" else ""
    return [f"{made} = tl.make_tensor_descriptor({name}, {said}{outside})"], {name: array}


@operation
def described(w: Writer) -> None:
    """Tensor descriptors: blocks, or rows by a list of their numbers; made in the kernel, or by the launch."""
    dtype = w.dtype(("f32", "f16", "i32", "bf16"))
    rows, columns = w.number(5, 12), 16
    array, name, made = w.array(dtype, (rows, columns)), w.fresh("x"), w.fresh("d")
    if w.chance(4) == 3:
        index, width = w.value(("i32",), (8,)), 32 // array.itemsize
        at = w.emit(
            f"({{0}} & 7) % {rows}", "i32", (8,), index, compute=lambda i: (i & np.int32(7)) % np.int32(rows)
        )
        before, reads = _descriptor(w, made, name, array, (1, width))
        w.emit(
            f"{made}.gather({{0}}, {16 - width})",
            dtype,
            (8, width),
            at,
            compute=lambda i: array[i.astype(np.int64), 16 - width :],
            reads=reads,
            before=before,
        )
        return
    block, first = w.choose([(4, 8), (8, 16)]), (w.number(0, 10), w.choose([0, 8]))
    nan = dtype in oracle.FLOATS and w.maybe()
    before, reads = _descriptor(w, made, name, array, block, "nan" if nan else "zero")
    text = w.choose(
        [
            f"{made}.load([{first[0]}, {first[1]}])",
            f"tl.load_tensor_descriptor({made}, [{first[0]}, {first[1]}])",
        ]
    )
    w.emit(
        text,
        dtype,
        block,
        compute=lambda: window(array, first, block, math.nan if nan else 0),
        reads=reads,
        before=before,
    )


# What changes memory ---------------------------------------------------------------------------------------------


def _change(
    w: Writer,
    lines: list[str],
    name: str,
    array: Array | Described,
    operands: tuple[Value, ...],
    compute: Any,
) -> None:
    """A step that changes one argument; ``compute`` takes the program, the operands and what the argument holds."""
    w.add(
        Step(
            tuple(lines),
            (),
            ("p", *(o.name for o in operands)),
            lambda *a: (compute(*a),),
            writes={name: array},
        )
    )


@outermost
def masked_stores(w: Writer) -> None:
    """Where the mask is off, memory keeps what it held."""
    mask = w.value(("i1",), fits=bool)
    x = w.value((*oracle.ALL, *FP8), mask.shape)
    array, name, size = w.array(x.dtype, (PROGRAMS, *x.shape)), w.fresh("o"), math.prod(x.shape)

    def compute(p: Array, x: Array, m: Array, memory: Array) -> Array:
        after = memory.copy()
        after[int(p)] = np.where(m, x, memory[int(p)])
        return after

    line = f"tl.store({name} + p * {size} + {offsets(x.shape)}, {x.name}, mask={mask.name})"
    _change(w, [line], name, array, (x, mask), compute)


@outermost
def block_stores(w: Writer) -> None:
    """A tile, stored by a block pointer or a descriptor over an edge; one program after the other, alike."""
    x = w.value(("f32", "f16", "i32", "bf16"), w.choose([(4, 8), (8, 16)]))
    rows, at, name = w.number(3, 12), w.number(0, 4), w.fresh("o")
    array, block, made = w.array(x.dtype, (PROGRAMS, rows, 16)), x.shape, w.fresh("d")

    def compute(p: Array, x: Array, memory: Array) -> Array:
        after = memory.copy()
        part = after[int(p), at : at + block[0], : block[1]]
        part[...] = x[: part.shape[0]]
        return after

    base = f"{name} + p * {rows * 16}"
    kind = w.choose(["pointer", "descriptor", "argument"])
    if kind == "argument":
        whole = Described(array, array.shape, (rows * 16, 16, 1), (1, *block))
        _change(w, [f"{made}.store([p, {at}, 0], {x.name}[None, :, :])"], made, whole, (x,), compute)
        return
    if kind == "pointer":
        lines = [
            f"{made} = tl.make_block_ptr({base}, ({rows}, 16), (16, 1), ({at}, 0), {block}, (1, 0))",
            f"tl.store({made}, {x.name}, boundary_check=(0, 1))",
        ]
    else:
        lines = [
            f"{made} = tl.make_tensor_descriptor({base}, shape=[{rows}, 16], strides=[16, 1], block_shape={list(block)})",
            w.choose(
                [
                    f"{made}.store([{at}, 0], {x.name})",
                    f"tl.store_tensor_descriptor({made}, [{at}, 0], {x.name})",
                ]
            ),
        ]
    _change(w, lines, name, array, (x,), compute)


ATOMICS = {"add": "+", "and": "&", "or": "|", "xor": "^", "max": "maximum", "min": "minimum"}


@outermost
def meetings(w: Writer) -> None:
    """All elements of all programs meet in a few counters, in any order; nobody looks at what was there."""
    x = w.tile(WIDE)
    function = w.choose(list(ATOMICS))
    array, name = w.array(x.dtype, (4,)), w.fresh("o")

    def compute(p: Array, x: Array, memory: Array) -> Array:
        after = memory.copy()
        for value in x.reshape(-1):
            at = int(value & np.array(3, x.dtype))
            after[at] = oracle.binary(
                ATOMICS[function], after[at : at + 1], value.reshape(1), oracle.name_of(x)
            )[0]
        return after

    sem = w.choose(["", ', sem="relaxed"'])
    at = w.choose(
        [
            f"{name} + ({x.name} & 3)",
            f"({name}.to(tl.int64) + ({x.name} & 3).to(tl.int64) * {array.itemsize}).to({pointer(x.dtype)})",
        ]
    )
    _change(w, [f"tl.atomic_{function}({at}, {x.name}{sem})"], name, array, (x,), compute)


@outermost
def exchanges(w: Writer) -> None:
    """Every element by itself: ``atomic_xchg``, ``atomic_cas`` and the others, with what was there."""
    # The interpreter takes tiles that were turned round for others: new ones lie in order.
    x = w.load(w.dtype(WIDE), w.choose([(8,), (4, 8)])) if w.rules.tame else w.tile(WIDE)
    function = w.choose(["xchg", "cas", *ATOMICS])
    array, name, size = w.array(x.dtype, (PROGRAMS, *x.shape)), w.fresh("o"), math.prod(x.shape)
    was = Value(w.fresh(), x.dtype, x.shape)
    at = f"{name} + p * {size} + {offsets(x.shape)}"
    y = w.value((x.dtype,), x.shape) if function == "cas" and not w.rules.tame else x
    text = (
        f"tl.atomic_cas({at}, {y.name}, {x.name})"
        if function == "cas"
        else f"tl.atomic_{function}({at}, {x.name})"
    )

    def compute(p: Array, x: Array, y: Array, memory: Array) -> tuple[Array, Array]:
        after, before = memory.copy(), memory[int(p)]
        if function == "xchg":
            after[int(p)] = x
        elif function == "cas":
            after[int(p)] = np.where(before == y, x, before)
        else:
            after[int(p)] = oracle.binary(ATOMICS[function], before, x, oracle.name_of(x))
        return before.copy(), after

    w.add(Step((f"{was.name} = {text}",), (was,), ("p", x.name, y.name), compute, writes={name: array}))


@outermost
def described_atomics(w: Writer) -> None:
    """Atomics by descriptors, and rows that are scattered."""
    x = w.value(("i32", "u32"), (8, 8))
    made, name = w.fresh("d"), w.fresh("o")
    if w.maybe():
        array = w.array(x.dtype, (PROGRAMS, 8, 8))
        index = w.emit("7 - tl.arange(0, 8)", "i32", (8,), compute=lambda: 7 - np.arange(8))
        lines = [
            f"{made} = tl.make_tensor_descriptor({name} + p * 64, shape=[8, 8], strides=[8, 1], block_shape=[1, 8])",
            f"{made}.scatter({x.name}, {index.name}, 0)",
        ]

        def scattered(p: Array, x: Array, _: Array, memory: Array) -> Array:
            after = memory.copy()
            after[int(p)] = x[::-1]
            return after

        _change(w, lines, name, array, (x, index), scattered)
        return
    function, rows = w.choose(list(ATOMICS)), w.number(3, 8)
    before, writes = _descriptor(w, made, name, w.array(x.dtype, (rows, 8)), (8, 8))
    ((name, changed),) = writes.items()
    _change(
        w,
        [*before, f"{made}.atomic_{function}([0, 0], {x.name})"],
        name,
        changed,
        (x,),
        lambda p, x, memory: oracle.binary(ATOMICS[function], memory, x[:rows], oracle.name_of(x)),
    )
