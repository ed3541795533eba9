"""Expressions: a node of a kernel's source, evaluated to a value of the language."""

from __future__ import annotations

import ast
import builtins as python_builtins
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from teenybuild.compiler.frontend import builtins, constants, dtype_members
from teenybuild.compiler.frontend.builder import Builder
from teenybuild.compiler.frontend.host_functions import METHODS
from teenybuild.compiler.frontend.modules import BrokenModuleError, Module, namespace_member
from teenybuild.compiler.frontend.scope import Place
from teenybuild.compiler.frontend.semantics import Operand, Semantics
from teenybuild.compiler.frontend.source import Location
from teenybuild.compiler.frontend.values import (
    LONGEST,
    Answer,
    BlockPointer,
    BoundMethod,
    Builtin,
    Class,
    Function,
    HostObject,
    Member,
    Method,
    Named,
    Namespace,
    Poison,
    Range,
    Tensor,
    TensorDescriptor,
    TupleType,
    Undefined,
    describe,
    is_constant,
    is_dict,
    is_tuple,
    weight,
)
from teenybuild.compiler.ir.types import Pointer
from teenybuild.diagnostics import UserError, did_you_mean
from teenybuild.dtypes import DType, i64


class Poisoned(Exception):
    """A value that a reported error left undefined is used: nothing more to say about it."""


@dataclass(slots=True, eq=False)
class Frame:
    """One function being read: its module, its local names, and the call that led to it; or, ``at`` a place, the module itself."""

    module: Module
    name: str
    caller: Location | None = None
    at: Place | None = None
    locals: dict[str, object] = field(default_factory=dict[str, object])
    constexpr: set[str] = field(default_factory=set[str])


#: Names that Python itself defines; the language has few of them.
_PYTHON = frozenset(dir(python_builtins))

#: What ``!r`` and its like do in an f-string.
CONVERSIONS: dict[int, Callable[[object], str]] = {-1: str, ord("s"): str, ord("r"): repr, ord("a"): ascii}

_TENSOR_BINARY: dict[type[ast.operator], Callable[[Semantics, Operand, Operand], Tensor]] = {
    ast.Add: Semantics.add,
    ast.Sub: Semantics.sub,
    ast.Mult: Semantics.mul,
    ast.Div: Semantics.truediv,
    ast.FloorDiv: Semantics.floordiv,
    ast.Mod: Semantics.mod,
    ast.BitAnd: Semantics.bit_and,
    ast.BitOr: Semantics.bit_or,
    ast.BitXor: Semantics.bit_xor,
    ast.LShift: Semantics.shift_left,
    ast.RShift: Semantics.shift_right,
}


class Expressions:
    """Evaluates expressions in a frame, building what must happen at run time."""

    def __init__(self, frame: Frame, node: ast.AST) -> None:
        self.frame = frame
        self.builder = Builder(Location(frame.module.source, node, frame.caller, frame.name))
        self.semantics = Semantics(self.builder)
        self.semantics.attribute = self._attribute_of

    def at(self, node: ast.AST) -> None:
        """From here on, operations and errors belong to ``node``."""
        frame = self.frame
        self.builder.location = Location(frame.module.source, node, frame.caller, frame.name)

    def error(self, node: ast.AST, message: str, hint: str | None = None) -> UserError:
        """A user's mistake at ``node``."""
        self.at(node)
        return self.builder.error(message, hint)

    def evaluate(self, node: ast.expr) -> object:
        """The value of an expression. Raises :class:`UserError`, or :class:`Poisoned` after an earlier one."""
        value = self._visit(node)
        if isinstance(value, Poison):
            raise Poisoned
        if isinstance(value, HostObject):
            raise self.error(node, f"a kernel cannot use {value.why}", value.hint)
        return value

    def _visit(self, node: ast.expr) -> object:
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Constant():
                return self._constant(node)
            case ast.Tuple() | ast.List():
                return self._tuple(node)
            case ast.JoinedStr():
                return self._joined(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp():
                return self._bool(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.IfExp():
                return self._conditional(node)
            case ast.Call():
                return self._call(node)
            case ast.ListComp():
                return self._comprehension(node)
            case _:
                raise self.error(node, f"{_name_of(node)} is not part of the language")

    def truth(self, node: ast.expr, value: object) -> bool:
        """Whether a value known at compile time counts as true."""
        if not is_constant(value):
            raise self.error(node, f"{describe(value)} is neither true nor false")
        return bool(value)

    # Names ----------------------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> object:
        found = self.lookup(node.id)
        if found is None and node.id not in self.frame.locals:
            return self._unknown(node)
        if isinstance(found, Undefined):
            raise self.error(node, f"{node.id} has no value here: {found.why}")
        return self._settle(node, found)

    def lookup(self, name: str) -> object:
        """What a name means here: local, then module level, then Python's own; None where nothing defines it."""
        if name in self.frame.locals:
            return self.frame.locals[name]
        module = self.frame.module
        if module.defines(name, self.frame.at):
            return module.lookup(name, self.frame.at)
        return Builtin(name) if name in builtins.PYTHON_NAMES else None

    def _unknown(self, node: ast.Name) -> object:
        module = self.frame.module
        if module.defines(node.id, self.frame.at):
            return None  # a module-level None
        if module.too_early(node, self.frame.at):
            raise BrokenModuleError(
                self.error(node, f"{node.id} has no value here yet: it gets one further down").diagnostics
            )
        if node.id in _PYTHON:
            hint = f"there is tl.{node.id}" if f"tl.{node.id}" in builtins.BUILTINS else None
            raise self.error(node, f"Python's {node.id} is not part of the language", hint)
        known = [*self.frame.locals, *module.names, *builtins.PYTHON_NAMES]
        raise self.error(node, f"{node.id} is not defined", did_you_mean(node.id, known))

    def _settle(self, node: ast.expr, found: object) -> object:
        """A builtin that names a value (a dtype, a number) is that value; one that does not exist is an error."""
        if not isinstance(found, Builtin):
            return found
        name = builtins.ALIASES.get(found.name, found.name)
        if name in builtins.VALUES:
            return builtins.VALUES[name]
        if name in builtins.BUILTINS:
            return Builtin(name)
        if name.rpartition(".")[2] == "PropagateNan":
            return Namespace("tl.PropagateNan")
        space, _, member = name.rpartition(".")
        if name in builtins.LATER or space == "tl.extra":
            raise self.error(node, f"{name} is not in this version yet")
        if f"tl.extra.libdevice.{member}" in builtins.BUILTINS:
            hint = f"libdevice.{member} is; from triton.language.extra import libdevice"
            raise self.error(node, f"{name} is not part of the language", hint)
        members = [
            n[len(space) + 1 :] for n in (*builtins.BUILTINS, *builtins.VALUES) if n.startswith(f"{space}.")
        ]
        raise self.error(
            node,
            f"{name} is not part of the language",
            did_you_mean(member, members, f"{space}." if space else ""),
        )

    def _attribute(self, node: ast.Attribute) -> object:
        return self.attribute(node, self.evaluate(node.value))

    def _attribute_of(self, owner: object, name: str) -> object:
        """An attribute by its name, for the call that is being evaluated."""
        node = self.builder.location.node
        assert isinstance(node, ast.expr)
        return self.attribute(ast.copy_location(ast.Attribute(node, name, ast.Load()), node), owner)

    def attribute(self, node: ast.Attribute, owner: object) -> object:
        """An attribute of a value."""
        match owner:
            case Namespace():
                return self._settle(node, namespace_member(owner.name, node.attr))
            case Module():
                inner = None if owner.defines(node.attr) else owner.submodule(node.attr)
                if inner is not None:
                    return inner
                if not owner.defines(node.attr):
                    hint = did_you_mean(node.attr, owner.names)
                    raise self.error(node, f"{owner.source.display} does not define {node.attr}", hint)
                return self._settle(node, owner.lookup(node.attr))
            case Named() if node.attr in owner.kind.fields:
                return owner[owner.kind.fields.index(node.attr)]
            case bool() | int() | float() | str() if node.attr in _methods(owner):
                return BoundMethod(owner, node.attr)
            case Class():
                if node.attr not in owner.names:
                    hint = did_you_mean(node.attr, owner.names)
                    raise self.error(node, f"{describe(owner)} has no attribute {node.attr}", hint)
                return self._settle(node, owner.attribute(node.attr))
            case Member() if node.attr in ("name", "value"):
                return owner.name if node.attr == "name" else owner.value
            case Tensor():
                return self._tensor_attribute(node, owner)
            case BlockPointer() if node.attr == "advance":
                return Method(owner, "tl.advance")
            case BlockPointer() if node.attr in ("dtype", "shape"):
                return owner.base.dtype if node.attr == "dtype" else owner.block
            case TensorDescriptor():
                return self._descriptor_attribute(node, owner)
            case DType():
                return self._dtype_attribute(node, owner)
            case Pointer() if node.attr == "element_ty":
                return owner.behind or owner.pointee
            case Pointer() if node.attr == "scalar":
                return owner
            case Pointer() if node.attr == "primitive_bitwidth":
                return i64.bits
            case Pointer() if node.attr in dtype_members.QUESTIONS:
                return Answer(node.attr == "is_ptr")
            case int() | float() | str() | None if node.attr == "value":
                return owner  # constexpr.value
            case _:
                raise self.error(node, f"{describe(owner)} has no attribute {node.attr}")

    def _tensor_attribute(self, node: ast.Attribute, owner: Tensor) -> object:
        match node.attr:
            case "shape":
                return owner.shape
            case "dtype":
                return owner.dtype
            case "type" if not (owner.is_tile and owner.is_pointer):
                return owner.dtype  # what it has in common with Triton's type: element_ty and scalar
            case "to":
                return Method(owner, "tl.cast")
            case "numel":
                return owner.numel
            case "T":
                self.at(node)
                return builtins.BUILTINS["tl.trans"](self.semantics, owner)
            case name if name in builtins.METHODS:
                return Method(owner, f"tl.{name}")
            case name if f"tl.{name}" in builtins.LATER:
                raise self.error(node, f".{name} is not in this version yet")
            case name:
                known = [*builtins.METHODS, "shape", "dtype", "to", "numel", "T"]
                raise self.error(
                    node, f"{describe(owner)} has no attribute {name}", did_you_mean(name, known, ".")
                )

    def _descriptor_attribute(self, node: ast.Attribute, owner: TensorDescriptor) -> object:
        blocks = owner.blocks
        match node.attr:
            case "shape":
                return owner.extents
            case "strides":
                return blocks.strides
            case "block_shape":
                return blocks.block
            case "dtype":
                return blocks.pointee
            case name if f"tl.tensor_descriptor.{name}" in builtins.BUILTINS:
                return Method(owner, f"tl.tensor_descriptor.{name}")
            case name:
                methods = (n.rpartition(".") for n in builtins.BUILTINS)
                known = [n for of, _, n in methods if of == "tl.tensor_descriptor"]
                hint = did_you_mean(name, [*known, "shape", "strides", "block_shape", "dtype"], ".")
                raise self.error(node, f"{describe(owner)} has no attribute {name}", hint)

    def _dtype_attribute(self, node: ast.Attribute, owner: DType) -> object:
        if node.attr in dtype_members.ATTRIBUTES:
            return dtype_members.ATTRIBUTES[node.attr](owner)
        if node.attr in dtype_members.QUESTIONS:
            return Answer(dtype_members.QUESTIONS[node.attr](owner))
        hint = did_you_mean(node.attr, [*dtype_members.ATTRIBUTES, *dtype_members.QUESTIONS])
        raise self.error(node, f"{describe(owner)} has no attribute {node.attr}", hint)

    # Literals -------------------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant) -> object:
        if isinstance(node.value, complex | bytes) or node.value is ...:
            text = "..." if node.value is ... else repr(node.value)
            raise self.error(node, f"{text} is not a value of the language")
        return node.value

    def _tuple(self, node: ast.Tuple | ast.List) -> object:
        items: list[object] = []
        for element in node.elts:
            if isinstance(element, ast.Starred):
                inner = self.evaluate(element.value)
                if not is_tuple(inner):
                    raise self.error(element, f"cannot unpack {describe(inner)}")
                items.extend(inner)
            else:
                items.append(self.evaluate(element))
        if weight(items) > LONGEST:
            raise self.error(node, f"this holds more than {LONGEST:,} values")
        return tuple(items)

    def known_items(self, value: object) -> Sequence[object] | None:
        """What a loop that is unrolled goes through; None for anything else."""
        match value:
            case Range(start=int(start), stop=int(stop), step=int(step), static=True):
                return range(start, stop, step)
            case _ if is_tuple(value):
                return value
            case _:
                return None

    def _comprehension(self, node: ast.ListComp) -> object:
        """``[f(x) for x in items if known]``: a tuple."""
        [first, *more] = node.generators
        if more:
            raise self.error(node, "a comprehension goes through one tuple", "write one inside the other")
        if not isinstance(first.target, ast.Name):
            raise self.error(first.target, "the variable of a comprehension is one name")
        iterable = self.evaluate(first.iter)
        items = self.known_items(iterable)
        if items is None:
            raise self.error(
                first.iter,
                f"a comprehension goes through a tuple or tl.static_range, got {describe(iterable)}",
            )
        name, outside = first.target.id, self.frame.locals
        found: list[object] = []
        try:
            for item in items:
                self.frame.locals = {**outside, name: item}
                if all(self.truth(test, self.evaluate(test)) for test in first.ifs):
                    found.append(self.evaluate(node.elt))
        finally:
            self.frame.locals = outside
        return tuple(found)

    def _joined(self, node: ast.JoinedStr) -> object:
        parts: list[str] = []
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue):
                value = self.evaluate(piece.value)
                if not is_constant(value):
                    raise self.error(
                        piece.value, f"an f-string takes values known at compile time, got {describe(value)}"
                    )
                shown = value if piece.conversion < 0 else CONVERSIONS[piece.conversion](value)
                form = "" if piece.format_spec is None else str(self.evaluate(piece.format_spec))
                self.check_form(piece, form)
                try:
                    parts.append(format(shown, form) if form else str(shown))
                except (ValueError, TypeError) as wrong:
                    raise self.error(piece.value, f"cannot write {describe(shown)} so: {wrong}") from None
            elif isinstance(piece, ast.Constant):
                parts.append(str(piece.value))
        return "".join(parts)

    def check_form(self, node: ast.FormattedValue, form: str) -> None:
        """Raises :class:`UserError` where a value would be written far wider than any text is."""
        if re.search("[0-9]{4}", form):
            raise self.error(node.value, f"this is wider than any text is: {form}")

    # Operators ------------------------------------------------------------------------------------------------

    def _binary(self, node: ast.BinOp) -> object:
        return self.binary(node, type(node.op), self.evaluate(node.left), self.evaluate(node.right))

    def binary(self, node: ast.AST, op: type[ast.operator], left: object, right: object) -> object:
        """``left op right``: Python's on constants, the language's where either side is a run-time value."""
        symbol, compute = constants.BINARY[op]
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            build = _TENSOR_BINARY.get(op)
            if build is None:
                hint = {"**": "use tl.exp2 or repeated multiplication", "@": "use tl.dot"}.get(symbol)
                raise self.error(node, f"{symbol} is not an operation on run-time values", hint)
            self.at(node)
            return build(
                self.semantics, self._operand(node, left, symbol), self._operand(node, right, symbol)
            )
        if op is ast.Mod and isinstance(left, str):
            raise self.error(
                node, "% on text is not part of the language", "an f-string puts values into text"
            )
        if constants.too_large(op, left, right):
            raise self.error(
                node, f"{symbol} of {describe(left)} and {describe(right)} is too large to compute"
            )
        reason = "the operands do not go together"
        try:
            result = compute(left, right)
        except (ArithmeticError, ValueError) as wrong:
            reason = str(wrong)
        except TypeError:
            pass
        else:
            if not isinstance(result, complex):
                return result
            reason = "the result is not a real number"
        hint = _hint_of_none(left) or _hint_of_none(right)
        raise self.error(node, f"cannot compute {describe(left)} {symbol} {describe(right)}: {reason}", hint)

    def _operand(self, node: ast.AST, value: object, symbol: str) -> Operand:
        if isinstance(value, Tensor | bool | int | float):
            return value
        raise self.error(
            node, f"{symbol} takes numbers and tiles, got {describe(value)}", _hint_of_none(value)
        )

    def _unary(self, node: ast.UnaryOp) -> object:
        value = self.evaluate(node.operand)
        symbol, compute = constants.UNARY[type(node.op)]
        if isinstance(value, Tensor):
            self.at(node)
            match node.op:
                case ast.USub():
                    return self.semantics.negate(value)
                case ast.Invert():
                    return self.semantics.invert(value)
                case ast.Not():
                    return self.semantics.invert(self.semantics.truth(value))
                case _:
                    return value
        if isinstance(node.op, ast.Not):
            return not self.truth(node.operand, value)
        try:
            return compute(value)
        except TypeError:
            raise self.error(node, f"cannot compute {symbol} of {describe(value)}") from None

    def _compare(self, node: ast.Compare) -> object:
        if len(node.ops) > 1:
            mixed = any(
                isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitAnd | ast.BitOr)
                for part in (node.left, *node.comparators)
            )
            raise self.error(
                node,
                "a chain of comparisons is not part of the language",
                "& and | bind tighter than comparisons: write (a < b) & (c < d)"
                if mixed
                else "write (a < b) & (b < c)",
            )
        left, right = self.evaluate(node.left), self.evaluate(node.comparators[0])
        op = type(node.ops[0])
        symbol, compute = constants.COMPARE[op]
        if op in (ast.Is, ast.IsNot):
            dtypes = isinstance(left, DType) and isinstance(right, DType)
            if not dtypes and not any(x is None or isinstance(x, bool) for x in (left, right)):
                raise self.error(
                    node, f"{symbol} compares with None only", f"write {'==' if op is ast.Is else '!='}"
                )
            return compute(left, right)
        if not (isinstance(left, Tensor) or isinstance(right, Tensor)):
            self._check_comparable(node, op, left, right)
            try:
                return compute(left, right)
            except TypeError:
                raise self.error(
                    node, f"cannot compare {describe(left)} {symbol} {describe(right)}"
                ) from None
        if op in (ast.In, ast.NotIn):
            raise self.error(node, f"{symbol} works on values known at compile time")
        if left is None or right is None:
            raise self.error(node, f"{symbol} does not compare with None", "write is None or is not None")
        self.at(node)
        return self.semantics.compare(
            symbol, self._operand(node, left, symbol), self._operand(node, right, symbol)
        )

    def _check_comparable(self, node: ast.Compare, op: type[ast.cmpop], left: object, right: object) -> None:
        """Functions and modules are equal to themselves; nothing that holds a run-time value is compared here."""
        whole = op in (ast.Eq, ast.NotEq) and not is_tuple(left) and not is_tuple(right)
        for value in (left, right):
            if not is_constant(value) and not (whole and isinstance(value, Function | Builtin | Namespace)):
                what = "a tuple that holds run-time values" if is_tuple(value) else describe(value)
                raise self.error(node, f"cannot compare {what}: it is not known at compile time")

    def _bool(self, node: ast.BoolOp) -> object:
        """``and``/``or``: Python's on constants; elementwise on run-time values, where every part is evaluated."""
        conjunction = isinstance(node.op, ast.And)
        result: object = None
        for i, part in enumerate(node.values):
            if i and not isinstance(result, Tensor) and self.truth(node.values[i - 1], result) != conjunction:
                return result  # short-circuit, as Python does
            value = self.evaluate(part)
            if i and isinstance(result, Tensor):
                self.at(node)
                a = self.semantics.truth(result)
                b = self.semantics.truth(self._operand(part, value, "and" if conjunction else "or"))
                result = self.semantics.bit_and(a, b) if conjunction else self.semantics.bit_or(a, b)
            else:
                result = value
        return result

    def _subscript(self, node: ast.Subscript) -> object:
        owner = self.evaluate(node.value)
        index = node.slice
        if is_tuple(owner) or isinstance(owner, str):
            return self._tuple_item(node, owner)
        if is_dict(owner):
            return self._dict_item(node, owner)
        if not isinstance(owner, Tensor):
            raise self.error(node, f"cannot index {describe(owner)}")
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        value, axis = owner, 0
        rank = len(owner.shape)
        for part in parts:
            if isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None:
                axis += 1
            elif isinstance(part, ast.Slice):
                raise self.error(part, "a tile cannot be sliced", "load only the part that is needed")
            elif self.evaluate(part) is None:
                self.at(node)
                value = self.semantics.expand_dims(value, axis)
                axis += 1
            else:
                raise self.error(
                    part,
                    "a tile is indexed with : and None only"
                    if owner.is_tile
                    else f"cannot index {describe(owner)}",
                    "elements are reached by loading them",
                )
        if axis > rank + sum(1 for p in parts if not isinstance(p, ast.Slice)):
            raise self.error(node, f"too many indices for {describe(owner)}")
        return value

    def _tuple_item(self, node: ast.Subscript, owner: tuple[object, ...] | str) -> object:
        if isinstance(node.slice, ast.Slice):
            bounds = [
                None if part is None else self.evaluate(part)
                for part in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            known = [b for b in bounds if isinstance(b, int | None)]
            if len(known) != len(bounds):
                raise self.error(node, "the bounds of a slice are integers known at compile time")
            if bounds[2] == 0:
                raise self.error(node, "the step of a slice is zero")
            return owner[slice(*known)]
        index = self.evaluate(node.slice)
        if not isinstance(index, int):
            raise self.error(
                node.slice, f"a tuple is indexed with an integer known at compile time, got {describe(index)}"
            )
        if not -len(owner) <= index < len(owner):
            raise self.error(node, f"the index {index} is out of range for a tuple of {len(owner)}")
        return owner[index]

    def _dict_item(self, node: ast.Subscript, owner: Mapping[object, object]) -> object:
        key = self.evaluate(node.slice)
        if not is_constant(key) or is_dict(key):
            raise self.error(
                node.slice, f"a dict is indexed with a value known at compile time, got {describe(key)}"
            )
        if key not in owner:
            raise self.error(
                node, f"the dict has no key {key!r}", f"its keys are {', '.join(map(repr, owner))}"
            )
        return owner[key]

    def _conditional(self, node: ast.IfExp) -> object:
        test = self.evaluate(node.test)
        if isinstance(test, Tensor):
            return self.dynamic_conditional(node, test)
        return self.evaluate(node.body if self.truth(node.test, test) else node.orelse)

    def dynamic_conditional(self, node: ast.IfExp, test: Tensor) -> object:
        """``a if test else b`` with a run-time test; overridden where control flow can be built."""
        raise self.error(node, "the condition is not known at compile time")

    # Calls ----------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> object:
        callee = self.evaluate(node.func)
        positional: list[object] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                inner = self.evaluate(argument.value)
                if not is_tuple(inner):
                    raise self.error(argument, f"cannot unpack {describe(inner)}")
                positional.extend(inner)
            else:
                positional.append(self.evaluate(argument))
        named: dict[str, object] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.error(node, "**arguments are not part of the language")
            if keyword.arg in named:
                raise self.error(node, f"{keyword.arg} is given twice")
            named[keyword.arg] = self.evaluate(keyword.value)
        self.at(node)
        match callee:
            case Builtin():
                return self._call_builtin(node, callee.name, positional, named)
            case Method():
                return self._call_builtin(node, callee.name, [callee.owner, *positional], named)
            case Function():
                return self.call_function(node, callee, positional, named)
            case Answer() if not positional and not named:
                return callee.value
            case BoundMethod():
                return self._call_python(node, callee, positional, named)
            case TupleType():
                return self._named_tuple(node, callee, positional, named)
            case DType() if len(positional) == 1 and not named:
                return self._call_builtin(node, "tl.cast", [positional[0], callee], {})
            case _:
                raise self.error(node.func, f"cannot call {describe(callee)}")

    def _call_python(
        self, node: ast.Call, method: BoundMethod, positional: Sequence[object], named: Mapping[str, object]
    ) -> object:
        """A method of a string or number, which gives another constant."""
        for value in (*positional, *named.values()):
            if not is_constant(value):
                raise self.error(
                    node, f".{method.name} works on values known at compile time, got {describe(value)}"
                )
        try:
            found = getattr(method.owner, method.name)(*positional, **named)
        except (TypeError, ValueError) as wrong:
            raise self.error(node, f".{method.name}: {wrong}") from None
        return tuple(found) if isinstance(found, list) else found  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    def _named_tuple(
        self, node: ast.Call, kind: TupleType, positional: Sequence[object], named: Mapping[str, object]
    ) -> Named:
        if len(positional) > len(kind.fields):
            raise self.error(node, f"{kind.name} has {len(kind.fields)} fields, got {len(positional)} values")
        given = dict(zip(kind.fields, positional, strict=False))
        for name, value in named.items():
            if name not in kind.fields or name in given:
                hint = did_you_mean(name, kind.fields) or f"its fields are {', '.join(kind.fields)}"
                wrong = "gets {} twice" if name in given else "has no field {}"
                raise self.error(node, f"{kind.name} {wrong.format(name)}", hint)
            given[name] = value
        late = kind.fields[len(kind.fields) - len(kind.defaults) :]
        given = {**dict(zip(late, kind.defaults, strict=True)), **given}
        missing = [name for name in kind.fields if name not in given]
        if missing:
            raise self.error(node, f"{kind.name} misses {', '.join(missing)}")
        return Named(kind, [given[name] for name in kind.fields])

    def _call_builtin(
        self, node: ast.Call, name: str, positional: Sequence[object], named: dict[str, object]
    ) -> object:
        if not builtins.takes(name, len(positional), named):
            signature = builtins.signature(name)
            form = f"it is called as {name}{signature}"
            for keyword in named:
                if keyword not in signature.parameters:
                    hint = did_you_mean(keyword, signature.parameters) or form
                    raise self.error(node, f"{name} has no parameter {keyword}", hint)
            try:
                signature.bind(*positional, **named)
            except TypeError as wrong:
                raise self.error(node, f"{name}: {wrong}", form) from None
        return builtins.BUILTINS[name](self.semantics, *positional, **named)

    def call_function(
        self, node: ast.AST, function: Function, positional: Sequence[object], named: dict[str, object]
    ) -> object:
        """A call of a kernel file's function; overridden where functions can be inlined."""
        raise self.error(node, f"{function.name} cannot be called outside a kernel")


def _methods(value: object) -> frozenset[str]:
    """Methods of Python's that a constant has in kernels."""
    return METHODS[str] if isinstance(value, str) else METHODS[float if isinstance(value, float) else int]


def _hint_of_none(value: object) -> str | None:
    if value is not None:
        return None
    return "an argument that this specialisation does not have is None: ask first whether it is"


def _name_of(node: ast.AST) -> str:
    words = {
        "ListComp": "a list comprehension",
        "SetComp": "a set comprehension",
        "DictComp": "a dict comprehension",
        "GeneratorExp": "a generator expression",
        "Lambda": "a lambda",
        "Dict": "a dict",
        "Set": "a set",
        "NamedExpr": "the walrus operator",
        "Slice": "a slice here",
        "Await": "await",
        "Yield": "yield",
        "YieldFrom": "yield from",
        "Starred": "a starred expression",
    }
    return words.get(type(node).__name__, type(node).__name__)
