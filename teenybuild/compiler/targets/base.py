"""What a target is to the rest of the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from teenybuild.compiler.ir.core import Function
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.policy import Policy
from teenybuild.compiler.lower.debug import Lines


@dataclass(frozen=True, slots=True)
class Settings:
    """What a specialisation asks of code generation, beyond its program."""

    num_warps: int = 4
    num_stages: int = 3
    maxnreg: int | None = None
    enable_fp_fusion: bool = True


@dataclass(frozen=True, slots=True)
class Lowered:
    """A module of LLVM IR, and what a launch of it needs: bytes of shared memory a program, bytes of scratch a program."""

    llvm: str
    symbol: str
    shared: int
    scratch: int
    on_gpu: bool


class CodeTarget(Protocol):
    """One machine that kernels are compiled for."""

    @property
    def policy(self) -> Policy:
        """How it lays tiles out."""
        ...

    def lower(self, function: Function, axes: AxisAnalysis, lines: Lines | None = None) -> Lowered:
        """LLVM IR of a function whose layouts are assigned, with line information where it is asked for."""
        ...
