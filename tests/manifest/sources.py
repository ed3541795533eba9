"""Signatures of kernels for tests, read from their sources with the standard parser."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from teenybuild.diagnostics import Span, did_you_mean, error
from teenybuild.manifest import Kernel, Parameter, Signature


def lookup_in(directory: Path) -> Callable[[Kernel], Signature]:
    """Finds functions in the ``.py`` files of ``directory``."""

    def lookup(kernel: Kernel) -> Signature:
        path = directory / kernel.source
        if not path.is_file():
            raise error(f"{path} does not exist", kernel.span("source", part="value"))
        text = path.read_text(encoding="utf-8")
        functions = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
        if kernel.function not in functions:
            hint = did_you_mean(kernel.function, functions)
            raise error(
                f"{path} has no function {kernel.function}", kernel.span("function", part="value"), hint=hint
            )
        return _signature(functions[kernel.function], str(path), text)

    return lookup


def signature(source: str) -> Signature:
    """The signature of one ``def``."""
    [function] = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    return _signature(function, "kernel.py", source)


def _signature(function: ast.FunctionDef, file: str, text: str) -> Signature:
    args = function.args.args
    defaults = len(args) - len(function.args.defaults)
    parameters = tuple(
        Parameter(
            arg.arg,
            constexpr=arg.annotation is not None and ast.unparse(arg.annotation).endswith("constexpr"),
            has_default=index >= defaults,
        )
        for index, arg in enumerate(args)
    )
    line, column = function.lineno, function.col_offset + len("def ") + 1
    span = Span(file, line, column, line, column + len(function.name), text.split("\n")[line - 1])
    return Signature(function.name, parameters, span)
