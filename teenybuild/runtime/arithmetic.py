"""What the grid's expressions may call, beside Python's own min and max."""

from __future__ import annotations


def cdiv(a: int, b: int) -> int:
    """``a / b`` rounded up."""
    return -(-a // b)


def next_power_of_2(a: int) -> int:
    """The smallest power of two that is at least ``a``; 1 for anything up to 1."""
    return 1 << (a - 1).bit_length() if a > 1 else 1
