"""Tile IR as MLIR text that Triton's own parser accepts: values numbered, no locations, no layouts."""

from __future__ import annotations

from teenybuild.compiler.ir.core import Block, Function, Op, Value
from teenybuild.compiler.ir.scf import Loop
from teenybuild.compiler.ir.types import spell


class _Printer:
    """Numbers values as they appear and keeps the indentation."""

    def __init__(self) -> None:
        self._names: dict[Value, str] = {}
        self._args = 0
        self._results = 0
        self._depth = 1
        #: Each operation with its own line, in the order in which they are printed.
        self.lines: list[tuple[Op, str]] = []

    def __getitem__(self, value: Value) -> str:
        return self._names[value]

    def argument(self, value: Value) -> str:
        name = self._names[value] = f"%arg{self._args}"
        self._args += 1
        return name

    def region(self, block: Block, *, header: bool = False) -> str:
        if not header:
            for arg in block.args:
                if arg not in self._names:
                    self.argument(arg)
        outer = "  " * self._depth
        self._depth += 1
        lines = ["{"]
        if header:
            args = ", ".join(f"{self.argument(a)}: {spell(a.type)}" for a in block.args)
            lines.append(f"{outer}^bb0({args}):")
        lines += self.body(block)
        self._depth -= 1
        return "\n".join([*lines, f"{outer}}}"])

    def body(self, block: Block) -> list[str]:
        indent = "  " * self._depth
        lines: list[str] = []
        for op in block.ops:
            if isinstance(op, Loop):
                # Named by what stands before the first block.
                for arg in op.blocks[0].args:
                    self.argument(arg)
            at = len(self.lines)
            text = op.assembly(self)
            if op.results:
                name = f"%{self._results}"
                self._results += 1
                if len(op.results) == 1:
                    self._names[op.results[0]] = name
                    text = f"{name} = {text}"
                else:
                    for i, result in enumerate(op.results):
                        self._names[result] = f"{name}#{i}"
                    text = f"{name}:{len(op.results)} = {text}"
            lines.append(indent + text)
            self.lines.insert(at, (op, text.partition("\n")[0]))
        return lines

    def function(self, function: Function) -> str:
        parameters: list[str] = []
        for i, arg in enumerate(function.body.args):
            text = f"{self.argument(arg)}: {spell(arg.type)}"
            if function.divisibility and function.divisibility[i]:
                text += f" {{tt.divisibility = {function.divisibility[i]} : i32}}"
            parameters.append(text)
        self._depth = 2
        body = "\n".join(self.body(function.body))
        return (
            f"module {{\n  tt.func public @{function.name}({', '.join(parameters)}) attributes {{noinline = false}} {{\n"
            f"{body}\n  }}\n}}\n"
        )


def print_operations(function: Function) -> list[tuple[Op, str]]:
    """Each operation and its line, as the module has them; of one with regions the first line alone."""
    printer = _Printer()
    printer.function(function)
    return printer.lines


def print_function(function: Function) -> str:
    """The function as an MLIR module. Equal functions print equal text."""
    return _Printer().function(function)
