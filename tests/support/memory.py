"""Memory that tells when a kernel strays: pages that fault on both sides, and known bytes right next to the data."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

_PAGE = mmap.PAGESIZE
_PROT_NONE, _PROT_READ, _PROT_WRITE = 0, 1, 2
#: What fills the room around an array.
_CANARY = 0xA5

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Guarded:
    """A copy of an array that ends where a page begins that cannot be touched.

    Its start is a multiple of ``alignment`` and of an element's size, as near to the end of the page as that allows; what is left of
    its pages holds canaries, and the page before is forbidden too.
    """

    def __init__(self, array: NDArray[np.generic], alignment: int = 1, *, writable: bool = True) -> None:
        data = np.ascontiguousarray(array)
        pages = max(1, -(-data.nbytes // _PAGE)) + 1
        self._map = mmap.mmap(-1, (pages + 2) * _PAGE)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._low, self._high = _PAGE, (pages + 1) * _PAGE
        step = max(alignment, data.dtype.itemsize)
        self._start = (self._high - data.nbytes) // step * step
        self._stop = self._start + data.nbytes
        view = np.frombuffer(self._map, np.uint8)
        view[self._low : self._high] = _CANARY
        view[self._start : self._stop] = data.reshape(-1).view(np.uint8)
        self._view, self._like = view, data
        self._protect(0, self._low, _PROT_NONE)
        self._protect(self._high, _PAGE, _PROT_NONE)
        if not writable:
            self._protect(self._low, self._high - self._low, _PROT_READ)

    def _protect(self, start: int, size: int, protection: int) -> None:
        if _libc.mprotect(self._base + start, size, protection):
            raise OSError(ctypes.get_errno(), "mprotect")

    @property
    def address(self) -> int:
        """Where the copy lies."""
        return self._base + self._start

    def take(self) -> NDArray[np.generic]:
        """What the copy holds now. Raises AssertionError where something around it was written."""
        around = np.concatenate([self._view[self._low : self._start], self._view[self._stop : self._high]])
        assert (around == _CANARY).all(), "memory next to an argument was written"
        return self._view[self._start : self._stop].view(self._like.dtype).reshape(self._like.shape).copy()


@contextmanager
def aligned_scratch(size: int) -> Iterator[int]:
    """The address of ``size`` bytes at a multiple of 64; 0 for none."""
    if not size:
        yield 0
        return
    room = np.zeros(size + 64, np.uint8)
    yield -(-room.ctypes.data // 64) * 64
    del room


def forbidden() -> int:
    """An address that faults when it is read or written."""
    return _forbidden.address


class _Forbidden:
    def __init__(self) -> None:
        self._map = mmap.mmap(-1, 2 * _PAGE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        if _libc.mprotect(self.address, 2 * _PAGE, _PROT_NONE):
            raise OSError(ctypes.get_errno(), "mprotect")


_forbidden = _Forbidden()
