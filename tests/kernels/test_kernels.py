"""Every kernel of this package is right on the host and as a GPU would do it, and every kernel in a source has calls."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from tests.support.run import HOST_TARGETS, Program, assert_same_bits

from .case import SOURCES
from .corpus import KERNELS


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel(name: str) -> None:
    kernel = KERNELS[name]
    seed = np.random.SeedSequence().entropy
    for number, case in enumerate(kernel.cases(np.random.default_rng(seed))):
        try:
            host, emulated = (
                Program(kernel.compile(case, target))(case.arguments, case.grid) for target in HOST_TARGETS
            )
            case.check(host, "cpu")
            case.check(emulated, "a GPU's layouts")
            for array, bits in host.items() if case.ordered else ():
                assert_same_bits(emulated[array], bits, f"{array} by another layout")
        except Exception as wrong:
            wrong.add_note(f"{name}, call {number}, seed {seed}")
            raise


def test_every_kernel_of_the_sources_is_called() -> None:
    """A function that is marked and that no other one of its file or of another names is a kernel."""
    functions: dict[str, str] = {}
    named: set[str] = set()
    for path in SOURCES.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and any(
                "jit" in ast.unparse(d) for d in node.decorator_list
            ):
                functions[node.name] = f"{path.stem}.{node.name}"
                named |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id != node.name}
    assert {full for name, full in functions.items() if name not in named} == set(KERNELS)
