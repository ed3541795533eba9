"""Shared objects made without a linker: they load, need nothing, are the same every time; bad input is refused."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from teenybuild.compiler import elf, emit
from teenybuild.diagnostics import BugError
from tests.support.catalogue import CATALOGUE

TRIPLE, CPU = "x86_64-unknown-linux-gnu", "x86-64-v3"

ADD = """
@table = private constant [4 x i32] [i32 10, i32 20, i32 30, i32 40], align 16
define i32 @pick(i32 %i) {
  %wide = zext i32 %i to i64
  %at = getelementptr i32, ptr @table, i64 %wide
  %x = load i32, ptr %at
  %y = call i32 @twice(i32 %x)
  ret i32 %y
}
define internal i32 @twice(i32 %x) noinline {
  %y = add i32 %x, %x
  ret i32 %y
}
define double @scaled(double %x) {
  %y = fmul double %x, 2.5
  ret double %y
}
"""


def relocatable(text: str = ADD) -> bytes:
    return emit.host_object(text, TRIPLE, CPU, "")


def load(data: bytes, directory: Path) -> ctypes.CDLL:
    path = directory / "made.so"
    path.write_bytes(data)
    return ctypes.CDLL(str(path))


def test_it_loads_and_runs(tmp_path: Path) -> None:
    """Functions, a call between them, and two kinds of constants, reached by relative addresses."""
    library = load(elf.shared_object(relocatable()), tmp_path)
    library.scaled.restype, library.scaled.argtypes = ctypes.c_double, [ctypes.c_double]
    assert [library.pick(i) for i in range(4)] == [20, 40, 60, 80]
    assert library.scaled(3.0) == 7.5
    with pytest.raises(AttributeError):
        _ = library.twice


def dynamic(data: bytes) -> dict[int, int]:
    """The entries of the dynamic section."""
    [(_, _, offset, _, _, size, _, _)] = [p for p in programs(data) if p[0] == 2]
    return dict(struct.iter_unpack("<qQ", data[offset : offset + size]))


def programs(data: bytes) -> list[tuple[int, ...]]:
    offset, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    return [struct.unpack_from("<IIQQQQQQ", data, offset + 56 * i) for i in range(count)]


def symbols(data: bytes) -> list[tuple[str, int]]:
    """(name, section) of the dynamic symbols."""
    tags = dynamic(data)
    at, strings = tags[6], tags[5]
    count = struct.unpack_from("<II", data, tags[4])[1]
    found: list[tuple[str, int]] = []
    for i in range(count):
        name, _, _, section, _, _ = struct.unpack_from("<IBBHQQ", data, at + 24 * i)
        start = strings + name
        found.append((data[start : data.index(b"\0", start)].decode(), section))
    return found


def test_it_needs_nothing() -> None:
    """No library, no relocation left, no undefined symbol; no page is both writable and executable."""
    data = elf.shared_object(relocatable())
    assert not dynamic(data).keys() & {1, 7, 17, 23}  # NEEDED, RELA, REL, JMPREL
    assert symbols(data) == [("", 0), ("pick", 1), ("scaled", 1)]
    assert [p for p in programs(data) if p[1] & 1 and p[1] & 2] == []


@pytest.mark.parametrize("name", CATALOGUE)
@pytest.mark.parametrize("target", ["cpu", "cpu:sm_90a"])
def test_every_kernel_exports_its_two_functions(name: str, target: str) -> None:
    data = CATALOGUE[name].compile(target).path.read_bytes()
    assert [s for s, _ in symbols(data)] == ["", "kernel_entry_point", "kernel_entry_point_range"]
    assert not dynamic(data).keys() & {1, 7, 17, 23}


def test_it_is_deterministic() -> None:
    assert elf.shared_object(relocatable()) == elf.shared_object(relocatable())


def test_segments_lie_as_the_loader_wants_them() -> None:
    """File offset and address agree, pages do not overlap, everything lies in the file."""
    data = elf.shared_object(relocatable())
    loads = [p for p in programs(data) if p[0] == 1]
    assert len(loads) == 3
    end = 0
    for _, _, offset, address, _, in_file, in_memory, align in loads:
        assert (offset, in_file) == (address, in_memory)
        assert offset % align == address % align
        assert offset // align * align >= end
        end = offset + in_file
        assert end <= len(data)


def changed(offset: int, value: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[:offset] + value + data[offset + len(value) :]


BAD: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "not ELF": lambda data: b"\x7fELG" + data[4:],
    "cut in the header": lambda data: data[:40],
    "cut in the sections": lambda data: data[: len(data) - 100],
    "32 bits": changed(4, b"\x01"),
    "big-endian": changed(5, b"\x02"),
    "another machine": changed(18, b"\xb7\x00"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused(case: str) -> None:
    with pytest.raises(BugError):
        elf.shared_object(BAD[case](relocatable()))


REFUSED = {
    "calls outside": (
        "declare double @sin(double)\ndefine double @f(double %x) {\n  %y = call double @sin(double %x)\n  ret double %y\n}\n",
        "sin",
    ),
    "data outside": (
        "@there = external global i32\ndefine i32 @f() {\n  %y = load i32, ptr @there\n  ret i32 %y\n}\n",
        "there",
    ),
    "writable data": (
        "@here = global i32 3\ndefine i32 @f() {\n  %y = load i32, ptr @here\n  ret i32 %y\n}\n",
        "writable data",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_host_object_may_not_have(case: str) -> None:
    text, named = REFUSED[case]
    with pytest.raises(BugError, match=named):
        elf.shared_object(relocatable(text))


def test_large_alignment_and_many_constants(tmp_path: Path) -> None:
    """Constants of every width keep their alignment."""
    tables = "".join(
        f"@t{n} = private constant [8 x i64] [{', '.join(f'i64 {n * 8 + i}' for i in range(8))}], align 64\n"
        for n in range(20)
    )
    function = "define i64 @sum(i64 %i) {\nentry:\n" + "".join(
        f"  %p{n} = getelementptr i64, ptr @t{n}, i64 %i\n  %x{n} = load i64, ptr %p{n}\n" for n in range(20)
    )
    total = "  %s0 = add i64 %x0, 0\n" + "".join(
        f"  %s{n} = add i64 %s{n - 1}, %x{n}\n" for n in range(1, 20)
    )
    library = load(elf.shared_object(relocatable(f"{tables}{function}{total}  ret i64 %s19\n}}\n")), tmp_path)
    assert [library.sum(i) for i in range(8)] == [sum(n * 8 + i for n in range(20)) for i in range(8)]
