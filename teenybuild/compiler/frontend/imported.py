"""What importing kernel files told, in the place of what reading them leaves open."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from teenybuild.compiler.frontend.expressions import Frame
from teenybuild.compiler.frontend.host_values import Closure, TritonConfig
from teenybuild.compiler.frontend.values import Builtin, Function, Namespace

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.modules import Module


class Untold(Exception):
    """The import does not tell either."""


class Imported:
    """Module-level names, and configs of kernels, by file. ``data`` is what the importing process wrote, files named from ``base``."""

    def __init__(self, data: Mapping[str, Any], base: Path) -> None:
        self.data = data
        self._base = base.resolve()
        self._names: dict[Path, dict[str, Any]] = {
            self._path(file): names for file, names in data["modules"].items()
        }
        self._tuned: dict[tuple[Path, int], dict[str, Any]] = {}
        for key, said in data["tuned"].items():
            file, _, line = key.rpartition(":")
            self._tuned[self._path(file), int(line)] = said

    def _path(self, file: str) -> Path:
        return (self._base / file).resolve()

    def names(self, module: Module) -> Mapping[str, Any]:
        """The names of a file that the import tells something of."""
        return self._names.get(module.path, {})

    def value(self, module: Module, name: str) -> object:
        """What a name of a file turned out to be. Raises :class:`Untold`."""
        if name not in self.names(module):
            raise Untold
        binding = module.binding(name)
        return self._value(
            module, self.names(module)[name], module.source.tree if binding is None else binding.statement
        )

    def configs(self, function: Function) -> tuple[object, ...] | None:
        """The configs that ``@triton.autotune``, or what wraps it, turned out to have."""
        said = self._said(function).get("configs")
        try:
            found = None if said is None else self._value(function.module, said, function.node)
        except Untold:
            return None
        return found if isinstance(found, tuple) else None  # pyright: ignore[reportUnknownVariableType]

    def heuristics(self, function: Function) -> list[Mapping[object, object]] | None:
        """What each ``@triton.heuristics`` turned out to compute."""
        said = self._said(function).get("heuristics")
        try:
            found = (
                None
                if said is None
                else [self._value(function.module, each, function.node) for each in said if each]
            )
        except Untold:
            return None
        return None if found is None else [each for each in found if isinstance(each, Mapping)]  # pyright: ignore[reportUnknownVariableType]

    def _said(self, function: Function) -> dict[str, Any]:
        return self._tuned.get((function.module.path, _first_line(function.node)), {})

    def _value(self, module: Module, form: Any, node: ast.AST) -> object:
        match form:
            case ["constant", value]:
                return value
            case ["tuple", [*items]]:
                return tuple(self._value(module, item, node) for item in items)
            case ["dict", [*pairs]]:
                found = {self._value(module, k, node): self._value(module, v, node) for k, v in pairs}
                return MappingProxyType(found)
            case ["language", str(name)]:
                return Builtin(name)
            case ["namespace", str(name)]:
                return Namespace(name)
            case ["module", str(file)] if self._path(file) in self._names:
                return module.library.module(self._path(file))
            case ["function", str(file), int(line), str(name)]:
                return self._function(module, self._path(file), line, name)
            case ["lambda", str(file), int(line), int(column)]:
                return self._lambda(module, self._path(file), line, column)
            case ["config", kwargs, *options]:
                constants: Any = self._value(module, kwargs, node)
                warps, stages, ctas, registers = options
                return TritonConfig(constants, warps, stages, ctas, registers, module, node)
            case _:
                raise Untold

    def _function(self, module: Module, file: Path, line: int, name: str) -> Function:
        if file in self._names:
            other = module.library.module(file)
            for node in ast.walk(other.source.tree):
                if isinstance(node, ast.FunctionDef) and node.name == name and _first_line(node) == line:
                    return Function(other, node)
        raise Untold

    def _lambda(self, module: Module, file: Path, line: int, column: int) -> Closure:
        if file in self._names:
            other = module.library.module(file)
            for node in _lambdas(other.source.tree):
                if (node.body.lineno, node.body.col_offset) == (line, column) and not node.args.defaults:
                    return Closure(node, Frame(other, ""), {})
        raise Untold


def _lambdas(tree: ast.Module) -> Iterator[ast.Lambda]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Lambda))


def _first_line(node: ast.FunctionDef) -> int:
    """Where Python says that a function starts: at its first decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
