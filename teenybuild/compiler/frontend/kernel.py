"""From a kernel's source and one specialisation to tile IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from teenybuild.compiler.frontend.canonical import is_constexpr_hint, without_docstring
from teenybuild.compiler.frontend.expressions import Frame
from teenybuild.compiler.frontend.source import Location
from teenybuild.compiler.frontend.statements import Endless, Reader, Returned, parameter_defaults
from teenybuild.compiler.frontend.values import Function, Tensor, ir_element
from teenybuild.compiler.ir import core, tt, types
from teenybuild.diagnostics import UserError
from teenybuild.types import Absent, Assume, Pointer, Scalar, Type, Value


@dataclass(frozen=True, slots=True)
class Instance:
    """What one specialisation fixes of a kernel: types, constants and assumptions, by parameter."""

    types: Mapping[str, Type]
    consts: Mapping[str, Value]
    assume: Mapping[str, Assume] = field(default_factory=dict[str, Assume])


def read_kernel(kernel: Function, instance: Instance) -> core.Function:
    """Tile IR of one specialisation. Raises :class:`UserError` with everything that is wrong with it."""
    frame = Frame(kernel.module, kernel.name)
    reader = Reader(frame, kernel.node)
    body = core.Block()
    arguments = _Arguments(reader, kernel, instance)
    arguments.bind(body)
    if reader.diagnostics:
        raise UserError(reader.diagnostics)
    with reader.builder.into(body):
        try:
            returned = reader.run(without_docstring(kernel.node.body))
        except Endless as endless:
            raise endless.error from None
        if isinstance(returned, Returned) and returned.value is not None:
            raise Location(kernel.module.source, kernel.node).error(
                f"the kernel {kernel.name} returns a value", "a kernel gives results by tl.store"
            )
        reader.builder.add(tt.Return())
    if reader.diagnostics:
        raise UserError(_in_order(reader))
    return core.Function(
        kernel.name,
        tuple(arguments.names),
        body,
        tuple(arguments.divisibility),
        tuple(arguments.constant),
    )


def _in_order(reader: Reader) -> list[object]:
    def place(diagnostic: object) -> tuple[str, int, int]:
        span = getattr(diagnostic, "span", None)
        return (span.file, span.line, span.column) if span else ("", 0, 0)

    return sorted(reader.diagnostics, key=place)  # type: ignore[return-value]


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
        args = self._kernel.node.args
        if args.vararg or args.kwarg:
            raise reader.error(self._kernel.node, "a kernel cannot take *args or **kwargs")
        defaults = parameter_defaults(self._kernel.node)
        for parameter in self._kernel.parameters:
            name = parameter.arg
            constexpr = is_constexpr_hint(parameter.annotation)
            if constexpr:
                reader.frame.constexpr.add(name)
            if name in instance.consts:
                reader.frame.locals[name] = instance.consts[name]
            elif name in instance.types:
                self._argument(body, name, instance.types[name])
            elif name in defaults:
                module = self._kernel.module
                reader.frame.locals[name] = module.library.evaluate(module, defaults[name])
            else:
                what = "a value (it is a constexpr)" if constexpr else "a type"
                raise reader.error(parameter, f"the parameter {name} has no default and is given no {what.removeprefix('a ')}")

    def _argument(self, body: core.Block, name: str, type_: Type) -> None:
        locals_ = self._reader.frame.locals
        match type_:
            case Absent():
                locals_[name] = None
                return
            case Pointer():
                dtype: types.Element = types.Pointer(type_.dtype)
            case Scalar():
                dtype = type_.dtype
        value = core.Value(ir_element(dtype))
        body.args.append(value)
        self.names.append(name)
        assumption = self._instance.assume.get(name)
        divisor = assumption.value if assumption is not None and assumption.kind == "div" else None
        known = assumption.value if assumption is not None and assumption.kind == "eq" else None
        self.divisibility.append(divisor)
        self.constant.append(known)
        locals_[name] = known if known is not None else Tensor(value, dtype)
