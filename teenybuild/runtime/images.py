"""Which of a package's targets a device can run."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from .driver import Device, driver_version
from .errors import TargetError

_TARGET = re.compile(r"sm_(\d+)(\d)([af]?)")


def runs_on(target: str, capability: tuple[int, int]) -> bool:
    """Whether code for ``target`` (``sm_90a``) runs on a device of that compute capability.

    ``a`` runs on exactly its own, ``f`` on its own and later ones of the same major version; the rest is translated for any that is
    not older.
    """
    parts = _TARGET.fullmatch(target)
    if parts is None:
        return False
    own, suffix = (int(parts[1]), int(parts[2])), parts[3]
    if suffix == "a":
        return capability == own
    return capability >= own and (suffix != "f" or capability[0] == own[0])


def code_for(target: str, files: Collection[str], device: Device, kernel: str) -> str:
    """Which of an artifact's files is loaded on a device: ``cubin`` where its machine code runs there, else ``ptx``.

    Machine code is for one major version, from its own minor one on (CUDA programming guide, binary compatibility).  Raises
    :class:`TargetError` where there is nothing else.
    """
    parts = _TARGET.fullmatch(target)
    same = parts is not None and int(parts[1]) == device.capability[0]
    if "cubin" in files and same and runs_on(target, device.capability):
        return "cubin"
    if "ptx" in files:
        return "ptx"
    sm = f"sm_{device.capability[0]}{device.capability[1]}"
    raise TargetError(
        f"{kernel}: the package has machine code for {target}, which does not run on CUDA device {device.ordinal}, {device.name} ({sm}), "
        f'and no PTX\nhint: add {sm} to the targets of the manifest, or "ptx" to emit, and build again',
        kernel,
    )


def best_target(targets: Sequence[str], device: Device, kernel: str) -> str:
    """The target whose code suits the device best: the newest architecture, and of one architecture the most specific.

    Raises :class:`TargetError` where none runs there.
    """
    fitting = [target for target in targets if runs_on(target, device.capability)]
    if not fitting:
        raise no_target(targets, device, kernel)
    return max(fitting, key=_preference)


def no_target(targets: Sequence[str], device: Device, kernel: str) -> TargetError:
    """The error for a device that none of ``targets`` runs on."""
    has = ", ".join(targets) or "nothing"
    sm = f"sm_{device.capability[0]}{device.capability[1]}"
    version = ".".join(map(str, driver_version()))
    return TargetError(
        f"{kernel}: the package has {has}, and none of it runs on CUDA device {device.ordinal}, {device.name} ({sm}, "
        f"driver for CUDA {version})\nhint: add {sm} to the targets of the manifest and build again",
        kernel,
    )


def _preference(target: str) -> tuple[int, int]:
    parts = _TARGET.fullmatch(target)
    assert parts is not None, target
    return int(parts[1] + parts[2]), ("", "f", "a").index(parts[3])
