"""Line information: which line of the canonical source an instruction comes from.

Profilers show it (``.loc`` in PTX).  Lines are those of the entry's own ``.py``, so that the artifact stays a function of its key.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from teenybuild.compiler.frontend.source import Location
from teenybuild.compiler.ir.core import Op


@dataclass(frozen=True)
class Lines:
    """What the canonical source is called, its text, and on which of its lines each statement stands."""

    file: str
    text: str
    of: Mapping[ast.stmt, int]

    @cached_property
    def _of_node(self) -> dict[ast.AST, int]:
        return {node: line for statement, line in self.of.items() for node in _own_nodes(statement)}

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    def line(self, op: Op) -> int | None:
        """The line an operation comes from, where that is known."""
        location = op.location
        return self._of_node.get(location.node) if isinstance(location, Location) else None

    def code(self, line: int) -> str:
        """What stands on a line."""
        return self._lines[line - 1].strip()


class DebugInfo:
    """The metadata of one function: a suffix for each instruction, and the nodes they refer to."""

    def __init__(self, lines: Lines, function: str) -> None:
        self._lines = lines
        self._function = function
        self._numbers: dict[int, int] = {}

    def suffix(self, op: Op) -> str:
        """What an instruction of ``op`` carries; the first line that was named where its own is not known."""
        line = self._lines.line(op)
        if line is None:
            line = next(iter(self._numbers), 1)
        number = self._numbers.setdefault(line, _FIRST + len(self._numbers))
        return f", !dbg !{number}"

    @property
    def subprogram(self) -> str:
        """What the function's definition carries."""
        return " !dbg !3"

    def metadata(self) -> str:
        """The nodes, for the end of the module."""
        locations = "".join(
            f"!{n} = !DILocation(line: {line}, scope: !3)\n" for line, n in self._numbers.items()
        )
        return (
            "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!1}\n"
            '!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, producer: "teenybuild", isOptimized: true, '
            "runtimeVersion: 0, emissionKind: DebugDirectivesOnly)\n"
            '!1 = !{i32 2, !"Debug Info Version", i32 3}\n'
            f'!2 = !DIFile(filename: "{self._lines.file}", directory: "")\n'
            f'!3 = distinct !DISubprogram(name: "{self._function}", scope: !2, file: !2, line: 1, type: !4, scopeLine: 1, '
            "spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)\n"
            "!4 = !DISubroutineType(types: !{})\n" + locations
        )


#: The first metadata number that is free for locations.
_FIRST = 5


def _own_nodes(statement: ast.stmt) -> list[ast.AST]:
    """The statement's expressions, without those of statements inside it."""
    found: list[ast.AST] = [statement]
    waiting: list[ast.AST] = [statement]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if not isinstance(child, ast.stmt):
                found.append(child)
                waiting.append(child)
    return found
