"""Pointers that loops move along: they stay where they were, and one offset moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import reach
from teenybuild.compiler.ir import scf
from teenybuild.compiler.ir.core import Function, walk
from teenybuild.compiler.ir.types import Pointer, Tile, element
from teenybuild.compiler.ir.verifier import verify
from teenybuild.compiler.passes.anchor import AnchorPointers
from teenybuild.compiler.pipeline import Job, front
from teenybuild.compiler.targets.base import Settings
from teenybuild.targets import TARGETS
from teenybuild.testing import Array
from teenybuild.types import parse_type
from tests.support.run import assert_same_bits, compiled, run, write_source

COUNT = 5

#: How a turn moves ``p``, by what in all, and whether the loop then carries an offset in its place.
MOVES = {
    "p += 16": (16 * COUNT, True),
    "p -= 16": (-16 * COUNT, True),
    "p += step": (7 * COUNT, True),
    "p += step.to(tl.int64)": (7 * COUNT, True),
    "p += i * step": (7 * sum(range(COUNT)), True),
    "p += 2\n        p += step": ((2 + 7) * COUNT, False),
    "p = tl.where(i % 2 == 0, p + step, p)": (7 * 3, False),
    "p += tl.arange(0, 16) // 16 + step": (7 * COUNT, False),
}
#: Elements before the pointer and behind it.
BEFORE = 200


def source(move: str) -> str:
    return f"""
@triton.jit
def kernel(x, o, step, n):
    p = x + {BEFORE} + tl.arange(0, 16)
    total = tl.zeros((16,), tl.float32)
    for i in range(n):
        total += tl.load(p)
        {move}
    tl.store(o + tl.arange(0, 16), total)
    tl.store(o + 16 + tl.arange(0, 16), tl.load(p))
"""


def arguments(n: int) -> dict[str, object]:
    x = np.random.default_rng().integers(-99, 99, 2 * BEFORE + 16).astype(np.float32)
    return {"x": x, "o": np.full(32, np.nan, np.float32), "step": 7, "n": n}


def positions(move: str, n: int) -> Sequence[int]:
    """Where the pointer stands in each turn, and behind the loop."""
    at = BEFORE
    found: list[int] = []
    for i in range(n):
        found.append(at)
        each: dict[str, int] = {"p": 0, "step": 7, "i": i}
        text = move.replace(".to(tl.int64)", "").replace("tl.arange(0, 16)", "0")
        text = text.replace("tl.where(i % 2 == 0, p + step, p)", "p + step if i % 2 == 0 else p")
        for line in text.split("\n"):
            exec(line.strip(), {}, each)
        at += each["p"]
    return [*found, at]


@pytest.mark.parametrize("n", [0, 1, COUNT])
@pytest.mark.parametrize("move", MOVES)
def test_what_they_point_to(move: str, n: int) -> None:
    """In the loop and behind it, whether it has turns or not."""
    given = arguments(n)
    x = given["x"]
    x = cast("NDArray[np.float32]", x)
    *turns, last = positions(move, n)
    if n == COUNT:
        assert last - BEFORE == MOVES[move][0]
    wanted = np.zeros(16, np.float32)
    for at in turns:
        wanted += x[at : at + 16]
    assert_same_bits(run(source(move), given)["o"], np.concatenate([wanted, x[last : last + 16]]))


@pytest.mark.parametrize("move", MOVES)
def test_what_loops_carry(move: str) -> None:
    function = rewritten(move)
    carried = [v.type for op in walk(function.body) if isinstance(op, scf.For) for v in op.initial]
    pointers = [t for t in carried if isinstance(t, Tile) and isinstance(element(t), Pointer)]
    assert bool(pointers) != MOVES[move][1]


def test_loops_in_loops() -> None:
    """An inner loop begins where the outer one has left its pointer; the outer goes on from there."""
    text = """
@triton.jit
def kernel(x, o, step, n):
    p = x + tl.arange(0, 16)
    for i in range(n):
        for j in range(3):
            tl.store(o + (i * 3 + j) * 16 + tl.arange(0, 16), tl.load(p))
            p += step
        p += 1
"""
    x = np.random.default_rng().standard_normal(64).astype(np.float32)
    given: Mapping[str, object] = {"x": x, "o": np.full((3, 3, 16), np.nan, np.float32), "step": 4, "n": 3}
    places = [13 * i + 4 * j for i in range(3) for j in range(3)]
    wanted: Array = np.stack([x[at : at + 16] for at in places]).reshape(3, 3, 16)
    assert_same_bits(run(text, given)["o"], wanted)


def rewritten(move: str) -> Function:
    path = write_source(source(move))
    module = Library(path.parent, (path.parent,), static).module(path)
    types = {"x": "*f32", "o": "*f32", "step": "i32", "n": "i32"}
    instance = Instance({name: parse_type(text) for name, text in types.items()}, {})
    function = front(Job(reach(find_function(module, "kernel")), instance, Settings(), TARGETS["cpu"]))
    AnchorPointers().apply(function)
    verify(function)
    return function


def test_offsets_are_sealed() -> None:
    """LLVM would make a counter of each pointer again."""
    given = arguments(COUNT)
    ptx = compiled(source("p += 16"), given, {}, "sm_90a").ptx
    assert ptx is not None
    assert "mov.b64" in ptx
