"""What a tile program is made of beyond arithmetic: Triton's ``tt`` dialect, as far as kernels use it."""

from __future__ import annotations

from typing import Literal

from teenybuild.compiler.ir import fold
from teenybuild.compiler.ir.arrays import Array
from teenybuild.compiler.ir.constant import constant, constant_of
from teenybuild.compiler.ir.core import (
    COMMUTES,
    EFFECT,
    ELEMENTWISE,
    PURE,
    TERMINATOR,
    Block,
    Names,
    Op,
    Operand,
    Operands,
    OptionalOperand,
    VerifyError,
)
from teenybuild.compiler.ir.types import (
    Element,
    Pointer,
    Tile,
    Type,
    element,
    mask_of,
    numel,
    shape_of,
    spell,
    spell_string,
    with_element,
    with_shape,
)
from teenybuild.dtypes import DType, i1, i32, i64

Axis = Literal["x", "y", "z"]


class GetProgramId(Op, name="tt.get_program_id", traits=PURE):
    """Which program of the grid this is, along one axis."""

    axis: Axis

    def infer(self) -> tuple[Type, ...]:
        return (i32,)

    def assembly(self, names: Names) -> str:
        return f"{self.name} {self.axis} : i32"


class GetNumPrograms(Op, name="tt.get_num_programs", traits=PURE):
    """How many programs the grid has along one axis."""

    axis: Axis

    def infer(self) -> tuple[Type, ...]:
        return (i32,)

    def assembly(self, names: Names) -> str:
        return f"{self.name} {self.axis} : i32"


class MakeRange(Op, name="tt.make_range", traits=PURE):
    """``[start, start + 1, … end - 1]`` as i32."""

    start: int
    end: int

    def infer(self) -> tuple[Type, ...]:
        return (Tile((self.end - self.start,), i32),)

    def assembly(self, names: Names) -> str:
        return f"{self.name} {{end = {self.end} : i32, start = {self.start} : i32}} : {spell(self.results[0].type)}"


class _Reshaping(Op):
    """An operation that only changes which elements stand where."""

    source: Operand
    type: Type

    def infer(self) -> tuple[Type, ...]:
        return (self.type,)

    def fold(self) -> fold.Folded:
        if self.source.type == self.type:
            return self.source
        known = constant_of(self.source)
        return None if known is None else constant(known, self.type)

    def attributes_text(self) -> str:
        return ""

    def assembly(self, names: Names) -> str:
        return (
            f"{self.name} {names[self.source]}{self.attributes_text()} : "
            f"{spell(self.source.type)} -> {spell(self.type)}"
        )


class Splat(_Reshaping, name="tt.splat", traits=PURE):
    """A scalar in every element of a tile."""

    def verify(self) -> None:
        if isinstance(self.source.type, Tile) or element(self.type) != self.source.type:
            raise VerifyError(self, f"{spell(self.source.type)} to {spell(self.type)}")


class Viewing(_Reshaping):
    """Reads its source through a linear map of indices (:func:`teenybuild.compiler.layout.linear.view_of`)."""


class Broadcast(Viewing, name="tt.broadcast", traits=PURE):
    """Repeats a tile along its axes of size 1."""

    def verify(self) -> None:
        if any(a not in (1, b) for a, b in zip(shape_of(self.source.type), shape_of(self.type), strict=True)):
            raise VerifyError(self, f"{spell(self.source.type)} to {spell(self.type)}")


class ExpandDims(Viewing, name="tt.expand_dims", traits=PURE):
    """Inserts an axis of size 1 at ``axis``."""

    axis: int

    def attributes_text(self) -> str:
        return f" {{axis = {self.axis} : i32}}"

    def verify(self) -> None:
        shape = shape_of(self.source.type)
        if shape_of(self.type) != (*shape[: self.axis], 1, *shape[self.axis :]):
            raise VerifyError(self, f"{spell(self.source.type)} to {spell(self.type)} at {self.axis}")


class Reshape(Viewing, name="tt.reshape", traits=PURE):
    """The same elements, in row-major order, in another shape."""

    def verify(self) -> None:
        if numel(self.source.type) != numel(self.type):
            raise VerifyError(self, "the number of elements differs")


class Trans(Viewing, name="tt.trans", traits=PURE):
    """The axes in another order: axis i of the result is axis ``order[i]`` of the source."""

    order: tuple[int, ...]

    def fold(self) -> fold.Folded:
        if self.order == tuple(range(len(self.order))):
            return self.source
        known = constant_of(self.source)
        return None if known is None else constant(known, self.type)

    def attributes_text(self) -> str:
        return f" {{order = array<i32: {', '.join(map(str, self.order))}>}}"

    def verify(self) -> None:
        shape = shape_of(self.source.type)
        if sorted(self.order) != list(range(len(shape))) or shape_of(self.type) != tuple(
            shape[axis] for axis in self.order
        ):
            raise VerifyError(self, f"{spell(self.source.type)} to {spell(self.type)} by {self.order}")


class Join(Op, name="tt.join", traits=PURE):
    """Two tiles of one type beside each other in a new last axis of two."""

    lhs: Operand
    rhs: Operand

    def infer(self) -> tuple[Type, ...]:
        return (with_shape(self.lhs.type, (*shape_of(self.lhs.type), 2)),)

    def verify(self) -> None:
        if self.lhs.type != self.rhs.type or not isinstance(self.lhs.type, Tile):
            raise VerifyError(self, f"{spell(self.lhs.type)} and {spell(self.rhs.type)}")

    def assembly(self, names: Names) -> str:
        types = f"{spell(self.lhs.type)} -> {spell(self.results[0].type)}"
        return f"{self.name} {names[self.lhs]}, {names[self.rhs]} : {types}"


class Split(Op, name="tt.split", traits=PURE):
    """The two halves of a tile along its last axis, which has two elements and vanishes."""

    source: Operand

    def infer(self) -> tuple[Type, ...]:
        half = with_shape(self.source.type, shape_of(self.source.type)[:-1])
        return (half, half)

    def verify(self) -> None:
        shape = shape_of(self.source.type)
        if len(shape) < 2 or shape[-1] != 2:
            raise VerifyError(self, f"{spell(self.source.type)} has no last axis of two")

    def assembly(self, names: Names) -> str:
        types = f"{spell(self.source.type)} -> {spell(self.results[0].type)}"
        return f"{self.name} {names[self.source]} : {types}"


class Gather(Op, name="tt.gather", traits=PURE):
    """Each element of the result is the source's that ``index`` says along ``axis``, modulo that side, at its own place along the others."""

    source: Operand
    index: Operand
    axis: int

    def infer(self) -> tuple[Type, ...]:
        return (with_shape(self.source.type, shape_of(self.index.type)),)

    def verify(self) -> None:
        source, index = shape_of(self.source.type), shape_of(self.index.type)
        dtype = element(self.index.type)
        if isinstance(dtype, Pointer) or dtype not in (i32, i64):
            raise VerifyError(self, f"the index is {spell(self.index.type)}")
        others = zip(source, index, strict=False)
        if len(source) != len(index) or any(a != b for d, (a, b) in enumerate(others) if d != self.axis):
            raise VerifyError(self, f"{spell(self.source.type)} by {spell(self.index.type)}")

    def assembly(self, names: Names) -> str:
        types = f"({spell(self.source.type)}, {spell(self.index.type)}) -> {spell(self.results[0].type)}"
        return f"{self.name} {names[self.source]}[{names[self.index]}] {{axis = {self.axis} : i32}} : {types}"


class Histogram(Op, name="tt.histogram", traits=PURE):
    """How often each number from 0 to ``bins`` - 1 is in the source where ``mask`` holds; others are not counted."""

    bins: int
    source: Operand
    mask: OptionalOperand = None

    def infer(self) -> tuple[Type, ...]:
        return (Tile((self.bins,), i32),)

    def verify(self) -> None:
        dtype = element(self.source.type)
        if isinstance(dtype, Pointer) or dtype not in (i32, i64) or len(shape_of(self.source.type)) != 1:
            raise VerifyError(self, f"counts {spell(self.source.type)}")
        if self.mask is not None and self.mask.type != mask_of(self.source.type):
            raise VerifyError(self, f"the mask is {spell(self.mask.type)}")

    def assembly(self, names: Names) -> str:
        operands = ", ".join(names[v] for v in self.operands)
        return f"{self.name} {operands} : {spell(self.source.type)} -> {spell(self.results[0].type)}"


class AddPtr(Op, name="tt.addptr", traits=PURE | ELEMENTWISE):
    """A pointer moved by ``offset`` elements (signed)."""

    pointer: Operand
    offset: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.pointer.type,)

    def verify(self) -> None:
        if not isinstance(element(self.pointer.type), Pointer):
            raise VerifyError(self, f"{spell(self.pointer.type)} is no pointer")
        if shape_of(self.pointer.type) != shape_of(self.offset.type):
            raise VerifyError(self, "shapes differ")

    def fold(self) -> fold.Folded:
        return self.pointer if constant_of(self.offset) == 0 else None

    def assembly(self, names: Names) -> str:
        return (
            f"{self.name} {names[self.pointer]}, {names[self.offset]} : "
            f"{spell(self.pointer.type)}, {spell(self.offset.type)}"
        )


class Bitcast(Op, name="tt.bitcast", traits=PURE | ELEMENTWISE):
    """The same bits as another type of the same width."""

    source: Operand
    to: Element

    def infer(self) -> tuple[Type, ...]:
        return (with_element(self.source.type, self.to),)

    def fold(self) -> fold.Folded:
        return self.source if element(self.source.type) == self.to else None

    def assembly(self, names: Names) -> str:
        return (
            f"{self.name} {names[self.source]} : {spell(self.source.type)} -> {spell(self.results[0].type)}"
        )


class IntToPtr(Op, name="tt.int_to_ptr", traits=PURE | ELEMENTWISE):
    """An address as a pointer, wherever it points."""

    source: Operand
    to: Pointer

    def infer(self) -> tuple[Type, ...]:
        return (with_element(self.source.type, self.to),)

    def verify(self) -> None:
        if element(self.source.type) != i64:
            raise VerifyError(self, f"is not for {spell(self.source.type)}")

    def assembly(self, names: Names) -> str:
        return (
            f"{self.name} {names[self.source]} : {spell(self.source.type)} -> {spell(self.results[0].type)}"
        )


class PtrToInt(Op, name="tt.ptr_to_int", traits=PURE | ELEMENTWISE):
    """A pointer as its address."""

    source: Operand

    def infer(self) -> tuple[Type, ...]:
        return (with_element(self.source.type, i64),)

    def verify(self) -> None:
        if not isinstance(element(self.source.type), Pointer):
            raise VerifyError(self, f"is not for {spell(self.source.type)}")

    def assembly(self, names: Names) -> str:
        return (
            f"{self.name} {names[self.source]} : {spell(self.source.type)} -> {spell(self.results[0].type)}"
        )


class ExternElementwise(Op, name="tt.extern_elementwise", traits=PURE | ELEMENTWISE):
    """A function of libdevice, by its symbol. The formula is ours (:mod:`teenybuild.compiler.lower.functions`); Triton's parser reads the call."""

    symbol: str
    sources: Operands
    to: DType

    def infer(self) -> tuple[Type, ...]:
        return (with_element(self.sources[0].type, self.to),)

    def verify(self) -> None:
        if len({shape_of(s.type) for s in self.sources}) != 1:
            raise VerifyError(self, "shapes differ")

    def assembly(self, names: Names) -> str:
        operands = ", ".join(names[v] for v in self.sources)
        types = ", ".join(spell(v.type) for v in self.sources)
        return (
            f'{self.name} {operands} {{libname = "", libpath = "", pure = true, symbol = "{self.symbol}"}} : '
            f"({types}) -> {spell(self.results[0].type)}"
        )


class PreciseSqrt(Op, name="tt.precise_sqrt", traits=PURE | ELEMENTWISE):
    """The square root of f32, correctly rounded."""

    source: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.source.type,)


class _Pair(Op):
    """Two values of one type, and a result of it."""

    x: Operand
    y: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.x.type,)

    def verify(self) -> None:
        if self.x.type != self.y.type:
            raise VerifyError(self, "operands differ in type")


class PreciseDivF(_Pair, name="tt.precise_divf", traits=PURE | ELEMENTWISE):
    """``x / y`` of f32, correctly rounded."""


class MulhiUI(_Pair, name="tt.mulhiui", traits=PURE | ELEMENTWISE | COMMUTES):
    """The upper half of the product of two unsigned integers."""


class Hint(Op, name="tt.bitcast", traits=PURE | ELEMENTWISE):
    """The same values, with what the kernel's author says of them: see :mod:`teenybuild.compiler.layout.axes`.

    Triton keeps that in attributes of whatever made the value; a bitcast to the type it has carries them as well.
    """

    source: Operand
    kind: Literal["contiguity", "divisibility", "constancy"]
    values: tuple[int, ...]

    def infer(self) -> tuple[Type, ...]:
        return (self.source.type,)

    def assembly(self, names: Names) -> str:
        said = ", ".join(map(str, self.values))
        dense = f"dense<{said if len(set(self.values)) == 1 and len(self.values) == 1 else f'[{said}]'}>"
        text = spell(self.source.type)
        attribute = f"tt.{self.kind} = {dense} : tensor<{len(self.values)}xi32>"
        return f"{self.name} {names[self.source]} {{{attribute}}} : {text} -> {text}"


class InlineAsm(Op, name="tt.elementwise_inline_asm", traits=ELEMENTWISE):
    """A piece of the target's assembly for every ``pack`` elements of its operands; what it gives has the dtypes ``to``."""

    asm: str
    constraints: str
    pack: int
    pure: bool
    args: Operands
    to: tuple[DType, ...]
    shape: tuple[int, ...]

    @property
    def has_effect(self) -> bool:
        return not self.pure

    def infer(self) -> tuple[Type, ...]:
        return tuple(Tile(self.shape, d) if self.shape else d for d in self.to)

    def verify(self) -> None:
        if any(shape_of(v.type) != self.shape for v in self.args):
            raise VerifyError(self, "operands and results differ in shape")

    def assembly(self, names: Names) -> str:
        how = (
            f"{{constraints = {spell_string(self.constraints)}, packed_element = {self.pack} : i32, "
            f"pure = {str(self.pure).lower()}}}"
        )
        values = ", ".join(names[v] for v in self.args)
        types = ", ".join(spell(v.type) for v in self.args)
        results = ", ".join(spell(r.type) for r in self.results)
        given = f" {values} : {types}" if self.args else " :"
        return f"{self.name} {spell_string(self.asm)} {how}{given} -> {results}"


class Barrier(Op, name="gpu.barrier", traits=EFFECT):
    """What any lane has written before it, every lane of the program may read after it."""

    def assembly(self, names: Names) -> str:
        return self.name


class Print(Op, name="tt.print", traits=EFFECT):
    """Prints a text and values while the program runs; ``signed`` says of each how its integers are meant."""

    prefix: str
    hex: bool
    signed: tuple[bool, ...]
    args: Operands

    def verify(self) -> None:
        if len(self.signed) != len(self.args):
            raise VerifyError(self, "each value is signed or not")

    def assembly(self, names: Names) -> str:
        signs = f": {', '.join(str(int(s)) for s in self.signed)}" if self.args else ""
        how = f"{{hex = {str(self.hex).lower()}, isSigned = array<i32{signs}>}}"
        values = ", ".join(names[v] for v in self.args)
        types = ", ".join(spell(v.type) for v in self.args)
        return f"{self.name} {spell_string(self.prefix)} {how}" + (
            f" : {values} : {types}" if self.args else ""
        )


class Assert(Op, name="tt.assert", traits=EFFECT):
    """Ends the program, and says so, where ``condition`` does not hold everywhere."""

    condition: Operand
    message: str

    def verify(self) -> None:
        if element(self.condition.type) != i1:
            raise VerifyError(self, f"the condition is {spell(self.condition.type)}")

    def assembly(self, names: Names) -> str:
        return f"{self.name} {names[self.condition]}, {spell_string(self.message)} : {spell(self.condition.type)}"


def _pointee(op: Op, pointer: Type) -> Element:
    found = element(pointer)
    if not isinstance(found, Pointer):
        raise VerifyError(op, f"{spell(pointer)} is no pointer")
    return found.pointee


#: Which caches an access goes through (PTX ISA, cache operators), and what becomes of its lines.
Cache = Literal["", "ca", "cg", "cv", "wb", "cs", "wt"]
Eviction = Literal["", "evict_first", "evict_last"]


def _hints(cache: Cache, eviction: Eviction) -> str:
    return (f" cacheModifier = {cache}" if cache else "") + (
        f" evictionPolicy = {eviction}" if eviction else ""
    )


class Load(Op, name="tt.load"):
    """Reads through each pointer where ``mask`` holds; elsewhere gives ``other``, or nothing in particular.

    Memory behind a pointer whose mask is false is not touched.  A ``volatile`` load is neither moved nor left out.

    Where ``array`` is known, the same elements are its block from ``corner`` on (i32, an offset along each axis), and ``other`` its padding.
    """

    pointer: Operand
    mask: OptionalOperand = None
    other: OptionalOperand = None
    cache: Cache = ""
    eviction: Eviction = ""
    volatile: bool = False
    array: Array | None = None
    corner: Operands = ()

    @property
    def has_effect(self) -> bool:
        return self.volatile

    def infer(self) -> tuple[Type, ...]:
        return (with_element(self.pointer.type, _pointee(self, self.pointer.type)),)

    def verify(self) -> None:
        if self.mask is not None and self.mask.type != mask_of(self.pointer.type):
            raise VerifyError(self, f"the mask is {spell(self.mask.type)}")
        if self.other is not None and (self.mask is None or self.other.type != self.results[0].type):
            raise VerifyError(self, "other needs a mask and the type of the result")

    def assembly(self, names: Names) -> str:
        operands = ", ".join(names[v] for v in (self.pointer, self.mask, self.other) if v is not None)
        volatile = " {isVolatile = true}" if self.volatile else ""
        hints = _hints(self.cache, self.eviction)
        return f"{self.name} {operands}{hints}{volatile} : {spell(self.pointer.type)}"


class Store(Op, name="tt.store", traits=EFFECT):
    """Writes ``value`` through each pointer where ``mask`` holds.

    Where ``array`` is known, that is its block from ``corner`` on, as far as it reaches.
    """

    pointer: Operand
    value: Operand
    mask: OptionalOperand = None
    cache: Cache = ""
    eviction: Eviction = ""
    array: Array | None = None
    corner: Operands = ()

    def verify(self) -> None:
        if self.value.type != with_element(self.pointer.type, _pointee(self, self.pointer.type)):
            raise VerifyError(self, f"stores {spell(self.value.type)} through {spell(self.pointer.type)}")
        if self.mask is not None and self.mask.type != mask_of(self.pointer.type):
            raise VerifyError(self, f"the mask is {spell(self.mask.type)}")

    def assembly(self, names: Names) -> str:
        operands = ", ".join(names[v] for v in (self.pointer, self.value, self.mask) if v is not None)
        return f"{self.name} {operands}{_hints(self.cache, self.eviction)} : {spell(self.pointer.type)}"


Rmw = Literal["add", "fadd", "and", "or", "xor", "max", "min", "umax", "umin", "exch"]
Ordering = Literal["relaxed", "acquire", "release", "acq_rel"]
Scope = Literal["cta", "gpu", "sys"]


class _Atomic(Op):
    """Reads and writes memory in one step, and gives what was there; 0 where a mask is off, and nothing is touched."""

    def assembly(self, names: Names) -> str:
        operands = ", ".join(names[v] for v in self.operands)
        types = ", ".join(spell(v.type) for v in self.operands)
        said = ", ".join(str(a) for a in self.attributes())
        return f"{self.name} {said}, {operands} : ({types}) -> {spell(self.results[0].type)}"


class AtomicRmw(_Atomic, name="tt.atomic_rmw", traits=EFFECT):
    """What lies behind each pointer becomes ``kind`` of it and ``value``."""

    kind: Rmw
    ordering: Ordering
    scope: Scope
    pointer: Operand
    value: Operand
    mask: OptionalOperand = None

    def infer(self) -> tuple[Type, ...]:
        return (self.value.type,)

    def verify(self) -> None:
        if self.value.type != with_element(self.pointer.type, _pointee(self, self.pointer.type)):
            raise VerifyError(self, f"{spell(self.value.type)} through {spell(self.pointer.type)}")
        if self.mask is not None and self.mask.type != mask_of(self.pointer.type):
            raise VerifyError(self, f"the mask is {spell(self.mask.type)}")


class AtomicCas(_Atomic, name="tt.atomic_cas", traits=EFFECT):
    """What lies behind each pointer becomes ``value`` where it has the bits of ``compare``."""

    ordering: Ordering
    scope: Scope
    pointer: Operand
    compare: Operand
    value: Operand

    def infer(self) -> tuple[Type, ...]:
        return (self.value.type,)

    def verify(self) -> None:
        wanted = with_element(self.pointer.type, _pointee(self, self.pointer.type))
        if self.value.type != wanted or self.compare.type != wanted:
            raise VerifyError(self, f"{spell(self.value.type)} through {spell(self.pointer.type)}")


class Combining(Op):
    """Combines elements along ``axis`` with ``combine``, a block over two scalars (or two sets of them)."""

    sources: Operands
    axis: int
    combine: Block

    def verify(self) -> None:
        shape = shape_of(self.sources[0].type)
        if not 0 <= self.axis < len(shape):
            raise VerifyError(self, f"axis {self.axis} of a tile of rank {len(shape)}")
        if len(self.combine.args) != 2 * len(self.sources):
            raise VerifyError(self, "the combine block takes two values a source")

    def assembly(self, names: Names) -> str:
        operands = ", ".join(names[v] for v in self.sources)
        types = ", ".join(spell(v.type) for v in self.sources)
        results = ", ".join(spell(r.type) for r in self.results)
        if len(self.results) > 1:
            results = f"({results})"
        body = names.region(self.combine, header=True)
        how = self.attributes_text()
        return (
            f'"{self.name}"({operands}) <{{axis = {self.axis} : i32{how}}}> ({body}) : ({types}) -> {results}'
        )

    def attributes_text(self) -> str:
        """What is printed beside the axis."""
        return ""


class _CombineReturn(Op):
    """What a combine block gives: as many values as it has sources."""

    values: Operands

    def assembly(self, names: Names) -> str:
        operands = ", ".join(names[v] for v in self.values)
        return f"{self.name} {operands} : {', '.join(spell(v.type) for v in self.values)}"


class Reduce(Combining, name="tt.reduce", traits=PURE):
    """Combines all elements along ``axis`` into one.

    ``combine`` must commute: elements meet in the order of ``order`` (see :mod:`teenybuild.compiler.lower.reduce`), pairs that
    differ in one bit of their index along the axis at a time, so that every target gives the same bits.
    """

    order: tuple[int, ...] | None = None

    def infer(self) -> tuple[Type, ...]:
        shape = shape_of(self.sources[0].type)
        return tuple(with_shape(s.type, shape[: self.axis] + shape[self.axis + 1 :]) for s in self.sources)


class ReduceReturn(_CombineReturn, name="tt.reduce.return", traits=TERMINATOR):
    """Ends the combine block of a reduction."""


class Scan(Combining, name="tt.scan", traits=PURE):
    """Each element combined with all before it along ``axis`` (all after it for ``reverse``): earlier ones stand left in ``combine``."""

    reverse: bool = False

    def infer(self) -> tuple[Type, ...]:
        return tuple(s.type for s in self.sources)

    def attributes_text(self) -> str:
        return f", reverse = {str(self.reverse).lower()}"


class ScanReturn(_CombineReturn, name="tt.scan.return", traits=TERMINATOR):
    """Ends the combine block of a scan."""


InputPrecision = Literal["ieee", "tf32", "tf32x3"]


class Dot(Op, name="tt.dot", traits=PURE):
    """``a @ b + c`` of [M, K], [K, N] and [M, N], or of as many of each along a first axis; products and sums in ``c``'s type."""

    a: Operand
    b: Operand
    c: Operand
    precision: InputPrecision = "ieee"

    def infer(self) -> tuple[Type, ...]:
        return (self.c.type,)

    def verify(self) -> None:
        (*most, m, k), (*most_b, k2, n), out = (shape_of(v.type) for v in (self.a, self.b, self.c))
        if k != k2 or most != most_b or out != (*most, m, n):
            raise VerifyError(self, f"shapes {(*most, m, k)}, {(*most_b, k2, n)}, {out}")

    def assembly(self, names: Names) -> str:
        operands = ", ".join(names[v] for v in self.operands)
        precision = "" if self.precision == "ieee" else f", inputPrecision = {self.precision}"
        return f"{self.name} {operands}{precision} : {spell(self.a.type)} * {spell(self.b.type)} -> {spell(self.c.type)}"


class Return(Op, name="tt.return", traits=TERMINATOR):
    """Ends a kernel."""

    def assembly(self, names: Names) -> str:
        return self.name
