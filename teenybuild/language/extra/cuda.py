"""``triton.language.extra.cuda``: what only GPUs have, and :mod:`~teenybuild.language.extra.libdevice`."""

from __future__ import annotations

from typing import Any

from teenybuild.language.extra import libdevice as libdevice
from teenybuild.language.outside import outside as _outside


def num_warps() -> int:
    """Warps of a program, known at compile time."""
    _outside("tl.extra.cuda.num_warps")


def num_threads() -> int:
    """Threads of a program, 32 a warp, known at compile time."""
    _outside("tl.extra.cuda.num_threads")


def globaltimer() -> Any:
    """Nanoseconds of a clock of the GPU, i64. On GPUs only."""
    _outside("tl.extra.cuda.globaltimer")


def smid() -> Any:
    """The number of the multiprocessor, i32. On GPUs only."""
    _outside("tl.extra.cuda.smid")
