"""Values that control flow brings together on a GPU: phi nodes, one a register."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenybuild.compiler.ir.core import Value

if TYPE_CHECKING:
    from teenybuild.compiler.targets.nvptx import GpuMachine


class Phis:
    """Carried values as phi nodes, one a register."""

    def __init__(self, machine: GpuMachine, args: Sequence[Value], initial: Sequence[Value]) -> None:
        self._machine = machine
        self._args = args
        self._first = [machine.all_registers(v) for v in initial]
        self._names: list[list[str]] = []
        self._last: list[list[tuple[str, str]]] = []
        self._before = ""

    def enter(self, before: str) -> None:
        machine = self._machine
        self._before = before
        self._slot = machine.text.slot()
        for arg, first in zip(self._args, self._first, strict=True):
            names = [machine.text.name() for _ in first]
            machine.give_all(arg, names)
            self._names.append(names)
        self._shared = machine.shared_memory.enter_loop()

    def name(self, values: Sequence[Value]) -> None:
        for value, names in zip(values, self._names, strict=True):
            self._machine.give_all(value, names)

    def again(self, values: Sequence[Value]) -> None:
        self._last = [self._machine.all_registers(v) for v in values]

    def close(self, latch: str) -> None:
        text = self._machine.text
        with text.into(self._slot):
            for names, first, last in zip(self._names, self._first, self._last, strict=True):
                for name, (type_, a), (_, b) in zip(names, first, last, strict=True):
                    text.do(f"{name} = phi {type_} [ {a}, %{self._before} ], [ {b}, %{latch} ]")

    def leave(self, results: Sequence[Value]) -> None:
        self.name(results)
        self._machine.shared_memory.leave(self._shared)


class Branch:
    """Results of a branch as phi nodes."""

    def __init__(self, machine: GpuMachine, results: Sequence[Value]) -> None:
        self._machine = machine
        self._results = results
        self._ways: list[tuple[str, list[list[tuple[str, str]]]]] = []
        self._shared = machine.shared_memory.enter_branch()

    def give(self, values: Sequence[Value]) -> None:
        machine = self._machine
        self._ways.append((machine.text.block, [machine.all_registers(v) for v in values]))
        # The other way starts from what was there before both, but has no barrier of this one's: both see the worse.
        machine.shared_memory.leave(self._shared)

    def take(self) -> None:
        machine = self._machine
        (from_a, first), (from_b, second) = self._ways
        for result, a, b in zip(self._results, first, second, strict=True):
            names = [
                machine.text.op(f"phi {type_} [ {x}, %{from_a} ], [ {y}, %{from_b} ]")
                for (type_, x), (_, y) in zip(a, b, strict=True)
            ]
            machine.give_all(result, names)
