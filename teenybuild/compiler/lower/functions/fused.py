"""``fma`` with a rounding of its own: the rounding to nearest, and the exact sign of what it leaves, as in :mod:`~teenybuild.compiler.lower.functions.conversion`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from teenybuild.compiler.ir.numbers import bits_of
from teenybuild.compiler.lower.double import exact_product, exact_sum
from teenybuild.compiler.lower.formula import (
    INFINITY,
    Term,
    fma,
    greatest,
    least,
    scaled,
    sign_of,
    split,
    where,
    with_sign,
)
from teenybuild.compiler.lower.functions.conversion import directed
from teenybuild.compiler.lower.functions.registry import FUNCTIONS, Known
from teenybuild.dtypes import f32, f64


def _left_in_f64(x: Term, y: Term, z: Term, nearest: Term) -> Term:
    """For f32: the product is exact in f64, and so is the sum in two."""
    total = exact_sum(x.to(f64) * y.to(f64), z.to(f64))
    back = nearest.to(f64)
    high = total.high
    sign = where(high > back, high.number(1.0), where(high < back, -1.0, total.low))
    one = nearest.number(1.0)
    return where(sign > 0.0, one, where(sign < 0.0, -one, 0.0))


def _exact_sign(terms: Sequence[Term]) -> Term:
    """A number with the sign of a sum of four: summed exactly from one end to the other until nothing overlaps."""
    values = list(terms)
    for _ in range(len(values) - 1):
        for i in range(len(values) - 1):
            pair = exact_sum(values[i + 1], values[i])
            values[i], values[i + 1] = pair.low, pair.high
    # The last is the largest, and each is less than a unit of the next.
    result = values[0]
    for value in values[1:]:
        result = where(value.differs(0.0), value, result)
    return result


def _left(x: Term, y: Term, z: Term, nearest: Term) -> Term:
    """A number with the sign of x y + z - nearest, for finite numbers whose product is not 0.

    Exponents are taken out of x and y, and with them out of z and the result: then the low part of the product does not underflow.
    A z beside which the product is nothing, and one that is nothing beside the product, need only its sign, or the other's.
    """
    usual = x.differs(0.0) & y.differs(0.0)
    lowest = bits_of(1.0, x.dtype)
    ex, mx = split(where(usual, abs(x), 1.0), lowest)
    ey, my = split(where(usual, abs(y), 1.0), lowest)
    by = ex + ey
    product = exact_product(with_sign(mx, x), with_sign(my, y))
    ez, mz = split(where(z.differs(0.0), abs(z), 1.0), lowest)
    above = ez - by
    apart = z.differs(0.0) & (above > 120)
    # 2^-200 is less than a unit of anything else here.
    moved = scaled(mz, greatest(least(above, 130), -200))
    moved = where(z.differs(0.0), with_sign(moved, z), 0.0)
    er, mr = split(where(nearest.differs(0.0), abs(nearest), 1.0), lowest)
    result = scaled(mr, greatest(least(er - by, 130), -200))
    result = where(nearest.differs(0.0), with_sign(result, nearest), 0.0)
    sign = _exact_sign([product.low, product.high, moved, -result])
    return where(usual, where(apart, product.high, sign), 0.0)


def _rounded(mode: str, x: Term, y: Term, z: Term) -> Term:
    nearest = fma(x, y, z)
    finite = (abs(x) < INFINITY) & (abs(y) < INFINITY) & (abs(z) < INFINITY)
    inside = finite & (abs(nearest) < INFINITY)
    a, b, c, r = (where(inside, v, 1.0) for v in (x, y, z, nearest))
    left = _left_in_f64(a, b, c, r) if x.dtype == f32 else _left(a, b, c, r)
    left = where(inside, left, where(finite, -nearest, 0.0))
    result = directed(mode, nearest, left)
    if mode != "rd":
        return result
    # What cancels is -0.0 when rounding down; two zeros that have no minus are not.
    none = (x.equals(0.0) | y.equals(0.0)) & z.bits.equals(0) & (sign_of(x) ^ sign_of(y)).equals(0)
    return where(nearest.equals(0.0) & left.equals(0.0) & finite & ~none, -0.0, result)


for _mode in ("rd", "ru", "rz"):
    FUNCTIONS.update(
        {f"__nv_fma{suffix}_{_mode}": Known(partial(_rounded, _mode), own=True) for suffix in ("f", "")}
    )
