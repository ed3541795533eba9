"""Sizes, as people write and read them: powers of 1,000."""

from __future__ import annotations

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def parse_size(text: str) -> int:
    """Bytes of ``500M``, ``2G``, ``1.5g``, ``2kB``, ``4096``. Raises :class:`ValueError`, which says how to write one."""
    number = text.upper().removesuffix("B")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    number = number.removesuffix(unit)
    if not number.isascii() or not number.replace(".", "", 1).isdigit():
        raise ValueError(f"{text!r} is not a size: write 500M or 2G")
    return int(float(number) * _UNITS[unit])


def show_size(number: int) -> str:
    """Bytes with the unit that suits them."""
    unit = max((u for u, of in _UNITS.items() if of <= max(number, 1)), key=_UNITS.__getitem__)
    return f"{number / _UNITS[unit]:.1f} {unit}B" if unit else f"{number} B"


def parse_number(text: str, what: str) -> float:
    """A finite number from 0 up. Raises :class:`ValueError`, which says that ``text`` is no ``what``."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError(f"{text!r} is not a number of {what}")
    return number
