"""Tensor cores: which lane of a warp holds what of a product's tiles.

One instruction multiplies [16, k] by [k, 8], where a row of k elements is eight words of 4 bytes: 16 of bf16, 8 of tf32, 32 of i8.  A lane
holds its operands in those words, each of neighbours along k, so one scheme does for all widths, and for f64 with words of 8 bytes (PTX ISA,
"Matrix fragments for mma.m16n8k16" and its like).  A tile is many of these; warps share the result out, and each holds the rows and columns that go into its part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from teenybuild.compiler.layout.linear import Layout, log2

#: Rows and columns of one instruction's result, words of a row along k, and its bytes where a word is of four.
ROWS, COLUMNS, ROW_WORDS, ROW_BYTES = 16, 8, 8, 32


#: Warps that multiply together on the architecture that has it, rows of their result, and columns of one instruction's at most.
GROUP, GROUP_ROWS, GROUP_COLUMNS = 4, 64, 256


@dataclass(frozen=True, slots=True)
class Fragments:
    """Layouts of ``a`` [m, k], ``b`` [k, n] and the result [m, n], or of as many along a first axis; ``b`` is None where it is read from shared memory, as ``a`` may then be."""

    a: Layout
    b: Layout | None
    c: Layout


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of one lane: registers of ``a`` and ``b`` a word after the other, and of the result."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    c: tuple[int, ...]


def in_word(size: int) -> int:
    """Elements of ``size`` bytes in one word."""
    return max(4, size) // size


def fragments(m: int, n: int, k: int, size: int, warps: int) -> Fragments | None:
    """For operands of ``size`` bytes; None where the tile is smaller than what one instruction takes."""
    if m < ROWS or n < COLUMNS or k < ROW_WORDS * in_word(size):
        return None
    rows, columns = log2(m), log2(n)
    # Parts of the result as square as can be: each row and column that goes into one is read by its warp.
    for _ in range(log2(warps)):
        if 1 << rows > ROWS and (rows >= columns or 1 << columns == COLUMNS):
            rows -= 1
        elif 1 << columns > COLUMNS:
            columns -= 1
    down, right = range(rows, log2(m)), range(columns, log2(n))
    spare = [0] * (log2(warps) - len(down) - len(right))
    # Neighbours along k within a word, the lanes' words, and the second half of a row; then the next instruction's.
    word, deep = log2(in_word(size)), log2(k)
    inside, lanes, further = range(word), range(word, word + 2), range(word + 2, deep)
    return Fragments(
        Layout(
            (m, k),
            (*_bits(1, inside), k << 3, *_bits(1, further), *_bits(k, range(4, rows))),
            (*_bits(1, lanes), *_bits(k, range(3))),
            (*_bits(k, down), *[0] * len(right), *spare),
        ),
        Layout(
            (k, n),
            (*_bits(n, inside), *_bits(n, further), *_bits(1, range(3, columns))),
            (*_bits(n, lanes), *_bits(1, range(3))),
            (*[0] * len(down), *_bits(1, right), *spare),
        ),
        Layout(
            (m, n),
            (1, n << 3, *_bits(1, range(3, columns)), *_bits(n, range(4, rows))),
            (2, 4, *_bits(n, range(3))),
            (*_bits(n, down), *_bits(1, right), *spare),
        ),
    )


def batch_fragments(count: int, m: int, n: int, k: int, size: int, warps: int) -> Fragments | None:
    """The same of ``count`` products, along a first axis: warps share them out before they share out what each is."""
    apart = min(count, warps)
    one = fragments(m, n, k, size, warps // apart)
    if one is None:
        return None
    assert one.b is not None
    return Fragments(*(_repeated(layout, count, apart) for layout in (one.a, one.b, one.c)))


def _repeated(layout: Layout, count: int, apart: int) -> Layout:
    """Tiles that each lie as ``layout`` says, along a new first axis, ``apart`` of them with warps of their own."""
    places = range(layout.bits, layout.bits + log2(count))
    held = len(places) - log2(apart)
    return Layout(
        (count, *layout.shape),
        (*layout.registers, *_bits(1, places[:held])),
        layout.lanes,
        (*layout.warps, *_bits(1, places[held:])),
    )


def group_fragments(m: int, n: int, k: int, size: int, warps: int) -> Fragments | None:
    """The same where four warps multiply together: each has 16 of 64 rows, and what it holds of a row is as above (PTX ISA, ``wgmma``)."""
    if warps < GROUP or m < GROUP_ROWS or n < COLUMNS or k * size < ROW_BYTES:
        return None
    rows, columns = log2(m), log2(n)
    # Groups have rows of their own as far as there are rows: then no two of them read the same of the larger operand's share.
    for _ in range(log2(warps // GROUP)):
        if 1 << rows > GROUP_ROWS:
            rows -= 1
        elif 1 << columns > COLUMNS:
            columns -= 1
    down, right = range(rows, log2(m)), range(columns, log2(n))
    spare = [0] * (log2(warps // GROUP) - len(down) - len(right))
    word, deep = log2(4 // size), log2(k)
    quarter = range(4, 6)
    return Fragments(
        Layout(
            (m, k),
            (*_bits(1, range(word)), k << 3, *_bits(1, range(word + 2, deep)), *_bits(k, range(6, rows))),
            (*_bits(1, range(word, word + 2)), *_bits(k, range(3))),
            (*_bits(k, quarter), *_bits(k, down), *[0] * len(right), *spare),
        ),
        None,
        Layout(
            (m, n),
            (1, n << 3, *_bits(1, range(3, columns)), *_bits(n, range(6, rows))),
            (2, 4, *_bits(n, range(3))),
            (*_bits(n, quarter), *_bits(n, down), *_bits(1, right), *spare),
        ),
    )


@dataclass(frozen=True, slots=True)
class GroupStep:
    """One instruction of four warps: ``a`` as registers, or as the index of its first element where it is in shared memory; ``b`` as the latter."""

    a: tuple[int, ...] | int
    b: int


@dataclass(frozen=True, slots=True)
class GroupPart:
    """One part of the result, ``columns`` wide: the registers that hold it, from ``first`` on, and the steps that add to it."""

    first: int
    columns: int
    steps: tuple[GroupStep, ...]


def group_parts(a: Layout | None, c: Layout, k: int, size: int) -> Iterator[GroupPart]:
    """All instructions of the first group of warps; ``a`` is None where it is in shared memory. Its registers come a word after the other."""
    n = c.shape[1]
    held = _places(a) if a else None
    places = _places(c)
    width = min(GROUP_COLUMNS, 1 << sum(basis < n for basis in c.registers + c.lanes))
    many, half = 4 // size, 16 // size
    for index in sorted(places):
        row, column = divmod(index, n)
        if row % GROUP_ROWS or column % width:
            continue
        steps: list[GroupStep] = []
        for first in range(0, k, 2 * half):
            left: tuple[int, ...] | int = row * k + first
            if held is not None:
                words = [(row + 8 * (w & 1), first + half * (w >> 1)) for w in range(4)]
                left = tuple(held[r * k + at + i] for r, at in words for i in range(many))
            steps.append(GroupStep(left, first * n + column))
        yield GroupPart(places[index], width, tuple(steps))


def steps(held: Fragments, size: int) -> Iterator[Step]:
    """All instructions of a lane; those that add to the same part of the result follow each other, k in order.

    Of several products, rows are counted on from one to the next.
    """
    assert held.b is not None
    *_, k, n = held.b.shape
    m = held.c.shape[-2]
    a, b, c = (_places(layout) for layout in (held.a, held.b, held.c))
    many = in_word(size)
    half = many * ROW_WORDS // 2
    for row, column in sorted({(i // n, i % n) for i in c}):
        if row % ROWS or column % COLUMNS:
            continue
        pairs = [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)]
        own = row // m * k
        for first in range(0, k, 2 * half):
            words = [(row + 8 * (w & 1), first + half * (w >> 1)) for w in range(4)]
            yield Step(
                tuple(a[r * k + at + i] for r, at in words for i in range(many)),
                tuple(b[(own + first + half * w + i) * n + column] for w in range(2) for i in range(many)),
                tuple(c[r * n + j] for r, j in pairs),
            )


def _bits(unit: int, places: Iterable[int]) -> tuple[int, ...]:
    return tuple(unit << place for place in places)


def _places(layout: Layout) -> dict[int, int]:
    """Where lane 0 of warp 0 holds each element that it holds."""
    return {index: register for register, index in enumerate(layout.indices)}
