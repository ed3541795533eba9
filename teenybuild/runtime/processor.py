"""Whether this machine's processor can run host artifacts."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

#: Instruction set → what artifacts for it use beyond the oldest processor of it, as /proc/cpuinfo spells it.
#: x86-64-v3, and aarch64 with half precision.
_NEEDED = {
    "x86_64": ("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"),
    "aarch64": ("asimdhp", "fphp"),
}
_CPUINFO = Path("/proc/cpuinfo")


def processor_problem(isa: str) -> str | None:
    """Why artifacts for ``isa`` cannot run here, or None. Without the check they would die of an illegal instruction."""
    machine = platform.machine()
    if machine != isa:
        return f"it is for {isa}, and this machine is {machine}"
    missing = [name for name in _NEEDED.get(isa, ()) if name not in _features()]
    # Nothing known is no reason to refuse.
    return f"it needs a processor with {', '.join(missing)}" if missing and _features() else None


@cache
def _features() -> frozenset[str]:
    """What the first processor can do; empty where the system does not say."""
    try:
        lines = _CPUINFO.read_text().splitlines()
    except OSError:
        return frozenset()
    nothing: frozenset[str] = frozenset()
    said = (line.partition(":") for line in lines)
    return next((frozenset(v.split()) for k, _, v in said if k.strip() in ("flags", "Features")), nothing)
