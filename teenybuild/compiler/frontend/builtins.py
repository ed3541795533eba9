"""The functions of the language: one entry a name, taking values and giving values.

Each is called with the reader (for its semantics and builder) and the arguments bound to its own Python signature, so a wrong
keyword or count is reported against that signature.  ``teenybuild.language`` has the same names with docstrings for editors; a
test keeps the two alike.
"""

from __future__ import annotations

import inspect
import math as python_math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend import constants
from teenybuild.compiler.frontend.semantics import Number
from teenybuild.compiler.frontend.values import Range, Tensor, describe, is_tuple
from teenybuild.compiler.ir import math, tt
from teenybuild.compiler.ir.core import Block, Value
from teenybuild.compiler.ir.types import Pointer, element, numel
from teenybuild.dtypes import BY_LANGUAGE, DType, bf16, f32, i32, u32

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

Implementation = Callable[..., object]

#: Canonical dotted name → what it does. Parameters named as in Triton.
BUILTINS: dict[str, Implementation] = {}
#: Builtins that can also be called as methods of a tile or scalar.
METHODS: set[str] = set()
#: Values (not functions) of the language.
VALUES: dict[str, object] = {
    **{f"tl.{name}": dtype for name, dtype in BY_LANGUAGE.items()},
    "math.pi": python_math.pi,
    "math.e": python_math.e,
    "math.inf": python_math.inf,
    "math.nan": python_math.nan,
    "math.tau": python_math.tau,
}
#: Names that mean another one.
ALIASES = {
    "triton.cdiv": "tl.cdiv",
    "triton.next_power_of_2": "tl.next_power_of_2",
    "tl.math.exp": "tl.exp",
    "tl.math.exp2": "tl.exp2",
    "tl.math.log": "tl.log",
    "tl.math.log2": "tl.log2",
    "tl.math.sqrt": "tl.sqrt",
    "tl.math.rsqrt": "tl.rsqrt",
    "tl.math.abs": "tl.abs",
    "tl.math.fma": "tl.fma",
    "tl.math.cdiv": "tl.cdiv",
    "tl.math.max": "tl.maximum",
    "tl.math.min": "tl.minimum",
    "triton.language.constexpr": "tl.constexpr",
}
#: Names of the Triton language that a later version brings: refused by name, with their own message.
LATER = frozenset(
    [
        "tl.advance",
        "tl.argmax",
        "tl.argmin",
        "tl.assume",
        "tl.associative_scan",
        "tl.atomic_add",
        "tl.atomic_and",
        "tl.atomic_cas",
        "tl.atomic_max",
        "tl.atomic_min",
        "tl.atomic_or",
        "tl.atomic_xchg",
        "tl.atomic_xor",
        "tl.cat",
        "tl.ceil",
        "tl.cos",
        "tl.cumprod",
        "tl.cumsum",
        "tl.debug_barrier",
        "tl.device_assert",
        "tl.device_print",
        "tl.div_rn",
        "tl.dot_scaled",
        "tl.erf",
        "tl.fdiv",
        "tl.flip",
        "tl.floor",
        "tl.gather",
        "tl.histogram",
        "tl.inline_asm_elementwise",
        "tl.interleave",
        "tl.join",
        "tl.load_tensor_descriptor",
        "tl.make_block_ptr",
        "tl.make_tensor_descriptor",
        "tl.map_elementwise",
        "tl.max_constancy",
        "tl.max_contiguous",
        "tl.multiple_of",
        "tl.pair_uniform_to_normal",
        "tl.permute",
        "tl.philox",
        "tl.rand",
        "tl.rand4x",
        "tl.randint",
        "tl.randint4x",
        "tl.randn",
        "tl.randn4x",
        "tl.ravel",
        "tl.reduce",
        "tl.reduce_or",
        "tl.sigmoid",
        "tl.sin",
        "tl.softmax",
        "tl.sort",
        "tl.split",
        "tl.sqrt_rn",
        "tl.static_print",
        "tl.store_tensor_descriptor",
        "tl.swizzle2d",
        "tl.topk",
        "tl.trans",
        "tl.umulhi",
        "tl.view",
        "tl.xor_sum",
        "tl.tensor_descriptor",
        "tl.math.ceil",
        "tl.math.cos",
        "tl.math.div_rn",
        "tl.math.erf",
        "tl.math.fdiv",
        "tl.math.floor",
        "tl.math.sin",
        "tl.math.sqrt_rn",
        "tl.math.umulhi",
        "tl.math.tanh",
        "tl.math.pow",
    ]
)


def builtin(name: str, *, method: bool = False) -> Callable[[Implementation], Implementation]:
    """Registers a function of the language."""

    def register(function: Implementation) -> Implementation:
        BUILTINS[name] = function
        if method:
            METHODS.add(name.removeprefix("tl."))
        return function

    return register


@cache
def signature(name: str) -> inspect.Signature:
    """How the language's function is called: the implementation's parameters without the first."""
    empty = inspect.Signature.empty
    parameters = list(inspect.signature(BUILTINS[name]).parameters.values())[1:]
    return inspect.Signature([p.replace(annotation=empty) for p in parameters])


# Checks of arguments ------------------------------------------------------------------------------------------


def _constant_int(s: Semantics, value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        hint = (
            "make it a parameter of type tl.constexpr"
            if isinstance(value, Tensor) and not value.is_tile
            else None
        )
        raise s.builder.error(f"{what} is an integer known at compile time, got {describe(value)}", hint)
    return value


def _shape(s: Semantics, value: object, what: str) -> tuple[int, ...]:
    items = value if is_tuple(value) else (value,)
    return s.check_shape(tuple(_constant_int(s, v, f"each side of {what}") for v in items))


def _dtype(s: Semantics, value: object, what: str) -> DType:
    if not isinstance(value, DType):
        raise s.builder.error(f"{what} is a dtype such as tl.float32, got {describe(value)}")
    if not value.ready:
        raise s.builder.error(f"the dtype {value} is not in this version yet")
    return value


def _tile(s: Semantics, value: object, what: str) -> Tensor:
    if not isinstance(value, Tensor) or not value.is_tile:
        raise s.builder.error(f"{what} takes a tile, got {describe(value)}")
    return value


def _flag(s: Semantics, value: object, what: str) -> bool:
    if not isinstance(value, bool | int):
        raise s.builder.error(f"{what} is True or False, known at compile time, got {describe(value)}")
    return bool(value)


def _operand(s: Semantics, value: object, what: str) -> Tensor | Number:
    if not isinstance(value, Tensor | bool | int | float):
        raise s.builder.error(f"{what} takes numbers and tiles, got {describe(value)}")
    return value


def _not_yet(s: Semantics, function: str, **options: tuple[object, object]) -> None:
    """Refuses options that this version does not carry out: (given, what means «not given»)."""
    for name, (given, default) in options.items():
        if given != default and given is not None:
            raise s.builder.error(f"{name}= of {function} is not in this version yet")


# Where a program stands ---------------------------------------------------------------------------------------


def _axis_letter(s: Semantics, axis: object, name: str) -> tt.Axis:
    number = _constant_int(s, axis, f"the axis of {name}")
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


# Making tiles -------------------------------------------------------------------------------------------------


@builtin("tl.arange")
def arange(s: Semantics, start: object, end: object) -> Tensor:
    first, last = (
        _constant_int(s, start, "the start of tl.arange"),
        _constant_int(s, end, "the end of tl.arange"),
    )
    if not (first >= -(1 << 31) and last < 1 << 31):
        raise s.builder.error("tl.arange counts in 32 bits; its bounds do not fit")
    length = last - first
    if length <= 0:
        raise s.builder.error(f"tl.arange({first}, {last}) is empty: the end must be above the start")
    if length & (length - 1):
        raise s.builder.error(
            f"tl.arange({first}, {last}) has {length} elements, which is not a power of two",
            f"use tl.arange({first}, {first + constants.next_power_of_2(length)}) and mask what is too many",
        )
    s.check_shape((length,))
    return s.builder.tensor(tt.MakeRange(first, last), i32)


@builtin("tl.full")
def full(s: Semantics, shape: object, value: object, dtype: object) -> Tensor:
    return _full(s, shape, value, _dtype(s, dtype, "the dtype of tl.full"))


def _full(s: Semantics, shape: object, value: object, wanted: DType) -> Tensor:
    if isinstance(value, Tensor):
        if value.is_tile or value.is_pointer:
            raise s.builder.error(f"tl.full takes a scalar, got {describe(value)}")
        scalar = s.cast(value, wanted)
    else:
        if not isinstance(value, bool | int | float):
            raise s.builder.error(f"tl.full takes a number, got {describe(value)}")
        scalar = s.number_as(value, wanted)
    return s.splat(scalar, _shape(s, shape, "a tile"))


@builtin("tl.zeros")
def zeros(s: Semantics, shape: object, dtype: object) -> Tensor:
    return _full(s, shape, 0, _dtype(s, dtype, "the dtype of tl.zeros"))


@builtin("tl.zeros_like")
def zeros_like(s: Semantics, input: object) -> Tensor:
    like = s.tensor(input)
    return s.splat(s.builder.number(0, like.scalar), like.shape)


# Shapes -------------------------------------------------------------------------------------------------------


@builtin("tl.broadcast_to", method=True)
def broadcast_to(s: Semantics, input: object, *shape: object) -> Tensor:
    sides = shape[0] if len(shape) == 1 and is_tuple(shape[0]) else shape
    return s.broadcast_to(s.tensor(input), _shape(s, sides, "a tile"))


@builtin("tl.expand_dims", method=True)
def expand_dims(s: Semantics, input: object, axis: object) -> Tensor:
    value = s.tensor(input)
    rank = len(value.shape) + 1
    where = _constant_int(s, axis, "the axis of tl.expand_dims")
    if not -rank <= where < rank:
        raise s.builder.error(
            f"the axis of tl.expand_dims is between {-rank} and {rank - 1} here, got {where}"
        )
    return s.expand_dims(value, where % rank)


# Memory -------------------------------------------------------------------------------------------------------


@builtin("tl.load")
def load(
    s: Semantics,
    pointer: object,
    mask: object = None,
    other: object = None,
    boundary_check: object = (),
    padding_option: object = "",
    cache_modifier: object = "",
    eviction_policy: object = "",
    volatile: object = False,
) -> Tensor:
    _not_yet(
        s,
        "tl.load",
        boundary_check=(boundary_check, ()),
        padding_option=(padding_option, ""),
        cache_modifier=(cache_modifier, ""),
        eviction_policy=(eviction_policy, ""),
        volatile=(volatile, False),
    )
    if not isinstance(pointer, Tensor):
        raise s.builder.error(f"tl.load needs a pointer, got {describe(pointer)}")
    where = None if mask is None else _operand(s, mask, "the mask of tl.load")
    fill = None if other is None else _operand(s, other, "other of tl.load")
    return s.load(pointer, where, fill)


@builtin("tl.store")
def store(
    s: Semantics,
    pointer: object,
    value: object,
    mask: object = None,
    boundary_check: object = (),
    cache_modifier: object = "",
    eviction_policy: object = "",
) -> None:
    _not_yet(
        s,
        "tl.store",
        boundary_check=(boundary_check, ()),
        cache_modifier=(cache_modifier, ""),
        eviction_policy=(eviction_policy, ""),
    )
    if not isinstance(pointer, Tensor):
        raise s.builder.error(f"tl.store needs a pointer, got {describe(pointer)}")
    where = None if mask is None else _operand(s, mask, "the mask of tl.store")
    s.store(pointer, _operand(s, value, "tl.store"), where)


# Elementwise --------------------------------------------------------------------------------------------------


@builtin("tl.where")
def where(s: Semantics, condition: object, x: object, y: object) -> Tensor:
    return s.where(_operand(s, condition, "tl.where"), _operand(s, x, "tl.where"), _operand(s, y, "tl.where"))


def _propagates(s: Semantics, value: object, name: str) -> bool:
    if value not in ("none", "all"):
        raise s.builder.error(
            f"propagate_nan of {name} is tl.PropagateNan.NONE or .ALL, got {describe(value)}"
        )
    return value == "all"


VALUES["tl.PropagateNan.NONE"] = "none"
VALUES["tl.PropagateNan.ALL"] = "all"


@builtin("tl.maximum")
def maximum(s: Semantics, x: object, y: object, propagate_nan: object = "none") -> Tensor:
    nan = _propagates(s, propagate_nan, "tl.maximum")
    a, b = _operand(s, x, "tl.maximum"), _operand(s, y, "tl.maximum")
    return s.extremum(a, b, largest=True, propagate_nan=nan)


@builtin("tl.minimum")
def minimum(s: Semantics, x: object, y: object, propagate_nan: object = "none") -> Tensor:
    nan = _propagates(s, propagate_nan, "tl.minimum")
    a, b = _operand(s, x, "tl.minimum"), _operand(s, y, "tl.minimum")
    return s.extremum(a, b, largest=False, propagate_nan=nan)


@builtin("tl.clamp")
def clamp(s: Semantics, x: object, min: object, max: object, propagate_nan: object = "none") -> Tensor:
    low = s.extremum(
        _operand(s, x, "tl.clamp"),
        _operand(s, min, "tl.clamp"),
        largest=True,
        propagate_nan=_propagates(s, propagate_nan, "tl.clamp"),
    )
    if not low.scalar.is_float:
        raise s.builder.error(f"tl.clamp is for floats, got {describe(low)}")
    return s.extremum(
        low,
        _operand(s, max, "tl.clamp"),
        largest=False,
        propagate_nan=_propagates(s, propagate_nan, "tl.clamp"),
    )


@builtin("tl.abs", method=True)
def absolute(s: Semantics, x: object) -> Tensor:
    return s.absolute(_operand(s, x, "tl.abs"))


@builtin("tl.fma")
def fma(s: Semantics, x: object, y: object, z: object) -> Tensor:
    return s.fma(_operand(s, x, "tl.fma"), _operand(s, y, "tl.fma"), _operand(s, z, "tl.fma"))


def _register_math(name: str, kind: type[math.FloatUnary]) -> None:
    def function(s: Semantics, x: object) -> Tensor:
        return s.float_function(kind, _operand(s, x, f"tl.{name}"), f"tl.{name}")

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
    _not_yet(s, "tl.cast", fp_downcast_rounding=(fp_downcast_rounding, "rtne"))
    wanted = dtype if isinstance(dtype, Pointer) else _dtype(s, dtype, "the dtype of a cast")
    value = s.tensor(input)
    return s.bitcast(value, wanted) if _flag(s, bitcast, "bitcast") else s.cast(value, wanted)


@builtin("tl.cdiv", method=True)
def cdiv(s: Semantics, x: object, div: object) -> object:
    if isinstance(x, int) and isinstance(div, int):
        if div == 0:
            raise s.builder.error("tl.cdiv divides by zero")
        return constants.cdiv(x, div)
    a, b = _operand(s, x, "tl.cdiv"), _operand(s, div, "tl.cdiv")
    return s.floordiv(s.sub(s.add(a, b), 1), b)


@builtin("tl.next_power_of_2")
def next_power_of_2(s: Semantics, n: object) -> int:
    return constants.next_power_of_2(_constant_int(s, n, "the argument of next_power_of_2"))


# Reductions ---------------------------------------------------------------------------------------------------


def _reduce(
    s: Semantics,
    value: Tensor,
    axis: object,
    keep_dims: object,
    combine: Callable[[Tensor, Tensor], Tensor],
    name: str,
) -> Tensor:
    """Combines a tile along ``axis`` (over all of it for None) with a function of two scalars."""
    keep = _flag(s, keep_dims, f"keep_dims of {name}")
    rank = len(value.shape)
    if axis is None:
        along, source = 0, s.reshape(value, (numel(value.type),))
    else:
        along = _constant_int(s, axis, f"the axis of {name}")
        if not -rank <= along < rank:
            raise s.builder.error(
                f"the axis of {name} is between {-rank} and {rank - 1} for {describe(value)}, got {along}"
            )
        along, source = along % rank, value
    scalar = element(source.type)
    block = Block(args=[Value(scalar), Value(scalar)])
    with s.builder.into(block):
        result = combine(Tensor(block.args[0], value.dtype), Tensor(block.args[1], value.dtype))
        s.builder.add(tt.ReduceReturn((result.value,)))
    reduced = s.builder.tensor(tt.Reduce((source.value,), along, block), value.dtype)
    if not keep:
        return reduced
    if axis is None:
        return s.splat(reduced, (1,) * rank)
    return s.expand_dims(reduced, along)


@builtin("tl.sum", method=True)
def sum_(
    s: Semantics, input: object, axis: object = None, keep_dims: object = False, dtype: object = None
) -> Tensor:
    value = _tile(s, input, "tl.sum")
    if value.is_pointer:
        raise s.builder.error(f"tl.sum takes numbers, got {describe(value)}")
    if dtype is not None:
        value = s.cast(value, _dtype(s, dtype, "the dtype of tl.sum"))
    elif value.scalar.is_int and value.scalar.bits < 32:
        value = s.cast(value, i32 if value.scalar.is_signed else u32)
    return _reduce(s, value, axis, keep_dims, s.add, "tl.sum")


def _extreme(
    s: Semantics, input: object, axis: object, keep_dims: object, name: str, largest: bool
) -> Tensor:
    value = _tile(s, input, name)
    if value.is_pointer:
        raise s.builder.error(f"{name} takes numbers, got {describe(value)}")
    if value.scalar == bf16 or (value.scalar.is_float and value.scalar.bits < 32):
        value = s.cast(value, f32)
    elif value.scalar.bits < 32:
        value = s.cast(value, i32)

    def combine(a: Tensor, b: Tensor) -> Tensor:
        return s.extremum(a, b, largest=largest, propagate_nan=False)

    return _reduce(s, value, axis, keep_dims, combine, name)


@builtin("tl.max", method=True)
def max_(
    s: Semantics,
    input: object,
    axis: object = None,
    return_indices: object = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> Tensor:
    _not_yet(s, "tl.max", return_indices=(return_indices, False))
    return _extreme(s, input, axis, keep_dims, "tl.max", True)


@builtin("tl.min", method=True)
def min_(
    s: Semantics,
    input: object,
    axis: object = None,
    return_indices: object = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> Tensor:
    _not_yet(s, "tl.min", return_indices=(return_indices, False))
    return _extreme(s, input, axis, keep_dims, "tl.min", False)


# Products -----------------------------------------------------------------------------------------------------


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
    _not_yet(s, "tl.dot", max_num_imprecise_acc=(max_num_imprecise_acc, 0))
    a, b = _tile(s, input, "tl.dot"), _tile(s, other, "tl.dot")
    if allow_tf32 is not None and input_precision is not None:
        raise s.builder.error("tl.dot takes input_precision or allow_tf32, not both")
    precision = input_precision
    if precision is None:
        precision = "tf32" if allow_tf32 is None or _flag(s, allow_tf32, "allow_tf32") else "ieee"
    if not isinstance(precision, str):
        raise s.builder.error(f"input_precision is a string, got {describe(precision)}")
    return s.dot(
        a,
        b,
        None if acc is None else _tile(s, acc, "the accumulator of tl.dot"),
        precision,
        _dtype(s, out_dtype, "out_dtype"),
    )


# Compile time -------------------------------------------------------------------------------------------------


@builtin("tl.constexpr")
def constexpr(s: Semantics, value: object) -> object:
    if isinstance(value, Tensor):
        raise s.builder.error(f"tl.constexpr needs a value known at compile time, got {describe(value)}")
    return value


@builtin("tl.static_assert")
def static_assert(s: Semantics, cond: object, msg: object = "") -> None:
    if isinstance(cond, Tensor):
        raise s.builder.error(f"tl.static_assert needs a value known at compile time, got {describe(cond)}")
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
            _constant_int(s, value, f"each bound of {name}")
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
    # The options say how to schedule, never what to compute: this version schedules in its own way.
    bounds = (0, arg1) if arg2 is None else (arg1, arg2)
    return _range(s, (*bounds, 1 if step is None else step), False, "tl.range")


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
        return minimum(s, x, y)
    return min(_operand(s, x, "min"), _operand(s, y, "min"))  # type: ignore[type-var]  # neither is a tile


@builtin("max")
def python_max(s: Semantics, x: object, y: object) -> object:
    if isinstance(x, Tensor) or isinstance(y, Tensor):
        return maximum(s, x, y)
    return max(_operand(s, x, "max"), _operand(s, y, "max"))  # type: ignore[type-var]  # neither is a tile


@builtin("abs")
def python_abs(s: Semantics, x: object) -> object:
    operand = _operand(s, x, "abs")
    return absolute(s, operand) if isinstance(operand, Tensor) else abs(operand)


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

#: Python builtins a kernel may name.
PYTHON_NAMES = frozenset(n for n in BUILTINS if "." not in n)
