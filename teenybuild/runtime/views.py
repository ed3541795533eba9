"""What a call needs to know of each argument, read without copying and without importing a framework.

An argument's class decides how it is read, so that is worked out once a class: ``READERS[type(x)](x)`` is its :data:`View`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from .dtypes import FRAMEWORK_NAMES

#: Where an array is, if it is not on the CUDA device of that number.
HOST = -1
#: On something that is neither the host nor a CUDA device.
ELSEWHERE = -2
#: Where a tuple without an array is.
NOWHERE = -3

#: Gives the address of the stream that the array's framework works on, for a CUDA device.
StreamOf: TypeAlias = Callable[[int], int]

#: One argument, as a plain tuple because a launch makes one for each:
#:
#: * what it is: ``*f32`` for an array of f32 (with the framework's own name where it has none here), ``int``, ``float``, ``bool``,
#:   ``none``, ``(*f32, int)`` for a tuple, ``desc<f16[128, 64]>`` for a tensor descriptor, or ``""`` for anything else;
#: * the address of the first element, or the value; for a tuple the views of its entries, for a descriptor a :class:`Described`;
#: * where it is: a CUDA device, :data:`HOST` or :data:`ELSEWHERE`;
#: * whether its elements lie one after the other, last dimension fastest;
#: * whether it may be written;
#: * how many elements it has;
#: * the current stream of its framework, where that has one. Whatever must stay alive until the launch hangs on it.
View: TypeAlias = tuple[str, Any, int, bool, bool, int, StreamOf | None]
Reader: TypeAlias = Callable[[Any], View]


class Described(NamedTuple):
    """An array that is seen in blocks, and its view; extents and strides count elements. ``padding`` is what stands outside of it."""

    base: Any
    view: View
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    padding: Any


def arrays(names: Sequence[str], views: Sequence[View]) -> Iterator[tuple[str, View]]:
    """Every array of a call, with its name: ``x``, ``ptrs[1]``."""
    for name, view in zip(names, views, strict=True):
        what = view[0][:1]
        if what == "*":
            yield name, view
        elif what == "d":
            yield name, view[1].view
        elif what == "(":
            yield from arrays([f"{name}[{place}]" for place in range(len(view[1]))], view[1])


class _ArrayNames(dict[Any, str]):
    """A framework's dtype object → ``*f32``. Frameworks have few dtype objects, and looking one up beats reading its name."""

    def __missing__(self, dtype: Any) -> str:
        # "float32" for NumPy, "torch.float32" for PyTorch. Another byte order is another type.
        name = str(dtype).rpartition(".")[2]
        native = getattr(dtype, "isnative", True)
        known = FRAMEWORK_NAMES.get(name) if native else None
        found = self[dtype] = f"*{known or (name if native else f'byte-swapped {dtype.name}')}"
        return found


_names = _ArrayNames()


class _Readers(dict[type, Reader]):
    """The reader of each class of arguments, found when the class is first seen."""

    def __missing__(self, kind: type) -> Reader:
        found = self[kind] = _reader_of(kind)
        return found


def _reader_of(kind: type[Any]) -> Reader:
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if issubclass(kind, numpy.ndarray):
            masked = sys.modules.get("numpy.ma")
            return (
                _masked_array if masked is not None and issubclass(kind, masked.MaskedArray) else _numpy_array
            )
        if issubclass(kind, numpy.generic):
            return _numpy_scalar(kind, numpy)
    if hasattr(kind, "data_ptr"):
        return _tensor
    if kind.__module__.partition(".")[0] == "cupy" and hasattr(kind, "__cuda_array_interface__"):
        return _cupy_array
    if hasattr(kind, "__dlpack__") and hasattr(kind, "__dlpack_device__"):
        return _dlpack_array
    if hasattr(kind, "__cuda_array_interface__"):
        return _cuda_array
    if issubclass(kind, tuple | list):
        return _several
    if issubclass(kind, bool):
        return _bool
    if hasattr(kind, "__index__"):
        return _int
    return _float if issubclass(kind, float) else _other


def _none(value: Any) -> View:
    return "none", None, HOST, True, False, 1, None


def _bool(value: Any) -> View:
    return "bool", bool(value), HOST, True, False, 1, None


def _int(value: Any) -> View:
    return "int", operator.index(value), HOST, True, False, 1, None


def _float(value: Any) -> View:
    return "float", float(value), HOST, True, False, 1, None


def _several(value: Any) -> View:
    views = [READERS[type(each)](each) for each in value]
    what = f"({', '.join([view[0] for view in views])})"
    where = next(
        (view[2] for view in views if view[0][:1] in ("*", "d", "(") and view[2] != NOWHERE), NOWHERE
    )
    return what, views, where, True, False, 1, None


def _other(value: Any) -> View:
    # Attributes of a class may be in its objects alone.
    if all(hasattr(value, name) for name in ("base", "shape", "strides", "block_shape")):
        return _descriptor(value)
    return "", value, HOST, True, False, 1, None


def _descriptor(value: Any) -> View:
    """A tensor descriptor, Triton's own or any with the same attributes."""
    view = READERS[type(value.base)](value.base)
    if view[0][:1] != "*":
        raise TypeError(f"its base is no array but {type(value.base).__qualname__}")
    shape, strides, block = (
        tuple([operator.index(each) for each in getattr(value, name)])
        for name in ("shape", "strides", "block_shape")
    )
    what = f"desc<{view[0][1:]}[{', '.join([str(side) for side in block])}]>"
    found = Described(value.base, view, shape, strides, getattr(value, "padding", "zero"))
    return what, found, view[2], True, view[4], view[5], view[6]


def _numpy_scalar(kind: type, numpy: Any) -> Reader:
    if issubclass(kind, numpy.bool_):
        return _bool
    if issubclass(kind, numpy.integer) and not issubclass(kind, numpy.timedelta64):
        return _int
    # ml_dtypes' scalars are generic and nothing closer.
    known = issubclass(kind, numpy.floating) or kind.__name__ in FRAMEWORK_NAMES
    return _float if known else _other


def _numpy_array(array: Any) -> View:
    flags = array.flags
    address = array.__array_interface__["data"][0]
    return _names[array.dtype], address, HOST, flags.c_contiguous, flags.writeable, array.size, None


def _masked_array(array: Any) -> View:
    # A kernel would not know which elements do not count: no argument has this type.
    return f"*masked {array.dtype}", 0, HOST, True, True, array.size, None


def _tensor(tensor: Any) -> View:
    device = tensor.device
    kind = device.type
    where = device.index if kind == "cuda" else HOST if kind == "cpu" else ELSEWHERE
    name = _names[tensor.dtype]
    return name, tensor.data_ptr(), where, tensor.is_contiguous(), True, tensor.numel(), _torch_stream


def _torch_stream(device: int) -> int:
    # What torch.cuda.current_stream(device).cuda_stream asks, without making a Stream to hold the answer. A process
    # that has no torch, or one built without CUDA, got its address on the GPU elsewhere: the default stream then.
    torch = cast(Any, sys.modules.get("torch"))
    current = getattr(torch._C, "_cuda_getCurrentRawStream", None) if torch is not None else None
    return int(current(device)) if current is not None else 0


def _cupy_array(array: Any) -> View:
    name = _names[array.dtype]
    return name, array.data.ptr, array.device.id, array.flags.c_contiguous, True, array.size, _cupy_stream


def _cupy_stream(device: int) -> int:
    return int(cast(Any, sys.modules["cupy"]).cuda.get_current_stream(device).ptr)


def _cuda_array(array: Any) -> View:
    from .driver import device_of

    interface = array.__cuda_array_interface__
    address, read_only = interface["data"]
    shape: tuple[int, ...] = interface["shape"]
    typestr: str = interface["typestr"]
    order, letters = typestr[0], typestr[1:]
    if letters in _TYPESTRS and order != ">":
        name = f"*{_TYPESTRS[letters]}"
    else:
        # A type that the interface cannot spell: bf16 is "<V2" there. The array itself may know better.
        name = _names[array.dtype] if hasattr(array, "dtype") else f"*{typestr}"
    strides: tuple[int, ...] | None = interface.get("strides")
    dense = strides is None or is_contiguous(shape, strides, int(letters[1:]))
    stream = interface.get("stream") or 0
    return name, address, device_of(address), dense, not read_only, count(shape), lambda device: stream


#: Kind and bytes of a typestr → our name.
_TYPESTRS = {
    "b1": "i1",
    **{f"i{size}": f"i{8 * size}" for size in (1, 2, 4, 8)},
    **{f"u{size}": f"u{8 * size}" for size in (1, 2, 4, 8)},
    **{f"f{size}": f"f{8 * size}" for size in (2, 4, 8)},
}


def _dlpack_array(array: Any) -> View:
    from .dlpack import read

    return read(array)


def count(shape: tuple[int, ...]) -> int:
    """Elements of an array."""
    number = 1
    for extent in shape:
        number *= extent
    return number


def is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], step: int) -> bool:
    """Whether elements ``step`` apart lie one after the other, last dimension fastest. Extents of 1 have any stride."""
    if 0 in shape:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


#: The reader of each class. Plain numbers are here from the start.
READERS: dict[type, Reader] = _Readers({int: _int, float: _float, bool: _bool, type(None): _none})
