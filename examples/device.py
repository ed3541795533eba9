"""Arrays on a GPU with nothing but the driver: for trying kernels where no framework is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np


class Device:
    """The first GPU, with its primary context current."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        handle = self.call("cuDeviceGet", 0)
        self.name = self.call("cuDeviceGetName", 128, handle).split(b"\0")[0].decode()
        attributes = driver.CUfunction_attribute
        #: How a function is told that its launches have more shared memory than 48 KB.
        self.largest_shared = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self.call("cuCtxSetCurrent", self.call("cuDevicePrimaryCtxRetain", handle))

    def call(self, name: str, *arguments: Any) -> Any:
        """A function of the driver; its result, or an error that names it."""
        status, *results = getattr(self._driver, name)(*arguments)
        if int(status) != 0:
            raise RuntimeError(f"{name}: {status}")
        return results[0] if results else None

    def array(self, values: np.ndarray) -> Array:
        """A copy of an array on the GPU."""
        return Array(self, values)

    def wait(self) -> None:
        """Until everything that was launched is done."""
        self.call("cuCtxSynchronize")


class Array:
    """An array on the GPU: what kernels need of one, and a way back."""

    def __init__(self, device: Device, values: np.ndarray) -> None:
        values = np.ascontiguousarray(values)
        self._device = device
        self._like = values
        #: Of the first byte.
        self.address = int(device.call("cuMemAlloc", max(values.nbytes, 1)))
        device.call("cuMemcpyHtoD", self.address, values.ctypes.data, values.nbytes)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3, "shape": self._like.shape, "typestr": self._like.dtype.str, "data": (self.address, False),
            "strides": None, "stream": None, "descr": [("", self._like.dtype.str)],
        }  # fmt: skip

    @property
    def dtype(self) -> Any:
        """NumPy's (or ml_dtypes') dtype: the interface above has no name for bf16."""
        return self._like.dtype

    def numpy(self) -> np.ndarray:
        """A copy back on the host."""
        values = np.empty_like(self._like)
        self._device.call("cuMemcpyDtoH", values.ctypes.data, self.address, values.nbytes)
        return values

    def __del__(self) -> None:
        self._device.call("cuMemFree", self.address)


class View:
    """``count`` elements of an array on the GPU, from element ``start``."""

    def __init__(self, of: Array, start: int, count: int) -> None:
        self._of, self._start, self._count = of, start, count

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        whole = self._of.__cuda_array_interface__
        address = whole["data"][0] + self._start * self.dtype.itemsize
        return {**whole, "shape": (self._count,), "data": (address, False)}

    @property
    def dtype(self) -> Any:
        """That of the array."""
        return self._of.dtype


def find() -> Device | None:
    """The first GPU, or None where there is none that can be used."""
    try:
        driver = import_module("cuda.bindings.driver")
        (status,) = driver.cuInit(0)
    except (ImportError, RuntimeError):
        return None
    if int(status) != 0 or int(driver.cuDeviceGetCount()[1]) == 0:
        return None
    return Device(driver)
