"""Files made from nothing: module-level code of every kind that computes, imports each other, and ends in kernels that use what came out."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from tests.fuzz import odd

_NAMES = "abcdefgh"
_FILES = ("f0", "f1", "f2", "p.g0")
_BINARY = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "==",
    "!=",
    "<",
    ">=",
    "in",
    "is",
    "and",
    "or",
)
_FUNCTIONS = (
    "len", "range", "list", "tuple", "dict", "sorted", "sum", "min", "max", "abs", "int", "float", "str", "bool", "zip", "enumerate", "reversed", "any", "all", "set", "map", "filter", "round", "isinstance", "hasattr",
    "getattr", "math.log2", "math.floor", "math.sqrt", "itertools.product", "triton.cdiv", "triton.next_power_of_2", "tl.constexpr", "Config", "namedtuple", "functools.lru_cache", "print", "open", "eval",
    "__import__", "os.getenv", "torch.zeros", "a", "b", "c", "f", "g",
)  # fmt: skip
_METHODS = (
    "append",
    "extend",
    "insert",
    "pop",
    "items",
    "keys",
    "values",
    "get",
    "update",
    "join",
    "split",
    "format",
    "upper",
    "replace",
    "copy",
    "sort",
    "startswith",
    "count",
    "_replace",
    "x",
)
_HEAD = "import itertools, functools, math, os, torch\nfrom collections import namedtuple\nimport triton\nimport triton.language as tl\nfrom triton import Config\n"


class _Writer:
    def __init__(self, r: random.Random) -> None:
        self.r = r

    def some(self, *choices: str) -> str:
        return self.r.choice(choices)

    def name(self) -> str:
        return self.r.choice(_NAMES)

    # Expressions -----------------------------------------------------------------------------------------------------

    def literal(self) -> str:
        value = odd.value(self.r)
        return self.some(
            ascii(value),
            str(self.r.randrange(5)),
            "None",
            "True",
            "'x'",
            "()",
            "[]",
            "{}",
            "2.5",
            "tl.float16",
            "...",
            "8",
        )

    def expression(self, depth: int = 3) -> str:
        if depth <= 0:
            return self.some(self.name(), self.name(), self.literal())
        inner = [self.expression(depth - 1 - self.r.randrange(2)) for _ in range(3)]
        one, two, three = inner
        name = self.name()
        match self.r.randrange(18):
            case 0 | 1:
                return self.some(name, self.literal())
            case 2 | 3:
                return f"({one} {self.r.choice(_BINARY)} {two})"
            case 4:
                return f"{self.some('-', '~', 'not ', '+')}({one})"
            case 5:
                return self.some(f"[{one}, {two}]", f"({one},)", f"[*{one}, {two}]", f"{{{one}, {two}}}")
            case 6:
                return self.some(f"{{{one}: {two}}}", f"{{**{one}, 'k': {two}}}", f"dict(k={one})")
            case 7:
                return self.some(
                    f"[{one} for {name} in {two}]",
                    f"[{one} for {name} in {two} for {self.name()} in {three} if {name}]",
                )
            case 8:
                return self.some(
                    f"{{{one}: {two} for {name} in {three}}}",
                    f"({one} for {name} in {two})",
                    f"{{{one} for {name} in {two}}}",
                )
            case 9 | 10 | 11:
                return f"{self.r.choice(_FUNCTIONS)}({self.some('', one, f'{one}, {two}', f'*{one}', f'{one}, k={two}', f'**{one}')})"
            case 12:
                return f"({one}).{self.r.choice(_METHODS)}({self.some('', two, f'{two}, {three}')})"
            case 13:
                return f"({one})[{self.some(two, ':', f'{two}:{three}', '::-1', '0', f'::{two}')}]"
            case 14:
                return f"({one} if {two} else {three})"
            case 15:
                return self.some(
                    f"(lambda {name}: {one})",
                    f"(lambda *{name}, k={one}: {two})({three})",
                    f"(lambda: {name}())()",
                )
            case 16:
                return self.some(
                    f"f'{{{name}}}'",
                    f"f'{{{name}!r:>{{{self.name()}}}}}'",
                    f"f'{{{name}:9999999999}}'",
                    f"'%s' % ({one},)",
                )
            case _:
                return f"({name} := {one})"

    # Statements ------------------------------------------------------------------------------------------------------

    def block(self, depth: int, indent: str, *, inside: bool = False) -> str:
        return "".join(self.statement(depth, indent, inside) for _ in range(self.r.choice([1, 1, 2, 3])))

    def statement(self, depth: int, indent: str, inside: bool = False) -> str:
        name, one = self.name(), self.expression()
        deeper = indent + "    "
        if depth <= 0 or self.r.random() < 0.5:
            return f"{indent}{self.simple(name, one, inside)}\n"
        body, other = (
            self.block(depth - 1, deeper, inside=inside),
            self.block(depth - 1, deeper, inside=inside),
        )
        match self.r.randrange(8):
            case 0 | 1:
                test = self.some(
                    one,
                    "TYPE_CHECKING",
                    "sys.version_info >= (3, 8)",
                    "False",
                    "not True",
                    "torch.cuda.is_available()",
                    f"'{name}' in globals()",
                )
                return f"{indent}if {test}:\n{body}" + self.some(
                    "", f"{indent}else:\n{other}", f"{indent}elif {one}:\n{other}"
                )
            case 2:
                caught = self.some("ImportError", "Exception", "", "(ImportError, KeyError) as e")
                return f"{indent}try:\n{body}{indent}except {caught}:\n{other}"
            case 3:
                return (
                    f"{indent}for {self.some(name, f'{name}, {self.name()}')} in {one}:\n{body}"
                    + self.some("", f"{indent}else:\n{other}")
                )
            case 4:
                return f"{indent}while {one}:\n{body}"
            case 5:
                return f"{indent}class {self.some(name, name.upper())}{self.some('', '(object)', f'({name})', '(enum.Enum)')}:\n{body}"
            case 6:
                return f"{indent}with {one} as {name}:\n{body}"
            case _:
                function = self.some("f", "g", name)
                head = self.some(
                    "",
                    f"{indent}@triton.jit\n",
                    f"{indent}@functools.lru_cache\n",
                    f"{indent}@triton.constexpr_function\n",
                    f"{indent}@{name}\n",
                )
                inner = self.block(depth - 1, deeper, inside=True)
                return f"{head}{indent}def {function}({self.some('', name, f'{name}={one}', f'*{name}', 'a, b=1')}):\n{inner}{deeper}return {self.expression()}\n"

    def simple(self, name: str, one: str, inside: bool) -> str:
        file = self.r.choice(_FILES)
        choices = [
            f"{name} = {one}", f"{name} = {one}", f"{name} = {one}", f"{name}: tl.constexpr = {one}", f"{name}: {one}", f"{name} {self.some('+=', '*=', '-=', '|=', '**=')} {one}", f"{name}, {self.name()} = {one}",
            f"{name} = {self.name()} = {one}", f"({name}, *{self.name()}) = {one}", f"{name}[{self.literal()}] = {one}", f"{name}.append({one})", f"{name}.x = {one}", f"del {name}", f"global {name}",
            f"import {file}", f"import {file} as {name}", f"from {file} import {name}", f"from {file} import {name} as {self.name()}", f"from .{file} import {name}", "from . import f1", f"from {file} import *", one,
            f"assert {one}", f"raise {one}", "pass", f"__all__ = ['{name}']", f"{name} = {self.name()}", f"{name} = {name}", f"globals()['{name}'] = 1", f"exec('{name} = 1')",
        ]  # fmt: skip
        if inside:
            choices += [f"return {one}", f"return {one}", "break", "continue", f"nonlocal {name}"]
        return self.r.choice(choices)

    # Kernels ---------------------------------------------------------------------------------------------------------

    def kernel(self) -> str:
        above = self.some(
            "", "", f"@triton.autotune(configs={self.expression()}, key=['n'])\n", f"@triton.heuristics({{'B': lambda args: {self.expression()}}})\n",
            f"@triton.autotune([Config({{'B': {self.expression(1)}}}, num_warps={self.expression(1)}) for {self.name()} in {self.expression(1)}], key=[])\n",
        )  # fmt: skip
        uses = "".join(f"    {self.use()}\n" for _ in range(self.r.choice([1, 2, 4])))
        return f"\n{above}@triton.jit\ndef k(p, n, B: tl.constexpr = {self.some('8', self.expression(1))}):\n{uses}    tl.store(p + tl.arange(0, 8), n)\n"

    def use(self) -> str:
        name, one = self.name(), self.expression(2)
        return self.some(
            f"tl.store(p, {name})", f"tl.store(p + {name}, {one})", f"{name} = {one}", f"n += {name}", f"for {name} in {self.some('range', 'tl.static_range')}({name}): n += {name}", f"if {one}: n += 1",
            f"{name}: tl.constexpr = {one}", f"tl.static_assert({one})", f"n = {self.some('f', 'g', name)}({one})", f"while n < {name}: n += 1", f"tl.static_print({one})", f"return f({name}) if {one} else g(n)",
        )  # fmt: skip


def made(r: random.Random) -> Mapping[str, str]:
    """Files by name; the kernel is ``k`` of ``f0.py``, and imports may go in circles."""
    writer = _Writer(r)
    names: Sequence[str] = ("f0.py", "f1.py", "f2.py", "p/__init__.py", "p/g0.py")
    files = {
        name: _HEAD + "".join(writer.statement(2, "") for _ in range(r.choice([1, 3, 6, 10])))
        for name in names
    }
    files["f0.py"] += writer.kernel()
    return files
