"""What a name can stand for while a kernel is read.

Numbers, strings, booleans, None, dtypes and tuples known at compile time are plain Python values; everything else is one
of the classes here.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import copysign, prod
from typing import TYPE_CHECKING, TypeGuard, cast

from teenybuild.compiler.ir import core
from teenybuild.compiler.ir.arrays import Array
from teenybuild.compiler.ir.types import Element, Pointer, Type, shape_of
from teenybuild.dtypes import DType, signless

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.modules import Module
    from teenybuild.compiler.frontend.scope import Place


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A value known at run time: a scalar, a pointer, or a tile of either.

    ``dtype`` keeps the sign that tile IR does not: a ``u32`` here is an ``i32`` there.
    """

    value: core.Value
    dtype: Element

    @property
    def type(self) -> Type:
        return self.value.type

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.value.type)

    @property
    def numel(self) -> int:
        """How many elements it has; 1 for a scalar."""
        return prod(self.shape)

    @property
    def is_tile(self) -> bool:
        return bool(self.shape)

    @property
    def is_pointer(self) -> bool:
        return isinstance(self.dtype, Pointer)

    @property
    def scalar(self) -> DType:
        """The dtype of the elements; not for pointers."""
        assert isinstance(self.dtype, DType)
        return self.dtype


@dataclass(frozen=True, slots=True, eq=False)
class BlockPointer:
    """What ``tl.make_block_ptr`` gives: a tile's place in a strided array. ``shape`` and ``strides`` are i64, ``offsets`` i32."""

    base: Tensor
    shape: tuple[Tensor, ...]
    strides: tuple[Tensor, ...]
    offsets: tuple[Tensor, ...]
    block: tuple[int, ...]

    @property
    def pointee(self) -> DType:
        """The dtype of the array's elements."""
        assert isinstance(self.base.dtype, Pointer)
        return self.base.dtype.pointee

    def at(self, offsets: tuple[Tensor, ...]) -> BlockPointer:
        """The same array, another block."""
        return replace(self, offsets=offsets)

    def same_array(self, other: BlockPointer) -> bool:
        """Whether both are places of one array, in blocks of one shape."""
        mine, its = ((p.base, *p.shape, *p.strides) for p in (self, other))
        same = all(a.value is b.value for a, b in zip(mine, its, strict=True))
        return same and self.block == other.block


@dataclass(frozen=True, slots=True)
class BlockOf:
    """Which block of an array a tile is: the offsets of its first element, i32."""

    array: Array
    corner: tuple[core.Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TensorDescriptor:
    """An array, seen in blocks: what ``tl.make_tensor_descriptor`` gives, or an argument. ``extents`` are its shape as i32.

    ``fill`` stands outside of the array: a number, or what the launch says; ``padding`` is whether that is NaN.
    """

    blocks: BlockPointer
    extents: tuple[Tensor, ...]
    fill: float | Tensor
    padding: int | Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function of a kernel file."""

    module: Module
    node: ast.FunctionDef

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def parameters(self) -> list[ast.arg]:
        args = self.node.args
        return [*args.posonlyargs, *args.args, *args.kwonlyargs]

    def default(self, node: ast.expr) -> object:
        """The value of a parameter's default: as where the function is defined. Raises :class:`UserError`."""
        return self.module.library.evaluate(self.module, node, self.module.place_of(self.node))


@dataclass(frozen=True, slots=True)
class Namespace:
    """A module of the language (``tl``, ``triton``, ``math``), by its canonical dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function of the language, by its canonical dotted name (``tl.load``)."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A builtin looked up on a value: ``x.to``, ``x.sum``."""

    owner: object
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class BoundMethod:
    """A method of Python's: of a string or a number, and in host code of a list, a dict or a tuple."""

    owner: object
    name: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A method of a dtype that takes nothing, by what it gives: ``x.dtype.is_fp8``."""

    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """``range(...)``, ``tl.range(...)`` or, unrolled, ``tl.static_range(...)``."""

    start: object
    stop: object
    step: object
    static: bool
    #: How many turns' tiles are in shared memory at once, where the kernel says.
    stages: int | None = None


@dataclass(frozen=True, slots=True)
class HostObject:
    """Something of the host program (``torch``, a class, a variable of a type kernels do not have).

    It may stand in a kernel file; only using it in a kernel is an error, and ``why`` says what it is.  ``foreign``: it was imported
    from a file that is no kernel file, under the dotted name ``path``.
    """

    why: str
    hint: str | None = None
    foreign: bool = False
    path: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """A class of a kernel file that only holds constants. ``members``: it is an ``enum.Enum``, whose attributes are members."""

    module: Module
    node: ast.ClassDef
    end: Place
    members: bool = False

    @property
    def names(self) -> list[str]:
        """What its body gives a value to."""
        return list(self.end.block.bindings)

    def attribute(self, name: str) -> object:
        """The value of an attribute that the body gives one to. Raises :class:`UserError`."""
        value = self.module.lookup(name, self.end)
        return Member(f"{self.node.name}.{name}", name, value) if self.members else value


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an ``enum.Enum``: equal to itself alone; ``.value`` and ``.name`` are constants."""

    path: str
    name: str
    value: object


@dataclass(frozen=True, slots=True)
class Kind:
    """A class of the language that kernels only ask about: ``isinstance(x, tl.tensor)``."""

    name: str


@dataclass(frozen=True, slots=True)
class TupleType:
    """A ``NamedTuple`` of a kernel file: its name, its fields, and the defaults of the last ones."""

    name: str
    fields: tuple[str, ...]
    defaults: tuple[object, ...] = ()


class Named(tuple[object, ...]):
    """A tuple whose items have names."""

    kind: TupleType

    def __new__(cls, kind: TupleType, items: Iterable[object]) -> Named:
        made = super().__new__(cls, items)
        made.kind = kind
        return made


def tuple_like(like: tuple[object, ...], items: Iterable[object]) -> tuple[object, ...]:
    """Other items in a tuple of the same type."""
    return Named(like.kind, items) if isinstance(like, Named) else tuple(items)


@dataclass(frozen=True, slots=True)
class Undefined:
    """A name that has no value here: assigned on one way only, or not at all in a loop that may not run."""

    why: str


class Poison:
    """What a statement that failed would have defined. Using it is no second error."""


POISON = Poison()


def is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    """Whether a value is a tuple of values."""
    return isinstance(value, tuple)


def is_dict(value: object) -> TypeGuard[Mapping[object, object]]:
    """Whether a value is a dict of values."""
    return isinstance(value, Mapping)


#: More than this is no list of configurations, no constant of a kernel, and no text of one.
LONGEST = 20_000


def weight(value: object) -> int:
    """How much a value holds: things within things count wherever they are, long strings for several. Past :data:`LONGEST`, it is not counted further.

    A few lines make a list of lists of lists, each there twice, and whatever looks at all of it never ends.
    """
    found, left = 0, [value]
    while left and found <= LONGEST:
        item = left.pop()
        if isinstance(item, str):
            found += len(item) >> 4
        elif is_dict(item):
            found += len(item)
            left.extend((*item, *item.values()))
        elif isinstance(item, list | tuple | frozenset):
            things = cast("Collection[object]", item)
            found += len(things)
            left.extend(things)
    return found


def ir_element(dtype: Element) -> Element:
    """The tile-IR element for a dtype of the language: without its sign, and with addresses for pointers that lie in memory."""
    return Pointer(signless(dtype.pointee)) if isinstance(dtype, Pointer) else signless(dtype)


def spell_element(dtype: Element) -> str:
    """As the manifest and messages spell it: ``f32``, ``*f32``."""
    return f"*{spell_element(dtype.behind or dtype.pointee)}" if isinstance(dtype, Pointer) else dtype.name


#: Characters of a constant that a message shows, and bits of one that it shows as a number.
_LONGEST_CONSTANT, _MOST_BITS = 60, 128


def is_constant(value: object) -> bool:
    """Whether a value is known at compile time through and through: it can be tested, compared and printed."""
    if is_tuple(value):
        return all(is_constant(item) for item in value)
    if is_dict(value):
        return all(is_constant(key) and is_constant(item) for key, item in value.items())
    return value is None or isinstance(value, bool | int | float | str | DType | Pointer)


def same_constant(a: object, b: object) -> bool:
    """Whether two values known at compile time are one: of one type, and of one sign where they are zero."""
    if is_tuple(a) and is_tuple(b):
        return len(a) == len(b) and all(same_constant(x, y) for x, y in zip(a, b, strict=True))
    if is_dict(a) and is_dict(b):
        return same_constant(tuple(a.items()), tuple(b.items()))
    if type(a) is not type(b) or not is_constant(a) or a != b:
        return False
    return not isinstance(a, float) or not isinstance(b, float) or copysign(1, a) == copysign(1, b)


def describe(value: object) -> str:
    """A value in the words of an error message, with its type and shape."""
    match value:
        case Tensor():
            element = spell_element(value.dtype)
            if value.is_tile:
                return f"a tile of {element} {list(value.shape)}"
            return f"a pointer {element}" if value.is_pointer else f"a scalar {element}"
        case BlockPointer():
            return f"a block pointer {spell_element(value.base.dtype)} {list(value.block)}"
        case TensorDescriptor():
            blocks = value.blocks
            return f"a tensor descriptor {spell_element(blocks.base.dtype)} {list(blocks.block)}"
        case DType():
            return f"the dtype {value}"
        case Pointer():
            return f"the pointer type {spell_element(value)}"
        case Function():
            return f"the function {value.name}"
        case Builtin():
            return f"the function {value.name}"
        case Kind():
            return f"the class {value.name}"
        case TupleType():
            return f"the named tuple {value.name}"
        case Named():
            return f"a {value.kind.name}"
        case Method():
            return f"the method .{value.name.removeprefix('tl.')}"
        case BoundMethod():
            return f"the method .{value.name}"
        case Answer():
            return "a method of a dtype, not called"
        case Namespace():
            return f"the module {value.name}"
        case Range():
            return "a range"
        case HostObject():
            return value.why
        case Class():
            return f"the class {value.node.name}"
        case Member():
            return f"the member {value.path}"
        case _ if type(value).__name__ == "Module":
            return "a module of kernels"
        case None:
            return "None"
        case bool() | int() | float() | str():
            if isinstance(value, int) and value.bit_length() > _MOST_BITS:
                return f"an integer of {value.bit_length()} bits"
            text = repr(value)
            return f"the constant {text if len(text) <= _LONGEST_CONSTANT else f'{text[:40]}…{text[-10:]}'}"
        case _ if is_tuple(value):
            return f"a tuple of {len(value)}"
        case _ if is_dict(value):
            return f"a dict of {len(value)}"
        case _:
            return f"a {type(value).__name__}"
