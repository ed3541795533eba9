"""Where a program stands in its grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import constant_int
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


@builtin("tl.num_programs")
def num_programs(s: Semantics, axis: object) -> Tensor:
    return s.builder.tensor(tt.GetNumPrograms(_axis_letter(s, axis, "tl.num_programs")), i32)
