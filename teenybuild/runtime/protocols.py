"""What may be passed to a kernel, for type checkers and for hovers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, SupportsInt, TypeAlias


class NumPyArray(Protocol):
    """An array in host memory, as NumPy has them."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class Tensor(Protocol):
    """A tensor as PyTorch has them, in host or device memory."""

    def data_ptr(self) -> int: ...


class CudaArray(Protocol):
    """An array in device memory, as CuPy and Numba have them."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class DLPackArray(Protocol):
    """An array of any framework that speaks DLPack, JAX for one."""

    def __dlpack_device__(self) -> tuple[Any, Any]: ...


class TensorDescriptor(Protocol):
    """An array that is seen in blocks, as Triton has them; it may have a ``padding`` too, ``"zero"`` or ``"nan"``."""

    @property
    def base(self) -> Any: ...
    @property
    def shape(self) -> Sequence[int]: ...
    @property
    def strides(self) -> Sequence[int]: ...
    @property
    def block_shape(self) -> Sequence[int]: ...


class WholeNumber(Protocol):
    """An integer scalar of NumPy. Arrays have an ``__index__`` too, but count no bits."""

    def __index__(self) -> int: ...
    def bit_count(self) -> int: ...


class RealNumber(Protocol):
    """A floating point scalar of NumPy. Arrays are numbers to ``float`` too, but not to ``is_integer``."""

    def __float__(self) -> float: ...
    def is_integer(self) -> bool: ...


class TorchStream(Protocol):
    """A stream of PyTorch."""

    @property
    def cuda_stream(self) -> int: ...


class CuPyStream(Protocol):
    """A stream of CuPy."""

    @property
    def ptr(self) -> int: ...


class CudaStream(Protocol):
    """A stream of any library that speaks the protocol of cuda.core."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


#: An array: the address of its first element is what the kernel gets.
Array: TypeAlias = NumPyArray | Tensor | CudaArray | DLPackArray
#: What a tensor descriptor is made of: an array with its own shape and strides, or those said for it.
Described: TypeAlias = Array | TensorDescriptor
#: A whole number. NumPy's are taken by value.
Int: TypeAlias = int | WholeNumber
#: A floating point number, or a whole one. NumPy's are taken by value.
Float: TypeAlias = float | WholeNumber | RealNumber
#: True or False. NumPy's are taken by value.
Bool: TypeAlias = bool
#: How many programs run, in one to three dimensions, x first.
Grid: TypeAlias = Sequence[Int]
#: Where a launch is queued: an address, or a stream of PyTorch, CuPy or cuda-bindings.
Stream: TypeAlias = SupportsInt | TorchStream | CuPyStream | CudaStream
