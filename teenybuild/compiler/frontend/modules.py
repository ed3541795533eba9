"""What module-level names of a kernel file mean, settled without running the file.

Functions, constants, imports of the language and of other kernel files are resolved when first asked for. Everything else
(``import torch``, classes, code that computes) stands for a :class:`HostObject`, an error only where a kernel uses it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from teenybuild.compiler.frontend.source import Location, Source, read_source
from teenybuild.compiler.frontend.values import Builtin, Function, HostObject, Namespace
from teenybuild.diagnostics import UserError, did_you_mean, error

#: Modules that mean the language, by what a source may import.
LANGUAGE_MODULES = {
    "triton": "triton",
    "triton.language": "tl",
    "triton.language.math": "tl.math",
    "triton.language.extra": "tl.extra",
    "triton.language.extra.cuda": "tl.extra",
    "triton.language.extra.libdevice": "tl.extra.libdevice",
    "triton.language.extra.cuda.libdevice": "tl.extra.libdevice",
    "teenybuild": "triton",
    "teenybuild.language": "tl",
    "teenybuild.language.math": "tl.math",
    "math": "math",
}

#: Members of language modules that are modules themselves.
_SUBMODULES = {
    ("triton", "language"): "tl",
    ("tl", "math"): "tl.math",
    ("tl", "extra"): "tl.extra",
    ("tl.extra", "libdevice"): "tl.extra.libdevice",
    ("tl.extra", "cuda"): "tl.extra",
}

#: Evaluates a module-level expression; supplied by ``evaluate.py``, which imports this module.
Evaluate = Callable[["Module", ast.expr], object]


class Library:
    """All kernel files read in one process, and where imports between them are looked up.

    ``roots`` are searched in order.  Messages call a file by its path relative to ``base`` where it lies under it, behind ``prefix``.
    """

    def __init__(
        self,
        base: Path,
        roots: tuple[Path, ...],
        evaluate: Evaluate,
        overrides: Mapping[str, object] = MappingProxyType({}),
        prefix: str = "",
    ) -> None:
        self.base = base
        self.prefix = prefix
        self.roots = roots
        self.evaluate = evaluate
        #: The manifest's ``globals``: values of module-level names that win over what the sources say.
        self.overrides = overrides
        self._modules: dict[Path, Module] = {}

    def module(self, path: Path) -> Module:
        """The module at ``path``, read at first use. Raises :class:`UserError`."""
        key = Path(path).resolve()
        found = self._modules.get(key)
        if found is None:
            found = self._modules[key] = Module(self, key, read_source(key, self._display(path)))
        return found

    def _display(self, path: Path) -> str:
        try:
            return self.prefix + Path(path).absolute().relative_to(self.base.absolute()).as_posix()
        except ValueError:
            return Path(path).as_posix()

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file read so far, sorted."""
        return tuple(sorted(self._modules))

    def find(self, name: str, importer: Path, level: int) -> Path | None:
        """The kernel file that ``import name`` means in ``importer``, or None where it is no kernel file."""
        parts = name.split(".") if name else []
        if level:
            start = importer.parent
            for _ in range(level - 1):
                start = start.parent
            candidates = (start,)
        else:
            candidates = (*self.roots, importer.parent)
        for root in candidates:
            target = root.joinpath(*parts)
            for path in (
                target.with_suffix(".py") if parts else target / "__init__.py",
                target / "__init__.py",
            ):
                if path.is_file():
                    return path
        return None


class _CircleError(UserError):
    """A name that is defined in terms of itself: no value of the manifest's would help."""


@dataclass(frozen=True, slots=True)
class _Binding:
    """A module-level statement that gives a name its meaning, and the part of it that does."""

    node: ast.stmt
    item: ast.alias | ast.expr | None = None


class Module:
    """One kernel file, its names resolved on demand."""

    def __init__(self, library: Library, path: Path, source: Source) -> None:
        self.library = library
        self.path = path
        self.source = source
        self._bindings = _collect(source.tree.body)
        self._stars = [
            n for n in source.tree.body if isinstance(n, ast.ImportFrom) and n.names[0].name == "*"
        ]
        self._resolved: dict[str, object] = {}
        self._busy: set[str] = set()

    def mentions(self, name: str) -> bool:
        """Whether the file uses or defines ``name`` anywhere: a value given for it may then matter."""
        return self.defines(name) or any(
            isinstance(node, ast.Name) and node.id == name for node in ast.walk(self.source.tree)
        )

    @property
    def names(self) -> list[str]:
        """All module-level names."""
        return list(self._bindings)

    def defines(self, name: str) -> bool:
        """Whether the file gives ``name`` a meaning at module level."""
        return name in self._bindings or self._starred(name) is not None

    def _starred(self, name: str) -> Module | None:
        """The kernel file that gives ``name`` its meaning through ``from file import *``; the last one that does."""
        waiting = f"{name} through *"
        if name.startswith("_") or waiting in self._busy:
            return None
        self._busy.add(waiting)
        try:
            for node in reversed(self._stars):
                path = self.library.find(node.module or "", self.path, node.level)
                if path is not None and self.library.module(path).defines(name):
                    return self.library.module(path)
        finally:
            self._busy.discard(waiting)
        return None

    def lookup(self, name: str) -> object:
        """What ``name`` means; raises KeyError where the file does not define it."""
        if name not in self._bindings and name not in self._resolved:
            source = self._starred(name)
            if source is not None:
                self._resolved[name] = source.lookup(name)
        if name not in self._resolved:
            binding = self._bindings[name]
            if name in self._busy:
                said = Location(self.source, binding.node).error(f"{name} is defined in terms of itself")
                raise _CircleError(said.diagnostics)
            self._busy.add(name)
            try:
                self._resolved[name] = self._resolve(name, binding)
            finally:
                self._busy.discard(name)
        return self._resolved[name]

    def _resolve(self, name: str, binding: _Binding) -> object:
        match binding.node:
            case ast.FunctionDef() as node:
                return Function(self, node)
            case ast.Import():
                assert isinstance(binding.item, ast.alias)
                dotted = binding.item.name if binding.item.asname else binding.item.name.split(".")[0]
                return self._import(dotted)
            case ast.ImportFrom() as node:
                assert isinstance(binding.item, ast.alias)
                return self._import_from(node, binding.item.name)
            case ast.Assign() | ast.AnnAssign() if binding.item is not None:
                assert isinstance(binding.item, ast.expr)
                if isinstance(binding.item, ast.Lambda):
                    return HostObject(f"the lambda {name}", "write it as a function, with def")
                try:
                    return self.library.evaluate(self, binding.item)
                except _CircleError:
                    raise
                except UserError:
                    return self._computed(name, "computes when it runs")
            case ast.If() as node:
                return self._resolve_if(name, node)
            case ast.Try() as node:
                return self._resolve_try(name, node)
            case ast.ClassDef():
                return HostObject(f"the class {name}")
            case _:
                return self._computed(name, "sets when it runs")

    def _computed(self, name: str, how: str) -> HostObject:
        """A name whose value only running the file would tell."""
        return HostObject(
            f"{name}, which {self.source.display} {how}",
            f"if it is a constant, give {name} a value under globals",
        )

    def _resolve_if(self, name: str, node: ast.If) -> object:
        """The side of an ``if`` that is taken, where its test is a constant; a host object where it is not."""
        try:
            test = self.library.evaluate(self, node.test)
        except UserError:
            test = None
        if isinstance(test, bool):
            inner = _collect(node.body if test else node.orelse).get(name)
            if inner is not None:
                return self._resolve(name, inner)
        return self._computed(name, "sets under a condition")

    def _resolve_try(self, name: str, node: ast.Try) -> object:
        """``try: import`` means the import where it is found, else what the handler sets instead."""
        found: object = self._computed(name, "sets when it runs")
        for body in ([*node.body, *node.orelse], *(h.body for h in node.handlers)):
            inner = _collect(body).get(name)
            if inner is not None:
                found = self._resolve(name, inner)
                if not isinstance(found, HostObject):
                    return found
        return found

    def _import(self, dotted: str) -> object:
        language = LANGUAGE_MODULES.get(dotted)
        if language is not None:
            return Namespace(language)
        path = self.library.find(dotted, self.path, 0)
        return self.library.module(path) if path is not None else _foreign(f"the module {dotted}", dotted)

    def _import_from(self, node: ast.ImportFrom, member: str) -> object:
        name = node.module or ""
        if not node.level and name in LANGUAGE_MODULES:
            return namespace_member(LANGUAGE_MODULES[name], member)
        inner = self.library.find(f"{name}.{member}".lstrip("."), self.path, node.level)
        path = self.library.find(name, self.path, node.level)
        if path is not None and path != self.path:
            module = self.library.module(path)
            if module.defines(member):
                return module.lookup(member)
            if inner is None:
                raise Location(self.source, node).error(
                    f"{module.source.display} does not define {member}", did_you_mean(member, module.names)
                )
        if inner is not None:
            return self.library.module(inner)
        dots = "." * node.level
        if node.level:
            raise Location(self.source, node).error(
                f"no kernel file is found for {dots}{name}",
                "relative imports are looked up beside the file",
            )
        return _foreign(f"{member} of the module {dots}{name}", name)


def _foreign(what: str, module: str) -> HostObject:
    """Something imported from no kernel file. A library of Python's own, or one of tensors, is not looked for among kernels."""
    known = {*sys.stdlib_module_names, "numpy", "torch", "triton"}
    hint = f"if {module} is a kernel file, name the directory it lies in under roots"
    return HostObject(what, None if module.partition(".")[0] in known else hint)


def namespace_member(space: str, member: str) -> object:
    """``member`` of a language module: another module, or a builtin, a dtype, a number by that dotted name.

    Whether the language has it is settled where it is used.
    """
    inner = _SUBMODULES.get((space, member))
    if inner is not None:
        return Namespace(inner)
    return Builtin(f"{space}.{member}")


def _collect(body: Sequence[ast.stmt]) -> dict[str, _Binding]:
    """The last binding of each module-level name."""
    found: dict[str, _Binding] = {}
    for node in body:
        for name, item in _bound(node):
            found[name] = _Binding(node, item)
    return found


def _bound(node: ast.stmt) -> Iterator[tuple[str, ast.alias | ast.expr | None]]:
    """The names a statement binds, each with the import or the expression that says to what."""
    match node:
        case ast.FunctionDef() | ast.ClassDef() | ast.AsyncFunctionDef():
            yield node.name, None
        case ast.Import():
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], alias
        case ast.ImportFrom():
            for alias in node.names:
                if alias.name != "*":
                    yield alias.asname or alias.name, alias
        case ast.Assign():
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
                else:
                    yield from ((n.id, None) for n in ast.walk(target) if isinstance(n, ast.Name))
        case ast.AnnAssign() | ast.AugAssign() if isinstance(node.target, ast.Name):
            yield node.target.id, node.value if isinstance(node, ast.AnnAssign) else None
        case ast.If() | ast.For() | ast.While():
            yield from ((name, None) for name in _collect([*node.body, *node.orelse]))
        case ast.Try():
            inner = [*node.body, *node.orelse, *(s for h in node.handlers for s in h.body), *node.finalbody]
            yield from ((name, None) for name in _collect(inner))
        case ast.With():
            yield from ((name, None) for name in _collect(node.body))
        case _:
            return


def find_function(module: Module, name: str) -> Function:
    """The kernel ``name`` of a file. Raises :class:`UserError` that lists what the file has."""
    node = module.source.function(name)
    if node is None:
        names = module.source.functions()
        hint = did_you_mean(name, names) or (
            f"it has {', '.join(names)}" if names else "it has no functions at all"
        )
        raise error(f"{module.source.display} has no function {name}", hint=hint)
    return Function(module, node)
