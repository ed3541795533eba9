"""Numbers of twice the precision, as unevaluated sums of two floats: what functions carry their last bits in.

The algorithms are the classic ones: Dekker, "A floating-point technique for extending the available precision" (1971); Knuth, "Seminumerical
Algorithms", 4.2.2; their error bounds: Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
arithmetic" (2017). All of them rely on each operation being rounded to nearest by itself, as :mod:`.formula` promises.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from teenybuild.compiler.ir.numbers import round_to
from teenybuild.compiler.lower.formula import Number, Term, fma, root
from teenybuild.dtypes import DType


class Double(NamedTuple):
    """``high + low``, where ``low`` is at most about half a unit in the last place of ``high``."""

    high: Term
    low: Term

    @property
    def value(self) -> Term:
        """Rounded to one float."""
        return self.high + self.low

    def scaled(self, factor: Term | Number) -> Double:
        """Times a power of two."""
        return Double(self.high * factor, self.low * factor)

    def __neg__(self) -> Double:
        return Double(-self.high, -self.low)


def ordered_sum(a: Term, b: Term | Number) -> Double:
    """``a + b`` exactly, where ``a`` is 0 or not the smaller in magnitude."""
    high = a + b
    rest = high - a
    return Double(high, b - rest)


def exact_sum(a: Term, b: Term | Number) -> Double:
    """``a + b`` exactly."""
    high = a + b
    part = high - a
    return Double(high, (a - (high - part)) + (b - part))


def exact_product(a: Term, b: Term | Number) -> Double:
    """``a * b`` exactly, where its low part does not underflow."""
    high = a * b
    return Double(high, fma(a, b, -high))


def parts(value: str, dtype: DType) -> tuple[float, float]:
    """A real number, given by its digits, as the floats of a :class:`Double`."""
    exact = Fraction(value)
    high = round_to(float(exact), dtype)
    return high, round_to(float(exact - Fraction(high)), dtype)


def plus(a: Double, b: Double) -> Double:
    """The sum; relative error 3 · 2^-2p where the signs agree."""
    s, t = exact_sum(a.high, b.high), exact_sum(a.low, b.low)
    v = ordered_sum(s.high, s.low + t.high)
    return ordered_sum(v.high, v.low + t.low)


def plus_one(a: Double, b: Term | Number) -> Double:
    """The sum with a float."""
    s = exact_sum(a.high, b)
    return ordered_sum(s.high, a.low + s.low)


def times(a: Double, b: Double) -> Double:
    """The product; relative error 5 · 2^-2p."""
    p = exact_product(a.high, b.high)
    return ordered_sum(p.high, p.low + fma(a.high, b.low, a.low * b.high))


def times_one(a: Double, b: Term | Number) -> Double:
    """The product with a float; relative error 2 · 2^-2p."""
    p = exact_product(a.high, b)
    return ordered_sum(p.high, fma(a.low, b, p.low))


def times_constant(a: Double, value: str) -> Double:
    """The product with a real number, given by its digits."""
    high, low = parts(value, a.high.dtype)
    return times(a, Double(a.high.number(high), a.high.number(low)))


def over(a: Double, b: Double) -> Double:
    """The quotient; relative error 10 · 2^-2p."""
    q = a.high / b.high
    rest = fma(-q, b.high, a.high) + fma(-q, b.low, a.low)
    return ordered_sum(q, rest / b.high)


def root_of(a: Double) -> Double:
    """The square root of a positive number."""
    s = root(a.high)
    return ordered_sum(s, (fma(-s, s, a.high) + a.low) / (s + s))


def single(a: Term) -> Double:
    """A float as it is."""
    return Double(a, a.number(0.0))
