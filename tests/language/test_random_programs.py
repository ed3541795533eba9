"""Random programs over the whole language: NumPy predicts what it can, and both host targets give the same bits of everything.

Some hundreds run with every test run, always the same ones. ``--hypothesis-profile=long`` tries thousands of others; what fails is made small
and printed. :mod:`tests.support.programs` writes the programs; tests/gpu and tests/peer run some more of them.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from teenybuild.compiler.frontend.builtins import ALIASES, METHODS
from tests.support.programs import OPERATIONS, PROGRAMS, Program, Rules, by_seed, program
from tests.support.programs.writer import FIRST, FP8, Writer, language
from tests.support.run import run

from . import oracle, support_page

#: Names that no program has, and where kernels with them are. (Those of libdevice have tables of their own: test_libdevice.)
LEFT_OUT = {
    "tl.device_assert": "ends a program that is built for it: test_debugging",
    "tl.device_print": "prints, and gives nothing: test_debugging",
    "tl.static_print": "prints, and gives nothing: test_debugging",
    "print": "prints, and gives nothing: test_debugging",
    "tl.inline_asm_elementwise": "is for GPUs only: test_inline_asm",
    "tl.extra.cuda.globaltimer": "is for GPUs only, and another number every time: test_python",
    "tl.extra.cuda.smid": "is for GPUs only, and another number every time: test_python",
    "tl.next_power_of_2": "is written as triton.next_power_of_2, as Triton has it",
    **dict.fromkeys(
        ("math.ceil", "math.exp", "math.floor", "math.log", "math.log2", "math.sqrt", "bool", "float", "int"),
        "computes constants, before there is a program: test_functions",
    ),
}


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Small numbers give short and plain programs."""
    return program(lambda below: draw(st.integers(0, below - 1)))


#: The profile's number of examples: more than usual means others each time.
EXAMPLES = settings().max_examples


@settings(max_examples=3 * EXAMPLES, derandomize=EXAMPLES <= 100, suppress_health_check=list(HealthCheck))
@given(made=programs())
def test_random_programs(made: Program) -> None:
    if not made.written:
        return
    note(made.source())
    found = run(made.source(), made.arguments, grid=(PROGRAMS,), **made.options)
    made.check(found, "cpu")


def uses(name: str, text: str) -> bool:
    """Whether a kernel of the text has a name of the language, under whatever it is called by."""
    bare = name.rpartition(".")[2]
    if name.startswith("tl.tensor_descriptor."):
        return re.search(rf"\bd\d+\.{bare}\(", text) is not None
    ways = [rf"(?<![.\w]){re.escape(n)}\b" for n in (name, *(a for a, of in ALIASES.items() if of == name))]
    if name.startswith("tl.") and bare in METHODS:
        ways.append(rf"(?<!tl)\.{bare}\(")
    return re.search("|".join(ways), text) is not None


def test_they_reach_every_name() -> None:
    """But those that are left out with a reason, which is true."""
    text = "\n".join(by_seed(seed).source() for seed in range(1500))
    missing = {name for name in support_page.names() if not uses(name, text)}
    assert missing == set(LEFT_OUT) - {"tl.next_power_of_2"}
    assert "tl.next_power_of_2" not in text
    for dtype in (*oracle.ALL, *FP8):
        assert f".dtype == {language(dtype)})" in text, dtype


def test_every_operation_writes_something() -> None:
    """By itself, in one of a few programs: none waits for values that never come."""
    for name, operation in OPERATIONS.items():
        for seed in range(40):
            w = Writer(random.Random(seed).randrange, Rules())
            w.add(FIRST)
            operation.write(w)
            if len(w.steps) > 1:
                break
        else:
            raise AssertionError(f"{name} writes nothing")


def test_what_is_wrong_is_shown() -> None:
    """The part of the program that the wrong numbers come from, and no more."""
    made = next(
        p
        for p in map(by_seed, range(99))
        if len(p.written) > 1
        and not p.fused
        and all(isinstance(v, np.ndarray) for v in p.expected().values())
    )
    name = made.written[-1]
    found = dict(made.expected())
    found[name] = found[name].copy()
    found[name].view(np.uint8).reshape(-1)[0] ^= 64
    with pytest.raises(AssertionError, match=rf"(?s){name}, cpu: .*def kernel\(.*{name}\):"):
        made.check(found, "cpu")
    assert made.only(name).written == [name]
    run(made.only(name).source(), made.only(name).arguments, grid=(PROGRAMS,))
