"""What operators and functions of the language mean: Triton's rules of promotion, broadcasting and conversion.

Source of the rules: Triton 3.6's documented semantics (``triton-lang.org``, "Triton Semantics"), checked operation by operation
against its interpreter in the tests.  Operands are :class:`Tensor` or Python numbers; results are :class:`Tensor`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isinf, prod

from teenybuild.compiler.frontend.builder import Builder
from teenybuild.compiler.frontend.values import BlockOf, Function, Tensor, describe, ir_element, spell_element
from teenybuild.compiler.ir import arith, math, tt
from teenybuild.compiler.ir.core import Op, Value
from teenybuild.compiler.ir.numbers import round_to
from teenybuild.compiler.ir.types import Element, Pointer, Tile
from teenybuild.diagnostics import did_you_mean
from teenybuild.dtypes import INTEGERS, DType, bf16, f16, f32, f64, i1, i8, i32, i64

Number = bool | int | float
Operand = Tensor | bool | int | float

#: What ``where`` does with its operands.
_CHOOSE = "choose between"
#: The most elements a tile may have, as in Triton.
MAX_TILE = 1 << 20


def number_dtype(value: Number) -> DType | None:
    """The dtype a Python number takes by itself; None where no dtype holds it."""
    if isinstance(value, bool):
        return i1
    if isinstance(value, int):
        for bits, signed in ((32, True), (32, False), (64, True), (64, False)):
            dtype = INTEGERS[bits, signed]
            if dtype.minimum <= value <= dtype.maximum:
                return dtype
        return None
    magnitude = abs(value)
    normal = 2.0**-126 <= magnitude <= (2 - 2**-23) * 2.0**127
    return f32 if normal or magnitude in (0.0, float("inf")) or value != value else f64


def promote_integers(a: DType, b: DType) -> DType:
    """C's usual arithmetic conversions, without the promotion to int."""
    if a.is_signed == b.is_signed:
        return a if a.bits > b.bits else b
    unsigned, signed = (b, a) if a.is_signed else (a, b)
    return unsigned if unsigned.bits >= signed.bits else signed


class Semantics:
    """The operations of the language, built into the builder's current block."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        #: Whether assertions are carried out at run time. The reader says.
        self.debug = False
        #: Warps of a program, which kernels may ask for. The reader says.
        self.num_warps = 4
        #: The kernel's arguments, in ABI order.
        self.arguments: list[Value] = []
        #: Inlines a call of a kernel file's function here; for who takes functions as arguments. The reader supplies it.
        self.call: Callable[[Function, Sequence[object]], object] = self._no_call

        #: An attribute of a value by its name; raises UserError where there is none. The reader supplies it.
        self.attribute: Callable[[object, str], object] = self._no_attribute

    def _no_attribute(self, owner: object, name: str) -> object:
        raise self.builder.error(f"{describe(owner)} has no attribute {name}")

    def _no_call(self, function: Function, values: Sequence[object]) -> object:
        raise self.builder.error(f"{function.name} cannot be called outside a kernel")

    # Conversions of operands ----------------------------------------------------------------------------------

    def tensor(self, value: object) -> Tensor:
        """``value`` as a run-time value; numbers become scalars of the dtype they take by themselves."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, bool | int | float):
            return self.builder.number(value, self._dtype_of(value))
        raise self.builder.error(f"expected a number or a tile, got {describe(value)}")

    def computation_dtype(self, a: DType, a_number: bool, b: DType, b_number: bool, division: bool) -> DType:
        """The dtype two operands are brought to. ``*_number``: written as a Python number, which does not widen a tile."""
        if a_number != b_number:
            number, other = (a, b) if a_number else (b, a)
            if number.rank <= other.rank:
                return f32 if division and other in (f16, bf16) else other
        for wide in (f64, f32):
            if wide in (a, b):
                return wide
        if f16 in (a, b):
            return f32 if division else f16
        if a == bf16 and b == bf16:
            return f32 if division else bf16
        if bf16 in (a, b):
            return f32
        if a.is_fp8 or b.is_fp8:
            return a if a == b else f16
        if division and a.is_signed != b.is_signed:
            raise self.builder.error(
                f"cannot divide {a} and {b}: one is signed, the other is not",
                "convert one of them with .to(...)",
            )
        return promote_integers(a, b)

    def pair(
        self,
        lhs: Operand,
        rhs: Operand,
        *,
        left_pointer: bool = False,
        right_pointer: bool = False,
        division: bool = False,
        what: str = "combine",
    ) -> tuple[Tensor, Tensor]:
        """Both operands in one dtype and one shape. Pointers stay as they are where they are allowed."""
        if isinstance(lhs, Tensor) and isinstance(rhs, Tensor) and not lhs.is_pointer and not rhs.is_pointer:
            dtype = self.computation_dtype(lhs.scalar, False, rhs.scalar, False, division)
            self._check_computed(dtype, lhs, rhs, what)
            return self.broadcast(self.cast(lhs, dtype), self.cast(rhs, dtype))
        if any(isinstance(x, Tensor) and x.is_pointer for x in (lhs, rhs)):
            a, b = self.tensor(lhs), self.tensor(rhs)
            if not self._pointers_go_together(a, b, left_pointer, right_pointer):
                raise self.builder.error(f"cannot {what} {describe(lhs)} and {describe(rhs)}")
            return self.broadcast(a, b)
        dtype = self.computation_dtype(
            self._dtype_of(lhs),
            not isinstance(lhs, Tensor),
            self._dtype_of(rhs),
            not isinstance(rhs, Tensor),
            division,
        )
        self._check_computed(dtype, lhs, rhs, what)
        return self.broadcast(self._as(lhs, dtype), self._as(rhs, dtype))

    def _check_computed(self, dtype: DType, lhs: Operand, rhs: Operand, what: str) -> None:
        """Nothing is computed in 8 bits; choosing is no computation."""
        if dtype.is_fp8 and what != _CHOOSE:
            raise self.builder.error(
                f"cannot {what} {describe(lhs)} and {describe(rhs)}: nothing is computed in {dtype}",
                "convert first, with .to(tl.float32) or .to(tl.float16)",
            )

    def _dtype_of(self, value: Operand) -> DType:
        if isinstance(value, Tensor):
            return value.scalar
        dtype = number_dtype(value)
        if dtype is None:
            raise self.builder.error(f"{describe(value)} does not fit 64 bits")
        return dtype

    def _as(self, value: Operand, dtype: DType) -> Tensor:
        return self.cast(value, dtype) if isinstance(value, Tensor) else self.number_as(value, dtype)

    @staticmethod
    def _pointers_go_together(a: Tensor, b: Tensor, left: bool, right: bool) -> bool:
        if a.is_pointer and b.is_pointer:
            return left and right and a.dtype == b.dtype
        pointer, other = (a, b) if a.is_pointer else (b, a)
        return (left if pointer is a else right) and other.scalar.is_int

    def number_as(self, value: Number, dtype: DType) -> Tensor:
        """A number as a scalar of ``dtype``: rounded if that is a float, in range if that is an integer."""
        self._dtype_of(value)
        if dtype.is_int and not isinstance(value, bool):
            if not dtype.minimum <= value <= dtype.maximum:
                raise self.builder.error(f"the number {value} is out of range for {dtype}")
            if value != int(value):
                raise self.builder.error(f"the number {value} is no {dtype}", "say what it is rounded to")
            value = int(value)
        return self.builder.number(value, dtype)

    def number_like(self, value: Number, like: Tensor) -> Tensor | None:
        """A number as a scalar of the dtype of ``like``, where that is of its kind and holds it; None elsewhere."""
        dtype = like.dtype
        if not isinstance(dtype, DType) or dtype.is_float != isinstance(value, float):
            return None
        if dtype.is_float:
            fits = isinf(round_to(value, dtype)) == isinf(value)
        else:
            fits = dtype.is_bool == isinstance(value, bool) and dtype.minimum <= value <= dtype.maximum
        return self.builder.number(value, dtype) if fits else None

    # Shapes ---------------------------------------------------------------------------------------------------

    def check_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A tile's shape: sides that are powers of two, at most :data:`MAX_TILE` elements."""
        total = 1
        for side in shape:
            if side <= 0 or side & (side - 1):
                raise self.builder.error(
                    f"the side {side} of a tile {list(shape)} is not a power of two",
                    "round it up with triton.next_power_of_2 and mask what is too many",
                )
            total *= side
        if total > MAX_TILE:
            raise self.builder.error(f"a tile {list(shape)} has {total} elements; the most is {MAX_TILE}")
        return shape

    def splat(self, value: Tensor, shape: tuple[int, ...]) -> Tensor:
        """A scalar in every element of a tile; the scalar itself for ``()``."""
        if not shape:
            return value
        return self.builder.tensor(tt.Splat(value.value, Tile(shape, ir_element(value.dtype))), value.dtype)

    def expand_dims(self, value: Tensor, axis: int) -> Tensor:
        """An axis of size 1 put in at ``axis``."""
        if not value.is_tile:
            return self.splat(value, (1,))
        shape = (*value.shape[:axis], 1, *value.shape[axis:])
        return self.builder.tensor(
            tt.ExpandDims(value.value, Tile(shape, ir_element(value.dtype)), axis), value.dtype
        )

    def broadcast_to(self, value: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The value repeated to ``shape``: a scalar anywhere, a tile along its axes of size 1."""
        if value.shape == shape:
            return value
        if not value.is_tile:
            return self.splat(value, self.check_shape(shape))
        fits = len(value.shape) == len(shape) and all(
            a in (1, b) for a, b in zip(value.shape, shape, strict=False)
        )
        if not fits:
            raise self.builder.error(f"cannot broadcast {describe(value)} to {list(shape)}")
        self.check_shape(shape)
        return self.builder.tensor(
            tt.Broadcast(value.value, Tile(shape, ir_element(value.dtype))), value.dtype
        )

    def broadcast(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """Both in one shape, by NumPy's rules (missing axes are put in on the left)."""
        if a.shape == b.shape:
            return a, b
        if not a.is_tile:
            return self.splat(a, b.shape), b
        if not b.is_tile:
            return a, self.splat(b, a.shape)
        first, second = a, b
        while len(a.shape) < len(b.shape):
            a = self.expand_dims(a, 0)
        while len(b.shape) < len(a.shape):
            b = self.expand_dims(b, 0)
        shape: list[int] = []
        for x, y in zip(a.shape, b.shape, strict=True):
            if x != y and 1 not in (x, y):
                raise self.builder.error(
                    f"the shapes {list(first.shape)} and {list(second.shape)} do not go together: "
                    f"{describe(first)}, {describe(second)}",
                    "index with None to say which axis is which, as in x[:, None]"
                    if 1 in (len(first.shape), len(second.shape))
                    else None,
                )
            shape.append(max(x, y))
        return self.broadcast_to(a, tuple(shape)), self.broadcast_to(b, tuple(shape))

    def reshape(self, value: Tensor, shape: tuple[int, ...]) -> Tensor:
        """The same elements, in row-major order, in another shape."""
        if value.shape == shape:
            return value
        self.check_shape(shape)
        if not value.is_tile or value.numel != prod(shape):
            raise self.builder.error(
                f"cannot reshape {describe(value)} to {list(shape)}: {value.numel} elements are not {prod(shape)}"
                if value.is_tile
                else f"cannot reshape {describe(value)}: it is no tile"
            )
        return self.builder.tensor(tt.Reshape(value.value, Tile(shape, ir_element(value.dtype))), value.dtype)

    def permute(self, value: Tensor, order: tuple[int, ...]) -> Tensor:
        """The axes in another order: axis i of the result is axis ``order[i]`` of ``value``."""
        shape = tuple(value.shape[axis] for axis in order)
        tile = Tile(shape, ir_element(value.dtype))
        return self.builder.tensor(tt.Trans(value.value, tile, order), value.dtype)

    # Arithmetic -----------------------------------------------------------------------------------------------

    def add(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs + rhs``; one side may be a pointer, moved by whole elements."""
        a, b = self.pair(lhs, rhs, left_pointer=True, right_pointer=True, what="add")
        if a.is_pointer and b.is_pointer:
            raise self.builder.error(f"cannot add {describe(a)} and {describe(b)}")
        if b.is_pointer:
            a, b = b, a
        if a.is_pointer:
            if b.scalar.kind in ("uint", "bool") and b.scalar.bits < 64:
                b = self.cast(b, i64)  # offsets are signed: an unsigned one must not turn negative
            return self.builder.tensor(tt.AddPtr(a.value, b.value), a.dtype)
        return self._either(a, b, arith.AddF, arith.AddI)

    def sub(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs - rhs``; the left side may be a pointer."""
        a, b = self.pair(lhs, rhs, left_pointer=True, what="subtract")
        if a.is_pointer:
            return self.add(a, self.negate(b))
        return self._either(a, b, arith.SubF, arith.SubI)

    def mul(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs * rhs``."""
        a, b = self.pair(lhs, rhs, what="multiply")
        return self._either(a, b, arith.MulF, arith.MulI)

    def _either(
        self, a: Tensor, b: Tensor, on_float: type[arith.Binary], on_int: type[arith.Binary]
    ) -> Tensor:
        kind = on_float if a.scalar.is_float else on_int
        return self.builder.tensor(kind(a.value, b.value), a.dtype)

    def truediv(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs / rhs``: integers are divided as f32, f16 and bf16 too."""
        a, b = self.pair(lhs, rhs, division=True, what="divide")
        if a.scalar.is_int:
            a, b = self.cast(a, f32), self.cast(b, f32)
        return self.builder.tensor(arith.DivF(a.value, b.value), a.dtype)

    def floordiv(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs // rhs`` of integers, rounded toward zero (C's division, as Triton's)."""
        a, b = self.pair(lhs, rhs, division=True, what="divide")
        if a.scalar.is_float:
            raise self.builder.error(
                f"// is for integers: {describe(lhs)}, {describe(rhs)}", "use / and tl.floor for floats"
            )
        self._check_divisor(rhs)
        return self._signed(a, b, arith.DivSI, arith.DivUI)

    def _check_divisor(self, rhs: Operand) -> None:
        if not isinstance(rhs, Tensor) and rhs == 0:
            raise self.builder.error("an integer is divided by zero")

    def mod(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs % rhs`` with the sign of the left side (C's remainder, as Triton's)."""
        a, b = self.pair(lhs, rhs, division=True, what="take the remainder of")
        if a.scalar.is_float:
            return self.builder.tensor(arith.RemF(a.value, b.value), a.dtype)
        self._check_divisor(rhs)
        return self._signed(a, b, arith.RemSI, arith.RemUI)

    def _signed(
        self, a: Tensor, b: Tensor, signed: type[arith.Binary], unsigned: type[arith.Binary]
    ) -> Tensor:
        kind = signed if a.scalar.is_signed else unsigned
        return self.builder.tensor(kind(a.value, b.value), a.dtype)

    def _integers(self, lhs: Operand, rhs: Operand, symbol: str) -> tuple[Tensor, Tensor]:
        a, b = self.pair(lhs, rhs, what=f"apply {symbol} to")
        if a.is_pointer or a.scalar.is_float:
            raise self.builder.error(f"{symbol} is for integers: {describe(lhs)}, {describe(rhs)}")
        return a, b

    def bit_and(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs & rhs`` of integers."""
        a, b = self._integers(lhs, rhs, "&")
        return self.builder.tensor(arith.AndI(a.value, b.value), a.dtype)

    def bit_or(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs | rhs`` of integers."""
        a, b = self._integers(lhs, rhs, "|")
        return self.builder.tensor(arith.OrI(a.value, b.value), a.dtype)

    def bit_xor(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs ^ rhs`` of integers."""
        a, b = self._integers(lhs, rhs, "^")
        return self.builder.tensor(arith.XOrI(a.value, b.value), a.dtype)

    def _shifted(self, lhs: Operand, rhs: Operand, symbol: str) -> tuple[Tensor, Tensor]:
        a, b = self._integers(lhs, rhs, symbol)
        if isinstance(rhs, int) and not 0 <= rhs < a.scalar.bits:
            raise self.builder.error(
                f"{describe(lhs)} has {a.scalar.bits} bits; it cannot be shifted by {rhs}"
            )
        return a, b

    def shift_left(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs << rhs`` of integers; a run-time ``rhs`` out of range gives no particular value."""
        a, b = self._shifted(lhs, rhs, "<<")
        return self.builder.tensor(arith.ShLI(a.value, b.value), a.dtype)

    def shift_right(self, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs >> rhs`` of integers: arithmetic for signed, logical for unsigned; as for ``<<``, in range only."""
        a, b = self._shifted(lhs, rhs, ">>")
        # The left side's own sign decides, whatever the two are promoted to.
        signed = (lhs if isinstance(lhs, Tensor) else a).scalar.is_signed
        kind = arith.ShRSI if signed else arith.ShRUI
        return self.builder.tensor(kind(a.value, b.value), a.dtype)

    def negate(self, value: Operand) -> Tensor:
        """``-value``, as ``0 - value`` (so ``-0.0`` is ``0.0``, as in Triton)."""
        x = self.tensor(value)
        if x.is_pointer:
            raise self.builder.error(f"cannot negate {describe(x)}")
        return self.sub(self.builder.number(0, x.scalar), x)

    def invert(self, value: Operand) -> Tensor:
        """``~value`` of integers."""
        x = self.tensor(value)
        if x.is_pointer or x.scalar.is_float:
            raise self.builder.error(f"~ is for integers: {describe(x)}")
        ones = self.splat(self.builder.number(-1, x.scalar), x.shape)
        return self.builder.tensor(arith.XOrI(x.value, ones.value), x.dtype)

    # Comparisons and logic ------------------------------------------------------------------------------------

    def compare(self, symbol: str, lhs: Operand, rhs: Operand) -> Tensor:
        """``lhs < rhs`` and its like; false where either side is NaN, except for ``!=``."""
        a, b = self.pair(lhs, rhs, what="compare")
        word = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}[symbol]
        op: Op
        if a.scalar.is_float:
            op = arith.CmpF("une" if word == "ne" else f"o{word}", a.value, b.value)
        else:
            sign = "" if word in ("eq", "ne") else ("s" if a.scalar.is_signed else "u")
            op = arith.CmpI(sign + word, a.value, b.value)
        return self.builder.tensor(op, i1)

    def truth(self, value: Operand) -> Tensor:
        """``value`` as i1: whether it is not zero."""
        return self.cast(self.tensor(value), i1)

    def where(self, condition: Operand, x: Operand, y: Operand) -> Tensor:
        """``x`` where the condition holds, else ``y``; all three in one shape."""
        chosen = self.truth(condition)
        a, b = self.pair(x, y, left_pointer=True, right_pointer=True, what=_CHOOSE)
        if a.is_pointer != b.is_pointer:
            raise self.builder.error(f"cannot choose between {describe(x)} and {describe(y)}")
        if chosen.is_tile:
            chosen, a = self.broadcast(chosen, a)
            a, b = self.broadcast(a, b)
            chosen, a = self.broadcast(chosen, a)
        elif a.is_tile:
            chosen = self.splat(chosen, a.shape)
        return self.builder.tensor(arith.Select(chosen.value, a.value, b.value), a.dtype)

    def extremum(self, lhs: Operand, rhs: Operand, *, largest: bool, propagate_nan: bool) -> Tensor:
        """The larger or smaller of two; a NaN loses unless it is to be propagated."""
        a, b = self.pair(lhs, rhs, what="compare")
        if a.scalar.is_float:
            if propagate_nan:
                kind = arith.MaximumF if largest else arith.MinimumF
            else:
                kind = arith.MaxNumF if largest else arith.MinNumF
            return self.builder.tensor(kind(a.value, b.value), a.dtype)
        if largest:
            return self._signed(a, b, arith.MaxSI, arith.MaxUI)
        return self._signed(a, b, arith.MinSI, arith.MinUI)

    def float_function(self, kind: type[math.FloatUnary], value: Operand, name: str) -> Tensor:
        """A mathematical function of f32 or f64."""
        x = self.tensor(value)
        if x.is_pointer or x.scalar not in (f32, f64):
            hint = None if x.is_pointer else "convert it first with .to(tl.float32)"
            raise self.builder.error(f"{name} takes f32 or f64, got {describe(x)}", hint)
        return self.builder.tensor(kind(x.value), x.dtype)

    def absolute(self, value: Operand) -> Tensor:
        """The absolute value; of an unsigned integer, itself."""
        x = self.tensor(value)
        if x.is_pointer:
            raise self.builder.error(f"tl.abs takes numbers, got {describe(x)}")
        if x.scalar.is_fp8:
            raise self.builder.error(
                f"tl.abs does not compute in {x.scalar}, got {describe(x)}",
                "convert first, with .to(tl.float32)",
            )
        if x.scalar.is_float:
            return self.builder.tensor(math.AbsF(x.value), x.dtype)
        if x.scalar.is_signed:
            return self.builder.tensor(math.AbsI(x.value), x.dtype)
        return x

    def fma(self, x: Operand, y: Operand, z: Operand) -> Tensor:
        """``x * y + z``, rounded once."""
        a, b = self.pair(x, y, what="multiply")
        a, c = self.pair(a, z, what="add")
        b, _ = self.pair(b, c, what="multiply")
        if a.scalar not in (f32, f64):
            raise self.builder.error(f"tl.fma takes f32 or f64, got {describe(a)}")
        return self.builder.tensor(math.Fma(a.value, b.value, c.value), a.dtype)

    # Casts ----------------------------------------------------------------------------------------------------

    def cast(self, value: Tensor, to: Element) -> Tensor:
        """``value`` converted to another dtype: floats round to nearest even, float to integer toward zero."""
        source = value.dtype
        if source == to:
            return value
        if isinstance(source, Pointer) or isinstance(to, Pointer):
            return self._cast_pointer(value, source, to)
        if source.is_float and to.is_float:
            return self._cast_float(value, source, to)
        if source.is_fp8 or to.is_fp8:
            # Exact by way of f32 (an integer that is not is beyond the largest).
            return self.cast(self.cast(value, f32), to)
        if to.is_bool:
            zero = self.splat(self.builder.number(0, source), value.shape)
            return self.compare("!=", value, zero)
        if source.is_int and to.is_int:
            return self._cast_int(value, source, to)
        if source.is_float:
            kind = arith.FPToSI if to.is_signed else arith.FPToUI
            wide = self.cast(value, f32) if source in (f16, bf16) else value
            return self._convert(kind, wide, to)
        kind = arith.SIToFP if source.is_signed else arith.UIToFP
        return self._convert(kind, value, to)

    def _cast_pointer(self, value: Tensor, source: Element, to: Element) -> Tensor:
        """Pointers to other pointers, to integers of 64 bits and from them; to i1, whether it is not null."""
        if isinstance(source, Pointer) and isinstance(to, Pointer):
            if ir_element(source) == ir_element(to):
                return Tensor(value.value, to)
            return self.builder.tensor(tt.Bitcast(value.value, ir_element(to)), to)
        integer = source if isinstance(to, Pointer) else to
        if isinstance(integer, DType) and integer.is_int:
            if isinstance(to, Pointer) and integer.bits == 64:
                pointer = ir_element(to)
                assert isinstance(pointer, Pointer)
                return self.builder.tensor(tt.IntToPtr(value.value, pointer), to)
            if integer.bits == 64:
                return self.builder.tensor(tt.PtrToInt(value.value), to)
            if to == i1:
                return self.cast(self.cast(value, i64), i1)
        raise self.builder.error(
            f"cannot convert {describe(value)} to {spell_element(to)}", "addresses are integers of 64 bits"
        )

    def _cast_float(self, value: Tensor, source: DType, to: DType) -> Tensor:
        if source.bits == to.bits or (source.bits < 32 and to == f64):
            value = self.cast(value, f32)
            return self.cast(value, to)
        return self._convert(arith.ExtF if source.bits < to.bits else arith.TruncF, value, to)

    def _cast_int(self, value: Tensor, source: DType, to: DType) -> Tensor:
        if source.bits == to.bits:
            return Tensor(value.value, to)
        if source.bits > to.bits:
            return self._convert(arith.TruncI, value, to)
        return self._convert(arith.ExtSI if source.is_signed else arith.ExtUI, value, to)

    def _convert(self, kind: Callable[[Value, DType], arith.Cast], value: Tensor, to: DType) -> Tensor:
        target = ir_element(to)
        assert isinstance(target, DType)
        return self.builder.tensor(kind(value.value, target), to)

    def bitcast(self, value: Tensor, to: Element) -> Tensor:
        """The same bits as another dtype of the same width."""
        if isinstance(to, Pointer) or value.is_pointer:
            return self.cast(value, to)
        if value.scalar.bits != to.bits:
            raise self.builder.error(f"cannot take the bits of {describe(value)} as {to}: the widths differ")
        return self.builder.tensor(tt.Bitcast(value.value, ir_element(to)), to)

    # Memory ---------------------------------------------------------------------------------------------------

    def _access(self, pointer: Tensor, mask: Operand | None, name: str) -> tuple[Tensor, Tensor | None]:
        """The pointer, as bytes where it points to bools, and the mask, in one shape."""
        if not pointer.is_pointer:
            hint = None
            if pointer.is_tile and pointer.scalar.is_int:
                hint = "add the offsets to a pointer argument first"
            raise self.builder.error(f"{name} needs a pointer, got {describe(pointer)}", hint)
        found: Tensor | None = None
        if mask is not None:
            found = self.tensor(mask)
            if found.is_pointer or found.scalar != i1:
                raise self.builder.error(f"the mask of {name} is i1, got {describe(found)}")
            if found.is_tile and not pointer.is_tile:
                raise self.builder.error(
                    f"the pointer of {name} is a scalar, but the mask is {describe(found)}"
                )
            pointer, found = self.broadcast(pointer, found)
        return pointer, found

    def load(
        self,
        pointer: Tensor,
        mask: Operand | None,
        other: Operand | None,
        *,
        cache: tt.Cache = "",
        eviction: tt.Eviction = "",
        volatile: bool = False,
        block: BlockOf | None = None,
    ) -> Tensor:
        """Reads through ``pointer`` where the mask holds; ``other`` elsewhere, converted to the pointee's dtype.

        ``block``: what that is of which array, if it is.
        """
        if mask is None and other is not None:
            raise self.builder.error("tl.load takes other= only together with mask=")
        pointer, found = self._access(pointer, mask, "tl.load")
        assert isinstance(pointer.dtype, Pointer)
        pointee, behind = pointer.dtype.pointee, pointer.dtype.behind
        stored = i8 if pointee == i1 else pointee
        if pointee == i1:
            pointer = self.cast(pointer, Pointer(i8))
        fill: Tensor | None = None
        if other is not None:
            value = (
                self._number_in(other, stored) if not isinstance(other, Tensor) else self.cast(other, stored)
            )
            if value.is_tile and not pointer.is_tile:
                raise self.builder.error(
                    f"the pointer of tl.load is a scalar, but other is {describe(value)}"
                )
            pointer, fill = self.broadcast(pointer, value)
            if found is not None:
                pointer, found = self.broadcast(pointer, found)
        values = (pointer.value, found.value if found else None, fill.value if fill else None)
        where = (block.array, block.corner) if block is not None and pointee != i1 else (None, ())
        op = tt.Load(*values, cache, eviction, volatile, *where)
        loaded = self.builder.tensor(op, stored)
        if behind is not None:
            return self.cast(loaded, behind)
        return self.cast(loaded, i1) if pointee == i1 else loaded

    def _number_in(self, value: Number, dtype: DType) -> Tensor:
        """A number converted as a run-time value of its own dtype would be."""
        return self.cast(self.tensor(value), dtype)

    def store(
        self,
        pointer: Tensor,
        value: Operand,
        mask: Operand | None,
        *,
        cache: tt.Cache = "",
        eviction: tt.Eviction = "",
        block: BlockOf | None = None,
    ) -> None:
        """Writes ``value``, converted to the pointee's dtype, where the mask holds; ``block`` as for a load."""
        pointer, found = self._access(pointer, mask, "tl.store")
        assert isinstance(pointer.dtype, Pointer)
        pointee = pointer.dtype.pointee
        data = self.tensor(value)
        if data.is_pointer and data.dtype != pointer.dtype.behind:
            raise self.builder.error(
                f"cannot store {describe(data)} through {describe(pointer)}", "convert it with .to(tl.int64)"
            )
        if pointee == i1:
            # A bool in memory is a byte. Triton converts other numbers to that; whether it is zero is what is left of them here.
            pointer = self.cast(pointer, Pointer(i8))
            kept = data if data.scalar == i1 else self.cast(data, i8)
            data = self.cast(self.cast(kept, i1), i8)
        else:
            data = self.cast(data, pointee)
        if data.is_tile and not pointer.is_tile:
            raise self.builder.error(
                f"the pointer of tl.store is a scalar, but the value is {describe(data)}"
            )
        if len(data.shape) > len(pointer.shape) or any(
            d not in (1, p) for d, p in zip(reversed(data.shape), reversed(pointer.shape), strict=False)
        ):
            raise self.builder.error(
                f"tl.store writes {describe(data)} through {describe(pointer)}; the shapes differ"
            )
        pointer, data = self.broadcast(pointer, data)
        if found is not None:
            pointer, found = self.broadcast(pointer, found)
        values = (pointer.value, data.value, found.value if found else None)
        where = (block.array, block.corner) if block is not None and pointee != i1 else (None, ())
        self.builder.add(tt.Store(*values, cache, eviction, *where))

    # Products -------------------------------------------------------------------------------------------------

    def dot(
        self, a: Tensor, b: Tensor, acc: Tensor | None, precision: str, out: DType, *, exact: bool = False
    ) -> Tensor:
        """``a @ b + acc`` of 2-D tiles, or of as many along a first axis, summed in ``out`` (f64 for f64 operands, i32 for i8).

        ``exact``: not by tensor cores that keep few bits of a sum, as those for 8 bits may.
        """
        for side in (a, b):
            if len(side.shape) not in (2, 3) or len(a.shape) != len(b.shape) or side.is_pointer:
                raise self.builder.error(
                    f"tl.dot takes two 2-D tiles, or two 3-D ones, got {describe(a)} and {describe(b)}"
                )
        of_8_bits = a.scalar.is_fp8 and b.scalar.is_fp8
        if of_8_bits and exact:
            # Both formats are exact in f16.
            a, b = self.cast(a, f16), self.cast(b, f16)
        elif not of_8_bits and (a.dtype != b.dtype or a.scalar not in (i8, f16, bf16, f32, f64)):
            raise self.builder.error(
                f"tl.dot takes two tiles of one float dtype, or of i8, got {describe(a)} and {describe(b)}",
                "convert one of them with .to(...)",
            )
        if a.shape[-1] != b.shape[-2]:
            raise self.builder.error(
                f"tl.dot of {list(a.shape)} and {list(b.shape)}: the inner sides {a.shape[-1]} and {b.shape[-2]} differ"
            )
        if a.shape[:-2] != b.shape[:-2]:
            raise self.builder.error(
                f"tl.dot of {list(a.shape)} and {list(b.shape)}: {a.shape[0]} matrices and {b.shape[0]}"
            )
        # f32 is what out_dtype is where nobody says it.
        sums = (f32, f16) if of_8_bits else {f64: (f64,), f16: (f32, f16), i8: (i32,)}.get(a.scalar, (f32,))
        if out not in (*sums, f32):
            raise self.builder.error(
                f"tl.dot of {a.scalar} sums in {' or '.join(map(str, sums))}, not in {out}",
                f"convert the result with .to(tl.{out.language})",
            )
        dtype = out if out in sums else sums[0]
        shape = (*a.shape[:-1], b.shape[-1])
        if acc is None:
            acc = self.splat(self.builder.number(0, dtype), shape)
        elif acc.is_pointer or acc.shape != shape or acc.dtype != dtype:
            raise self.builder.error(
                f"the accumulator of tl.dot is a tile of {dtype} {list(shape)} here, got {describe(acc)}"
            )
        if precision not in ("ieee", "tf32", "tf32x3"):
            hint = did_you_mean(precision, ("ieee", "tf32", "tf32x3"))
            raise self.builder.error(f"input_precision is ieee, tf32 or tf32x3, got {precision!r}", hint)
        op = tt.Dot(a.value, b.value, acc.value, precision)  # type: ignore[arg-type]  # narrowed just above
        return self.builder.tensor(op, dtype)

    def integer(self, value: Operand) -> Tensor:
        """A scalar integer, for the bounds of a loop."""
        x = self.tensor(value)
        if x.is_pointer or x.is_tile or not x.scalar.is_int or x.scalar.is_bool:
            raise self.builder.error(f"each bound of a loop is an integer, got {describe(x)}")
        return x

    def range_bounds(self, *values: Operand) -> tuple[list[Tensor], DType]:
        """Loop bounds in one signed dtype, at least i32, and the dtype that the loop's variable has.

        Counting is signed: u32 is counted in 64 bits.
        """
        found = [self.integer(v) for v in values]
        dtype = i32
        for x in found:
            dtype = promote_integers(dtype, x.scalar)
        counted = dtype if dtype.is_signed else i64
        return [self.cast(x, counted) for x in found], dtype
