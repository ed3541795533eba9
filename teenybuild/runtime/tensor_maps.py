"""Tensor maps: what hardware that copies blocks of arrays is told of them. The driver makes them, on the host; a launch passes them by value."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from .contexts import during_captures
from .driver import check, driver_version, failure
from .dtypes import DTYPES
from .errors import DriverError
from .index import TensorMap
from .locks import LOADING

#: Bytes of a map, and what its address must be a multiple of (CUDA driver API, ``CUtensorMap``).
_BYTES, _ALIGNED = 128, 64
#: ``CUtensorMapDataType``: of floats, for which NaN may stand outside of an array; of everything else by its size.
_FLOATS = {"f16": 6, "f32": 7, "f64": 8, "bf16": 9}
_OTHERS = {1: 0, 2: 1, 4: 2, 8: 4}
#: ``CUtensorMapSwizzle`` by the bytes of a row.
_SWIZZLES = {128: 3, 64: 2, 32: 1, 16: 0}
#: ``CUtensorMapL2promotion``: whole lines of 256 bytes.
_PROMOTION = 3
#: What strides in bytes are less than, and what no extent is more than (``cuTensorMapEncodeTiled``).
_STRIDES, _EXTENTS = 1 << 40, 1 << 32
#: What strides in bytes and addresses are multiples of.
_PIECE = 16
#: ``CUDA_ERROR_INVALID_VALUE``: what the driver says of an array that can have no map.
_INVALID = 1
#: The CUDA version that has the function.
_SINCE = 12000
#: Maps kept of each array of a kernel.
_KEPT = 256

_Encode = Callable[..., int]


class _Map:
    """The memory of one map."""

    __slots__ = ("_memory", "address")

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(_BYTES + _ALIGNED)
        self.address = -(-ctypes.addressof(self._memory) // _ALIGNED) * _ALIGNED


class TensorMaps:
    """Those of one program. What launches with the same arrays pass is made once."""

    __slots__ = ("_arrays", "_cuda", "_elements", "_kernel")

    def __init__(self, cuda: Any, maps: Sequence[TensorMap], names: Sequence[str], kernel: str) -> None:
        """``names``: the arguments, in the order in which their values are packed."""
        self._cuda, self._kernel = cuda, kernel
        encode = _encoder(cuda, kernel)
        self._arrays = [_Array(each, names, encode) for each in maps]
        #: Memory of the context with a piece of zeros and one of NaN, once an array was empty.
        self._elements: Any = None

    def made(self, values: Sequence[Any]) -> list[_Map]:
        """The maps for a launch with these arguments, which must outlive it. Raises :class:`DriverError` where an array cannot have one."""
        found: list[_Map] = []
        for array in self._arrays:
            status, made = array.made(values, self._nothing)
            if status:
                doing = f"make a tensor map of {array.said(values)}"
                raise failure(
                    self._cuda, _result(self._cuda, status), doing, self._kernel, array.wrong(values)
                )
            found.append(made)
        return found

    def release(self) -> None:
        """Gives back what was allocated. The program's context is current, and nothing runs there. Raises :class:`DriverError`."""
        elements, self._elements = self._elements, None
        if elements is not None:
            cuda = self._cuda
            check(cuda, cuda.cuMemFree(elements), "free an element", self._kernel)

    def _nothing(self, nan: bool) -> int:
        """The address of an element of an array that has none: what stands outside of it."""
        with LOADING:
            if self._elements is None:
                # A launch may be captured, on any stream: this is no work for a graph.
                with during_captures(self._kernel):
                    self._elements = self._filled()
            return int(self._elements) + _PIECE * nan

    def _filled(self) -> Any:
        cuda, kernel = self._cuda, self._kernel
        memory = check(cuda, cuda.cuMemAlloc(2 * _PIECE), "allocate an element", kernel)
        # The default stream would wait for others, which those that are captured forbid.
        apart = cuda.CUstream_flags.CU_STREAM_NON_BLOCKING
        stream = check(cuda, cuda.cuStreamCreate(apart), "create a stream", kernel)
        for at, byte in ((0, 0), (_PIECE, 0xFF)):
            filled = cuda.cuMemsetD8Async(int(memory) + at, byte, _PIECE, stream)
            check(cuda, filled, "fill an element", kernel)
        check(cuda, cuda.cuStreamSynchronize(stream), "wait for a stream", kernel)
        check(cuda, cuda.cuStreamDestroy(stream), "destroy a stream", kernel)
        return memory


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
        new = _Map()
        if nan and said.dtype not in _FLOATS:
            return _INVALID, new
        if min(shape) <= 0:
            # The driver makes no map of nothing: one element, which is what stands around it. (Code stores none there.)
            base, shape, strides = nothing(nan), (1,) * rank, (_PIECE // self._size,) * (rank - 1)
        kind = _FLOATS.get(said.dtype, _OTHERS[self._size])
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
            f"{self._said.base}, {self._said.dtype} at {numbers[0]:#x} with shape {shape} and strides {strides}, "
            f"{outside} outside"
        )

    def wrong(self, values: Sequence[Any]) -> str:
        """What hardware does not take of it, and a way out, as lines of a message; empty where that is not known."""
        said, numbers, rank, size = self._said, self._numbers(values), self._rank, self._size
        base, shape, strides = numbers[0], numbers[1 : 1 + rank], numbers[1 + rank : -1]
        found: list[str] = []
        if base % _PIECE:
            found.append(f"{said.base}: expected an address that is a multiple of {_PIECE}, got {base:#x}")
        for name, extent in zip(said.shape, shape, strict=True):
            if extent > _EXTENTS:
                found.append(f"{_named('an extent', name)}: expected up to {_EXTENTS}, got {extent}")
        for name, stride in zip(said.strides, strides, strict=True):
            if not 0 <= stride * size < _STRIDES or stride * size % _PIECE:
                wanted = f"a multiple of {max(1, _PIECE // size)} from 0 up to {(_STRIDES - 1) // size}"
                found.append(f"{_named('a stride', name)}: expected {wanted} elements, got {stride}")
        hint = "pass a copy that lies in memory like that" if found else ""
        if numbers[-1] and said.dtype not in _FLOATS:
            expected = (
                "expected zeros outside, as hardware knows NaN outside of floats of 16 bits and more only"
            )
            found.append(f"{_named(said.base, said.padding)}: {expected}, got NaN")
            hint = hint or "pass padding 'zero'"
        return "".join(f"\n{each}" for each in found) + (f"\nhint: {hint}" if hint else "")


def _named(what: str, said: int | str) -> str:
    """An argument by its name, or what a constant is."""
    return said if isinstance(said, str) else what


def _result(cuda: Any, status: int) -> Any:
    """A status as the bindings have it; they may be older than the driver."""
    try:
        return cuda.CUresult(status)
    except ValueError:
        return cuda.CUresult.CUDA_ERROR_UNKNOWN


def _encoder(cuda: Any, kernel: str) -> _Encode:
    """The driver's function. Not through the bindings: their map need not lie where the driver wants it."""
    name = "cuTensorMapEncodeTiled"
    # Bindings differ in what stands behind the address.
    status, address, *_ = cuda.cuGetProcAddress(name.encode(), _SINCE, 0)
    missing = (cuda.CUresult.CUDA_ERROR_NOT_FOUND, cuda.CUresult.CUDA_SUCCESS)
    if status in missing and not (address and int(address)):
        major, minor = driver_version()
        raise DriverError(
            f"{kernel}: cannot find {name}: the driver, for CUDA {major}.{minor}, makes no tensor maps"
            f"\nhint: update it to one for CUDA {_SINCE // 1000}.0 or newer, or build for sm_80",
            kernel,
            None,
            "CUDA_ERROR_NOT_FOUND",
        )
    if status:
        raise failure(cuda, status, f"find {name}", kernel)
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
