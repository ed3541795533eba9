"""Strided arrays as far as a launch knows them before it begins: what hardware that copies blocks of them is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the kernel, by its number."""

    number: int


#: A number that the kernel has as a constant, or is given.
Given: TypeAlias = int | Argument


@dataclass(frozen=True, slots=True)
class Array:
    """An array of which blocks are read: ``base`` points to its first element, ``strides`` are in elements.

    ``padding`` is what stands outside: zeros where it is 0, else NaN.
    """

    base: Argument
    shape: tuple[Given, ...]
    strides: tuple[Given, ...]
    padding: Given
