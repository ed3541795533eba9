"""Products of tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import a_dtype, a_flag, a_tile, not_yet
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
    not_yet(s, "tl.dot", max_num_imprecise_acc=(max_num_imprecise_acc, 0))
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
    )
