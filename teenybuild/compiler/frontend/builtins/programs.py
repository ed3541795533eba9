"""Where a program stands in its grid, and in what order programs take up their work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import an_operand, constant_int
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor
from teenybuild.compiler.ir import tt
from teenybuild.dtypes import i32

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


def _axis_letter(s: Semantics, axis: object, name: str) -> tt.Axis:
    number = constant_int(s, axis, f"the axis of {name}")
    if number not in (0, 1, 2):
        raise s.builder.error(f"the axis of {name} is 0, 1 or 2, got {number}")
    letters: tuple[tt.Axis, ...] = ("x", "y", "z")
    return letters[number]


@builtin("tl.program_id")
def program_id(s: Semantics, axis: object) -> Tensor:
    return s.builder.tensor(tt.GetProgramId(_axis_letter(s, axis, "tl.program_id")), i32)


@builtin("tl.extra.cuda.num_warps")
def num_warps(s: Semantics) -> int:
    return s.num_warps


@builtin("tl.extra.cuda.num_threads")
def num_threads(s: Semantics) -> int:
    return 32 * s.num_warps


@builtin("tl.num_programs")
def num_programs(s: Semantics, axis: object) -> Tensor:
    return s.builder.tensor(tt.GetNumPrograms(_axis_letter(s, axis, "tl.num_programs")), i32)


@builtin("tl.swizzle2d")
def swizzle2d(
    s: Semantics, i: object, j: object, size_i: object, size_j: object, size_g: object
) -> tuple[Tensor, Tensor]:
    """Rows by groups of ``size_g``, and within a group column by column; the last group may have fewer rows."""
    row, column, rows, columns, group = (
        an_operand(s, v, "tl.swizzle2d") for v in (i, j, size_i, size_j, size_g)
    )
    number = s.add(s.mul(row, columns), column)
    in_group = s.mul(group, columns)
    first = s.mul(s.floordiv(number, in_group), group)
    height = s.extremum(s.sub(rows, first), group, largest=False, propagate_nan=False)
    number = s.mod(number, in_group)
    return s.add(first, s.mod(number, height)), s.floordiv(number, height)
