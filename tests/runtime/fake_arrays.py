"""Arrays of frameworks that are not installed: what the runtime asks of each, and no more."""

from __future__ import annotations

import ctypes
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class TorchDtype:
    """Like ``torch.float32``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


TORCH_DTYPES = {
    name: TorchDtype(name)
    for name in ("float32", "float16", "bfloat16", "float64", "int32", "int64", "uint8", "bool", "complex64")
}


class Tensor:
    """A tensor of PyTorch."""

    def __init__(
        self,
        dtype: str = "float32",
        device: str = "cuda:0",
        *,
        address: int = 0x7F0000000000,
        elements: int = 1024,
        contiguous: bool = True,
    ) -> None:
        kind, _, index = device.partition(":")
        self.dtype = TORCH_DTYPES[dtype]
        self.device = SimpleNamespace(type=kind, index=int(index) if index else None)
        self._address, self._elements, self._contiguous = address, elements, contiguous
        self.reads = 0

    def data_ptr(self) -> int:
        return self._address

    def numel(self) -> int:
        return self._elements

    def is_contiguous(self) -> bool:
        return self._contiguous


Tensor.__module__ = "torch"


def fake_torch(streams: dict[int, int] | None) -> ModuleType:
    """A module ``torch`` with a current stream for each device; one built without CUDA where that is None."""
    torch: Any = ModuleType("torch")
    torch._C = SimpleNamespace()
    if streams is not None:
        torch._C._cuda_getCurrentRawStream = streams.__getitem__
    return torch


class CupyArray:
    """An array of CuPy."""

    def __init__(
        self, dtype: Any = np.float32, device: int = 0, address: int = 0x7F0000000000, size: int = 1024
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.data = SimpleNamespace(ptr=address)
        self.device = SimpleNamespace(id=device)
        self.flags = SimpleNamespace(c_contiguous=True)
        self.size = size

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        raise AssertionError("CuPy's own attributes are cheaper")


CupyArray.__module__ = "cupy"


def fake_cupy(streams: dict[int, int]) -> ModuleType:
    """A module ``cupy`` with a current stream for each device."""
    cupy: Any = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(get_current_stream=lambda device: SimpleNamespace(ptr=streams[device]))
    return cupy


class CudaArray:
    """An array with ``__cuda_array_interface__`` and nothing else, as Numba's."""

    def __init__(self, **interface: Any) -> None:
        self.__cuda_array_interface__ = {
            "shape": (1024,),
            "typestr": "<f4",
            "data": (0x7F0000000000, False),
            "version": 3,
            **interface,
        }

    # The class is asked for it, as a property would be.
    __cuda_array_interface__: Any = None


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class DLPackArray:
    """An array that speaks DLPack, of a version before 1.0 or since."""

    def __init__(
        self,
        *,
        device: tuple[int, int] = (2, 0),
        dtype: tuple[int, int, int] = (2, 32, 1),
        shape: tuple[int, ...] = (1024,),
        strides: tuple[int, ...] | None = None,
        address: int = 0x7F0000000000,
        offset: int = 0,
        version: tuple[int, int] | None = (1, 0),
        read_only: bool = False,
    ) -> None:
        self.device, self.version = device, version
        self._shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self._strides = (ctypes.c_int64 * max(len(shape), 1))(*strides) if strides is not None else None
        tensor = _DLTensor(address, *device, len(shape), *dtype, self._shape, self._strides, offset)
        self._old = _Managed(tensor)
        self._new = _Versioned(*(version or (0, 0)), None, None, int(read_only), tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **named: Any) -> Any:
        if self.version is None:
            if named:
                raise TypeError("an old producer knows no max_version")
            return _new(ctypes.addressof(self._old), b"dltensor", None)
        return _new(ctypes.addressof(self._new), b"dltensor_versioned", None)
