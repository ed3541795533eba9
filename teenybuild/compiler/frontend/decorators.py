"""Decorators. None is run, so the only ones let through are those that change nothing a kernel computes."""

from __future__ import annotations

import ast

from teenybuild.compiler.frontend.reach import ast_path, resolve
from teenybuild.compiler.frontend.source import Location
from teenybuild.compiler.frontend.values import Builtin, Function
from teenybuild.diagnostics import UserError


def is_builtin(function: Function, target: ast.expr, name: str) -> bool:
    """Whether what stands above a function is a function of the language, by its dotted name."""
    place = function.module.place_of(function.node)
    return resolve(function.module, target, frozenset(), place) == Builtin(name)


def _is_jit(function: Function, decorator: ast.expr) -> bool:
    return is_builtin(
        function, decorator.func if isinstance(decorator, ast.Call) else decorator, "triton.jit"
    )


def _complain(function: Function, decorator: ast.expr, what: str) -> UserError:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return Location(function.module.source, decorator).error(
        f"{function.name} is decorated with @{ast_path(target) or 'something'}: {what}",
        "sources are read, not run, so what a decorator would make of the function is not known",
    )


def check_helper(function: Function) -> None:
    """A function that a kernel calls has ``@triton.jit`` or nothing. Raises :class:`UserError`."""
    for decorator in function.node.decorator_list:
        if not _is_jit(function, decorator):
            raise _complain(function, decorator, "a kernel calls functions that have @triton.jit or nothing")


def check_kernel(function: Function) -> None:
    """Above a kernel's ``@triton.jit`` anything may stand: it is about launching. Raises :class:`UserError` for the rest."""
    decorators = function.node.decorator_list
    jit = next((i for i, decorator in enumerate(decorators) if _is_jit(function, decorator)), None)
    if jit is None and decorators:
        raise _complain(function, decorators[-1], "a kernel has @triton.jit next to it, or no decorator")
    if jit is not None and jit + 1 < len(decorators):
        raise _complain(function, decorators[jit + 1], "nothing stands between @triton.jit and the kernel")


def launch_decorators(function: Function) -> list[str]:
    """The decorators above ``@triton.jit``, as written: ``triton.autotune``."""
    found: list[str] = []
    for decorator in function.node.decorator_list:
        if _is_jit(function, decorator):
            break
        found.append(ast_path(decorator.func if isinstance(decorator, ast.Call) else decorator))
    return found
