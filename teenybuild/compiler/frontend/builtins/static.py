"""What runs when a kernel is compiled, and how loops are counted."""

from __future__ import annotations

import math as python_math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins import elementwise
from teenybuild.compiler.frontend.builtins.checks import a_flag, an_operand, constant_int
from teenybuild.compiler.frontend.builtins.registry import BUILTINS, builtin
from teenybuild.compiler.frontend.values import Function, Range, Tensor, describe, is_constant
from teenybuild.types import MOST_STAGES

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


@builtin("tl.constexpr")
def constexpr(s: Semantics, value: object) -> object:
    if isinstance(value, Tensor):
        raise s.builder.error(f"tl.constexpr needs a value known at compile time, got {describe(value)}")
    return value


@builtin("tl.static_assert")
def static_assert(s: Semantics, cond: object, msg: object = "") -> None:
    if not is_constant(cond):
        raise s.builder.error(f"tl.static_assert needs a value known at compile time, got {describe(cond)}")
    if not is_constant(msg):
        raise s.builder.error(
            f"the message of tl.static_assert is known at compile time, got {describe(msg)}"
        )
    if not cond:
        raise s.builder.error(f"static_assert failed{f': {msg}' if msg else ''}")


def _range(s: Semantics, arguments: tuple[object, ...], static: bool, name: str) -> Range:
    for value in arguments:
        if static and isinstance(value, Tensor):
            hint = "range and tl.range count at run time"
            raise s.builder.error(
                f"the bounds of {name} are known at compile time, got {describe(value)}", hint
            )
        if not isinstance(value, Tensor):
            constant_int(s, value, f"each bound of {name}")
    match arguments:
        case (stop,):
            return Range(0, stop, 1, static)
        case (start, stop):
            return Range(start, stop, 1, static)
        case (start, stop, step):
            if step == 0 and not isinstance(step, Tensor):
                raise s.builder.error(f"the step of {name} is zero")
            return Range(start, stop, step, static)
        case _:
            raise s.builder.error(f"{name} takes 1 to 3 bounds, got {len(arguments)}")


@builtin("range")
def python_range(s: Semantics, *bounds: object) -> Range:
    return _range(s, bounds, False, "range")


@builtin("tl.range")
def language_range(
    s: Semantics,
    arg1: object,
    arg2: object = None,
    step: object = None,
    num_stages: object = None,
    loop_unroll_factor: object = None,
    disallow_acc_multi_buffer: object = False,
    flatten: object = False,
    warp_specialize: object = False,
    disable_licm: object = False,
) -> Range:
    # The options say how to schedule, never what to compute: but for the stages, this version schedules in its own way.
    bounds = (0, arg1) if arg2 is None else (arg1, arg2)
    found = _range(s, (*bounds, 1 if step is None else step), False, "tl.range")
    if num_stages is None:
        return found
    stages = constant_int(s, num_stages, "num_stages of tl.range")
    if not 0 <= stages <= MOST_STAGES:
        raise s.builder.error(f"num_stages of tl.range is from 0 to {MOST_STAGES}, got {stages}")
    return replace(found, stages=max(1, stages))


@builtin("tl.condition")
def condition(s: Semantics, arg0: object, disable_licm: object = False) -> object:
    # The condition of a while, with a word on how to compile the loop, which is not for this version.
    a_flag(s, disable_licm, "disable_licm")
    return arg0


@builtin("tl.static_range")
def static_range(s: Semantics, arg1: object, arg2: object = None, step: object = None) -> Range:
    bounds = (0, arg1) if arg2 is None else (arg1, arg2)
    return _range(s, (*bounds, 1 if step is None else step), True, "tl.static_range")


def _python(name: str, function: Callable[..., object]) -> None:
    """A function of Python that works on constants."""

    def call(s: Semantics, *arguments: object) -> object:
        if any(isinstance(a, Tensor) for a in arguments):
            hint = f"tl.{name} may be what you need" if f"tl.{name}" in BUILTINS else None
            raise s.builder.error(f"{name} works on values known at compile time", hint)
        try:
            return function(*arguments)
        except (ValueError, ArithmeticError) as wrong:
            raise s.builder.error(f"{name}: {wrong}") from None
        except TypeError:
            what = ", ".join(map(describe, arguments)) or "nothing"
            raise s.builder.error(f"{name} does not take {what}") from None

    builtin(name)(call)


@builtin("min")
def python_min(s: Semantics, x: object, y: object) -> object:
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        return elementwise.minimum(s, x, y)
    return min(an_operand(s, x, "min"), an_operand(s, y, "min"))  # type: ignore[type-var]  # neither is a tile


@builtin("max")
def python_max(s: Semantics, x: object, y: object) -> object:
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        return elementwise.maximum(s, x, y)
    return max(an_operand(s, x, "max"), an_operand(s, y, "max"))  # type: ignore[type-var]  # neither is a tile


@builtin("abs")
def python_abs(s: Semantics, x: object) -> object:
    operand = an_operand(s, x, "abs")
    return elementwise.absolute(s, operand) if isinstance(operand, Tensor) else abs(operand)


_PYTHON: dict[str, Callable[..., object]] = {
    "float": float,
    "int": int,
    "bool": bool,
    "len": len,
    "math.sqrt": python_math.sqrt,
    "math.log": python_math.log,
    "math.log2": python_math.log2,
    "math.exp": python_math.exp,
    "math.ceil": python_math.ceil,
    "math.floor": python_math.floor,
}
for _python_name, _function in _PYTHON.items():
    _python(_python_name, _function)


@builtin("triton.constexpr_function")
def constexpr_function(s: Semantics, fn: object) -> Function:
    # As a decorator it is not evaluated.
    raise s.builder.error(
        "constexpr_function is a decorator", "write it above a function of the file's top level"
    )


@builtin("triton.jit")
def jit(s: Semantics, fn: object) -> Function:
    # As a decorator it is not evaluated; this is f = triton.jit(g).
    if not isinstance(fn, Function):
        raise s.builder.error(f"triton.jit takes a function of a kernel file, got {describe(fn)}")
    return fn
