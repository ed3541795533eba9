"""Random programs over the whole language: what they are made of, and how one is made."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import addresses, arguments, combining, control, elementwise, memory, shapes, structures  # noqa: F401  # they fill OPERATIONS
from .registry import OPERATIONS, write_step
from .writer import FIRST, PROGRAMS, Chance, Near, Program, Rules, Writer, parts

__all__ = ["OPERATIONS", "PROGRAMS", "Near", "Program", "Rules", "by_seed", "program"]

#: Values that are stored, the last ones first: what is not stored is dead code.
STORED = 5
#: Steps that are asked for; each makes what it needs before it.
LONGEST = 7


def program(chance: Chance, rules: Rules = Rules()) -> Program:  # noqa: B008  # frozen
    """A program, as chance has it."""
    w = Writer(chance, rules)
    w.add(FIRST)
    for _ in range(1 + chance(LONGEST)):
        write_step(w)
    used = {name for step in w.steps for name in step.uses}
    ends = [v for step in w.steps[1:] for v in step.gives if v.name not in used]
    for value in ends[-STORED:]:
        w.store(value)
    options: dict[str, Any] = {"enable_fp_fusion": chance(5) == 4, "num_warps": w.choose((4, 1, 1, 2, 8))}
    made = Program(tuple(w.steps), w.helpers, options)
    if w.maybe():
        options["assume"] = assumed(made.arguments)
    return made


def assumed(taken: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """What is true of arguments: addresses that are aligned, and even extents of descriptors, which are aligned in any case."""
    given = parts(taken)
    found = {n: 16 for n, v in given.items() if isinstance(v, np.ndarray) and f"{n}.padding" not in given}
    found |= {n: 8 for n, v in given.items() if ".shape[" in n and v % 8 == 0}
    return {name: {"div": number} for name, number in found.items()}


def by_seed(seed: int, rules: Rules = Rules()) -> Program:  # noqa: B008  # frozen
    """The same program for the same seed."""
    return program(random.Random(seed).randrange, rules)
