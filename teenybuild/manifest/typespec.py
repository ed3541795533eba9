"""Types of arguments as the manifest writes them: concrete, or with dtype variables and, for the blocks of descriptors, names of consts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeGuard

from teenybuild.dtypes import DType
from teenybuild.types import (
    Absent,
    Descriptor,
    Extent,
    Pointer,
    Scalar,
    Tuple,
    Type,
    TypeParser,
    TypeSyntaxError,
    block_problem,
    no_element,
    parse_type,
    side_problem,
    spell_descriptor,
    spell_tuple,
)

#: Dtype variables are upper case, dtypes lower: neither can be mistaken for the other.
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Variable:
    """What a dtype variable stands for, or (``pointer``) the address of such elements: ``D``, ``*D``.

    ``start`` is where its name stands in the type.
    """

    name: str
    pointer: bool
    start: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"*{self.name}" if self.pointer else self.name


@dataclass(frozen=True, slots=True)
class Side:
    """A side of a block that a const gives; ``start`` is where its name stands in the type."""

    name: str
    start: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class TupleSpec:
    """A tuple of which something is open: ``(*D, i32)``."""

    items: tuple[TypeSpec, ...]

    def __str__(self) -> str:
        return spell_tuple(self.items)


@dataclass(frozen=True, slots=True)
class DescriptorSpec:
    """A descriptor of which something is open: ``desc<D[BLOCK_M, 64]>``."""

    dtype: Scalar | Variable
    block: tuple[int | Side, ...]

    def __str__(self) -> str:
        return spell_descriptor(self.dtype, self.block)


#: The type of an argument before dtype variables are bound.
TypeSpec: TypeAlias = Type | Variable | TupleSpec | DescriptorSpec


def parse_spec(text: str) -> TypeSpec:
    """The type that ``text`` spells, where upper-case names are dtype variables, and names in blocks are consts.

    Raises :class:`~teenybuild.types.TypeSyntaxError`.
    """
    return TypeParser[TypeSpec](text, _plain, _tuple, _descriptor).whole()


def _plain(text: str, start: int) -> TypeSpec:
    pointer = text.startswith("*")
    name = text[1:] if pointer else text
    if VARIABLE.fullmatch(name):
        return Variable(name, pointer, start + pointer)
    return parse_type(text)


def _tuple(items: tuple[TypeSpec, ...]) -> TypeSpec:
    known = tuple(item for item in items if is_concrete(item))
    return Tuple(known) if len(known) == len(items) else TupleSpec(items)


def _descriptor(dtype: TypeSpec, block: Sequence[Extent], start: int) -> TypeSpec:
    sides: list[int | Side] = []
    for side in block:
        if side.value is None and not _NAME.fullmatch(side.text):
            raise TypeSyntaxError(f'"{side.text}" is neither a number nor a const', side.start, side.end)
        if side.value is not None and (wrong := side_problem(side.value)) is not None:
            raise TypeSyntaxError(wrong, side.start, side.end)
        sides.append(Side(side.text, side.start) if side.value is None else side.value)
    if not isinstance(dtype, Scalar | Variable) or (isinstance(dtype, Variable) and dtype.pointer):
        raise no_element(dtype, start)
    known = tuple(side for side in sides if isinstance(side, int))
    if isinstance(dtype, Scalar) and len(known) == len(sides):
        if (wrong := block_problem(dtype.dtype, known)) is not None:
            raise TypeSyntaxError(wrong, block[0].start, block[-1].end)
        return Descriptor(dtype.dtype, known)
    return DescriptorSpec(dtype, tuple(sides))


def is_concrete(spec: TypeSpec) -> TypeGuard[Type]:
    """Whether nothing of a type is open."""
    return not isinstance(spec, Variable | TupleSpec | DescriptorSpec)


def variables(spec: TypeSpec) -> Iterator[Variable]:
    """The dtype variables of a type, in order."""
    match spec:
        case Variable():
            yield spec
        case TupleSpec(items=items):
            for item in items:
                yield from variables(item)
        case DescriptorSpec(dtype=Variable() as dtype):
            yield dtype
        case _:
            pass


def sides(spec: TypeSpec) -> Iterator[Side]:
    """The consts that sides of blocks are, in order."""
    match spec:
        case TupleSpec(items=items):
            for item in items:
                yield from sides(item)
        case DescriptorSpec(block=block):
            yield from (side for side in block if isinstance(side, Side))
        case _:
            pass


def substitute(
    spec: TypeSpec, bindings: Mapping[str, Type], consts: Mapping[str, object] | None = None
) -> Type:
    """The concrete type of ``spec``. ``*D`` and ``desc<D[…]>`` are ``none`` where ``D`` is.

    Without ``consts``, open sides of blocks are 1: what comes out tells entries and axes, and no more.
    Raises :class:`~teenybuild.types.TypeSyntaxError` where ``D`` of ``*D`` is itself a pointer, or there is no such block.
    """
    match spec:
        case Variable():
            bound = bindings[spec.name]
            if not spec.pointer or isinstance(bound, Absent):
                return bound
            return Pointer(_element(spec, spec.name, bound, "a pointer to"))
        case TupleSpec(items=items):
            return Tuple(tuple(substitute(item, bindings, consts) for item in items))
        case DescriptorSpec():
            return _closed(spec, bindings, consts)
        case _:
            return spec


def _element(spec: TypeSpec, name: str, bound: Type, what: str) -> DType:
    """The dtype that a variable stands for, where it must stand for one."""
    match bound:
        case Scalar(dtype=dtype):
            return dtype
        case Pointer():
            kind = "a pointer"
        case Tuple():
            kind = "a tuple"
        case _:
            kind = "a descriptor"
    text = str(spec)
    raise TypeSyntaxError(f"{text} is {what} {kind} where {name} is {bound}", 0, len(text))


def _closed(spec: DescriptorSpec, bindings: Mapping[str, Type], consts: Mapping[str, object] | None) -> Type:
    if isinstance(spec.dtype, Variable):
        bound = bindings[spec.dtype.name]
        if isinstance(bound, Absent):
            return bound
        dtype = _element(spec, spec.dtype.name, bound, "a descriptor of")
    else:
        dtype = spec.dtype.dtype
    text = str(spec)
    block: list[int] = []
    for side in spec.block:
        value = side if isinstance(side, int) else 1 if consts is None else consts[side.name]
        wrong = side_problem(value)
        if wrong is not None or not isinstance(value, int):
            raise TypeSyntaxError(f"{text} where {side} is {value}: {wrong}", 0, len(text))
        block.append(value)
    if consts is not None and (wrong := block_problem(dtype, tuple(block))) is not None:
        raise TypeSyntaxError(f"{text} where it is {spell_descriptor(dtype, block)}: {wrong}", 0, len(text))
    return Descriptor(dtype, tuple(block))
