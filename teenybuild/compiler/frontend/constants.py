"""Operators on values known at compile time: Python's own meaning."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

#: Python's operators raise TypeError for what does not go together; whoever calls reports it.
#: (They are spelled out where the types of those in ``operator`` are only partly known.)
_Two = Callable[[Any, Any], Any]
_One = Callable[[Any], Any]

BINARY: dict[type[ast.operator], tuple[str, _Two]] = {
    ast.Add: ("+", lambda a, b: a + b),
    ast.Sub: ("-", lambda a, b: a - b),
    ast.Mult: ("*", lambda a, b: a * b),
    ast.Div: ("/", lambda a, b: a / b),
    ast.FloorDiv: ("//", lambda a, b: a // b),
    ast.Mod: ("%", lambda a, b: a % b),
    ast.BitAnd: ("&", lambda a, b: a & b),
    ast.BitOr: ("|", lambda a, b: a | b),
    ast.BitXor: ("^", lambda a, b: a ^ b),
    ast.LShift: ("<<", lambda a, b: a << b),
    ast.RShift: (">>", lambda a, b: a >> b),
    ast.Pow: ("**", lambda a, b: a**b),
    ast.MatMult: ("@", lambda a, b: a @ b),
}

COMPARE: dict[type[ast.cmpop], tuple[str, _Two]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Is: ("is", operator.is_),
    ast.IsNot: ("is not", operator.is_not),
    ast.In: ("in", lambda a, b: operator.contains(b, a)),
    ast.NotIn: ("not in", lambda a, b: not operator.contains(b, a)),
}

UNARY: dict[type[ast.unaryop], tuple[str, _One]] = {
    ast.USub: ("-", operator.neg),
    ast.UAdd: ("+", operator.pos),
    ast.Invert: ("~", lambda a: operator.invert(int(a) if isinstance(a, bool) else a)),
    ast.Not: ("not", operator.not_),
}

#: No compile-time number of a kernel is larger; ``1 << 10**9`` must not take the machine's memory.
_MOST_BITS = 4096
#: Nor is a text or a tuple that is put together: each turn of a loop may double it.
_LONGEST = 20_000


def too_large(op: type[ast.operator], a: object, b: object) -> bool:
    """Whether ``a op b`` would be an integer, a text or a tuple past any use."""
    if op is ast.Mult:
        for items, times in ((a, b), (b, a)):
            if isinstance(items, str | tuple) and isinstance(times, int):
                return len(items) * times > _MOST_BITS  # pyright: ignore[reportUnknownArgumentType]
    if op is ast.Add and isinstance(a, str | tuple) and isinstance(b, str | tuple):
        return len(a) + len(b) > _LONGEST  # pyright: ignore[reportUnknownArgumentType]
    if not isinstance(a, int) or not isinstance(b, int):
        return False
    if op is ast.LShift:
        return b > _MOST_BITS
    if op is ast.Pow:
        return abs(a) > 1 and b * max(a.bit_length(), 1) > _MOST_BITS
    return op is ast.Mult and a.bit_length() + b.bit_length() > _MOST_BITS


def cdiv(a: int, b: int) -> int:
    """``a / b`` rounded up."""
    return -(-a // b)


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least ``n``; 1 for numbers below 1."""
    return 1 << max(n - 1, 0).bit_length()
