"""What a program on the host tells: lines that it prints, and what goes wrong in it."""

from __future__ import annotations

import ctypes
import math
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from .dtypes import DTYPES
from .errors import KernelError
from .layout import Layout
from .views import View

#: ``i32 report(i32 number, i32 x, i32 y, i32 z, ptr values)``
_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p
)
#: How elements lie in memory, for :mod:`struct`; bf16 is the upper half of an f32.
_FORMATS = {name: dtype.format for name, dtype in DTYPES.items()} | {"ptr": "Q"}
#: An address so many bytes from an array is taken to be meant for it.
_NEAR = 1 << 16
#: Wrongs that are told one by one; of the rest, how many there were.
_TOLD = 5
#: Lines of one tile stay together, though launches of several threads print.
_printing = threading.Lock()


@dataclass(frozen=True)
class LaunchedArray:
    """The bytes of one array of a launch, ``size`` an element."""

    name: str
    start: int
    bytes: int
    size: int

    def __contains__(self, address: int) -> bool:
        return self.start <= address < self.start + self.bytes

    def distance(self, address: int) -> int:
        """Bytes from the array to an address outside of it."""
        return self.start - address if address < self.start else address - self.start - self.bytes

    def element(self, address: int) -> str:
        """What stands, or would stand, at an address."""
        return f"{self.name}[{(address - self.start) // self.size}]"


def launched_arrays(layout: Layout, views: Sequence[View]) -> list[LaunchedArray] | None:
    """The arrays of a launch; None where one has gaps, so that its end is not known."""
    found: list[LaunchedArray] = []
    for pointer in layout.pointers:
        _, address, _, contiguous, _, count, _ = views[pointer.place]
        if not contiguous:
            return None
        size = DTYPES[pointer.what[1:]].size
        found.append(LaunchedArray(layout.arguments[pointer.place].name, address, count * size, size))
    return found


class Reports:
    """Takes the reports of one launch. ``callback`` and ``table`` are what the code is given, and live as long as this.

    ``arrays`` are all that the kernel may touch; None where that is not known.
    """

    def __init__(
        self, reports: Sequence[dict[str, Any]], kernel: str, arrays: Sequence[LaunchedArray] | None = None
    ) -> None:
        self._reports = reports
        self._kernel = kernel
        self._arrays = arrays or ()
        self._wrong: dict[tuple[int, tuple[int, int, int]], str] = {}
        self.callback = _Callback(self._take)
        self.table: ctypes.Array[ctypes.c_uint64] | None = None
        if arrays is not None:
            self._writers = [(ctypes.c_int32 * each.bytes)() for each in arrays]
            rows = zip(arrays, self._writers, strict=True)
            words = [
                w for a, writers in rows for w in (a.start, a.start + a.bytes, ctypes.addressof(writers))
            ]
            self.table = (ctypes.c_uint64 * (1 + len(words)))(len(arrays), *words)

    def _take(self, number: int, x: int, y: int, z: int, address: int | None) -> int:
        report, program = self._reports[number], (x, y, z)
        with _printing:
            match report["kind"]:
                case "print":
                    print("".join(f"{line}\n" for line in _lines(report, program, address)), end="")
                    return 0
                case "assert":
                    text = f"assertion failed: {report['text']}" if report["text"] else "assertion failed"
                    wrong = f"{text} (program {program}{_first_false(report, address)})"
                case "race":
                    wrong = (
                        f"{self._element(address)} is written by program {program}, and by another before it"
                    )
                case _:
                    wrong = f"{report['text']} of {self._element(address)} by program {program}"
            # The first of a place and program: the others follow from the same mistake.
            self._wrong.setdefault((number, program), wrong)
        return 1

    def _element(self, address: int | None) -> str:
        address = address or 0
        inside = next((a for a in self._arrays if address in a), None)
        if inside is not None:
            return inside.element(address)
        near = min(self._arrays, key=lambda a: a.distance(address), default=None)
        if near is None or near.distance(address) > max(near.bytes, _NEAR):
            return "an address in no array"
        return f"{near.element(address)}, which has {near.bytes // near.size} elements,"

    def check(self) -> None:
        """Raises :class:`KernelError` where something went wrong; the first program's comes first."""
        if not self._wrong:
            return
        found = sorted(self._wrong.items(), key=lambda item: (item[0][1][::-1], item[0][0]))
        told: list[str] = []
        for (number, _), wrong in found[:_TOLD]:
            report = self._reports[number]
            place = f"{report['place']}: " if "place" in report else ""
            told.append(f"{self._kernel}: {wrong}\n  {place}{report['code']}")
        if len(found) > _TOLD:
            told.append(f"and {len(found) - _TOLD} more")
        raise KernelError("\n".join(told), self._kernel)


def _elements(value: dict[str, Any], address: int) -> tuple[Any, ...]:
    code = _FORMATS[value["dtype"]]
    count = math.prod(value["shape"])
    data = ctypes.string_at(address + value["offset"], count * struct.calcsize(code))
    return struct.unpack(f"={count}{code}", data)


def _indices(shape: Sequence[int]) -> Iterator[str]:
    """Of each element, row-major, as the lines of a GPU have it."""
    widths = [len(str(side - 1)) for side in shape]
    for index in product(*map(range, shape)):
        yield ", ".join(f"{i:{w}}" for i, w in zip(index, widths, strict=True))


def _lines(report: dict[str, Any], program: tuple[int, int, int], address: int | None) -> Iterator[str]:
    """A line for each element: as a GPU prints it, in order."""
    start = f"pid {program}"
    if not report["values"]:
        yield f"{start}{report['text']}"
    for number, value in enumerate(report["values"]):
        operand = f"(operand {number}) " if len(report["values"]) > 1 else ""
        assert address is not None
        elements = zip(_indices(value["shape"]), _elements(value, address), strict=True)
        for index, element in elements:
            shown = _spelled(value["dtype"], element, report["hex"])
            yield f"{start} idx ({index}){report['text']}{operand}{shown}"


def _spelled(dtype: str, value: Any, hexadecimal: bool) -> str:
    """As ``printf`` writes it: ``%f``, ``%i``, or in hexadecimal the bits."""
    if dtype == "ptr":
        return f"0x{value:x}"
    if hexadecimal:
        data = struct.pack(f"<{_FORMATS[dtype]}", value)
        return f"0x{int.from_bytes(data, 'little'):0{1 if dtype == 'i1' else 2 * len(data)}x}"
    if dtype == "bf16":
        (value,) = struct.unpack("<f", struct.pack("<I", value << 16))
    elif dtype == "f8e5m2":
        (value,) = struct.unpack("<e", struct.pack("<H", value << 8))
    elif dtype == "f8e4m3":
        value = _of_e4m3(value)
    return f"{value:f}" if dtype[0] in "fb" else str(int(value))


def _of_e4m3(bits: int) -> float:
    """The number that 8 bits of four exponent and three mantissa bits are."""
    exponent, mantissa = bits >> 3 & 15, bits & 7
    size = mantissa / 512 if exponent == 0 else (8 + mantissa) * 2.0 ** (exponent - 10)
    return (-1 if bits & 0x80 else 1) * (math.nan if bits & 0x7F == 0x7F else size)


def _first_false(report: dict[str, Any], address: int | None) -> str:
    """Which element of a tile the assertion fails for first; nothing for a scalar."""
    (value,) = report["values"]
    if not value["shape"]:
        return ""
    assert address is not None
    for index, holds in zip(product(*map(range, value["shape"])), _elements(value, address), strict=True):
        if not holds:
            return f", element [{', '.join(map(str, index))}]"
    return ""
