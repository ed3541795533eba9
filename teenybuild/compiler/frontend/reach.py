"""What a kernel reaches, and its canonical text: the kernel, every helper and every module-level constant it may use.

The closure follows names, not one specialisation's way through the code, so one text serves all specialisations of a kernel.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from teenybuild.compiler.frontend import builtins
from teenybuild.compiler.frontend.canonical import Printer, Rename, parameter_defaults, spell_constant
from teenybuild.compiler.frontend.modules import Module, namespace_member
from teenybuild.compiler.frontend.scope import Place
from teenybuild.compiler.frontend.source import Location
from teenybuild.compiler.frontend.values import (
    Builtin,
    Class,
    Function,
    Member,
    Named,
    Namespace,
    TupleType,
    is_constant,
    is_dict,
    is_tuple,
)
from teenybuild.compiler.ir.types import Pointer
from teenybuild.diagnostics import UserError
from teenybuild.dtypes import DType


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """The canonical text of a kernel and what it reaches.

    ``lines`` gives the line in ``text`` of each statement of the sources; ``modules`` are the files it came from.
    """

    function: Function
    text: str
    lines: Mapping[ast.stmt, int]
    modules: tuple[Module, ...]

    @property
    def places(self) -> dict[int, tuple[str, int]]:
        """Where each line of ``text`` that begins a statement stands in the sources: file, as messages call it, and line."""
        found: dict[int, tuple[str, int]] = {}
        for module in self.modules:
            source = module.source
            for node in source.statements.intersection(self.lines):
                found[self.lines[node]] = (source.display, node.lineno)
        return dict(sorted(found.items()))

    def unmentioned(self, names: Iterable[str]) -> list[str]:
        """Those of ``names`` that no file it reaches knows: a value given for one would do nothing."""
        read = self.function.module.library.modules
        return [name for name in names if not any(module.mentions(name) for module in read)]

    @property
    def names(self) -> list[str]:
        """Module-level names of the files it reaches."""
        return [name for module in self.modules for name in module.names]


class _Closure:
    """Walks from the kernel, naming everything global in the order it is met."""

    def __init__(self, kernel: Function) -> None:
        #: Canonical names: of functions by their node, of constants by :func:`_constant_key`.
        self.names: dict[object, str] = {}
        self._taken: set[str] = {"tl", "triton", "math", kernel.name}
        self.functions: list[Function] = []
        self.constants: dict[str, object] = {}
        self.modules: dict[Module, None] = {}
        #: Names local to each function met.
        self._locals: dict[ast.FunctionDef, frozenset[str]] = {}
        self._visit(kernel, kernel.name)

    def _visit(self, function: Function, name: str) -> None:
        self.names[function.node] = name
        self.modules[function.module] = None
        # Locals shadow module-level names; every name a function binds is local to it, as in Python.
        bound = self._locals[function.node] = local_names(function.node)
        defaults = parameter_defaults(function.node)
        where = function.module.place_of(function.node) if defaults else None
        for default in defaults.values():
            self._meet_all(function.module, default, frozenset(), where)
        for statement in function.node.body:
            self._meet_all(function.module, statement, bound, None)
        self.functions.append(function)

    def _meet_all(self, module: Module, part: ast.AST, bound: frozenset[str], at: Place | None) -> None:
        for node in _evaluated(part):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                self._meet(module, node, bound, at)

    def _meet(self, module: Module, node: ast.expr, bound: frozenset[str], at: Place | None) -> None:
        found = resolve(module, node, bound, at)
        if isinstance(found, Function) and found.node not in self.names:
            self._visit(found, self._fresh(found.name))
        elif is_constant(found) or isinstance(found, TupleType):
            key = _constant_key(module, node, at)
            if key not in self.names:
                self.names[key] = name = self._fresh(ast_path(node).rpartition(".")[2])
                self.constants[name] = found

    def _fresh(self, name: str) -> str:
        candidate, n = name, 1
        while candidate in self._taken:
            n += 1
            candidate = f"{name}_{n}"
        self._taken.add(candidate)
        return candidate

    def renamer(self, function: Function) -> Rename:
        """How the printer spells globals inside ``function``."""
        bound = self._locals[function.node]
        # Defaults are the module's to evaluate: BLOCK=BLOCK names a constant, not the parameter.
        outside = {n for d in parameter_defaults(function.node).values() for n in ast.walk(d)}
        where = function.module.place_of(function.node) if outside else None

        def spell(node: ast.expr) -> str | None:
            default = node in outside
            return self._spelling(
                function.module, node, frozenset() if default else bound, where if default else None
            )

        return spell

    def _spelling(
        self, module: Module, node: ast.expr, bound: frozenset[str], at: Place | None
    ) -> str | None:
        """The canonical name of a global that ``node`` stands for; None for locals and attributes of values."""
        found = resolve(module, node, bound, at)
        match found:
            case Function():
                return self.names.get(found.node)
            case Builtin():
                return builtins.ALIASES.get(found.name, found.name)
            case Namespace():
                return found.name
            case _ if is_constant(found) or isinstance(found, TupleType):
                return self.names.get(_constant_key(module, node, at))
            case _:
                return None


def _constant_key(module: Module, node: ast.expr, at: Place | None) -> object:
    """What makes two uses of a constant one: the file, the path as written, and the statement that gave it its value."""
    path = ast_path(node)
    binding = module.binding(path.partition(".")[0], at)
    return module.path, path, binding and binding.statement


def _evaluated(part: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are evaluated when ``part`` runs, breadth first: type hints and decorators are not."""
    waiting = deque([part])
    while waiting:
        node = waiting.popleft()
        yield node
        hints = (getattr(node, "annotation", None), getattr(node, "returns", None))
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        waiting.extend(n for n in ast.iter_child_nodes(node) if n not in hints and n not in decorators)


_NOT_GLOBAL = object()


def resolve(module: Module, node: ast.expr, bound: frozenset[str], at: Place | None = None) -> object:
    """What a name, or a chain of attributes on a module, means globally; a marker for anything else."""
    try:
        if isinstance(node, ast.Name):
            if node.id in bound:
                return _NOT_GLOBAL
            if module.defines(node.id, at):
                return module.lookup(node.id, at)
            return Builtin(node.id) if node.id in builtins.PYTHON_NAMES else _NOT_GLOBAL
        if isinstance(node, ast.Attribute):
            owner = resolve(module, node.value, bound, at)
            if isinstance(owner, Namespace):
                return namespace_member(owner.name, node.attr)
            if isinstance(owner, Class):
                return owner.attribute(node.attr) if node.attr in owner.names else _NOT_GLOBAL
            if isinstance(owner, Member):
                return {"value": owner.value, "name": owner.name}.get(node.attr, _NOT_GLOBAL)
            if isinstance(owner, Module):
                return (
                    owner.lookup(node.attr)
                    if owner.defines(node.attr)
                    else owner.submodule(node.attr) or _NOT_GLOBAL
                )
    except UserError:
        pass  # reported where the kernel uses the name
    return _NOT_GLOBAL


def ast_path(node: ast.expr) -> str:
    """``a.b.c`` of a chain of attributes."""
    if isinstance(node, ast.Attribute):
        return f"{ast_path(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def local_names(node: ast.FunctionDef) -> frozenset[str]:
    """Names that a function binds: its parameters and whatever it assigns."""
    args = node.args
    names = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
    # And what functions inside it do, where it runs while a kernel is compiled.
    names |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    names |= {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n is not node}
    names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(names)


def spell_value(value: object) -> str:
    """A module-level constant, as the canonical text assigns it."""
    if isinstance(value, TupleType):
        defaults = f", defaults={spell_value(value.defaults)}" if value.defaults else ""
        return f"namedtuple({value.name!r}, {spell_value(value.fields)}{defaults})"
    if isinstance(value, Named):
        return f"{spell_value(value.kind)}{spell_value(tuple(value))}"
    if is_tuple(value):
        inner = ", ".join(spell_value(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if is_dict(value):
        return f"{{{', '.join(f'{spell_value(k)}: {spell_value(v)}' for k, v in value.items())}}}"
    if isinstance(value, DType):
        return f"tl.{value.language}"
    if isinstance(value, Pointer):
        return f"tl.pointer_type({spell_value(value.behind or value.pointee)})"
    return spell_constant(value)


def reach(kernel: Function) -> Reached:
    """The canonical text of ``kernel`` with its helpers and constants. Raises :class:`UserError` where code is nested past all use."""
    try:
        return _reach(kernel)
    except RecursionError:
        raise nested_too_deeply(kernel) from None


def runs_at_compile_time(function: Function) -> bool:
    """Whether a function is a ``constexpr_function``: Python, whose constants a kernel takes."""
    module, marker = function.module, Builtin("triton.constexpr_function")
    decorators = function.node.decorator_list
    place = module.place_of(function.node) if decorators else None
    return any(resolve(module, d, frozenset(), place) == marker for d in decorators)


def nested_too_deeply(kernel: Function) -> UserError:
    """What is said of code that is nested so deeply that reading it would exhaust the stack."""
    return Location(kernel.module.source, kernel.node).error(
        f"{kernel.name}, or a function it calls, is nested too deeply to read",
        "give parts of long expressions names, and join branches that follow one another",
    )


def _reach(kernel: Function) -> Reached:
    closure = _Closure(kernel)

    text = "import triton\nimport triton.language as tl\n"
    lines: dict[ast.stmt, int] = {}
    if closure.constants:
        text += "\n" + "".join(
            f"{name} = {spell_value(value)}\n" for name, value in closure.constants.items()
        )
    for function in closure.functions:
        printer = Printer(closure.renamer(function))
        decorator = "triton.constexpr_function" if runs_at_compile_time(function) else "triton.jit"
        printer.function(function.node, closure.names[function.node], decorator)
        start = text.count("\n") + 2
        text += "\n\n" + printer.text
        lines.update({statement: start + line for statement, line in printer.lines.items()})
    return Reached(kernel, text, lines, tuple(closure.modules))
