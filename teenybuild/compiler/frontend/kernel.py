"""From a kernel's source and one specialisation to tile IR."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from teenybuild.compiler.frontend.builtins import descriptors
from teenybuild.compiler.frontend.canonical import is_constexpr_hint, parameter_defaults, without_docstring
from teenybuild.compiler.frontend.decorators import check_kernel, launch_decorators
from teenybuild.compiler.frontend.expressions import Frame
from teenybuild.compiler.frontend.reach import nested_too_deeply
from teenybuild.compiler.frontend.statements import Endless, Reader
from teenybuild.compiler.frontend.values import (
    Function,
    Tensor,
    TensorDescriptor,
    ir_element,
    is_constant,
    spell_element,
)
from teenybuild.compiler.ir import core, tt, types
from teenybuild.diagnostics import Diagnostic, UserError
from teenybuild.dtypes import BY_LANGUAGE, DType
from teenybuild.types import (
    Absent,
    Assume,
    Descriptor,
    Leaf,
    Pointer,
    Scalar,
    Tuple,
    Type,
    Value,
    assumed_of,
    leaves,
)


@dataclass(frozen=True, slots=True)
class Instance:
    """What one specialisation fixes of a kernel: types and constants by parameter, assumptions by argument (``ptrs[1]``)."""

    types: Mapping[str, Type]
    consts: Mapping[str, Value]
    assume: Mapping[str, Assume] = field(default_factory=dict[str, Assume])


def read_kernel(
    kernel: Function, instance: Instance, debug: bool = False, num_warps: int = 4
) -> core.Function:
    """Tile IR of one specialisation; ``debug`` has its assertions carried out at run time, ``num_warps`` is for those who ask.

    Raises :class:`UserError` with everything that is wrong with it.
    """
    frame = Frame(kernel.module, kernel.name)
    reader = Reader(frame, kernel.node, debug)
    reader.semantics.num_warps = num_warps
    body = core.Block()
    try:
        check_kernel(kernel)
    except UserError as wrong:
        reader.diagnostics.extend(wrong.diagnostics)
    arguments = _Arguments(reader, kernel, instance)
    arguments.bind(body)
    if reader.diagnostics:
        raise UserError(reader.diagnostics)
    with reader.builder.into(body):
        try:
            reader.run(without_docstring(kernel.node.body))
        except Endless as endless:
            raise UserError(_in_order([*reader.diagnostics, *endless.error.diagnostics])) from None
        except RecursionError:
            raise nested_too_deeply(kernel) from None
        reader.builder.add(tt.Return())
    if reader.diagnostics:
        raise UserError(_in_order(reader.diagnostics))
    return core.Function(
        kernel.name,
        tuple(arguments.names),
        body,
        tuple(arguments.divisibility),
        tuple(arguments.constant),
    )


def _in_order(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    def place(diagnostic: Diagnostic) -> tuple[str, int, int]:
        span = diagnostic.span
        return (span.file, span.line, span.column) if span else ("", 0, 0)

    return sorted(diagnostics, key=place)


class _Arguments:
    """Gives the kernel's parameters their values: run-time arguments, constants, None."""

    def __init__(self, reader: Reader, kernel: Function, instance: Instance) -> None:
        self._reader = reader
        self._kernel = kernel
        self._instance = instance
        self.names: list[str] = []
        self.divisibility: list[int | None] = []
        self.constant: list[int | None] = []

    def bind(self, body: core.Block) -> None:
        """Fills the frame's locals and the body's arguments, in source order."""
        reader, instance = self._reader, self._instance
        reader.semantics.arguments = body.args
        args = self._kernel.node.args
        for collecting, stars in ((args.vararg, "*"), (args.kwarg, "**")):
            if collecting is not None:
                self._wrong(
                    collecting,
                    f"a kernel cannot take {stars}{collecting.arg}",
                    "name its parameters one by one",
                )
        defaults = parameter_defaults(self._kernel.node)
        for parameter in self._kernel.parameters:
            name = parameter.arg
            constexpr = is_constexpr_hint(parameter.annotation)
            if constexpr:
                reader.frame.constexpr.add(name)
            if constexpr and name in instance.types:
                self._wrong(
                    parameter,
                    f"{name} is a constexpr, and is given the type {instance.types[name]}",
                    "give it a value",
                )
            elif name in instance.consts:
                self._constant(parameter, instance.consts[name])
            elif name in instance.types:
                self._argument(body, parameter, instance.types[name])
            elif name in defaults:
                try:
                    reader.frame.locals[name] = self._kernel.default(defaults[name])
                except UserError as wrong:
                    reader.diagnostics.extend(wrong.diagnostics)
            else:
                what = "value (it is a constexpr)" if constexpr else "type"
                above = launch_decorators(self._kernel) if constexpr else []
                hint = f"@{above[0]} is not run: its values are given like any other" if above else None
                self._wrong(parameter, f"the parameter {name} has no default and is given no {what}", hint)

    def _wrong(self, node: ast.AST, message: str, hint: str | None = None) -> None:
        """One more thing that is wrong with the parameters."""
        self._reader.diagnostics.extend(self._reader.error(node, message, hint).diagnostics)

    def _constant(self, parameter: ast.arg, value: object) -> None:
        if not is_constant(value) or isinstance(value, tuple | Mapping):
            kinds = "an integer, a float, a boolean, a string or None"
            self._wrong(parameter, f"{parameter.arg} is given {value!r}, and a constant is {kinds}")
        # TOML has no dtypes: "tl.float16" is one.
        dtype = BY_LANGUAGE.get(value[3:]) if isinstance(value, str) and value.startswith("tl.") else None
        self._reader.frame.locals[parameter.arg] = value if dtype is None else dtype

    def _argument(self, body: core.Block, parameter: ast.arg, type_: Type) -> None:
        """What is passed for a parameter becomes arguments of the body, and one value for the kernel."""
        passed = leaves(parameter.arg, type_)
        self._reader.frame.locals[parameter.arg] = self._value(body, parameter, type_, passed)

    def _value(self, body: core.Block, parameter: ast.arg, type_: Type, passed: Iterator[Leaf]) -> object:
        match type_:
            case Tuple():
                return tuple(self._value(body, parameter, item, passed) for item in type_.items)
            case Descriptor():
                return self._descriptor(body, parameter, type_, passed)
            case Absent():
                next(passed)
                return None
            case _:
                return self._passed(body, parameter, next(passed))

    def _descriptor(
        self, body: core.Block, parameter: ast.arg, type_: Descriptor, passed: Iterator[Leaf]
    ) -> TensorDescriptor:
        rank = len(type_.block)
        found = [self._passed(body, parameter, next(passed)) for _ in range(2 * rank + 1)]
        base, padding, sizes = found[0], found[-1], tuple(found[1:-1])
        with self._reader.builder.into(body):
            extents, strides = sizes[:rank], sizes[rank:]
            return descriptors.argument(self._reader.semantics, base, extents, strides, padding, type_.block)

    def _passed(self, body: core.Block, parameter: ast.arg, leaf: Leaf) -> Tensor:
        """One argument of the body."""
        name, type_ = leaf.name, leaf.type
        assert not isinstance(type_, Absent)
        dtype: types.Element = types.Pointer(type_.dtype) if isinstance(type_, Pointer) else type_.dtype
        if isinstance(type_, Scalar) and type_.dtype.is_fp8:
            message = f"{name} is {dtype}, a dtype of arrays and not of numbers"
            self._wrong(parameter, message, "pass an f32")
        value = core.Value(ir_element(dtype))
        body.args.append(value)
        self.names.append(name)
        assumption = assumed_of(leaf, self._instance.assume)
        self.divisibility.append(
            assumption.value if assumption is not None and assumption.kind == "div" else None
        )
        known = assumption.value if assumption is not None and assumption.kind == "eq" else None
        self.constant.append(known)
        tensor = Tensor(value, dtype)
        if assumption is None or not self._may_assume(parameter, name, dtype, assumption):
            return tensor
        if known is not None and isinstance(dtype, DType):
            # A run-time value all the same, that happens to be known: what the kernel computes must not depend on what is assumed.
            with self._reader.builder.into(body):
                return self._reader.builder.number(known, dtype)
        return tensor

    def _may_assume(self, parameter: ast.arg, name: str, dtype: types.Element, assumption: Assume) -> bool:
        """Whether the assumption is one about such a value; what is wrong is noted."""
        spelled = spell_element(dtype)
        whole = isinstance(dtype, DType) and dtype.is_int and not dtype.is_bool
        if assumption.kind == "div" and not (whole or isinstance(dtype, types.Pointer)):
            self._wrong(
                parameter, f"{name} is {spelled}, and only pointers and integers have divisors to assume"
            )
        elif assumption.kind == "eq" and not whole:
            self._wrong(parameter, f"{name} is {spelled}, and only integers have values to assume")
        elif (
            assumption.kind == "eq"
            and isinstance(dtype, DType)
            and not dtype.minimum <= assumption.value <= dtype.maximum
        ):
            self._wrong(
                parameter, f"{name} is assumed to be {assumption.value}, which is out of range for {dtype}"
            )
        else:
            return True
        return False
