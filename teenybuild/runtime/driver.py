"""The CUDA driver through cuda.bindings, imported at the first use. Every refusal becomes a :class:`DriverError`."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, NamedTuple, cast

from .errors import DriverError

#: The newest PTX ISA that the driver of each CUDA version reads (PTX ISA documentation, release history).
_PTX_OF_CUDA = {
    (10, 0): "6.3", (10, 1): "6.4", (10, 2): "6.5",
    (11, 0): "7.0", (11, 1): "7.1", (11, 2): "7.2", (11, 3): "7.3", (11, 4): "7.4", (11, 5): "7.5", (11, 6): "7.6",
    (11, 7): "7.7", (11, 8): "7.8",
    (12, 0): "8.0", (12, 1): "8.1", (12, 2): "8.2", (12, 3): "8.3", (12, 4): "8.4", (12, 5): "8.5", (12, 6): "8.5",
    (12, 7): "8.6", (12, 8): "8.7", (12, 9): "8.8",
    (13, 0): "9.0", (13, 1): "9.1", (13, 2): "9.2", (13, 3): "9.3", (13, 4): "9.4", (13, 5): "9.5",
}  # fmt: skip

_HINTS = {
    "CUDA_ERROR_NOT_INITIALIZED": "a process that was forked after CUDA was used cannot use it; start it with spawn",
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": "a stream is being captured; load the kernel before, with its .load()",
    "CUDA_ERROR_OUT_OF_MEMORY": "the device has no memory left",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "the device has too few registers or too little shared memory for this specialisation",
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": "its programs must all fit the device at once: launch fewer, each of which does more",
    "CUDA_ERROR_ILLEGAL_ADDRESS": "an earlier kernel touched memory it must not; this context can no longer be used",
}


class Device(NamedTuple):
    """A CUDA device. ``capability`` is (9, 0) for sm_90, ``context`` its primary context, retained for good, and ``address`` that of it."""

    ordinal: int
    name: str
    capability: tuple[int, int]
    context: Any
    address: int


@cache
def driver() -> Any:
    """The module ``cuda.bindings.driver``, initialised. Raises :class:`DriverError` where there is none, or no driver."""
    try:
        bindings: Any = importlib.import_module("cuda.bindings.driver")
    except ImportError as wrong:
        raise DriverError(f"arrays on a GPU need cuda-bindings, which cannot be imported: {wrong}") from None
    try:
        check(bindings, bindings.cuInit(0), "start CUDA")
    except DriverError:
        raise
    # What the bindings raise where libcuda cannot be loaded differs between versions.
    except Exception as wrong:
        raise DriverError(f"the CUDA driver cannot be loaded: {wrong}") from None
    return bindings


def check(bindings: Any, result: tuple[Any, ...], doing: str, kernel: str = "") -> Any:
    """What a driver call gave, without its status. Raises :class:`DriverError` where it failed.

    ``doing`` completes "cannot …". A call that gives nothing gives None here, one that gives several things a tuple.
    """
    if result[0] != bindings.CUresult.CUDA_SUCCESS:
        raise failure(bindings, result[0], doing, kernel)
    return None if len(result) == 1 else result[1] if len(result) == 2 else result[1:]


def failure(bindings: Any, status: Any, doing: str, kernel: str = "", more: str = "") -> DriverError:
    """The error for a status that is not success, with the driver's own words and a way out where one is known."""
    code = getattr(status, "name", str(status))
    found, text = bindings.cuGetErrorString(status)
    said = f" ({text.decode()})" if found == bindings.CUresult.CUDA_SUCCESS and text else ""
    hint = f"\nhint: {_HINTS[code]}" if code in _HINTS else ""
    where = f"{kernel}: " if kernel else ""
    return DriverError(f"{where}cannot {doing}: {code}{said}{more}{hint}", kernel, None, code)


@cache
def device(ordinal: int) -> Device:
    """The CUDA device of that number, its primary context retained. Raises :class:`DriverError`."""
    cuda = driver()
    handle = check(cuda, cuda.cuDeviceGet(ordinal), f"find CUDA device {ordinal}")
    attributes = cuda.CUdevice_attribute
    capability = tuple(
        check(
            cuda,
            cuda.cuDeviceGetAttribute(which, handle),
            f"ask CUDA device {ordinal} for its compute capability",
        )
        for which in (
            attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    )
    name = check(cuda, cuda.cuDeviceGetName(128, handle), f"ask CUDA device {ordinal} for its name")
    context = check(cuda, cuda.cuDevicePrimaryCtxRetain(handle), f"use CUDA device {ordinal}")
    text = name.split(b"\0")[0].decode()
    return Device(ordinal, text, cast("tuple[int, int]", capability), context, int(context))


def device_of(address: int) -> int:
    """The CUDA device that an address belongs to; the current one, or 0, for null. Raises :class:`DriverError`."""
    if not address:
        return current_device()
    cuda = driver()
    attribute = cuda.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(
        check(
            cuda, cuda.cuPointerGetAttribute(attribute, address), f"find the device of address {address:#x}"
        )
    )


def current_device() -> int:
    """The device of the current context; 0 where none is current."""
    cuda = driver()
    if not int(check(cuda, cuda.cuCtxGetCurrent(), "ask for the current context")):
        return 0
    return int(check(cuda, cuda.cuCtxGetDevice(), "ask for the current device"))


def driver_version() -> tuple[int, int]:
    """The CUDA version that the driver speaks: (12, 4)."""
    cuda = driver()
    number = int(check(cuda, cuda.cuDriverGetVersion(), "ask the driver for its version"))
    return number // 1000, number % 1000 // 10


def newest_ptx(version: tuple[int, int]) -> str | None:
    """The newest PTX ISA version that a driver of that CUDA version reads, or None where that is not known here."""
    return _PTX_OF_CUDA.get(version)
