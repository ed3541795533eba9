"""Random programs over the whole language on a GPU: the same bits as on the host, and as NumPy says.

A program is a function of its seed, which is the test's name: ``pytest -m gpu "tests/gpu/test_random_programs.py::test_a_program[17]"`` runs one
again, and its whole text is in the failure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

import device as gpu
import numpy as np
import pytest

from tests.support import run
from tests.support.programs import PROGRAMS, Rules, by_seed
from tests.support.programs.building import compile_seeds

from .program import GpuProgram

pytestmark = pytest.mark.gpu

SEEDS = range(200)
#: Operations that GPUs have approximate instructions for, as in Triton: other tests hold them to a tolerance.
APPROXIMATE = {
    "division": "`/` of f32",
    "quick_division": "tl.fdiv of f32",
    "approximate_functions": "exp, exp2, sqrt, rsqrt and sigmoid of f32",
    "normal_numbers": "sqrt of f32",
    "soft_maxima": "exp of f32",
}
RULES = Rules(without=frozenset(APPROXIMATE))


@pytest.fixture(scope="module", autouse=True)
def compiled(target: str) -> None:
    """All of them, on as many processes as there are processors: eight at most."""
    compile_seeds(SEEDS, RULES, (*run.HOST_TARGETS, target), min(8, os.cpu_count() or 1))


@pytest.fixture(autouse=True)
def on_the_gpu_too(monkeypatch: pytest.MonkeyPatch, device: gpu.Device, target: str) -> Iterator[None]:
    monkeypatch.setitem(run.COMPARED, target, partial(GpuProgram, device))
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program(seed: int) -> None:
    program = by_seed(seed, RULES)
    try:
        found = run.run(
            program.source(), program.arguments, grid=(PROGRAMS,), **program.options
        )  # fmt: skip
        program.check(found, f"seed {seed}")
    except Exception as wrong:
        wrong.add_note(f"the program of seed {seed}:\n{program.source()}")
        raise
