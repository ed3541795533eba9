"""Axis analysis: what is known of a value along each axis of its tile.

``contiguity``: the longest power-of-two run, aligned to its own length within the tile, in which values step by 1.
``divisibility``: a power of two that divides the first value of every such run (bytes for pointers).
``constancy``: the longest aligned power-of-two run in which all values are equal.

Runs are what decides how wide a memory access may be.  Arithmetic is taken not to wrap within a run, as in Triton: a run that wraps
would address memory on both ends of the address space.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import gcd

from teenybuild.compiler.ir import arith, scf, tt, ttg
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
    #: Whether no element is below zero: division rounds toward zero, so around it quotients do not follow the runs.
    nonnegative: bool = False


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
    return AxisInfo((1,) * len(shape), (divisor,) * len(shape), shape, divisor, value, value >= 0)


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
                self._count(op)
                self._loop(op)
            elif isinstance(op, scf.While):
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
            self._info[result] = _weaken(self[a], self[b], _unit(result))

    def _count(self, op: scf.For) -> None:
        lower, step = self[op.lower], self[op.step]
        upward = lower.nonnegative and step.nonnegative
        self._info[op.body.args[0]] = AxisInfo((), (), (), gcd(lower.divisor, step.divisor), None, upward)

    def _loop(self, op: scf.Loop) -> None:
        """Carried values: the weakest of what comes in and what comes round, to a fixed point (each turn only weakens)."""
        carried = op.carried
        known = {each: self[each.initial] for each in carried}
        while True:
            for each in carried:
                self._info.update(dict.fromkeys((*each.args, each.result), known[each]))
            for block in op.blocks:
                self._block(block)
            weaker = {each: _weaken(known[each], self[each.yielded], _unit(each.result)) for each in carried}
            if weaker == known:
                break
            known = weaker


def _least(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(gcd(p, q) for p, q in zip(x, y, strict=True))


def _weaken(a: AxisInfo, b: AxisInfo, unit: int, runs: tuple[int, ...] | None = None) -> AxisInfo:
    """What holds of both; ``unit`` is what neighbours of a run differ by, ``runs`` the longest that runs may be."""
    contiguity = _least(a.contiguity, b.contiguity)
    if runs is not None:
        contiguity = _least(contiguity, runs)
    at = [gcd(_at_run(a, i, run, unit), _at_run(b, i, run, unit)) for i, run in enumerate(contiguity)]
    return AxisInfo(
        contiguity,
        tuple(at),
        _least(a.constancy, b.constancy),
        gcd(a.divisor, b.divisor),
        a.value if a.value == b.value else None,
        a.nonnegative and b.nonnegative,
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
    return AxisInfo((length,), (_power_of_two_in(op.start),), (1,), 1, None, op.start >= 0)


def _splat(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, tt.Splat)
    shape = shape_of(op.type)
    source = get(op.source)
    ones, divisors = (1,) * len(shape), (source.divisor,) * len(shape)
    return replace(source, contiguity=ones, divisibility=divisors, constancy=shape)


def _broadcast(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, tt.Broadcast)
    before, shape, source = shape_of(op.source.type), shape_of(op.type), get(op.source)
    constancy = tuple(r if s == 1 else c for s, r, c in zip(before, shape, source.constancy, strict=True))
    return replace(source, constancy=constancy)


def _expand_dims(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, tt.ExpandDims)
    source, at = get(op.source), op.axis

    def put(values: tuple[int, ...], new: int) -> tuple[int, ...]:
        return (*values[:at], new, *values[at:])

    # A single element: it starts every run, so it is divided by what divides all run starts along the other axes.
    whole = _every_element(source)
    return replace(
        source,
        contiguity=put(source.contiguity, 1),
        divisibility=put(source.divisibility, whole),
        constancy=put(source.constancy, 1),
    )


def _trans(op: Op, get: Get) -> AxisInfo:
    assert isinstance(op, tt.Trans)
    source, order = get(op.source), op.order

    def put(values: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(values[axis] for axis in order)

    return replace(
        source,
        contiguity=put(source.contiguity),
        divisibility=put(source.divisibility),
        constancy=put(source.constancy),
    )


def _hint(op: Op, get: Get) -> AxisInfo:
    """What the author says is taken for true, power of two by power of two, as in Triton."""
    assert isinstance(op, tt.Hint)
    source = get(op.source)
    said = tuple(_power_of_two_in(v) for v in op.values)
    if not shape_of(op.source.type):
        return replace(source, divisor=max(source.divisor, said[0])) if op.kind == "divisibility" else source

    def more(known: tuple[int, ...], most: tuple[int, ...] | None = None) -> tuple[int, ...]:
        bounds = most or (_MOST,) * len(known)
        return tuple(min(max(a, b), m) for a, b, m in zip(known, said, bounds, strict=True))

    match op.kind:
        case "contiguity":
            return replace(source, contiguity=more(source.contiguity, shape_of(op.source.type)))
        case "divisibility":
            return replace(source, divisibility=more(source.divisibility))
        case "constancy":
            return replace(source, constancy=more(source.constancy, shape_of(op.source.type)))


def _every_element(info: AxisInfo) -> int:
    """A power of two that divides every element: run starts, and how far elements may lie from one."""
    if not info.contiguity:
        return info.divisor
    best = 1
    for contiguity, divisibility in zip(info.contiguity, info.divisibility, strict=True):
        if contiguity == 1:
            best = max(best, divisibility)
    return max(best, info.divisor)


def _unit(value: Value) -> int:
    """How far neighbours of a run lie apart: 1 for integers, bytes of an element for pointers."""
    pointer = element(value.type)
    return pointer.pointee.size if isinstance(pointer, Pointer) else 1


def _add(op: Op, get: Get) -> AxisInfo:
    a, b = (get(v) for v in op.operands)
    size = _unit(op.results[0])
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
        at_a = _at_run(a, i, run, size)
        at_b = _at_run(b, i, run)
        divisibility.append(gcd(at_a, min(at_b * size, _MOST)))
        constancy.append(gcd(a.constancy[i], b.constancy[i]))
    value = None
    if a.value is not None and b.value is not None and size == 1 and not isinstance(op, tt.AddPtr):
        value = a.value - b.value if negative else a.value + b.value
    divisor = gcd(a.divisor, min(b.divisor * size, _MOST))
    positive = a.nonnegative and b.nonnegative and not negative
    return AxisInfo(tuple(contiguity), tuple(divisibility), tuple(constancy), divisor, value, positive)


def _at_run(info: AxisInfo, axis: int, run: int, unit: int = 1) -> int:
    """What divides the value at every multiple of ``run`` along ``axis``; neighbours of its runs lie ``unit`` apart."""
    if info.contiguity[axis] <= run:
        return info.divisibility[axis]
    return gcd(info.divisibility[axis], run * unit)


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
        tuple(contiguity),
        tuple(divisibility),
        tuple(constancy),
        min(a.divisor * b.divisor, _MOST),
        value,
        a.nonnegative and b.nonnegative,
    )


def _shift_left(op: Op, get: Get) -> AxisInfo:
    a, b = (get(v) for v in op.operands)
    known = b.value is not None and 0 <= b.value < 64
    factor = min(1 << b.value, _MOST) if known and b.value is not None else 1
    n = range(len(a.contiguity))
    return AxisInfo(
        a.contiguity if b.value == 0 else (1,) * len(a.contiguity),
        tuple(min(_at_run(a, i, 1) * factor, _MOST) for i in n),
        tuple(gcd(a.constancy[i], b.constancy[i]) for i in n),
        min(a.divisor * factor, _MOST),
        None,
        a.nonnegative,
    )


def _divide(op: Op, get: Get) -> AxisInfo:
    """``x // d``: over a contiguous run that starts at a multiple of d, quotients repeat d times (toward zero: not below it)."""
    a, b = (get(v) for v in op.operands)
    d = b.value
    positive = isinstance(op, arith.DivUI) or a.nonnegative
    contiguity: list[int] = []
    constancy: list[int] = []
    divisibility: list[int] = []
    for i in range(len(a.contiguity)):
        same = gcd(a.constancy[i], b.constancy[i])
        if d is not None and d > 0 and a.contiguity[i] > 1 and positive:
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
    # Divisors are taken to be above zero: what kernels divide indices by are sizes, of which little is known.
    return AxisInfo(tuple(contiguity), tuple(divisibility), tuple(constancy), 1, None, positive)


def _remainder(op: Op, get: Get) -> AxisInfo:
    """``x % d``: contiguous over aligned pieces that lie between multiples of d (with the sign of x: not below zero)."""
    a, b = (get(v) for v in op.operands)
    positive = isinstance(op, arith.RemUI) or a.nonnegative
    contiguity: list[int] = []
    constancy: list[int] = []
    divisibility: list[int] = []
    for i in range(len(a.contiguity)):
        d = _at_run(b, i, 1) if b.value is None else _power_of_two_in(b.value)
        uniform = b.constancy[i]
        piece = gcd(gcd(gcd(a.contiguity[i], a.divisibility[i]), d), uniform) if positive else 1
        contiguity.append(piece)
        constancy.append(gcd(a.constancy[i], b.constancy[i]))
        divisibility.append(gcd(_at_run(a, i, piece), d))
    return AxisInfo(
        tuple(contiguity), tuple(divisibility), tuple(constancy), gcd(a.divisor, b.divisor), None, positive
    )


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


def _widen(op: Op, get: Get) -> AxisInfo:
    """Keeps every run; without the sign, only pieces that do not cross zero."""
    source = get(op.operands[0])
    if isinstance(op, arith.ExtSI) or source.nonnegative:
        return source
    return replace(_pieces(source, _MOST), value=None, nonnegative=True)


def _narrow(op: Op, get: Get) -> AxisInfo:
    """Indices are taken to fit 32 bits; what is cut to fewer keeps pieces that do not wrap."""
    assert isinstance(op, arith.TruncI)
    source = replace(get(op.source), value=None, nonnegative=False)
    return source if op.to.bits >= 32 else _pieces(source, 1 << (op.to.bits - 1))


def _pieces(info: AxisInfo, most: int) -> AxisInfo:
    """Runs cut to at most ``most`` elements that start at multiples of their length, in value too."""
    pairs = zip(info.contiguity, info.divisibility, strict=True)
    runs = tuple(gcd(gcd(c, d), most) if c > 1 else 1 for c, d in pairs)
    at = tuple(_at_run(info, i, run) for i, run in enumerate(runs))
    return replace(info, contiguity=runs, divisibility=at)


def _bitcast(op: Op, get: Get) -> AxisInfo:
    """The same bits are the same value; but neighbours of one pointee are not neighbours of another, wider or narrower, one."""
    source, before = get(op.operands[0]), _unit(op.operands[0])
    if before == _unit(op.results[0]):
        return source if isinstance(op, tt.Bitcast) else replace(source, value=None, nonnegative=False)
    runs = zip(source.contiguity, source.divisibility, strict=True)
    each = tuple(d if c == 1 else gcd(d, before) for c, d in runs)
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
    weak = _weaken(a, b, _unit(op.results[0]), condition.constancy)
    return replace(weak, constancy=_least(weak.constancy, condition.constancy))


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
        (a.nonnegative or b.nonnegative)
        if isinstance(op, arith.MaxSI)
        else (a.nonnegative and b.nonnegative),
    )


def _program_id(op: Op, get: Get) -> AxisInfo:
    return AxisInfo((), (), (), 1, None, True)


def _and(op: Op, get: Get) -> AxisInfo:
    """A mask without a sign leaves no sign."""
    return replace(_only_constancy(op, get), nonnegative=any(get(v).nonnegative for v in op.operands))


_RULES: Mapping[type[Op], Callable[[Op, Get], AxisInfo]] = {
    Constant: _constant,
    tt.GetProgramId: _program_id,
    tt.GetNumPrograms: _program_id,
    tt.MakeRange: _make_range,
    tt.Splat: _splat,
    tt.Broadcast: _broadcast,
    tt.ExpandDims: _expand_dims,
    tt.Trans: _trans,
    tt.AddPtr: _add,
    ttg.Sealed: lambda op, get: get(op.operands[0]),
    tt.Bitcast: _bitcast,
    tt.IntToPtr: _bitcast,
    tt.PtrToInt: _bitcast,
    tt.Hint: _hint,
    arith.AddI: _add,
    arith.SubI: _add,
    arith.MulI: _multiply,
    arith.ShLI: _shift_left,
    arith.DivSI: _divide,
    arith.DivUI: _divide,
    arith.RemSI: _remainder,
    arith.RemUI: _remainder,
    arith.ExtSI: _widen,
    arith.ExtUI: _widen,
    arith.TruncI: _narrow,
    arith.CmpI: _compare,
    arith.Select: _select,
    arith.MaxSI: _extremum,
    arith.MinSI: _extremum,
    arith.AndI: _and,
    arith.OrI: _only_constancy,
    arith.XOrI: _only_constancy,
}
