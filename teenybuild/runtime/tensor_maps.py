"""Tensor maps: what hardware that copies blocks of arrays is told of them. The driver makes them, on the host; a launch passes them by value."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from .driver import check, failure
from .dtypes import DTYPES
from .index import TensorMap

#: Bytes of a map, and what its address must be a multiple of (CUDA driver API, ``CUtensorMap``).
_BYTES, _ALIGNED = 128, 64
#: ``CUtensorMapDataType``: of floats, for which NaN may stand outside of an array; of everything else by its size.
_FLOATS = {"f16": 6, "f32": 7, "f64": 8, "bf16": 9}
_OTHERS = {1: 0, 2: 1, 4: 2, 8: 4}
#: ``CUtensorMapSwizzle`` by the bytes of a row.
_SWIZZLES = {128: 3, 64: 2, 32: 1, 16: 0}
#: ``CUtensorMapL2promotion``: whole lines of 256 bytes.
_PROMOTION = 3
#: The CUDA version that has the function.
_SINCE = 12000
#: Maps kept of each array of a kernel.
_KEPT = 256
#: An element of an array that has none.
_LARGEST_ELEMENT = 16

_Encode = Callable[..., int]


class _Map:
    """The memory of one map."""

    __slots__ = ("_memory", "address")

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(_BYTES + _ALIGNED)
        self.address = -(-ctypes.addressof(self._memory) // _ALIGNED) * _ALIGNED


class TensorMaps:
    """Those of one program. What launches with the same arrays pass is made once."""

    __slots__ = ("_arrays", "_cuda", "_kernel")

    def __init__(self, cuda: Any, maps: Sequence[TensorMap], names: Sequence[str], kernel: str) -> None:
        """``names``: the arguments, in the order in which their values are packed."""
        self._cuda, self._kernel = cuda, kernel
        encode = _encoder(cuda, kernel)
        self._arrays = [_Array(each, names, encode) for each in maps]

    def made(self, values: Sequence[Any]) -> list[_Map]:
        """The maps for a launch with these arguments, which must outlive it. Raises :class:`DriverError` where an array cannot have one."""
        found: list[_Map] = []
        for array in self._arrays:
            status, made = array.made(values, self._nothing)
            if status:
                raise failure(
                    self._cuda,
                    self._cuda.CUresult(status),
                    "make a tensor map",
                    self._kernel,
                    array.said(values),
                )
            found.append(made)
        return found

    def _nothing(self, nan: bool) -> int:
        """The address of an element of an array that has none: what stands outside of it."""
        cuda = self._cuda
        memory = check(cuda, cuda.cuMemAlloc(_LARGEST_ELEMENT), "allocate an element", self._kernel)
        check(
            cuda,
            cuda.cuMemsetD8(memory, 0xFF if nan else 0, _LARGEST_ELEMENT),
            "fill an element",
            self._kernel,
        )
        return int(memory)


class _Array:
    """One array, as each launch gives it."""

    def __init__(self, said: TensorMap, names: Sequence[str], encode: _Encode) -> None:
        self._said, self._encode = said, encode
        place = {name: i for i, name in enumerate(names)}
        rank = len(said.shape)
        given = (said.base, *said.shape, *said.strides, said.padding)
        #: Where each of base, extents, strides and padding stands among the values, or what it is.
        self._given = [(place[each], None) if isinstance(each, str) else (-1, each) for each in given]
        self._rank = rank
        self._size = DTYPES[said.dtype].size
        self._box = (ctypes.c_uint32 * rank)(*said.box)
        self._ones = (ctypes.c_uint32 * rank)(*[1] * rank)
        self._kept: dict[tuple[int, ...], _Map] = {}
        self._empty: dict[bool, int] = {}

    def _numbers(self, values: Sequence[Any]) -> tuple[int, ...]:
        return tuple([int(values[at]) if fixed is None else fixed for at, fixed in self._given])

    def made(self, values: Sequence[Any], nothing: Callable[[bool], int]) -> tuple[int, _Map]:
        """The driver's status, and the map."""
        numbers = self._numbers(values)
        found = self._kept.get(numbers)
        if found is not None:
            return 0, found
        rank, said = self._rank, self._said
        base, shape, strides, nan = (
            numbers[0],
            numbers[1 : 1 + rank],
            numbers[1 + rank : -1],
            bool(numbers[-1]),
        )
        if 0 in shape:
            # The driver makes no map of nothing: one element, which is what stands around it.
            if nan not in self._empty:
                self._empty[nan] = nothing(nan)
            base, shape, strides = self._empty[nan], (1,) * rank, (16 // self._size,) * (rank - 1)
        kind = _FLOATS.get(said.dtype, _OTHERS[self._size])
        if nan and said.dtype not in _FLOATS:
            return 1, _Map()
        new = _Map()
        status = self._encode(
            new.address, kind, rank, base,
            (ctypes.c_uint64 * rank)(*shape),
            (ctypes.c_uint64 * max(1, rank - 1))(*[stride * self._size for stride in strides]),
            self._box, self._ones, 0, _SWIZZLES[said.row], _PROMOTION, int(nan),
        )  # fmt: skip
        if status == 0:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[numbers] = new
        return status, new

    def said(self, values: Sequence[Any]) -> str:
        """What was asked for."""
        numbers, rank = self._numbers(values), self._rank
        shape, strides = list(numbers[rank:0:-1]), [*numbers[-2:rank:-1], 1]
        outside = "NaN" if numbers[-1] else "zeros"
        return (
            f" of {self._said.base}, {self._said.dtype} at {numbers[0]:#x} with shape {shape} and strides {strides}, {outside} outside"
            "\nhint: hardware copies blocks of arrays whose address and strides are multiples of 16 bytes, with strides from 0 up, "
            "and knows NaN outside of floats of 16 bits and more"
        )


def _encoder(cuda: Any, kernel: str) -> _Encode:
    """The driver's function. Not through the bindings: their map need not lie where the driver wants it."""
    address, _ = check(
        cuda,
        cuda.cuGetProcAddress(b"cuTensorMapEncodeTiled", _SINCE, 0),
        "find cuTensorMapEncodeTiled",
        kernel,
    )
    pointer, word = ctypes.c_void_p, ctypes.c_int
    prototype = ctypes.CFUNCTYPE(
        word,
        pointer,
        word,
        ctypes.c_uint32,
        pointer,
        pointer,
        pointer,
        pointer,
        pointer,
        word,
        word,
        word,
        word,
    )
    return prototype(int(address))
