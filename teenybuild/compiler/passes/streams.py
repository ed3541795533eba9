"""What a program reads that no other program reads: the traffic of kernels that live off memory.

A streaming kernel reads its share once, works on it and ends: vector add, softmax over rows in one block.  How much a program has under
way decides how many programs should run beside each other (``targets/residency.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

from teenybuild.compiler.ir import arith, scf, tt
from teenybuild.compiler.ir.core import Function, Value, walk
from teenybuild.compiler.ir.types import Tile, dtype_of, numel


@dataclass(frozen=True, slots=True)
class Streams:
    """Of one program: ``bytes`` in ``loads`` where no lane is masked off, and whether its lanes wait for each other.

    ``argument`` names the integer that cuts the bytes down in every program alike: ``argument / of`` of them are read where it is below
    ``of``.  It is None where only the last programs of a grid are cut.
    """

    bytes: int
    loads: int
    meets: bool
    argument: str | None = None
    of: int = 1


def streams(function: Function) -> Streams | None:
    """The traffic of a streaming kernel; None for any other, and where a mask leaves open how much is read."""
    loads: list[tt.Load] = []
    meets = False
    for op in walk(function.body):
        if isinstance(op, scf.Loop | tt.Dot | tt.AtomicRmw | tt.AtomicCas):
            return None
        if isinstance(op, scf.If) and any(isinstance(inner, tt.Load) for b in op.blocks for inner in walk(b)):
            return None
        meets |= isinstance(op, tt.Combining | tt.Gather | tt.Histogram)
        if isinstance(op, tt.Load) and isinstance(op.pointer.type, Tile):
            loads.append(op)
    varies = _Varies()
    own = [load for load in loads if varies(load.pointer)]
    cuts = {_cut(load.mask, varies) for load in own}
    if len(cuts) != 1:
        return None
    total = sum(numel(load.result.type) * dtype_of(load.result.type).size for load in own)
    cut = cuts.pop()
    if cut is None:
        return Streams(total, len(own), meets)
    argument, of = cut
    if argument not in function.body.args:
        return None
    return Streams(total, len(own), meets, function.arg_names[function.body.args.index(argument)], of)


class _Varies:
    """Whether a value differs from program to program."""

    def __init__(self) -> None:
        self._known: dict[Value, bool] = {}

    def __call__(self, value: Value) -> bool:
        found = self._known.get(value)
        if found is None:
            op = value.op
            found = op is not None and (
                isinstance(op, tt.GetProgramId | tt.Load | scf.If) or any(self(v) for v in op.operands)
            )
            self._known[value] = found
        return found


def _cut(mask: Value | None, varies: _Varies) -> tuple[Value | None, int] | None:
    """(argument, elements) of a mask ``arange(0, elements) < argument``, (None, 0) of one that cuts in another way.

    None where it cuts nothing, or only the last programs of a grid: then it differs from program to program.
    """
    if mask is None:
        return None
    match mask.op:
        case arith.AndI() as both:
            cuts = {_cut(both.lhs, varies), _cut(both.rhs, varies)} - {None}
            return None if not cuts else cuts.pop() if len(cuts) == 1 else (None, 0)
        case arith.CmpI(predicate="slt") as compare if not varies(mask):
            left, right = compare.lhs.op, compare.rhs.op
            if isinstance(left, tt.MakeRange) and isinstance(right, tt.Splat) and left.start == 0:
                return right.source, left.end
            return None, 0
        case _:
            return None if varies(mask) else (None, 0)
