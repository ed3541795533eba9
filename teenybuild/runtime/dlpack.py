"""Reading an array through DLPack: the struct behind the capsule, looked at and not taken.

The layout is that of ``dlpack.h``, versions before 1.0 (``DLManagedTensor``) and since (``DLManagedTensorVersioned``).
"""

from __future__ import annotations

import ctypes
from typing import Any

from .views import ELSEWHERE, HOST, View, count, is_contiguous

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_READ_ONLY = 1


class _Tensor(ctypes.Structure):
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


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


#: DLDataTypeCode and bits → our name.
_NAMES = {
    (6, 8): "i1",
    **{(0, bits): f"i{bits}" for bits in (8, 16, 32, 64)},
    **{(1, bits): f"u{bits}" for bits in (8, 16, 32, 64)},
    **{(2, bits): f"f{bits}" for bits in (16, 32, 64)},
    (4, 16): "bf16",
    (10, 8): "f8e4m3",
    (12, 8): "f8e5m2",
}

# Our own prototype: setting one on ctypes.pythonapi would set it for everyone.
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))


class _Held:
    """Keeps a capsule, and so the exported tensor, alive. DLPack has no current stream: the default one."""

    __slots__ = ("capsule",)

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __call__(self, device: int) -> int:
        return 0


def _exported(array: Any) -> tuple[object, _Tensor, bool]:
    """The capsule, which keeps the tensor alive; the tensor; and whether it may be written. What the producer raises is passed on."""
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:
        # A producer from before versions.
        capsule = array.__dlpack__()
    name = _name_of(capsule)
    address = _pointer_of(capsule, name)
    if name != b"dltensor_versioned":
        return capsule, _Tensor.from_address(address), True
    whole = _Versioned.from_address(address)
    if whole.major > 1:
        raise BufferError(f"DLPack {whole.major}.{whole.minor} is newer than this reader")
    return capsule, whole.tensor, not whole.flags & _READ_ONLY


def layout_of(array: Any) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Shape and strides of an array that has ``__dlpack__``, in elements; no strides where its elements lie one after the other."""
    capsule, tensor, _ = _exported(array)
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    del capsule
    return shape, strides


def read(array: Any) -> View:
    """The view of an array that has ``__dlpack__``. What the producer raises is passed on."""
    capsule, tensor, writable = _exported(array)
    known = _NAMES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    shape = tuple(tensor.shape[: tensor.ndim])
    dense = not tensor.strides or is_contiguous(shape, tuple(tensor.strides[: tensor.ndim]), 1)
    where = ELSEWHERE
    if tensor.device_type in (_CPU, _CUDA_HOST):
        where = HOST
    elif tensor.device_type in (_CUDA, _CUDA_MANAGED):
        where = tensor.device_id
    name = f"*{known or f'DLPack type {tensor.code}, {tensor.bits} bits × {tensor.lanes}'}"
    return name, (tensor.data or 0) + tensor.byte_offset, where, dense, writable, count(shape), _Held(capsule)
