"""What folds at compile time.

Only operations whose result is correctly rounded are folded, so that a folded constant equals, bit for bit, what the
machine would have computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from teenybuild.compiler.ir.constant import Constant, constant, constant_of
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.numbers import Number, wrap
from teenybuild.compiler.ir.types import Type, dtype_of
from teenybuild.dtypes import DType, i1

Folded = Value | Constant | None


def _unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def _divide(a: int, b: int) -> int | None:
    if b == 0:
        return None
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int | None:
    quotient = _divide(a, b)
    return None if quotient is None else a - quotient * b


def _shift(f: Callable[[int, int, int], int]) -> Callable[[int, int, int], int | None]:
    return lambda a, b, bits: f(a, b, bits) if 0 <= b < bits else None


_INT: dict[str, Callable[[int, int, int], int | None]] = {
    "arith.addi": lambda a, b, _: a + b,
    "arith.subi": lambda a, b, _: a - b,
    "arith.muli": lambda a, b, _: a * b,
    "arith.divsi": lambda a, b, _: _divide(a, b),
    "arith.remsi": lambda a, b, _: _remainder(a, b),
    "arith.divui": lambda a, b, n: _divide(_unsigned(a, n), _unsigned(b, n)),
    "arith.remui": lambda a, b, n: _remainder(_unsigned(a, n), _unsigned(b, n)),
    "arith.andi": lambda a, b, _: a & b,
    "arith.ori": lambda a, b, _: a | b,
    "arith.xori": lambda a, b, _: a ^ b,
    "arith.shli": _shift(lambda a, b, _: a << b),
    "arith.shrsi": _shift(lambda a, b, _: a >> b),
    "arith.shrui": _shift(lambda a, b, n: _unsigned(a, n) >> b),
    "arith.maxsi": lambda a, b, _: max(a, b),
    "arith.minsi": lambda a, b, _: min(a, b),
    "arith.maxui": lambda a, b, n: max(_unsigned(a, n), _unsigned(b, n)),
    "arith.minui": lambda a, b, n: min(_unsigned(a, n), _unsigned(b, n)),
}

# Python computes in double: exact enough that rounding again to f32 or narrower is harmless for + − × ÷ (53 ≥ 2·24 + 2).
_FLOAT: dict[str, Callable[[float, float], float]] = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
}

#: (operation, what the right side must be): the result is the left side.
_RIGHT_IDENTITY = {
    "arith.addi": 0,
    "arith.subi": 0,
    "arith.muli": 1,
    "arith.divsi": 1,
    "arith.divui": 1,
    "arith.ori": 0,
    "arith.xori": 0,
    "arith.shli": 0,
    "arith.shrsi": 0,
    "arith.shrui": 0,
}
_FLOAT_RIGHT_IDENTITY = {"arith.mulf": 1.0, "arith.divf": 1.0}


def binary(name: str, lhs: Value, rhs: Value) -> Folded:
    """Folds a binary operation on two constants, and identities such as ``x + 0`` and ``x * 1``."""
    a, b = constant_of(lhs), constant_of(rhs)
    dtype = dtype_of(lhs.type)
    if dtype.is_float:
        if a is not None and b is not None and name in _FLOAT:
            result = _FLOAT[name](float(a), float(b))
            return None if math.isnan(result) else constant(result, lhs.type)
        if b is not None and _FLOAT_RIGHT_IDENTITY.get(name) == b:
            return lhs
        return rhs if name == "arith.mulf" and a == 1.0 else None
    if a is not None and b is not None:
        result = _INT[name](int(a), int(b), dtype.bits)
        return None if result is None else constant(result, lhs.type)
    if b is not None:
        if name in _RIGHT_IDENTITY and _RIGHT_IDENTITY[name] == b:
            return lhs
        if b == 0 and name in ("arith.muli", "arith.andi"):
            return rhs
        if name == "arith.andi" and b == wrap(-1, dtype):
            return lhs
    if a is not None:
        if name in ("arith.addi", "arith.ori", "arith.xori") and a == 0:
            return rhs
        if name == "arith.muli":
            return rhs if a == 1 else (lhs if a == 0 else None)
        if name == "arith.andi":
            return lhs if a == 0 else (rhs if a == wrap(-1, dtype) else None)
    return None


_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def compare(predicate: str, lhs: Value, rhs: Value, result: Type) -> Folded:
    """Folds a comparison of two constants."""
    a, b = constant_of(lhs), constant_of(rhs)
    if a is None or b is None:
        return None
    dtype = dtype_of(lhs.type)
    if not dtype.is_float and predicate[0] == "u":
        a, b = _unsigned(int(a), dtype.bits), _unsigned(int(b), dtype.bits)
    base = predicate if predicate in _COMPARE else predicate[1:]
    return constant(int(_COMPARE[base](a, b)), result)


def cast(name: str, operand: Value, to: DType, result: Type) -> Folded:
    """Folds a conversion of a constant."""
    value = constant_of(operand)
    if value is None:
        return None
    source = dtype_of(operand.type)
    if name in ("arith.sitofp", "arith.uitofp") and abs(value) >= 1 << 53:
        return None  # float() would round once already
    if name in ("arith.extf", "arith.truncf", "arith.sitofp"):
        return constant(value, result)
    if name in ("arith.extui", "arith.uitofp"):
        return constant(_unsigned(int(value), source.bits), result)
    if name in ("arith.extsi", "arith.trunci"):
        signed = -int(value) if source == i1 and name == "arith.extsi" else int(value)
        return constant(signed, result)
    if name in ("arith.fptosi", "arith.fptoui"):
        low, high = (0, (1 << to.bits) - 1) if name == "arith.fptoui" else (to.minimum, to.maximum)
        if math.isnan(value):
            return constant(0, result)
        whole = high if value == math.inf else low if value == -math.inf else math.trunc(value)
        return constant(min(max(whole, low), high), result)
    return None
