"""Values, operations, blocks: the skeleton of tile IR.

An operation is one class in one place (see ``arith.py``, ``math.py``, ``tt.py``, ``scf.py``)::

    class AddF(FloatBinary, name="arith.addf", traits=PURE | COMMUTES):
        lhs: Operand
        rhs: Operand

Fields annotated ``Operand``, ``OptionalOperand`` or ``Operands`` are values it reads, ``Block`` its region, anything
else an attribute.  The class says its result types (``infer``), how it prints (``assembly``), what makes it wrong
(``verify``) and what it folds to (``fold``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, Self, dataclass_transform

from teenybuild.compiler.ir.types import Type, spell

#: No effects: may be removed when unused, merged with an equal one, computed twice.
PURE = 1
#: ``f(a, b) == f(b, a)``, bit for bit.
COMMUTES = 2
#: Works on each element by itself; shapes of operands and results are equal.
ELEMENTWISE = 4
#: Ends a block.
TERMINATOR = 8
#: Does something beyond giving results: is never left out, and no memory is read before it that was read after it.
EFFECT = 16


class Value:
    """What an operation produces or a block is given. Compared by identity."""

    __slots__ = ("layout", "op", "type")

    def __init__(self, type_: Type, op: Op | None = None) -> None:
        self.type = type_
        #: The operation that makes it; None for a block's argument.
        self.op = op
        #: Where its elements live (a :class:`~teenybuild.compiler.layout.linear.Layout`), once assigned.
        self.layout: object = None

    def __repr__(self) -> str:
        return f"<{spell(self.type)} of {self.op.name if self.op else 'block'}>"


Operand = Value
OptionalOperand = Value | None
Operands = tuple[Value, ...]


class Location(Protocol):
    """Where an operation came from. The front end supplies it; the IR only carries it."""

    def error(self, message: str, hint: str | None = None) -> Exception:
        """What is said to the user of something that cannot be done there."""
        ...


@dataclass(slots=True, eq=False)
class Block:
    """A list of operations with arguments; regions have one block each."""

    args: list[Value] = field(default_factory=list[Value])
    ops: list[Op] = field(default_factory=list["Op"])

    @property
    def terminator(self) -> Op:
        """The last operation."""
        return self.ops[-1]


class VerifyError(Exception):
    """The IR is malformed: a bug in the front end or in a pass, never the user's fault."""

    def __init__(self, op: Op, message: str) -> None:
        super().__init__(f"{op.name}: {message}")
        self.op = op


class Names(Protocol):
    """How a printer calls values, and prints a region."""

    def __getitem__(self, value: Value, /) -> str: ...

    def region(self, block: Block, *, header: bool = False) -> str: ...


_OPERAND_KINDS = {"Operand": "one", "OptionalOperand": "maybe", "Operands": "many"}


@dataclass_transform(eq_default=False)
class Op:
    """Base of all operations."""

    name: ClassVar[str] = ""
    traits: ClassVar[int] = 0
    #: (field, "one" | "maybe" | "many") for each field that holds values, in order.
    operand_fields: ClassVar[tuple[tuple[str, str], ...]] = ()
    block_fields: ClassVar[tuple[str, ...]] = ()
    attribute_fields: ClassVar[tuple[str, ...]] = ()

    # Set on instances by __post_init__ and by the builder.
    results: ClassVar[tuple[Value, ...]]
    location: ClassVar[Location | None] = None

    def __init_subclass__(cls, name: str = "", traits: int = 0) -> None:
        if name:
            cls.name = name
        if traits:
            cls.traits = traits
        dataclass(eq=False, repr=False)(cls)
        operands: list[tuple[str, str]] = []
        blocks: list[str] = []
        attributes: list[str] = []
        for f in dataclasses.fields(cls):  # type: ignore[arg-type]  # cls became a dataclass on the line above
            kind = _OPERAND_KINDS.get(str(f.type))
            if kind:
                operands.append((f.name, kind))
            elif f.type == "Block":
                blocks.append(f.name)
            else:
                attributes.append(f.name)
        cls.operand_fields = tuple(operands)
        cls.block_fields = tuple(blocks)
        cls.attribute_fields = tuple(attributes)

    def __post_init__(self) -> None:
        self.set_results(Value(t, self) for t in self.infer())

    def at(self, location: Location | None) -> Self:
        """The same operation, which the source has there."""
        self.__dict__["location"] = location
        return self

    def set_results(self, results: Iterable[Value]) -> None:
        """Gives it other results: more values that it carries, or fewer."""
        self.__dict__["results"] = tuple(results)

    @property
    def result(self) -> Value:
        """The one result."""
        return self.results[0]

    @property
    def operands(self) -> list[Value]:
        """All values it reads, in field order; absent ones are left out."""
        found: list[Value] = []
        for name, kind in self.operand_fields:
            value = getattr(self, name)
            if kind == "one":
                found.append(value)
            elif kind == "many":
                found.extend(value)
            elif value is not None:
                found.append(value)
        return found

    def map_operands(self, f: Callable[[Value], Value]) -> None:
        """Replaces every value it reads by ``f`` of it."""
        for name, kind in self.operand_fields:
            value = getattr(self, name)
            if kind == "many":
                setattr(self, name, tuple(f(v) for v in value))
            elif value is not None:
                setattr(self, name, f(value))

    @property
    def blocks(self) -> list[Block]:
        """Its regions' blocks, in field order; absent ones are left out."""
        if not self.block_fields:
            return []
        return [b for b in (getattr(self, name) for name in self.block_fields) if b is not None]

    @property
    def has_effect(self) -> bool:
        """Whether it, or anything inside it, does something beyond giving results."""
        return bool(self.traits & EFFECT) or any(inner.has_effect for b in self.blocks for inner in b.ops)

    def attributes(self) -> tuple[object, ...]:
        """The values of its attributes, in field order: what, with operands and class, makes two pure ops equal."""
        return tuple(getattr(self, name) for name in self.attribute_fields)

    def copy(self, f: Callable[[Value], Value]) -> Op:
        """The same operation on other values, with results of its own (regions are shared)."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.map_operands(f)
        new.set_results(Value(r.type, new) for r in self.results)
        return new

    # What a class says about itself ---------------------------------------------------------------------------

    def infer(self) -> tuple[Type, ...]:
        """The types of its results."""
        return ()

    def verify(self) -> None:
        """Raises :class:`VerifyError` where the operation is malformed."""

    def fold(self) -> Value | Op | None:
        """An existing value, or a new constant, that equals its result; None where there is none."""
        return None

    def assembly(self, names: Names) -> str:
        """The operation as MLIR text, without its results."""
        operands = ", ".join(names[v] for v in self.operands)
        return f"{self.name} {operands} : {spell(self.operands[0].type)}"


def is_pure(op: Op) -> bool:
    """Whether it may be dropped, merged or computed again."""
    return bool(op.traits & PURE)


@dataclass(slots=True, eq=False)
class Function:
    """A kernel in tile IR: its body's arguments are the kernel's arguments, in ABI order.

    ``divisibility`` and ``constant`` hold what may be assumed of each argument (a power of two that divides it or,
    for a pointer, its address; a value it has), None where nothing is.
    """

    name: str
    arg_names: tuple[str, ...]
    body: Block
    divisibility: tuple[int | None, ...] = ()
    constant: tuple[int | None, ...] = ()


def walk(block: Block) -> Iterator[Op]:
    """Every operation of a block and of its regions, outer before inner, in order."""
    for op in block.ops:
        yield op
        for inner in op.blocks:
            yield from walk(inner)
