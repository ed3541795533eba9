"""A shared object from one relocatable object, with no linker: x86-64 ELF, as small as the loader allows.

The input is what LLVM writes for one of our modules: position-independent code and constants, no calls to anything outside.  The output has
three segments (constants, code, dynamic section), exports the global functions, and needs nothing.
(System V ABI and its AMD64 supplement: file layout, symbol table, relocation types.)
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from teenybuild.diagnostics import BugError

_PAGE = 0x1000
_EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
_SHDR = struct.Struct("<IIQQQQIIQQ")
_PHDR = struct.Struct("<IIQQQQQQ")
_SYM = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")

_SHT_PROGBITS, _SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS = 1, 2, 4, 8
_SHF_WRITE, _SHF_ALLOC, _SHF_EXEC = 1, 2, 4
_PT_LOAD, _PT_DYNAMIC, _PT_GNU_STACK = 1, 2, 0x6474E551
_R, _RW, _RX = 4, 6, 5
_R_PC32, _R_PLT32, _R_PC64 = 2, 4, 24
_SHN_UNDEF, _SHN_ABS = 0, 0xFFF1
_STB_GLOBAL, _STT_FUNC = 1, 2
_DT_NULL, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT = 0, 4, 5, 6, 10, 11


@dataclass(slots=True)
class _Section:
    name: str
    type: int
    flags: int
    data: bytearray
    align: int
    link: int
    info: int
    address: int = 0


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    info: int
    section: int
    value: int
    size: int


def shared_object(relocatable: bytes) -> bytes:
    """The bytes of a shared object. Raises :class:`BugError` for what our code generator must not have produced."""
    try:
        return _shared_object(relocatable)
    except (struct.error, IndexError, ValueError) as wrong:
        raise BugError(f"the host object is malformed: {wrong}") from None


def _shared_object(relocatable: bytes) -> bytes:
    sections, symbols = _read(relocatable)
    constants = _allocated(sections, lambda s: not s.flags & (_SHF_EXEC | _SHF_WRITE))
    code = _allocated(sections, lambda s: bool(s.flags & _SHF_EXEC))
    if _allocated(sections, lambda s: bool(s.flags & _SHF_WRITE)):
        raise BugError("a host object has writable data")
    exported = [s for s in symbols if s.section and s.info >> 4 == _STB_GLOBAL and s.info & 15 == _STT_FUNC]
    return _lay_out(sections, symbols, constants, code, exported)


def sections_of(data: bytes) -> dict[str, int]:
    """The bytes of each section of a 64-bit ELF file, by name: of a cubin, ``.text.`` and a kernel's symbol is its code."""
    try:
        return {section.name: len(section.data) for section in _sections(data)}
    except (struct.error, IndexError, ValueError):
        return {}


def _sections(data: bytes) -> list[_Section]:
    header = _EHDR.unpack_from(data)
    offset: int = header[6]
    count: int = header[12]
    names_at: int = header[13]
    raw: list[tuple[int, ...]] = [_SHDR.unpack_from(data, offset + i * _SHDR.size) for i in range(count)]

    def content(row: tuple[int, ...]) -> bytes:
        return bytes(row[5]) if row[1] == _SHT_NOBITS else data[row[4] : row[4] + row[5]]

    names = content(raw[names_at])
    return [
        _Section(_text(names, r[0]), r[1], r[2], bytearray(content(r)), max(r[8], 1), r[6], r[7]) for r in raw
    ]


def _read(data: bytes) -> tuple[list[_Section], list[_Symbol]]:
    header = _EHDR.unpack_from(data)
    if header[0][:6] != b"\x7fELF\x02\x01" or header[2] != 62:
        raise BugError("the host object is not x86-64 ELF")
    sections = _sections(data)
    symbols: list[_Symbol] = []
    for section in sections:
        if section.type == _SHT_SYMTAB:
            strings = bytes(sections[section.link].data)
            for name, info, _, index, value, size in _SYM.iter_unpack(bytes(section.data)):
                symbols.append(_Symbol(_text(strings, name), info, index, value, size))
    missing = sorted({s.name for s in symbols if s.section == _SHN_UNDEF and s.name})
    if missing:
        raise BugError(f"a host object calls {', '.join(missing)}, which nothing provides")
    return sections, symbols


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()


def _allocated(sections: list[_Section], wanted: Callable[[_Section], bool]) -> list[_Section]:
    """Sections that the loader maps: without unwind tables, which nothing here unwinds."""
    kept = [s for s in sections if s.flags & _SHF_ALLOC and s.data and s.name != ".eh_frame"]
    return [s for s in kept if s.type in (_SHT_PROGBITS, _SHT_NOBITS) and wanted(s)]


def _align(n: int, to: int) -> int:
    return -(-n // to) * to


def _lay_out(
    sections: list[_Section],
    symbols: list[_Symbol],
    constants: list[_Section],
    code: list[_Section],
    exported: list[_Symbol],
) -> bytes:
    strings = b"\0" + b"".join(s.name.encode() + b"\0" for s in exported)
    headers = _EHDR.size + 5 * _PHDR.size
    hash_at = _align(headers, 8)
    # One bucket: a chain through all symbols. There are two.
    table = struct.pack("<II", 1, len(exported) + 1) + struct.pack("<I", 1 if exported else 0)
    chain = [0, *range(2, len(exported) + 1), 0] if exported else [0]
    table += struct.pack(f"<{len(chain)}I", *chain)
    symbols_at = _align(hash_at + len(table), 8)
    strings_at = symbols_at + (len(exported) + 1) * _SYM.size
    at = strings_at + len(strings)
    for section in constants:
        section.address = at = _align(at, section.align)
        at += len(section.data)
    constants_end = at
    code_at = at = _align(at, _PAGE)
    for section in code:
        section.address = at = _align(at, section.align)
        at += len(section.data)
    code_end = at
    dynamic_at = _align(at, _PAGE)
    dynamic = b"".join(
        struct.pack("<qQ", tag, value)
        for tag, value in (
            (_DT_HASH, hash_at),
            (_DT_STRTAB, strings_at),
            (_DT_SYMTAB, symbols_at),
            (_DT_STRSZ, len(strings)),
            (_DT_SYMENT, _SYM.size),
            (_DT_NULL, 0),
        )
    )
    _relocate(sections, symbols)
    image = bytearray(dynamic_at + len(dynamic))
    image[: _EHDR.size] = _EHDR.pack(
        b"\x7fELF\x02\x01\x01" + bytes(9),
        3,
        62,
        1,
        0,
        _EHDR.size,
        0,
        0,
        _EHDR.size,
        _PHDR.size,
        5,
        _SHDR.size,
        0,
        0,
    )
    programs = (
        (_PT_LOAD, _R, 0, constants_end, _PAGE),
        (_PT_LOAD, _RX, code_at, code_end - code_at, _PAGE),
        (_PT_LOAD, _RW, dynamic_at, len(dynamic), _PAGE),
        (_PT_DYNAMIC, _RW, dynamic_at, len(dynamic), 8),
        (_PT_GNU_STACK, _RW, 0, 0, 16),
    )
    for i, (type_, flags, offset, size, align) in enumerate(programs):
        _PHDR.pack_into(
            image, _EHDR.size + i * _PHDR.size, type_, flags, offset, offset, offset, size, size, align
        )
    image[hash_at : hash_at + len(table)] = table
    for i, symbol in enumerate(exported, start=1):
        name = strings.index(b"\0" + symbol.name.encode() + b"\0") + 1
        address = sections[symbol.section].address + symbol.value
        # Any section index but 0 says «defined»; there are no section headers to point into.
        _SYM.pack_into(image, symbols_at + i * _SYM.size, name, symbol.info, 0, 1, address, symbol.size)
    image[strings_at : strings_at + len(strings)] = strings
    for section in (*constants, *code):
        image[section.address : section.address + len(section.data)] = section.data
    image[dynamic_at:] = dynamic
    return bytes(image)


def _relocate(sections: list[_Section], symbols: list[_Symbol]) -> None:
    for table in sections:
        if table.type != _SHT_RELA:
            continue
        target = sections[table.info]
        if not target.address:
            continue
        entries: list[tuple[int, int, int]] = list(_RELA.iter_unpack(bytes(table.data)))
        for offset, info, addend in entries:
            symbol, kind = symbols[info >> 32], info & 0xFFFFFFFF
            place = target.address + offset
            value = sections[symbol.section].address + symbol.value + addend - place
            if kind in (_R_PC32, _R_PLT32):
                struct.pack_into("<i", target.data, offset, value)
            elif kind == _R_PC64:
                struct.pack_into("<q", target.data, offset, value)
            else:
                raise BugError(f"a host object needs the relocation type {kind} in {target.name}")
