"""Functions of each element by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend import constants
from teenybuild.compiler.frontend.builtins.checks import a_dtype, a_flag, an_operand, constant_int, not_yet
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.compiler.ir import math
from teenybuild.compiler.ir.types import Pointer

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


@builtin("tl.where")
def where(s: Semantics, condition: object, x: object, y: object) -> Tensor:
    return s.where(
        an_operand(s, condition, "tl.where"), an_operand(s, x, "tl.where"), an_operand(s, y, "tl.where")
    )


def _propagates(s: Semantics, value: object, name: str) -> bool:
    if value not in ("none", "all"):
        raise s.builder.error(
            f"propagate_nan of {name} is tl.PropagateNan.NONE or .ALL, got {describe(value)}"
        )
    return value == "all"


@builtin("tl.maximum")
def maximum(s: Semantics, x: object, y: object, propagate_nan: object = "none") -> Tensor:
    nan = _propagates(s, propagate_nan, "tl.maximum")
    a, b = an_operand(s, x, "tl.maximum"), an_operand(s, y, "tl.maximum")
    return s.extremum(a, b, largest=True, propagate_nan=nan)


@builtin("tl.minimum")
def minimum(s: Semantics, x: object, y: object, propagate_nan: object = "none") -> Tensor:
    nan = _propagates(s, propagate_nan, "tl.minimum")
    a, b = an_operand(s, x, "tl.minimum"), an_operand(s, y, "tl.minimum")
    return s.extremum(a, b, largest=False, propagate_nan=nan)


@builtin("tl.clamp")
def clamp(s: Semantics, x: object, min: object, max: object, propagate_nan: object = "none") -> Tensor:
    low = s.extremum(
        an_operand(s, x, "tl.clamp"),
        an_operand(s, min, "tl.clamp"),
        largest=True,
        propagate_nan=_propagates(s, propagate_nan, "tl.clamp"),
    )
    if not low.scalar.is_float:
        raise s.builder.error(f"tl.clamp is for floats, got {describe(low)}")
    return s.extremum(
        low,
        an_operand(s, max, "tl.clamp"),
        largest=False,
        propagate_nan=_propagates(s, propagate_nan, "tl.clamp"),
    )


@builtin("tl.abs", method=True)
def absolute(s: Semantics, x: object) -> Tensor:
    return s.absolute(an_operand(s, x, "tl.abs"))


@builtin("tl.fma")
def fma(s: Semantics, x: object, y: object, z: object) -> Tensor:
    return s.fma(an_operand(s, x, "tl.fma"), an_operand(s, y, "tl.fma"), an_operand(s, z, "tl.fma"))


def _register_math(name: str, kind: type[math.FloatUnary]) -> None:
    def function(s: Semantics, x: object) -> Tensor:
        return s.float_function(kind, an_operand(s, x, f"tl.{name}"), f"tl.{name}")

    builtin(f"tl.{name}", method=True)(function)


for _name, _kind in (
    ("exp", math.Exp),
    ("exp2", math.Exp2),
    ("log", math.Log),
    ("log2", math.Log2),
    ("sqrt", math.Sqrt),
    ("rsqrt", math.Rsqrt),
):
    _register_math(_name, _kind)


@builtin("tl.cast", method=True)
def cast(
    s: Semantics, input: object, dtype: object, fp_downcast_rounding: object = None, bitcast: object = False
) -> Tensor:
    not_yet(s, "tl.cast", fp_downcast_rounding=(fp_downcast_rounding, "rtne"))
    wanted = dtype if isinstance(dtype, Pointer) else a_dtype(s, dtype, "the dtype of a cast")
    value = s.tensor(input)
    return s.bitcast(value, wanted) if a_flag(s, bitcast, "bitcast") else s.cast(value, wanted)


@builtin("tl.cdiv", method=True)
def cdiv(s: Semantics, x: object, div: object) -> object:
    if isinstance(x, int) and isinstance(div, int):
        if div == 0:
            raise s.builder.error("tl.cdiv divides by zero")
        return constants.cdiv(x, div)
    a, b = an_operand(s, x, "tl.cdiv"), an_operand(s, div, "tl.cdiv")
    return s.floordiv(s.sub(s.add(a, b), 1), b)


@builtin("tl.next_power_of_2")
def next_power_of_2(s: Semantics, n: object) -> int:
    return constants.next_power_of_2(constant_int(s, n, "the argument of next_power_of_2"))
