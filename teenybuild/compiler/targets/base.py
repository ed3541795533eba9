"""What a target is to the rest of the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from teenybuild.compiler.ir.core import Function
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.policy import LANES, Policy
from teenybuild.compiler.lower.blocks import TensorMap
from teenybuild.compiler.lower.debug import Lines
from teenybuild.compiler.lower.reports import Report
from teenybuild.compiler.passes.streams import Streams
from teenybuild.diagnostics import Diagnostic, UserError
from teenybuild.types import MOST_STAGES


@dataclass(frozen=True, slots=True)
class Settings:
    """What a specialisation asks of code generation, beyond its program."""

    num_warps: int = 4
    num_stages: int = 3
    maxnreg: int | None = None
    enable_fp_fusion: bool = True
    #: Whether a launch has all its programs run at once; no code depends on it.
    launch_cooperative_grid: bool = False

    @property
    def threads(self) -> int:
        """Threads of a program on a GPU."""
        return LANES * self.num_warps

    def check(self) -> None:
        """Raises :class:`UserError` with every option that no target takes. (A manifest's are checked when it is read.)"""
        wrong: list[Diagnostic] = []
        if self.num_warps not in (1, 2, 4, 8, 16, 32):
            wrong.append(Diagnostic(f"num_warps is 1, 2, 4, 8, 16 or 32, not {self.num_warps!r}"))
        if not 1 <= self.num_stages <= MOST_STAGES:
            wrong.append(Diagnostic(f"num_stages is between 1 and {MOST_STAGES}, not {self.num_stages!r}"))
        if self.maxnreg is not None and not 16 <= self.maxnreg <= 255:
            wrong.append(Diagnostic(f"maxnreg is between 16 and 255, not {self.maxnreg!r}"))
        if wrong:
            raise UserError(wrong)


@dataclass(frozen=True, slots=True)
class Lowered:
    """A module of LLVM IR, and what a launch of it needs: bytes of shared memory a program, bytes of scratch a program.

    ``programmatic`` says that the code itself waits for whatever ran before it, so that its launch need not.
    """

    llvm: str
    symbol: str
    shared: int
    scratch: int
    on_gpu: bool
    programmatic: bool = False
    #: What the program tells by calling back; on a GPU it prints by itself.
    reports: tuple[Report, ...] = ()
    #: What it is passed of arrays beyond its arguments.
    maps: tuple[TensorMap, ...] = ()


@dataclass(frozen=True, slots=True)
class Residency:
    """How many programs of a streaming kernel a multiprocessor should run at once.

    A program reads ``bytes``; where ``argument`` is a name, ``argument / of`` of them if that is less than 1.  A multiprocessor should have
    ``wanted`` bytes under way. With the least shared memory that it can be given, ``shared[n - 1]`` bytes a program hold it to n programs;
    where more than ``len(shared) + 1`` are wanted, nothing need be held.
    """

    bytes: int
    argument: str | None
    of: int
    wanted: int
    shared: tuple[int, ...]


class CodeTarget(Protocol):
    """One machine that kernels are compiled for."""

    @property
    def policy(self) -> Policy:
        """How it lays tiles out."""
        ...

    def lower(
        self, function: Function, axes: AxisAnalysis, lines: Lines, *, lineinfo: bool, checked: bool
    ) -> Lowered:
        """LLVM IR of a function whose layouts are assigned.

        ``lineinfo``: with line information; ``checked``: every access is checked against the launched arrays. Each where the target can.
        """
        ...

    def residency(self, streams: Streams, shared: int) -> Residency | None:
        """How to run a streaming kernel that uses ``shared`` bytes of shared memory; None to leave it to the driver."""
        ...
