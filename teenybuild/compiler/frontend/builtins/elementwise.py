"""Functions of each element by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend import constants
from teenybuild.compiler.frontend.builtins.checks import a_dtype, a_flag, an_operand, constant_int, not_yet
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.compiler.ir import math, tt
from teenybuild.compiler.ir.types import Pointer
from teenybuild.dtypes import DType, bf16, f32, f64, i32, i64, u32, u64

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Operand, Semantics


@builtin("tl.pointer_type")
def pointer_type(
    s: Semantics, element_ty: object, address_space: object = 1, const: object = False
) -> Pointer:
    if address_space != 1:
        raise s.builder.error(
            f"kernels have pointers to global memory (address space 1) only, not {describe(address_space)}"
        )
    a_flag(s, const, "const of tl.pointer_type")
    if isinstance(element_ty, Pointer):
        return Pointer(i64, element_ty)
    return Pointer(a_dtype(s, element_ty, "what tl.pointer_type points to"))


def _register_operator(name: str, compute: Callable[[Semantics, Operand, Operand], Tensor]) -> None:
    def function(s: Semantics, x: object, y: object, sanitize_overflow: object = True) -> Tensor:
        # Integers wrap, whether or not somebody would look.
        a_flag(s, sanitize_overflow, "sanitize_overflow")
        return compute(s, an_operand(s, x, f"tl.{name}"), an_operand(s, y, f"tl.{name}"))

    builtin(f"tl.{name}")(function)


_register_operator("add", lambda s, x, y: s.add(x, y))
_register_operator("sub", lambda s, x, y: s.sub(x, y))
_register_operator("mul", lambda s, x, y: s.mul(x, y))


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


def _compared(s: Semantics, value: object, name: str) -> Tensor:
    """An operand of extrema, by Triton's rule: a number has the dtype it takes by itself, and may widen a tile; bf16 becomes f32."""
    operand = s.tensor(an_operand(s, value, name))
    return s.cast(operand, f32) if not operand.is_pointer and operand.scalar == bf16 else operand


@builtin("tl.maximum")
def maximum(s: Semantics, x: object, y: object, propagate_nan: object = "none") -> Tensor:
    nan = _propagates(s, propagate_nan, "tl.maximum")
    a, b = _compared(s, x, "tl.maximum"), _compared(s, y, "tl.maximum")
    return s.extremum(a, b, largest=True, propagate_nan=nan)


@builtin("tl.minimum")
def minimum(s: Semantics, x: object, y: object, propagate_nan: object = "none") -> Tensor:
    nan = _propagates(s, propagate_nan, "tl.minimum")
    a, b = _compared(s, x, "tl.minimum"), _compared(s, y, "tl.minimum")
    return s.extremum(a, b, largest=False, propagate_nan=nan)


@builtin("tl.clamp")
def clamp(s: Semantics, x: object, min: object, max: object, propagate_nan: object = "none") -> Tensor:
    low = s.extremum(
        _compared(s, x, "tl.clamp"),
        _compared(s, min, "tl.clamp"),
        largest=True,
        propagate_nan=_propagates(s, propagate_nan, "tl.clamp"),
    )
    if not low.scalar.is_float:
        raise s.builder.error(f"tl.clamp is for floats, got {describe(low)}")
    return s.extremum(
        low,
        _compared(s, max, "tl.clamp"),
        largest=False,
        propagate_nan=_propagates(s, propagate_nan, "tl.clamp"),
    )


@builtin("tl.abs", method=True)
def absolute(s: Semantics, x: object) -> Tensor:
    return s.absolute(an_operand(s, x, "tl.abs"))


@builtin("tl.fma")
def fma(s: Semantics, x: object, y: object, z: object) -> Tensor:
    return s.fma(an_operand(s, x, "tl.fma"), an_operand(s, y, "tl.fma"), an_operand(s, z, "tl.fma"))


def _register_math(name: str, kind: type[math.FloatUnary]) -> Callable[[Semantics, object], Tensor]:
    def function(s: Semantics, x: object) -> Tensor:
        return s.float_function(kind, an_operand(s, x, f"tl.{name}"), f"tl.{name}")

    builtin(f"tl.{name}", method=True)(function)
    return function


exp = _register_math("exp", math.Exp)
exp2 = _register_math("exp2", math.Exp2)
log = _register_math("log", math.Log)
log2 = _register_math("log2", math.Log2)
sin = _register_math("sin", math.Sin)
cos = _register_math("cos", math.Cos)
erf = _register_math("erf", math.Erf)
sqrt = _register_math("sqrt", math.Sqrt)
rsqrt = _register_math("rsqrt", math.Rsqrt)
floor = _register_math("floor", math.Floor)
ceil = _register_math("ceil", math.Ceil)


def _only(s: Semantics, value: Tensor, dtypes: tuple[DType, ...], name: str) -> Tensor:
    if value.is_pointer or value.scalar not in dtypes:
        words = ", ".join(map(str, dtypes))
        raise s.builder.error(f"{name} takes {words}, got {describe(value)}")
    return value


@builtin("tl.sqrt_rn", method=True)
def sqrt_rn(s: Semantics, x: object) -> Tensor:
    value = _only(s, s.tensor(an_operand(s, x, "tl.sqrt_rn")), (f32,), "tl.sqrt_rn")
    return s.builder.tensor(tt.PreciseSqrt(value.value), value.dtype)


@builtin("tl.div_rn")
def div_rn(s: Semantics, x: object, y: object) -> Tensor:
    a, b = s.pair(an_operand(s, x, "tl.div_rn"), an_operand(s, y, "tl.div_rn"), what="divide")
    _only(s, a, (f32,), "tl.div_rn")
    return s.builder.tensor(tt.PreciseDivF(a.value, b.value), a.dtype)


@builtin("tl.fdiv")
def fdiv(s: Semantics, x: object, y: object, ieee_rounding: object = False) -> Tensor:
    a_flag(s, ieee_rounding, "ieee_rounding")
    a, b = s.tensor(an_operand(s, x, "tl.fdiv")), s.tensor(an_operand(s, y, "tl.fdiv"))
    for side in (a, b):
        if side.is_pointer or not side.scalar.is_float:
            raise s.builder.error(f"tl.fdiv takes floats, got {describe(a)} and {describe(b)}")
    quotient = s.truediv(a, b)
    # Unlike those of ``/``, quotients of f16 and bf16 are f16 and bf16.
    return s.cast(quotient, a.scalar) if a.scalar == b.scalar else quotient


@builtin("tl.umulhi", method=True)
def umulhi(s: Semantics, x: object, y: object) -> Tensor:
    a, b = s.pair(an_operand(s, x, "tl.umulhi"), an_operand(s, y, "tl.umulhi"), what="multiply")
    _only(s, a, (i32, u32, i64, u64), "tl.umulhi")
    return s.builder.tensor(tt.MulhiUI(a.value, b.value), a.dtype)


@builtin("tl.sigmoid", method=True)
def sigmoid(s: Semantics, x: object) -> Tensor:
    value = _only(s, s.tensor(an_operand(s, x, "tl.sigmoid")), (f32, f64), "tl.sigmoid")
    return s.truediv(1, s.add(1, exp(s, s.negate(value))))


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
    return s.floordiv(s.add(a, s.sub(b, 1)), b)


@builtin("tl.next_power_of_2")
def next_power_of_2(s: Semantics, n: object) -> int:
    return constants.next_power_of_2(constant_int(s, n, "the argument of next_power_of_2"))
