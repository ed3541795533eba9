"""Axis analysis against arithmetic: random index expressions are computed, and must have the runs and divisors that are claimed."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teenybuild.compiler.ir import arith, core, scf, tt, types
from teenybuild.compiler.ir.constant import constant
from teenybuild.compiler.ir.core import Block, Function, Value
from teenybuild.compiler.ir.types import Tile
from teenybuild.compiler.layout.axes import AxisAnalysis, AxisInfo
from teenybuild.dtypes import DType, f32, i1, i8, i32, i64

Numbers = np.ndarray


class Made:
    """A function being built, with the number (or numbers) each value has."""

    def __init__(self, divisors: dict[int, int], numbers: list[int]) -> None:
        self.body = Block(args=[Value(i32) for _ in numbers])
        self.numbers: dict[Value, Numbers] = {
            arg: np.array(n, np.int64) for arg, n in zip(self.body.args, numbers, strict=True)
        }
        self.divisibility = tuple(divisors.get(i) for i in range(len(numbers)))

    def add(self, op: core.Op, numbers: Numbers) -> Value:
        self.body.ops.append(op)
        self.numbers[op.results[0]] = numbers
        return op.results[0]

    def constant(self, value: int, shape: tuple[int, ...] = ()) -> Value:
        type_: types.Type = Tile(shape, i32) if shape else i32
        return self.add(constant(value, type_), np.full(shape, value, np.int64))

    def splat(self, value: Value, shape: tuple[int, ...]) -> Value:
        return self.add(tt.Splat(value, Tile(shape, i32)), np.full(shape, self.numbers[value]))

    def analysis(self) -> AxisAnalysis:
        self.body.ops.append(tt.Return())
        names = tuple(f"a{i}" for i in range(len(self.body.args)))
        return AxisAnalysis(Function("f", names, self.body, self.divisibility, (None,) * len(names)))


def check(info: AxisInfo, numbers: Numbers) -> None:
    """The numbers keep what is claimed of them, along every axis."""
    if info.value is not None:
        assert (numbers == info.value).all()
    assert (numbers % info.divisor == 0).all()
    for axis in range(numbers.ndim):
        rows = np.moveaxis(numbers, axis, -1).reshape(-1, numbers.shape[axis])
        side = rows.shape[1]
        run = info.contiguity[axis]
        assert side % run == 0
        pieces = rows.reshape(-1, run)
        assert (np.diff(pieces, axis=1) == 1).all(), f"not contiguous by {run}: {rows[0][:16]}"
        assert (pieces[:, 0] % min(info.divisibility[axis], 1 << 20) == 0).all(), (
            f"runs of {run} not divided by {info.divisibility[axis]}"
        )
        same = rows.reshape(-1, gcd(info.constancy[axis], side))
        assert (same == same[:, :1]).all(), f"not constant by {info.constancy[axis]}"


def truncated(op: str, a: Numbers, b: Numbers) -> Numbers:
    """Division and remainder toward zero."""
    quotient = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
    return quotient if op == "/" else a - quotient * b


Rule = tuple[Callable[[Value, Value], core.Op], Callable[[Numbers, Numbers], Numbers]]
ARITHMETIC: dict[str, Rule] = {
    "+": (arith.AddI, np.add),
    "-": (arith.SubI, np.subtract),
    "*": (arith.MulI, np.multiply),
    "/": (arith.DivSI, lambda a, b: truncated("/", a, b)),
    "%": (arith.RemSI, lambda a, b: truncated("%", a, b)),
    "/u": (arith.DivUI, lambda a, b: truncated("/", a, b)),
    "%u": (arith.RemUI, lambda a, b: truncated("%", a, b)),
    "max": (arith.MaxSI, np.maximum),
    "min": (arith.MinSI, np.minimum),
    "&": (arith.AndI, np.bitwise_and),
    "|": (arith.OrI, np.bitwise_or),
    "^": (arith.XOrI, np.bitwise_xor),
    "<<": (arith.ShLI, np.left_shift),
}
COMPARISONS: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "slt": np.less, "sle": np.less_equal, "sgt": np.greater, "sge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip


@st.composite
def programs(draw: st.DrawFn, *, negative: bool = True) -> Made:
    """Random index arithmetic on tiles of one shape."""
    divisors = {0: 16, 1: 4}
    low = -3 if negative else 0
    numbers = [
        16 * draw(st.integers(low, 5)),
        4 * draw(st.integers(low, 9)),
        draw(st.integers(low, 9)),
        draw(st.integers(1, 9)),
    ]
    made = Made(divisors, numbers)
    shape = draw(st.sampled_from([(16,), (8, 4), (2, 16), (1, 8), (64,)]))
    tiles: list[Value] = []

    def leaf() -> Value:
        kind = draw(st.sampled_from(["range", "scalar", "constant"]))
        if kind == "scalar":
            return made.splat(draw(st.sampled_from(made.body.args)), shape)
        if kind == "constant":
            return made.constant(
                draw(st.sampled_from([0, 1, 2, 3, 4, 6, 8, 16, 64, *((-1, -4) if negative else ())])), shape
            )
        axis = draw(st.integers(0, len(shape) - 1))
        start = draw(st.sampled_from([0, 0, 4, 3, 16, *((-8,) if negative else ())]))
        side = shape[axis]
        value = made.add(tt.MakeRange(start, start + side), np.arange(start, start + side))
        if len(shape) == 1:
            return value
        other = 1 - axis
        grown = (side, 1) if axis == 0 else (1, side)
        line = made.add(tt.ExpandDims(value, Tile(grown, i32), other), made.numbers[value].reshape(grown))
        return made.add(
            tt.Broadcast(line, Tile(shape, i32)), np.broadcast_to(made.numbers[line], shape).copy()
        )

    for _ in range(draw(st.integers(2, 4))):
        tiles.append(leaf())
    for _ in range(draw(st.integers(1, 8))):
        a, b = draw(st.sampled_from(tiles)), draw(st.sampled_from([*tiles, leaf()]))
        x, y = made.numbers[a], made.numbers[b]
        op = draw(st.sampled_from(sorted(ARITHMETIC)))
        if op in ("/", "%", "/u", "%u") and (
            (y == 0).any() or (op.endswith("u") and ((x < 0).any() or (y < 0).any()))
        ):
            continue
        if op == "<<" and ((y < 0).any() or (y > 8).any()):
            continue
        build, compute = ARITHMETIC[op]
        result = compute(x, y)
        if np.abs(result).max() < 1 << 24:
            tiles.append(made.add(build(a, b), result))
        if draw(st.booleans()):
            predicate = draw(st.sampled_from(sorted(COMPARISONS)))
            mask = made.add(arith.CmpI(predicate, a, b), COMPARISONS[predicate](x, y).astype(np.int64))
            if draw(st.booleans()):
                tiles.append(made.add(arith.Select(mask, a, b), np.where(made.numbers[mask] != 0, x, y)))
        if draw(st.booleans()):
            made.add(arith.ExtSI(a, i64), x)
    return made


@settings(max_examples=400, deadline=None, derandomize=True)
@given(made=programs())
def test_random_index_expressions(made: Made) -> None:
    analysis = made.analysis()
    for value, numbers in made.numbers.items():
        check(analysis[value], numbers)


def tile(side: int = 16) -> Tile:
    return Tile((side,), i32)


def test_what_is_claimed() -> None:
    """Not only true, but as much as vector accesses need."""
    made = Made({0: 16}, [32, 5])
    base, n = made.body.args
    r = made.add(tt.MakeRange(0, 16), np.arange(16))
    eight = made.constant(8, (16,))
    offset = made.add(arith.AddI(made.splat(base, (16,)), r), 32 + np.arange(16))
    scaled = made.add(arith.MulI(r, eight), 8 * np.arange(16))
    shifted = made.add(arith.AddI(made.splat(n, (16,)), r), 5 + np.arange(16))
    mask = made.add(arith.CmpI("slt", offset, made.splat(base, (16,))), np.zeros(16, np.int64))
    program = made.add(tt.GetProgramId("x"), np.array(2))
    start = made.add(arith.MulI(program, made.constant(16)), np.array(32))
    own = made.add(arith.AddI(made.splat(start, (16,)), r), 32 + np.arange(16))
    quotient = made.add(arith.DivSI(own, eight), (32 + np.arange(16)) // 8)
    remainder = made.add(arith.RemSI(own, eight), (32 + np.arange(16)) % 8)
    modulus = made.splat(base, (16,))
    wrapped = made.add(arith.RemSI(own, modulus), (32 + np.arange(16)) % 32)
    analysis = made.analysis()

    def claimed(value: Value) -> tuple[int, int, int]:
        info = analysis[value]
        return info.contiguity[0], info.divisibility[0], info.constancy[0]

    assert claimed(r) == (16, 1 << 20, 1)
    assert claimed(offset) == (16, 16, 1)
    assert claimed(scaled)[:2] == (1, 8)
    assert claimed(shifted)[:2] == (16, 1)
    assert claimed(mask)[2] == 16
    assert claimed(quotient)[2] == 8
    assert claimed(remainder)[0] == 8
    assert claimed(wrapped)[0] == 16  # an argument that 16 divides, as in (pid * BLOCK + arange) % M


def test_division_toward_zero_below_zero() -> None:
    """An offset of unknown sign: -8 // 8 is -1, and -7 // 8 is 0; -8 % 8 is 0, and -7 % 8 is -7."""
    made = Made({0: 16}, [-32])
    r = made.add(tt.MakeRange(0, 16), np.arange(16))
    eight = made.constant(8, (16,))
    below = made.add(arith.AddI(made.splat(made.body.args[0], (16,)), r), -32 + np.arange(16))
    quotient = made.add(arith.DivSI(below, eight), truncated("/", made.numbers[below], made.numbers[eight]))
    remainder = made.add(arith.RemSI(below, eight), truncated("%", made.numbers[below], made.numbers[eight]))
    analysis = made.analysis()
    assert analysis[quotient].constancy == (1,)
    assert analysis[remainder].contiguity == (1,)
    check(analysis[quotient], made.numbers[quotient])
    check(analysis[remainder], made.numbers[remainder])


@pytest.mark.parametrize(("bits", "run"), [(i8, 128), (i64, 1024)])
def test_a_narrow_index_wraps(bits: DType, run: int) -> None:
    """0, 1, … 127, -128, … as i8: contiguous up to where it wraps."""
    body = Block()
    r = tt.MakeRange(0, 1024)
    cut = arith.TruncI(r.result, bits) if bits.bits < 32 else arith.ExtSI(r.result, bits)
    back = arith.ExtSI(cut.result, i64) if bits.bits < 64 else cut
    body.ops = [r, cut, *([back] if back is not cut else []), tt.Return()]
    analysis = AxisAnalysis(Function("f", (), body))
    assert analysis[back.results[0]].contiguity == (run,)


def test_pointers_count_in_bytes() -> None:
    pointer = types.Pointer(f32)
    body = Block(args=[Value(pointer), Value(i32)])
    p, n = body.args
    r = tt.MakeRange(0, 16)
    base = tt.Splat(p, Tile((16,), pointer))
    near = tt.AddPtr(base.result, r.result)
    moved = tt.Splat(n, tile())
    far = tt.AddPtr(near.result, moved.result)
    body.ops = [r, base, near, moved, far, tt.Return()]
    analysis = AxisAnalysis(Function("f", ("p", "n"), body, (16, 2), (None, None)))
    assert analysis[near.result].contiguity == (16,)
    assert analysis[near.result].divisibility == (16,)
    # n is even: 8 bytes of f32.
    assert (analysis[far.result].contiguity, analysis[far.result].divisibility) == ((16,), (8,))


def test_pointers_of_other_widths() -> None:
    wide, narrow = types.Pointer(f32), types.Pointer(i8)
    body = Block(args=[Value(wide)])
    r = tt.MakeRange(0, 16)
    base = tt.Splat(body.args[0], Tile((16,), wide))
    near = tt.AddPtr(base.result, r.result)
    bytes_ = tt.Bitcast(near.result, narrow)
    same = tt.Bitcast(near.result, types.Pointer(i32))
    body.ops = [r, base, near, bytes_, same, tt.Return()]
    analysis = AxisAnalysis(Function("f", ("p",), body, (16,), (None,)))
    assert (analysis[bytes_.result].contiguity, analysis[bytes_.result].divisibility) == ((1,), (4,))
    assert analysis[same.result] == analysis[near.result]


@pytest.mark.parametrize(("step", "kept"), [(16, 16), (8, 8), (4, 4), (3, 1), (0, 16)])
def test_a_loop_keeps_what_its_step_keeps(step: int, kept: int) -> None:
    """A carried offset starts at a multiple of 16 and moves by ``step``: to a fixed point."""
    body = Block(args=[Value(i32)])
    r = tt.MakeRange(0, 16)
    zero, one, n = constant(0, i32), constant(1, i32), constant(5, i32)
    inner = Block(args=[Value(i32), Value(tile())])
    move = constant(step, tile())
    moved = arith.AddI(inner.args[1], move.result)
    inner.ops = [move, moved, scf.Yield((moved.result,))]
    loop = scf.For((r.result,), zero.result, n.result, one.result, inner)
    body.ops = [r, zero, one, n, loop, tt.Return()]
    analysis = AxisAnalysis(Function("f", ("a",), body, (None,), (None,)))
    for value in (loop.results[0], inner.args[1]):
        assert analysis[value].contiguity == (16,)
        assert gcd(analysis[value].divisibility[0], 16) == kept


def test_a_branch_keeps_what_both_sides_keep() -> None:
    body = Block(args=[Value(i1)])
    r = tt.MakeRange(0, 16)
    four, eight = constant(4, tile()), constant(8, tile())
    a, b = arith.AddI(r.result, four.result), arith.RemSI(r.result, eight.result)
    then, otherwise = Block(ops=[a, scf.Yield((a.result,))]), Block(ops=[b, scf.Yield((b.result,))])
    branch = scf.If(body.args[0], then, otherwise, (tile(),))
    body.ops = [r, four, eight, branch, tt.Return()]
    analysis = AxisAnalysis(Function("f", ("c",), body, (None,), (None,)))
    info = analysis[branch.results[0]]
    assert info.contiguity == (8,)
    for numbers in (np.arange(16) + 4, np.arange(16) % 8):
        check(info, numbers)
