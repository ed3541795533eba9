"""What a kernel's author says of values, and of the order of memory accesses. Nothing of it changes a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from teenybuild.compiler.frontend.builtins.checks import constant_int
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe, is_tuple
from teenybuild.compiler.ir import tt

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


def _hint(
    s: Semantics,
    input: object,
    values: object,
    kind: Literal["contiguity", "divisibility", "constancy"],
    name: str,
) -> Tensor:
    value = s.tensor(input)
    numbers = tuple(
        constant_int(s, v, f"each value of {name}") for v in (values if is_tuple(values) else (values,))
    )
    if len(numbers) != max(1, len(value.shape)):
        raise s.builder.error(f"{name} says one number an axis; {describe(value)} is given {len(numbers)}")
    if any(n < 1 for n in numbers):
        raise s.builder.error(f"what {name} says is a number from 1 up, got {list(numbers)}")
    return s.builder.tensor(tt.Hint(value.value, kind, numbers), value.dtype)


@builtin("tl.multiple_of")
def multiple_of(s: Semantics, input: object, values: object) -> Tensor:
    return _hint(s, input, values, "divisibility", "tl.multiple_of")


@builtin("tl.max_contiguous")
def max_contiguous(s: Semantics, input: object, values: object) -> Tensor:
    return _hint(s, input, values, "contiguity", "tl.max_contiguous")


@builtin("tl.max_constancy")
def max_constancy(s: Semantics, input: object, values: object) -> Tensor:
    return _hint(s, input, values, "constancy", "tl.max_constancy")


@builtin("tl.assume")
def assume(s: Semantics, cond: object) -> None:
    # Nothing is made of it yet; it is still checked to be a condition.
    if isinstance(cond, Tensor) and (cond.is_tile or cond.is_pointer):
        raise s.builder.error(f"tl.assume takes one condition, got {describe(cond)}")


@builtin("tl.debug_barrier")
def debug_barrier(s: Semantics) -> None:
    s.builder.add(tt.Barrier())
