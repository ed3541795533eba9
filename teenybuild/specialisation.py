"""One kernel with everything fixed but the target: what expansion gives, and what a compile and a loader take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from teenybuild.types import Assume, Type, Value

#: The value of an option. ``None`` is "not set" (``maxnreg``).
OptionValue: TypeAlias = int | bool | None


@dataclass(frozen=True, slots=True)
class Specialisation:
    """One kernel with everything fixed but the target.

    ``types`` has every argument (``none`` included), ``consts`` every const that the manifest gives, both in source
    order; ``dtypes`` what each dtype variable stands for; ``options`` all options, defaults filled in, in documented
    order; ``assume`` in source order. ``auto`` is the extra variant in which the autos hold too.
    """

    id: str
    kernel: str
    types: tuple[tuple[str, Type], ...]
    dtypes: tuple[tuple[str, str], ...]
    consts: tuple[tuple[str, Value], ...]
    options: tuple[tuple[str, OptionValue], ...]
    assume: tuple[tuple[str, Assume], ...]
    auto: bool = False
    #: Consts that follow from the rest: what ``@triton.heuristics`` computes. No part of the id, and nothing a launch could choose.
    heuristics: tuple[tuple[str, Value], ...] = ()
