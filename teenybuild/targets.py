"""The machines that can be built for: one row per GPU architecture, and nothing else in the tree lists them.

To add an architecture, add a row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from teenybuild.diagnostics import did_you_mean


@dataclass(frozen=True, slots=True)
class Arch:
    """One GPU architecture.

    ``name`` is how it is spelled (``sm_90a``), ``sm`` its number (90), ``suffix`` empty, ``a`` (runs on exactly this
    architecture) or ``f`` (runs on its family), ``ptx`` the lowest PTX ISA version that has it.
    The versions are those of the PTX ISA's table of targets, which LLVM's NVPTX back end follows.  ``shared`` is how many bytes of shared
    memory one program may have (CUDA programming guide, "Compute Capabilities": technical specifications).
    """

    name: str
    sm: int
    suffix: Literal["", "a", "f"]
    ptx: str
    shared: int


_ROWS = (
    Arch("sm_75", 75, "", "6.3", 64 << 10),
    Arch("sm_80", 80, "", "7.0", 163 << 10),
    Arch("sm_86", 86, "", "7.1", 99 << 10),
    Arch("sm_87", 87, "", "7.4", 163 << 10),
    Arch("sm_88", 88, "", "9.0", 163 << 10),
    Arch("sm_89", 89, "", "7.8", 99 << 10),
    Arch("sm_90", 90, "", "7.8", 227 << 10),
    Arch("sm_90a", 90, "a", "8.0", 227 << 10),
    Arch("sm_100", 100, "", "8.6", 227 << 10),
    Arch("sm_100a", 100, "a", "8.6", 227 << 10),
    Arch("sm_100f", 100, "f", "8.8", 227 << 10),
    Arch("sm_103", 103, "", "8.8", 227 << 10),
    Arch("sm_103a", 103, "a", "8.8", 227 << 10),
    Arch("sm_103f", 103, "f", "8.8", 227 << 10),
    Arch("sm_110", 110, "", "9.0", 227 << 10),
    Arch("sm_110a", 110, "a", "9.0", 227 << 10),
    Arch("sm_110f", 110, "f", "9.0", 227 << 10),
    Arch("sm_120", 120, "", "8.7", 99 << 10),
    Arch("sm_120a", 120, "a", "8.7", 99 << 10),
    Arch("sm_120f", 120, "f", "8.8", 99 << 10),
    Arch("sm_121", 121, "", "8.8", 99 << 10),
    Arch("sm_121a", 121, "a", "8.8", 99 << 10),
    Arch("sm_121f", 121, "f", "8.8", 99 << 10),
)

#: Every architecture by name, in the order the documentation lists them.
ARCHITECTURES: dict[str, Arch] = {arch.name: arch for arch in _ROWS}

#: The PTX ISA versions that may be asked for, oldest first.
PTX_VERSIONS: tuple[str, ...] = (
    "6.3", "6.4", "6.5",
    "7.0", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8",
    "8.0", "8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8",
    "9.0", "9.1",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """What an artifact is built for.

    ``machine`` is where it runs. ``arch`` is whose lowering it has: with ``machine`` ``cpu`` and an ``arch``, that GPU's
    lowering is run on the host (``cpu:sm_90a``); ``cpu`` alone has none.
    """

    name: str
    machine: Literal["gpu", "cpu"]
    arch: Arch | None

    def __str__(self) -> str:
        return self.name


class TargetError(ValueError):
    """A target that is not known. ``hint`` names what was probably meant, or what there is."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


#: The host, with layouts that suit it.
CPU = Target("cpu", "cpu", None)

#: Every target by name: the host, the GPUs, and each GPU's lowering run on the host.
TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        CPU,
        *(Target(arch.name, "gpu", arch) for arch in _ROWS),
        *(Target(f"cpu:{arch.name}", "cpu", arch) for arch in _ROWS),
    )
}


def parse_target(text: str) -> Target:
    """The target that ``text`` names: ``sm_90a``, ``cpu`` or ``cpu:sm_90a``.

    Raises :class:`TargetError`.
    """
    target = TARGETS.get(text)
    if target is None:
        raise TargetError(f'"{text}" is not a target', _meant(text))
    return target


def ptx_number(version: str) -> tuple[int, int]:
    """A PTX ISA version as numbers that compare: ``"8.6"`` is ``(8, 6)``. Raises ValueError where it is not one."""
    major, _, minor = version.partition(".")
    return int(major), int(minor)


#: An architecture may be so far from the number that was written to be what was meant.
_NEAR = 10


def _meant(text: str) -> str:
    """The target that was meant: "sm90", "SM_90" and "cuda:90" all name a number, and it is the number that counts."""
    number = re.search(r"(\d{2,3})([af]?)$", text.lower())
    if number is not None:
        wanted, suffix = int(number[1]), number[2]
        nearest = min(_ROWS, key=lambda arch: (abs(arch.sm - wanted), arch.suffix != suffix))
        if abs(nearest.sm - wanted) <= _NEAR:
            host = "cpu:" if text.lower().startswith("cpu:") else ""
            return f"did you mean {host}{nearest.name}?"
    elif (hint := did_you_mean(text, TARGETS)) is not None:
        return hint
    return "targets are cpu, sm_75 to sm_121 (with a or f where there is one), and cpu: before any of those"
