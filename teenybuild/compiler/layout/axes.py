"""Axis analysis: what is known of a value along each axis of its tile.

``contiguity``: the longest power-of-two run, aligned to its own length within the tile, in which values step by 1.
``divisibility``: a power of two that divides the first value of every such run (bytes for pointers).
``constancy``: the longest aligned power-of-two run in which all values are equal.

Runs are what decides how wide a memory access may be.  Arithmetic is taken not to wrap within a run, as in Triton: a run that wraps
would address memory on both ends of the address space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd

from teenybuild.compiler.ir import arith, scf, tt
from teenybuild.compiler.ir.constant import Constant
from teenybuild.compiler.ir.core import Block, Function, Op, Value
from teenybuild.compiler.ir.types import Pointer, element, shape_of

#: Divisibility of zero, and of what is known completely.
_MOST = 1 << 20


@dataclass(frozen=True, slots=True)
class AxisInfo:
    """What is known along each axis; scalars have no axes, but a divisor and perhaps a value."""

    contiguity: tuple[int, ...]
    divisibility: tuple[int, ...]
    constancy: tuple[int, ...]
    #: Divisor of a scalar, or of every element.
    divisor: int = 1
    value: int | None = None


def _power_of_two_in(n: int) -> int:
    """The largest power of two that divides ``n`` (capped)."""
    return min(n & -n, _MOST) if n else _MOST


def unknown(shape: tuple[int, ...]) -> AxisInfo:
    """Nothing is known."""
    ones = (1,) * len(shape)
    return AxisInfo(ones, ones, ones)


def constant(shape: tuple[int, ...], value: int) -> AxisInfo:
    """Every element is ``value``."""
    divisor = _power_of_two_in(value)
    return AxisInfo((1,) * len(shape), (divisor,) * len(shape), shape, divisor, value)


class AxisAnalysis:
    """Axis information of every value of a function: ``analysis[value]``."""

    def __init__(self, function: Function) -> None:
        self._info: dict[Value, AxisInfo] = {}
        for i, arg in enumerate(function.body.args):
            divisor = function.divisibility[i] if function.divisibility else None
            known = function.constant[i] if function.constant else None
            if known is not None:
                self._info[arg] = constant((), known)
            else:
                self._info[arg] = AxisInfo((), (), (), _power_of_two_in(divisor or 1))
        self._block(function.body)

    def __getitem__(self, value: Value) -> AxisInfo:
        found = self._info.get(value)
        return unknown(shape_of(value.type)) if found is None else found

    def copy_to(self, new: Value, old: Value) -> None:
        """``new`` holds the same elements as ``old``."""
        self._info[new] = self[old]

    def _block(self, block: Block) -> None:
        for op in block.ops:
            rule = _RULES.get(type(op))
            if rule is not None:
                self._info[op.results[0]] = rule(op, self._info_of)
            elif isinstance(op, scf.For):
                self._loop(op)
            elif isinstance(op, scf.If):
                self._branches(op)

    def _info_of(self, value: Value) -> AxisInfo:
        return self[value]

    def _branches(self, op: scf.If) -> None:
        self._block(op.then)
        self._block(op.otherwise)
        pairs = zip(op.then.terminator.operands, op.otherwise.terminator.operands, strict=True)
        for result, (a, b) in zip(op.results, pairs, strict=True):
            self._info[result] = _weaken(self[a], self[b])

    def _loop(self, op: scf.For) -> None:
        """Carried values: the weakest of what comes in and what comes round, to a fixed point (each turn only weakens)."""
        index = op.body.args[0]
        lower, step = self[op.lower], self[op.step]
        self._info[index] = AxisInfo((), (), (), gcd(lower.divisor, step.divisor))
        carried = op.body.args[1:]
        for arg, initial in zip(carried, op.initial, strict=True):
            self._info[arg] = self[initial]
        while True:
            self._block(op.body)
            changed = False
            for arg, value in zip(carried, op.body.terminator.operands, strict=True):
                weaker = _weaken(self[arg], self[value])
                if weaker != self[arg]:
                    self._info[arg] = weaker
                    changed = True
            if not changed:
                break
        for result, arg in zip(op.results, carried, strict=True):
            self._info[result] = self[arg]


def _weaken(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    def least(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(gcd(p, q) for p, q in zip(x, y, strict=True))

    return AxisInfo(
        least(a.contiguity, b.contiguity),
        least(a.divisibility, b.divisibility),
        least(a.constancy, b.constancy),
        gcd(a.divisor, b.divisor),
        a.value if a.value == b.value else None,
    )


Get = Callable[[Value], AxisInfo]


def _constant(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, Constant)
    shape = shape_of(op.type)
    return (
        constant(shape, op.value)
        if isinstance(op.value, int)
        else AxisInfo((1,) * len(shape), (1,) * len(shape), shape)
    )


def _make_range(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, tt.MakeRange)
    length = op.end - op.start
    # Runs are counted from the tile's start; the first value of each is start + a multiple of the run.
    return AxisInfo((length,), (_power_of_two_in(op.start),), (1,), 1)


def _splat(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, tt.Splat)
    shape = shape_of(op.type)
    source = get(op.source)
    return AxisInfo((1,) * len(shape), (source.divisor,) * len(shape), shape, source.divisor, source.value)


def _broadcast(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, tt.Broadcast)
    before, shape, source = shape_of(op.source.type), shape_of(op.type), get(op.source)
    constancy = tuple(r if s == 1 else c for s, r, c in zip(before, shape, source.constancy, strict=True))
    return AxisInfo(source.contiguity, source.divisibility, constancy, source.divisor, source.value)


def _expand_dims(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, tt.ExpandDims)
    source, at = get(op.source), op.axis

    def put(values: tuple[int, ...], new: int) -> tuple[int, ...]:
        return (*values[:at], new, *values[at:])

    # A single element: it starts every run, so it is divided by what divides all run starts along the other axes.
    whole = _every_element(source)
    return AxisInfo(
        put(source.contiguity, 1),
        put(source.divisibility, whole),
        put(source.constancy, 1),
        source.divisor,
        source.value,
    )


def _every_element(info: AxisInfo) -> int:
    """A power of two that divides every element: run starts, and how far elements may lie from one."""
    if not info.contiguity:
        return info.divisor
    best = 1
    for contiguity, divisibility in zip(info.contiguity, info.divisibility, strict=True):
        if contiguity == 1:
            best = max(best, divisibility)
    return max(best, info.divisor)


def _step(op: Op) -> int:
    """Bytes one unit of the second operand moves the first: 1 for integers."""
    pointer = element(op.results[0].type)
    return pointer.pointee.size if isinstance(pointer, Pointer) else 1


def _add(op: Op, get: Get) -> AxisInfo:
    a, b = (get(v) for v in op.operands)
    size = _step(op)
    negative = isinstance(op, arith.SubI)
    contiguity: list[int] = []
    divisibility: list[int] = []
    constancy: list[int] = []
    for i in range(len(a.contiguity)):
        left = gcd(a.contiguity[i], b.constancy[i])
        right = 1 if negative else gcd(a.constancy[i], b.contiguity[i])
        run = max(left, right)
        contiguity.append(run)
        # The first value of a run of the sum: both operands' values there. An operand that is contiguous over a longer run than
        # the sum starts its own run elsewhere, so its value there is only known up to the sum's run.
        at_a = _at_run(a, i, run)
        at_b = _at_run(b, i, run)
        divisibility.append(gcd(at_a, min(at_b * size, _MOST)))
        constancy.append(gcd(a.constancy[i], b.constancy[i]))
    value = None
    if a.value is not None and b.value is not None and size == 1 and not isinstance(op, tt.AddPtr):
        value = a.value - b.value if negative else a.value + b.value
    divisor = gcd(a.divisor, min(b.divisor * size, _MOST))
    return AxisInfo(tuple(contiguity), tuple(divisibility), tuple(constancy), divisor, value)


def _at_run(info: AxisInfo, axis: int, run: int) -> int:
    """What divides the value at every multiple of ``run`` along ``axis``."""
    if info.contiguity[axis] <= run:
        return info.divisibility[axis]
    return gcd(info.divisibility[axis], run)


def _multiply(op: Op, get: Get) -> AxisInfo:
    a, b = (get(v) for v in op.operands)
    contiguity: list[int] = []
    divisibility: list[int] = []
    constancy: list[int] = []
    for i in range(len(a.contiguity)):
        run = 1
        if b.value == 1:
            run = a.contiguity[i]
        elif a.value == 1:
            run = b.contiguity[i]
        contiguity.append(run)
        divisibility.append(min(_at_run(a, i, run) * _at_run(b, i, run), _MOST))
        constancy.append(gcd(a.constancy[i], b.constancy[i]))
    value = a.value * b.value if a.value is not None and b.value is not None else None
    return AxisInfo(
        tuple(contiguity), tuple(divisibility), tuple(constancy), min(a.divisor * b.divisor, _MOST), value
    )


def _shift_left(op: Op, get: Get) -> AxisInfo:
    a, b = (get(v) for v in op.operands)
    factor = 1 << b.value if b.value is not None and 0 <= b.value < 20 else 1
    n = range(len(a.contiguity))
    return AxisInfo(
        a.contiguity if b.value == 0 else (1,) * len(a.contiguity),
        tuple(min(_at_run(a, i, 1) * factor, _MOST) for i in n),
        tuple(gcd(a.constancy[i], b.constancy[i]) for i in n),
        min(a.divisor * factor, _MOST),
        a.value * factor if a.value is not None and b.value is not None else None,
    )


def _divide(op: Op, get: Get) -> AxisInfo:
    """``x // d``: over a contiguous run that starts at a multiple of d, quotients repeat d times."""
    a, b = (get(v) for v in op.operands)
    d = b.value
    contiguity: list[int] = []
    constancy: list[int] = []
    divisibility: list[int] = []
    for i in range(len(a.contiguity)):
        same = gcd(a.constancy[i], b.constancy[i])
        if d is not None and d > 0 and a.contiguity[i] > 1:
            # Aligned pieces of this length lie between multiples of d.
            piece = gcd(gcd(a.contiguity[i], a.divisibility[i]), _power_of_two_in(d))
            same = max(same, piece)
        contiguity.append(a.contiguity[i] if d == 1 else 1)
        constancy.append(same)
        whole = (
            a.divisibility[i] // d
            if d is not None and d > 0 and d & (d - 1) == 0 and a.contiguity[i] == 1
            else 1
        )
        divisibility.append(a.divisibility[i] if d == 1 else max(1, whole))
    return AxisInfo(tuple(contiguity), tuple(divisibility), tuple(constancy), 1)


def _remainder(op: Op, get: Get) -> AxisInfo:
    """``x % d``: contiguous over aligned pieces that lie between multiples of d."""
    a, b = (get(v) for v in op.operands)
    contiguity: list[int] = []
    constancy: list[int] = []
    divisibility: list[int] = []
    for i in range(len(a.contiguity)):
        d = b.divisibility[i] if b.value is None else _power_of_two_in(b.value)
        uniform = b.constancy[i]
        piece = gcd(gcd(gcd(a.contiguity[i], a.divisibility[i]), d), uniform)
        contiguity.append(max(1, piece))
        constancy.append(gcd(a.constancy[i], b.constancy[i]))
        divisibility.append(gcd(_at_run(a, i, max(1, piece)), d))
    return AxisInfo(tuple(contiguity), tuple(divisibility), tuple(constancy), gcd(a.divisor, b.divisor))


def _compare(op: Op, get: Get) -> AxisInfo:
    """A comparison is constant where both sides are, or where a contiguous side cannot cross a multiple of the other side."""
    assert isinstance(op, arith.CmpI)
    a, b = get(op.lhs), get(op.rhs)
    shape = shape_of(op.lhs.type)
    # x < n over a run [s, s + L): n a multiple of L and s a multiple of L: all or none. The same for its complements below.
    left, right = op.predicate in ("slt", "sge", "ult", "uge"), op.predicate in ("sgt", "sle", "ugt", "ule")
    constancy: list[int] = []
    for i in range(len(shape)):
        same = gcd(a.constancy[i], b.constancy[i])
        if left:
            same = max(same, _between(a, b, i))
        if right:
            same = max(same, _between(b, a, i))
        constancy.append(same)
    ones = (1,) * len(shape)
    return AxisInfo(ones, ones, tuple(constancy))


def _between(moving: AxisInfo, fixed: AxisInfo, axis: int) -> int:
    """The longest aligned run over which ``moving < fixed`` cannot change."""
    run = gcd(gcd(moving.contiguity[axis], moving.divisibility[axis]), fixed.constancy[axis])
    return gcd(run, fixed.divisibility[axis])


def _same_runs(op: Op, get: Get) -> AxisInfo:
    """Widening keeps every run."""
    return get(op.operands[0])


def _bitcast(op: Op, get: Get) -> AxisInfo:
    """The same bits are the same value; but neighbours of one pointee are not neighbours of another, wider or narrower, one."""
    assert isinstance(op, tt.Bitcast)
    source, before, after = get(op.source), element(op.source.type), op.to
    if (
        not isinstance(before, Pointer)
        or not isinstance(after, Pointer)
        or before.pointee.size == after.pointee.size
    ):
        return source
    runs = zip(source.contiguity, source.divisibility, strict=True)
    each = tuple(d if c == 1 else gcd(d, before.pointee.size) for c, d in runs)
    return AxisInfo((1,) * len(each), each, source.constancy, source.divisor)


def _only_constancy(op: Op, get: Get) -> AxisInfo:
    """Any function of each element is constant where all its operands are."""
    shape = shape_of(op.results[0].type)
    constancy = shape
    for value in op.operands:
        if shape_of(value.type) == shape:
            constancy = tuple(gcd(a, b) for a, b in zip(constancy, get(value).constancy, strict=True))
    ones = (1,) * len(shape)
    return AxisInfo(ones, ones, constancy)


def _select(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, arith.Select)
    condition, a, b = get(op.condition), get(op.if_true), get(op.if_false)
    weak = _weaken(a, b)
    shape = shape_of(op.results[0].type)
    n = range(len(shape))
    contiguity = tuple(gcd(weak.contiguity[i], condition.constancy[i]) for i in n)
    return AxisInfo(
        contiguity,
        tuple(gcd(_at_run(a, i, contiguity[i]), _at_run(b, i, contiguity[i])) for i in n),
        tuple(gcd(weak.constancy[i], condition.constancy[i]) for i in n),
        weak.divisor,
        weak.value,
    )


def _extremum(op: Op, get: Get) -> AxisInfo:
    """min and max with something constant: contiguous pieces may end in the middle, so only constancy and divisors survive."""
    a, b = (get(v) for v in op.operands)
    n = range(len(a.contiguity))
    return AxisInfo(
        (1,) * len(a.contiguity),
        tuple(gcd(_at_run(a, i, 1), _at_run(b, i, 1)) for i in n),
        tuple(gcd(a.constancy[i], b.constancy[i]) for i in n),
        gcd(a.divisor, b.divisor),
        None,
    )


def _program_id(op: Op, get: Get) -> AxisInfo:
    return AxisInfo((), (), (), 1)


_RULES: Mapping[type[Op], Callable[[Op, Get], AxisInfo]] = {
    Constant: _constant,
    tt.GetProgramId: _program_id,
    tt.GetNumPrograms: _program_id,
    tt.MakeRange: _make_range,
    tt.Splat: _splat,
    tt.Broadcast: _broadcast,
    tt.ExpandDims: _expand_dims,
    tt.AddPtr: _add,
    tt.Bitcast: _bitcast,
    arith.AddI: _add,
    arith.SubI: _add,
    arith.MulI: _multiply,
    arith.ShLI: _shift_left,
    arith.DivSI: _divide,
    arith.DivUI: _divide,
    arith.RemSI: _remainder,
    arith.RemUI: _remainder,
    arith.ExtSI: _same_runs,
    arith.ExtUI: _same_runs,
    arith.TruncI: _same_runs,
    arith.CmpI: _compare,
    arith.Select: _select,
    arith.MaxSI: _extremum,
    arith.MinSI: _extremum,
    arith.AndI: _only_constancy,
    arith.OrI: _only_constancy,
    arith.XOrI: _only_constancy,
}
