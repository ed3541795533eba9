"""Making a context current, and leaving things as they were found."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import Any

from .driver import check, device, driver


@contextlib.contextmanager
def current(context: Any, kernel: str) -> Generator[None]:
    """``context`` is current inside; afterwards, what was current is so again. Raises :class:`DriverError`."""
    cuda = driver()
    check(cuda, cuda.cuCtxPushCurrent(context), "make a context current", kernel)
    try:
        yield
    finally:
        check(cuda, cuda.cuCtxPopCurrent(), "give the context back", kernel)


@contextlib.contextmanager
def on_device(ordinal: int, kernel: str) -> Generator[None]:
    """A context of the device is current inside: the one that is, or else the device's primary context."""
    cuda = driver()
    context = check(cuda, cuda.cuCtxGetCurrent(), "ask for the current context", kernel)
    if (
        int(context)
        and int(check(cuda, cuda.cuCtxGetDevice(), "ask for the current device", kernel)) == ordinal
    ):
        yield
        return
    with current(device(ordinal).context, kernel):
        yield


@contextlib.contextmanager
def during_captures(kernel: str) -> Generator[None]:
    """Inside, this thread may load code even while some stream is captured, which would otherwise spoil the capture."""
    cuda = driver()
    relaxed = cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = check(cuda, cuda.cuThreadExchangeStreamCaptureMode(relaxed), "let captures be", kernel)
    try:
        yield
    finally:
        check(
            cuda, cuda.cuThreadExchangeStreamCaptureMode(before), "go back to the mode for captures", kernel
        )
