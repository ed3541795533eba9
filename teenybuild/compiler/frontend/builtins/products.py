"""Products of tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import a_dtype, a_flag, a_tile
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.dtypes import f32

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


@builtin("tl.dot")
def dot(
    s: Semantics,
    input: object,
    other: object,
    acc: object = None,
    input_precision: object = None,
    allow_tf32: object = None,
    max_num_imprecise_acc: object = None,
    out_dtype: object = f32,
) -> Tensor:
    a, b = a_tile(s, input, "tl.dot"), a_tile(s, other, "tl.dot")
    if allow_tf32 is not None and input_precision is not None:
        raise s.builder.error("tl.dot takes input_precision or allow_tf32, not both")
    precision = input_precision
    if precision is None:
        precision = "tf32" if allow_tf32 is None or a_flag(s, allow_tf32, "allow_tf32") else "ieee"
    if not isinstance(precision, str):
        raise s.builder.error(f"input_precision is a string, got {describe(precision)}")
    return s.dot(
        a,
        b,
        None if acc is None else a_tile(s, acc, "the accumulator of tl.dot"),
        precision,
        a_dtype(s, out_dtype, "out_dtype"),
        exact=_exact(s, a, b, max_num_imprecise_acc),
    )


def _exact(s: Semantics, a: Tensor, b: Tensor, most: object) -> bool:
    """Whether a program says how many sums of products of 8-bit floats may be kept with few bits; then none are."""
    if most is None:
        return False
    if not isinstance(most, int) or most < 0:
        raise s.builder.error(f"max_num_imprecise_acc is a number of sums, got {describe(most)}")
    if a.scalar.is_fp8 and b.scalar.is_fp8 and most > a.shape[-1]:
        raise s.builder.error(f"max_num_imprecise_acc is {most}, and only {a.shape[-1]} products are summed")
    return True
