"""What one specialisation fixes: concrete types, constant values, assumptions.

Frozen and hashable, and known to everything above: manifest, compiler, cache keys, loader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

from teenybuild.diagnostics import did_you_mean
from teenybuild.dtypes import BY_LANGUAGE, BY_NAME, BY_NUMPY, DType, i1, i32, i64

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number passed by value: ``i32``."""

    dtype: DType

    def __str__(self) -> str:
        return self.dtype.name


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of elements in memory: ``*f32``."""

    dtype: DType

    def __str__(self) -> str:
        return f"*{self.dtype.name}"


@dataclass(frozen=True, slots=True)
class Absent:
    """An argument that this specialisation does not have: ``none``. The kernel sees ``None``."""

    def __str__(self) -> str:
        return "none"


@dataclass(frozen=True, slots=True)
class Tuple:
    """Several arguments that are passed, and seen by the kernel, as one tuple: ``(*f32, i32)``."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return spell_tuple(self.items)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """An array that the kernel sees in blocks, with its shape and strides: ``desc<f16[128, 64]>``."""

    dtype: DType
    block: tuple[int, ...]

    def __str__(self) -> str:
        return spell_descriptor(self.dtype, self.block)


#: A type with nothing left open. ``str()`` gives the manifest's spelling back.
Type: TypeAlias = Scalar | Pointer | Absent | Tuple | Descriptor


def spell_tuple(items: Sequence[object]) -> str:
    """A tuple of types as the manifest spells it: one entry has a comma after it, as in Python."""
    return f"({', '.join(map(str, items))}{',' if len(items) == 1 else ''})"


def spell_descriptor(dtype: object, block: Sequence[object]) -> str:
    """A tensor descriptor as the manifest spells it."""
    return f"desc<{dtype}[{', '.join(map(str, block))}]>"


#: What one argument is of a descriptor; empty for one that is itself.
Part: TypeAlias = Literal["", "base", "shape", "stride", "padding"]

#: Bytes that the address and all strides but the last of a descriptor's array are multiples of, and that the last axis of a block has at least;
#: axes of a block, and elements of it, at most. The hardware's descriptors ask for the first three, the last is the largest tile.
DESCRIPTOR_BYTES, DESCRIPTOR_AXES, LARGEST_TILE = 16, 5, 1 << 20
#: The most stages a loop is pipelined in.
MOST_STAGES = 8


@dataclass(frozen=True, slots=True)
class Leaf:
    """One argument that is passed of a parameter: the parameter itself, an entry of a tuple, or a part of a descriptor.

    ``name`` is how people and contracts call it: ``ptrs[1]``, ``a.shape[0]``; the base of a descriptor has the descriptor's name. ``path``
    leads to it (to its descriptor) through tuples. ``assume`` holds for every descriptor.
    """

    name: str
    path: tuple[int, ...]
    part: Part
    type: Scalar | Pointer | Absent
    assume: Assume | None = None


def leaves(name: str, type_: Type, path: tuple[int, ...] = ()) -> Iterator[Leaf]:
    """What is passed for a parameter, in order, entries that are absent among them.

    A descriptor is its base, its extents, its strides but for the last, which is 1, and whether it is padded with NaN. The map that the hardware wants
    would come in the place of the base.
    """
    match type_:
        case Tuple():
            for index, item in enumerate(type_.items):
                yield from leaves(f"{name}[{index}]", item, (*path, index))
        case Descriptor():
            aligned = Assume("div", DESCRIPTOR_BYTES)
            step = Assume("div", max(1, DESCRIPTOR_BYTES // type_.dtype.size))
            yield Leaf(name, path, "base", Pointer(type_.dtype), aligned)
            for axis in range(len(type_.block)):
                yield Leaf(f"{name}.shape[{axis}]", path, "shape", Scalar(i32))
            for axis in range(len(type_.block) - 1):
                yield Leaf(f"{name}.strides[{axis}]", path, "stride", Scalar(i64), step)
            yield Leaf(f"{name}.padding", path, "padding", Scalar(i1))
        case _:
            yield Leaf(name, path, "", type_)


def said_of(name: str, said: Container[str]) -> str | None:
    """The name under which something is said of an argument: its own, or that of a tuple that it is in; None for neither."""
    while name not in said:
        if not name.endswith("]") or "." in name:
            return None
        name = name.rpartition("[")[0]
    return name


def assumed_of(leaf: Leaf, assume: Mapping[str, Assume]) -> Assume | None:
    """What holds for an argument: what is assumed of it, or what holds for every descriptor where that says more."""
    said = assume.get(leaf.name)
    if said is None or (leaf.assume is not None and said.kind == "div" and said.value < leaf.assume.value):
        return leaf.assume
    return said


_ENTRY = re.compile(r"\[(0|[1-9][0-9]*)\]")
_EXTENT = re.compile(r"\.(shape|strides)\[(0|[1-9][0-9]*)\]")


def parameter_of(name: str) -> str:
    """The parameter that a name of an argument belongs to: ``ptrs`` of ``ptrs[1]``."""
    return re.split(r"[\[.]", name, maxsplit=1)[0]


def is_entry_name(name: str) -> bool:
    """Whether a text has the form of the name of an argument: ``x``, ``ptrs[1]``, ``a.shape[0]``."""
    return re.fullmatch(rf"[A-Za-z_][A-Za-z0-9_]*({_ENTRY.pattern})*({_EXTENT.pattern})?", name) is not None


def type_at(type_: Type, name: str) -> Type | None:
    """The type of what ``name`` names of a parameter of ``type_``, or None where that has no such entry.

    ``a.shape[0]`` and ``a.strides[0]`` of a descriptor are integers.
    """
    at = len(parameter_of(name))
    while at < len(name):
        entry = _ENTRY.match(name, at)
        if entry is not None and isinstance(type_, Tuple) and int(entry[1]) < len(type_.items):
            type_ = type_.items[int(entry[1])]
            at = entry.end()
            continue
        extent = _EXTENT.fullmatch(name, at)
        if extent is None or not isinstance(type_, Descriptor):
            return None
        of = len(type_.block) - (extent[1] == "strides")
        return Scalar(i32 if extent[1] == "shape" else i64) if int(extent[2]) < of else None
    return type_


#: A constant. ``None`` never comes from a manifest, but may come from Python.
Value: TypeAlias = int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class Assume:
    """What the compiler may rely on for one argument, and the loader checks before a launch.

    ``div``: the value, or the address in bytes, is a multiple of ``value`` (a power of two).
    ``eq``: the integer is ``value``.
    """

    kind: Literal["div", "eq"]
    value: int

    def __str__(self) -> str:
        return f"{self.kind}={self.value}"


class TypeSyntaxError(ValueError):
    """A type that cannot be read.

    ``start`` and ``end`` count characters of the text from 0, ``end`` exclusive. ``hint`` is a way out, if one is known.
    """

    def __init__(self, message: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint


def parse_type(text: str) -> Type:
    """The concrete type that ``text`` spells: ``i32``, ``*f16``, ``none``, ``(*f32, i32)`` or ``desc<f16[128, 64]>``.

    Raises :class:`TypeSyntaxError`.
    """
    return TypeParser[Type](text, _parse_plain, Tuple, _descriptor).whole()


def _descriptor(dtype: Type, block: Sequence[Extent], start: int) -> Type:
    sides: list[int] = []
    for side in block:
        if side.value is None:
            message = f'"{side.text}" is not a number, and a block of a concrete type has numbers'
            raise TypeSyntaxError(message, side.start, side.end)
        sides.append(side.value)
    if not isinstance(dtype, Scalar):
        raise no_element(dtype, start)
    wrong = block_problem(dtype.dtype, tuple(sides))
    if wrong is not None:
        raise TypeSyntaxError(wrong, block[0].start, block[-1].end)
    return Descriptor(dtype.dtype, tuple(sides))


def no_element(dtype: object, start: int) -> TypeSyntaxError:
    """The error for a descriptor, written from ``start`` on, of something that is no dtype."""
    start += len("desc<")
    return TypeSyntaxError(
        f"a descriptor is of elements of a dtype, not of {dtype}", start, start + len(str(dtype))
    )


def side_problem(side: object) -> str | None:
    """Why a block cannot have a side of so many elements, or None."""
    if isinstance(side, bool) or not isinstance(side, int) or side < 1 or side & (side - 1):
        return f"sides of a block are powers of two, not {side}"
    return None


def block_problem(dtype: DType, block: tuple[int, ...]) -> str | None:
    """Why there are no descriptors with such blocks, or None."""
    wrong = next((problem for side in block if (problem := side_problem(side)) is not None), None)
    if wrong is not None:
        return wrong
    count = 1
    for side in block:
        count *= side
    if count > LARGEST_TILE:
        return f"a block has at most {LARGEST_TILE:,} elements, not {count:,}"
    if block[-1] * dtype.size < DESCRIPTOR_BYTES:
        of = f"{block[-1]} elements of {dtype}"
        return f"the last axis of a block has at least {DESCRIPTOR_BYTES} bytes, and this has {of}"
    return None


#: Of a side of a block. Python refuses thousands.
_MOST_DIGITS = 18
#: Tuples within tuples.
_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Extent:
    """A side of a block as it is written: a number, or a name (``value`` None) where types may have those. Places count characters."""

    text: str
    start: int
    end: int

    @property
    def value(self) -> int | None:
        number = self.text.isdecimal() and self.text.isascii() and len(self.text) <= _MOST_DIGITS
        return int(self.text) if number else None


class TypeParser(Generic[T]):
    """Reads a type by what its parts are made into: ``plain`` a dtype, pointer or name, ``several`` a tuple, ``blocks`` a descriptor.

    Both are told where that starts in the text; errors of ``plain`` count from there.
    """

    def __init__(
        self,
        text: str,
        plain: Callable[[str, int], T],
        several: Callable[[tuple[T, ...]], T],
        blocks: Callable[[T, Sequence[Extent], int], T],
    ) -> None:
        self._text, self._at, self._depth = text, 0, 0
        self._plain, self._several, self._blocks = plain, several, blocks

    def whole(self) -> T:
        """The type. Raises :class:`TypeSyntaxError`."""
        if not self._text.startswith(("(", "desc<")):
            return self._plain(self._text, 0)
        found = self._type()
        self._skip()
        if self._at < len(self._text):
            raise self._expected("the end")
        return found

    def _type(self) -> T:
        self._skip()
        start, text = self._at, self._text
        if text.startswith("(", start):
            return self._tuple()
        if text.startswith("desc<", start):
            return self._descriptor()
        while self._at < len(text) and text[self._at] not in "(),<>[]":
            self._at += 1
        name = text[start : self._at].rstrip()
        if not name:
            raise self._expected("a type")
        if name.isdecimal() or name in ("True", "False"):
            message = f"{name} is a value, and entries of a tuple have types"
            hint = "a constant is a parameter of its own, with its values under const"
            raise TypeSyntaxError(message, start, start + len(name), hint)
        try:
            return self._plain(name, start)
        except TypeSyntaxError as wrong:
            raise TypeSyntaxError(wrong.message, start + wrong.start, start + wrong.end, wrong.hint) from None

    def _tuple(self) -> T:
        start = self._at
        if self._depth == _DEEPEST:
            raise TypeSyntaxError(f"tuples are nested at most {_DEEPEST} deep", start, start + 1)
        self._depth += 1
        self._at += 1
        items: list[T] = []
        comma = True
        while not self._take(")"):
            if not comma:
                raise self._expected('"," or ")"')
            items.append(self._type())
            comma = self._take(",")
        self._depth -= 1
        if len(items) == 1 and not comma:
            inner = self._text[start + 1 : self._at - 1].strip()
            message = "a tuple of one entry has a comma after it, as in Python"
            raise TypeSyntaxError(message, start, self._at, f'write "({inner},)", or "{inner}" alone')
        return self._several(tuple(items))

    def _descriptor(self) -> T:
        start = self._at
        self._at += len("desc<")
        if self._text.startswith(("desc<", "("), self._at):
            raise self._expected("a dtype")
        dtype = self._type()
        if not self._take("["):
            raise self._expected('"[" and the sides of a block')
        block: list[Extent] = []
        while not block or not self._take("]"):
            if block and not self._take(","):
                raise self._expected('"," or "]"')
            block.append(self._extent())
        if not self._take(">"):
            raise self._expected('">"')
        if len(block) > DESCRIPTOR_AXES:
            message = f"a descriptor has up to {DESCRIPTOR_AXES} axes, not {len(block)}"
            raise TypeSyntaxError(message, block[0].start, block[-1].end)
        return self._blocks(dtype, block, start)

    def _extent(self) -> Extent:
        self._skip()
        found = re.compile(r"[A-Za-z0-9_]+").match(self._text, self._at)
        if found is None:
            raise self._expected("a side of the block")
        self._at = found.end()
        return Extent(found[0], *found.span())

    def _skip(self) -> None:
        while self._text.startswith(" ", self._at):
            self._at += 1

    def _take(self, symbol: str) -> bool:
        self._skip()
        if not self._text.startswith(symbol, self._at):
            return False
        self._at += 1
        return True

    def _expected(self, what: str) -> TypeSyntaxError:
        at, end = self._at, len(self._text)
        if at >= end:
            return TypeSyntaxError(f"expected {what}, but the type ends", max(end - 1, 0), end)
        return TypeSyntaxError(f'expected {what}, not "{self._text[at]}"', at, at + 1)


def _parse_plain(text: str, start: int = 0) -> Type:
    stars = len(text) - len(text.lstrip("*"))
    name = text[stars:]
    if name.startswith(("(", "desc")) and not stars:
        raise TypeSyntaxError(
            f'"{text}" is not a type', 0, len(text), "a tensor descriptor is desc<f16[128, 64]>"
        )
    if stars and name.startswith(("(", "desc<")):
        what = "tuples" if name.startswith("(") else "tensor descriptors"
        raise TypeSyntaxError(f"there are no pointers to {what}", 0, len(text))
    if stars > 1:
        raise TypeSyntaxError(
            "pointers to pointers are not supported",
            0,
            stars,
            f"pass the address as an integer, or as *{name}",
        )
    if name == "none":
        if stars:
            raise TypeSyntaxError("a pointer to none is not a type", 0, len(text), 'write "none"')
        return Absent()
    if not name:
        message = "a dtype is missing after *" if stars else "a type is missing"
        raise TypeSyntaxError(message, 0, max(stars, 1), f"dtypes are {', '.join(BY_NAME)}")
    dtype = BY_NAME.get(name)
    if dtype is None:
        raise TypeSyntaxError(f'"{name}" is not a dtype', stars, len(text), _meant(name))
    return Pointer(dtype) if stars else Scalar(dtype)


def canonical(value: Value) -> str:
    """One text for each constant, different for constants that differ: what digests and comparisons are made of.

    ``1``, ``1.0``, ``true`` and ``"1"`` are four constants; ``0.0`` and ``-0.0`` two; every NaN is one.
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value)


def _meant(name: str) -> str:
    """People write what Triton, NumPy or the language calls a dtype; those are known exactly."""
    spelling = {d.triton: d for d in BY_NAME.values()} | BY_LANGUAGE | BY_NUMPY
    bare = name.strip().removeprefix("tl.")
    if bare in spelling:
        return f"did you mean {spelling[bare].name}?"
    return did_you_mean(bare, [*BY_NAME, "none"]) or f"dtypes are {', '.join(BY_NAME)}"
