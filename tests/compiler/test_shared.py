"""Shared memory: no buffer is written while a slower warp may still read what lies there, whichever way control flows.

Random programs of operations, loops and branches are placed once, as lowering does, and then run along random ways: the model knows
which bytes any warp may still be reading, since the last barrier that all have passed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teenybuild.compiler.lower.shared import SharedMemory


@dataclass
class Step:
    """An operation: buffers of these sizes are written, a barrier passed, all of them read.

    With ``counts``, as in a histogram, the last buffer is written again after the barrier, and read only after another one.
    """

    sizes: tuple[int, ...]
    counts: bool = False
    placed: list[tuple[int, int, bool]] = field(default_factory=list[tuple[int, int, bool]])


@dataclass
class Loop:
    """``test`` runs once more than ``body``; that of a ``for`` is empty."""

    test: Program
    body: Program


@dataclass
class Branch:
    ways: tuple[Program, Program]


Program = list[Step | Loop | Branch]

SIZES = st.sampled_from([4, 16, 64, 512, 1024, 4096, 8192, 12288])
STEPS = st.builds(Step, st.lists(SIZES, min_size=1, max_size=3).map(tuple), st.booleans())
PROGRAMS: st.SearchStrategy[Program] = st.recursive(
    st.lists(STEPS, max_size=3),
    lambda inner: st.lists(
        st.one_of(STEPS, st.builds(Loop, inner, inner), st.builds(Branch, st.tuples(inner, inner))),
        max_size=4,
    ),
    max_leaves=12,
)


def place(program: Program, memory: SharedMemory) -> None:
    """What lowering does, once, in the order of the text."""
    for part in program:
        match part:
            case Step():
                part.placed = [
                    (offset, size, wait) for size in part.sizes for offset, wait in [memory.place(size, 16)]
                ]
                memory.barrier()
                if part.counts:
                    offset, size, _ = part.placed[-1]
                    memory.barrier((offset, offset + size))
            case Loop():
                before = memory.enter_loop()
                place(part.test, memory)
                place(part.body, memory)
                memory.leave(before)
            case Branch():
                before = memory.enter_branch()
                for way in part.ways:
                    place(way, memory)
                    memory.leave(before)


class Running:
    """One run: which bytes may be read by some warp that is behind."""

    def __init__(self, seed: int, size: int) -> None:
        self._choose = random.Random(seed)
        self._size = size
        self._reading: list[tuple[int, int]] = []
        self.steps = 0

    def run(self, program: Program) -> None:
        for part in program:
            match part:
                case Step():
                    self._step(part)
                case Loop():
                    for _ in range(self._choose.randrange(4)):
                        self.run(part.test)
                        self.run(part.body)
                    self.run(part.test)
                case Branch():
                    self.run(part.ways[self._choose.randrange(2)])

    def _step(self, step: Step) -> None:
        self.steps += 1
        written: list[tuple[int, int]] = []
        for offset, size, wait in step.placed:
            if wait:
                self._reading = []
            assert offset % 16 == 0
            assert offset + size <= self._size
            for start, stop in self._reading + written:
                assert offset + size <= start or stop <= offset, "written while it may still be read"
            written.append((offset, offset + size))
        # The step's own barrier: what was read before is done with; after a second one only what was written in between is.
        self._reading = written[-1:] if step.counts else written


@settings(max_examples=400, deadline=None, derandomize=True)
@given(program=PROGRAMS)
def test_no_way_through_a_program_is_a_race(program: Program) -> None:
    memory = SharedMemory()
    place(program, memory)
    for seed in range(8):
        Running(seed, memory.size).run(program)


def waits(sizes: list[int]) -> list[bool]:
    memory = SharedMemory()
    found: list[bool] = []
    for size in sizes:
        found.append(memory.place(size, 16)[1])
        memory.barrier()
    return found


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        # Two small buffers take turns: no barrier but the operations' own.
        ([512] * 6, [False] * 6),
        # Room for one only.
        ([8192] * 3, [False, True, True]),
        ([4096, 4096, 4096], [False, False, False]),
        ([12288, 16, 12288], [False, True, True]),
    ],
)
def test_barriers_are_spared_where_there_is_room(sizes: list[int], expected: list[bool]) -> None:
    assert waits(sizes) == expected


def test_a_branch_without_shared_memory_changes_nothing() -> None:
    memory = SharedMemory()
    memory.place(512, 16)
    memory.barrier()
    before = memory.enter_branch()
    memory.leave(before)
    memory.leave(before)
    assert memory.place(512, 16) == (512, False)
    assert memory.size == 1024
