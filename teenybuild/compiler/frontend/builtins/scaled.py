"""Products of tiles in microscaling formats: narrow floats, of which 32 along k share a power of two (OCP MX specification 1.0).

Both sides are widened and scaled, and multiplied as ``tl.dot`` does it: in f16 where one of them is fp16, else in bf16, as Triton
does on GPUs without instructions for them.  Widening is exact; so is scaling, but where it leaves the range of the format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import a_dtype, a_flag, a_tile, one_of
from teenybuild.compiler.frontend.builtins.joining import joined
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.dtypes import DType, bf16, f8e4m3, f8e5m2, f16, f32, u8, u16, u32

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

#: Formats, and the dtype their values have; that of e2m1, two values a byte, has no name.
_FORMATS: dict[str, DType | None] = {"e2m1": None, "e4m3": f8e4m3, "e5m2": f8e5m2, "bf16": bf16, "fp16": f16}
#: Values along k that share a scale; the scale that is no number; the exponent of scale 0.
_GROUP, _NAN, _LOWEST = 32, 0xFF, -127


@dataclass(frozen=True, slots=True)
class _Side:
    """One operand: of [M, K], or where it is the ``right`` one of [K, N], packed along k or along the other axis."""

    name: str
    tile: Tensor
    scale: Tensor | None
    format: str
    k_pack: bool
    right: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sides in values, as it is multiplied."""
        sides = list(self.tile.shape)
        if self.format == "e2m1":
            sides[-1 if self._packed_last else -2] *= 2
        return tuple(sides)

    @property
    def k(self) -> int:
        return self.shape[-2 if self.right else -1]

    @property
    def _packed_last(self) -> bool:
        return self.k_pack != self.right

    def widened(self, s: Semantics, to: DType) -> Tensor:
        """Its values in a wider float, not scaled."""
        dtype = _FORMATS[self.format]
        if dtype is not None:
            return s.cast(self.tile, to)
        low, high = (_e2m1(s, bits, to) for bits in (self.tile, s.shift_right(self.tile, 4)))
        both = joined(s, low, high, "tl.dot_scaled")
        if not self._packed_last:
            rank = len(both.shape)
            both = s.permute(both, (*range(rank - 2), rank - 1, rank - 2))
        return s.reshape(both, self.shape)

    def scaled(self, s: Semantics, to: DType, fast: bool) -> Tensor:
        """Its values, times what each group is scaled by."""
        value = self.widened(s, to)
        if self.scale is None:
            return value
        scale = self._spread(s, _power_of_two(s, self.scale, to))
        result = s.mul(value, scale)
        if fast:
            return result
        none = self._spread(s, s.compare("==", self.scale, _NAN))
        return s.where(none, float("nan"), result)

    def _spread(self, s: Semantics, scale: Tensor) -> Tensor:
        """One number a group, [rows, groups] on either side, for each of its values."""
        rank = len(scale.shape)
        if self.right:
            scale = s.permute(scale, (*range(rank - 2), rank - 1, rank - 2))
        axis = rank - 1 if self.right else rank
        wide = s.expand_dims(scale, axis)
        shape = (*wide.shape[:axis], _GROUP, *wide.shape[axis + 1 :])
        return s.reshape(s.broadcast_to(wide, shape), self.shape)


def _e2m1(s: Semantics, bits: Tensor, to: DType) -> Tensor:
    """The float in the low four bits: sign, two bits of exponent, one of fraction; 0, 0.5, 1, 1.5, 2, 3, 4 and 6.

    Where the exponent is small the format is any other float with fewer bits: those are put in their places, and a power of two makes
    up for what the exponents count from, denormals among them.
    """
    wide = s.cast(bits, u16)
    magnitude = s.shift_left(s.bit_and(wide, 7), to.mantissa - 1)
    sign = s.shift_left(s.bit_and(wide, 8), 12)
    small = s.bitcast(s.bit_or(magnitude, sign), to)
    return s.mul(small, 2.0 ** (to.exponent_bias - 1))


def _power_of_two(s: Semantics, scale: Tensor, to: DType) -> Tensor:
    """2^(scale - 127): the bits of a float's exponent; scale 0 is denormal in bf16, and nothing at all in f16."""
    carrier, integer = (bf16, u16) if to == bf16 else (f32, u32)
    bits = s.shift_left(s.cast(scale, integer), carrier.mantissa)
    found = s.bitcast(bits, carrier)
    found = s.where(s.compare("==", scale, 0), 2.0**_LOWEST, found)
    return s.cast(found, to)


def _side(
    s: Semantics, tile: object, scale: object, format: object, k_pack: object, name: str, *, right: bool
) -> _Side:
    """One operand as it is given, checked."""
    value = a_tile(s, tile, f"{name} of tl.dot_scaled")
    said = one_of(s, format, tuple(_FORMATS), f"{name}_format of tl.dot_scaled")
    packed = a_flag(s, k_pack, f"{name}_k_pack")
    if len(value.shape) not in (2, 3) or value.is_pointer:
        raise s.builder.error(
            f"tl.dot_scaled takes two 2-D tiles, or two 3-D ones, got {describe(value)} for {name}"
        )
    dtype = _FORMATS[said]
    stored = u8 if dtype is None or dtype.bits == 8 else u16
    if value.dtype not in (stored, dtype or stored):
        what = f"{dtype} or {stored}" if dtype else f"{stored}, two values each"
        raise s.builder.error(f"{name} of the format {said} is a tile of {what}, got {describe(value)}")
    if dtype is not None and not packed:
        raise s.builder.error(f"{name} is packed along k: only e2m1 can be packed along the other axis")
    if dtype is not None:
        value = s.bitcast(value, dtype)
    side = _Side(name, value, None, said, packed, right)
    if scale is None:
        return side
    given = a_tile(s, scale, f"{name}_scale of tl.dot_scaled")
    rows = side.shape[-1 if right else -2]
    wanted = (*side.shape[:-2], rows, side.k // _GROUP)
    if given.dtype != u8 or given.shape != wanted:
        raise s.builder.error(
            f"{name}_scale is a tile of u8 {list(wanted)} here, one for {_GROUP} values along k, got {describe(given)}"
        )
    return _Side(name, value, given, said, packed, right)


@builtin("tl.dot_scaled")
def dot_scaled(
    s: Semantics,
    lhs: object,
    lhs_scale: object,
    lhs_format: object,
    rhs: object,
    rhs_scale: object,
    rhs_format: object,
    acc: object = None,
    fast_math: object = False,
    lhs_k_pack: object = True,
    rhs_k_pack: object = True,
    out_dtype: object = f32,
) -> Tensor:
    if a_dtype(s, out_dtype, "out_dtype") != f32:
        raise s.builder.error(f"tl.dot_scaled sums in f32, not in {out_dtype}")
    a = _side(s, lhs, lhs_scale, lhs_format, lhs_k_pack, "lhs", right=False)
    b = _side(s, rhs, rhs_scale, rhs_format, rhs_k_pack, "rhs", right=True)
    formats = {a.format, b.format}
    if formats == {"bf16", "fp16"}:
        raise s.builder.error("tl.dot_scaled of bf16 and fp16: there is no format for both")
    if a.k != b.k:
        raise s.builder.error(
            f"tl.dot_scaled of {list(a.shape)} and {list(b.shape)}: the inner sides {a.k} and {b.k} differ"
        )
    to = f16 if "fp16" in formats else bf16
    fast = a_flag(s, fast_math, "fast_math")
    total = None if acc is None else a_tile(s, acc, "the accumulator of tl.dot_scaled")
    return s.dot(a.scaled(s, to, fast), b.scaled(s, to, fast), total, "ieee", f32)
