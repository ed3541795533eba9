"""The canonical print of kernel code: one text for all sources that mean the same to the compiler.

Comments, layout, docstrings, decorators, type hints other than ``constexpr`` and the names of modules do not survive; names of
local variables, and everything that decides the output, do.  The text is part of every key and of every artifact, so it must not
depend on the Python version: this module prints each node itself, and uses neither ``ast.dump`` nor ``ast.unparse``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

#: How a global name, or a chain of attributes that starts at one, is spelled in canonical text; None: as it stands.
Rename = Callable[[ast.expr], str | None]

_BINARY: dict[type[ast.operator], tuple[str, int]] = {
    ast.BitOr: ("|", 6),
    ast.BitXor: ("^", 7),
    ast.BitAnd: ("&", 8),
    ast.LShift: ("<<", 9),
    ast.RShift: (">>", 9),
    ast.Add: ("+", 10),
    ast.Sub: ("-", 10),
    ast.Mult: ("*", 11),
    ast.Div: ("/", 11),
    ast.FloorDiv: ("//", 11),
    ast.Mod: ("%", 11),
    ast.MatMult: ("@", 11),
    ast.Pow: ("**", 13),
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_UNARY: dict[type[ast.unaryop], tuple[str, int]] = {
    ast.Not: ("not ", 4),
    ast.UAdd: ("+", 12),
    ast.USub: ("-", 12),
    ast.Invert: ("~", 12),
}
_TUPLE, _TERNARY, _OR, _AND, _COMPARISON, _ATOM = 0, 1, 2, 3, 5, 14


def spell_constant(value: object) -> str:
    """A literal, the same on every Python version: strings as ASCII, integers past 64 bits in hexadecimal."""
    if isinstance(value, str):
        return ascii(value)
    if isinstance(value, bool) or value is None or value is ...:
        return "..." if value is ... else repr(value)
    if isinstance(value, int):
        return str(value) if -(1 << 64) < value < (1 << 64) else hex(value)
    if isinstance(value, float):
        if value != value:
            return "float('nan')"
        if value in (float("inf"), float("-inf")):
            return f"float('{value}')"
    return repr(value)


class Printer:
    """Prints functions; ``lines`` then says on which line of the text each statement stands."""

    def __init__(self, rename: Rename) -> None:
        self._rename = rename
        self._out: list[str] = []
        self.lines: dict[ast.stmt, int] = {}

    @property
    def text(self) -> str:
        """Everything printed so far."""
        return "".join(line + "\n" for line in self._out)

    def line(self, text: str) -> None:
        """Adds a line as it is."""
        self._out.append(text)

    def function(self, node: ast.FunctionDef, name: str, decorator: str = "triton.jit") -> None:
        """Prints a kernel or helper under a canonical name."""
        self.line(f"@{decorator}")
        self.lines[node] = len(self._out) + 1
        self.line(f"def {name}({self.parameters(node.args)}):")
        self._body(without_docstring(node.body), 1)

    # Statements -----------------------------------------------------------------------------------------------

    def _body(self, statements: Sequence[ast.stmt], depth: int) -> None:
        if not statements:
            self.line("    " * depth + "pass")
        for statement in statements:
            self._statement(statement, depth)

    def _statement(self, node: ast.stmt, depth: int) -> None:
        self.lines[node] = len(self._out) + 1
        indent = "    " * depth
        match node:
            case ast.Assign():
                targets = "".join(f"{self._expr(t, _TUPLE)} = " for t in node.targets)
                self.line(f"{indent}{targets}{self._expr(node.value, _TUPLE)}")
            case ast.AugAssign():
                operator = _BINARY[type(node.op)][0]
                self.line(f"{indent}{self._expr(node.target)} {operator}= {self._expr(node.value, _TUPLE)}")
            case ast.AnnAssign():
                hint = ": tl.constexpr" if is_constexpr_hint(node.annotation) else ""
                value = f" = {self._expr(node.value, _TUPLE)}" if node.value is not None else ""
                # A hint alone declares nothing.
                self.line(
                    f"{indent}{self._expr(node.target)}{hint}{value}" if hint or value else f"{indent}pass"
                )
            case ast.Return():
                value = f" {self._expr(node.value, _TUPLE)}" if node.value is not None else ""
                self.line(f"{indent}return{value}")
            case ast.Expr():
                self.line(indent + self._expr(node.value, _TUPLE))
            case ast.For():
                head = f"{self._expr(node.target, _TUPLE)} in {self._expr(node.iter, _TUPLE)}"
                self.line(f"{indent}for {head}:")
                self._body(node.body, depth + 1)
                self._else(node.orelse, depth)
            case ast.While():
                self.line(f"{indent}while {self._expr(node.test)}:")
                self._body(node.body, depth + 1)
                self._else(node.orelse, depth)
            case ast.If():
                self._if(node, depth, "if")
            case ast.Assert():
                message = f", {self._expr(node.msg)}" if node.msg is not None else ""
                self.line(f"{indent}assert {self._expr(node.test)}{message}")
            case ast.FunctionDef():
                # In a function that runs while a kernel is compiled.
                self.line(f"{indent}def {node.name}({self.parameters(node.args)}):")
                self._body(without_docstring(node.body), depth + 1)
            case ast.Pass():
                self.line(f"{indent}pass")
            case ast.Break():
                self.line(f"{indent}break")
            case ast.Continue():
                self.line(f"{indent}continue")
            case _:
                # Nothing the language has: the kernel will be refused where it is used. Any stable text will do.
                self.line(f"{indent}{type(node).__name__}")

    def _if(self, node: ast.If, depth: int, word: str) -> None:
        self.lines[node] = len(self._out) + 1
        self.line(f"{'    ' * depth}{word} {self._expr(node.test)}:")
        self._body(node.body, depth + 1)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            self._if(node.orelse[0], depth, "elif")
        else:
            self._else(node.orelse, depth)

    def _else(self, statements: Sequence[ast.stmt], depth: int) -> None:
        if statements:
            self.line(f"{'    ' * depth}else:")
            self._body(statements, depth + 1)

    # Expressions ----------------------------------------------------------------------------------------------

    def parameters(self, args: ast.arguments) -> str:
        """A function's parameters, without the parentheses."""
        parts: list[str] = []
        positional = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
        for i, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
            parts.append(self._parameter(arg, default))
            if i + 1 == len(args.posonlyargs):
                parts.append("/")
        if args.vararg is not None:
            parts.append(f"*{args.vararg.arg}")
        elif args.kwonlyargs:
            parts.append("*")
        parts += [self._parameter(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
        if args.kwarg is not None:
            parts.append(f"**{args.kwarg.arg}")
        return ", ".join(parts)

    def _parameter(self, arg: ast.arg, default: ast.expr | None) -> str:
        text = f"{arg.arg}: tl.constexpr" if is_constexpr_hint(arg.annotation) else arg.arg
        return text if default is None else f"{text}={self._expr(default)}"

    def _expr(self, node: ast.expr, least: int = _TERNARY) -> str:
        """The expression, in parentheses where it binds less tightly than ``least``."""
        text, strength = self._spell(node)
        return f"({text})" if strength < least else text

    def _spell(self, node: ast.expr) -> tuple[str, int]:
        match node:
            case ast.Name() | ast.Attribute():
                renamed = self._rename(node)
                if renamed is not None:
                    return renamed, _ATOM
                if isinstance(node, ast.Name):
                    return node.id, _ATOM
                return f"{self._expr(node.value, _ATOM)}.{node.attr}", _ATOM
            case ast.Constant():
                text = spell_constant(node.value)
                # 1 .bit_length and (-1): a number before a dot needs parentheses.
                return text, _ATOM if not isinstance(node.value, int | float) else _ATOM - 1
            case ast.BinOp():
                symbol, strength = _BINARY[type(node.op)]
                power = isinstance(node.op, ast.Pow)
                left = self._expr(node.left, strength + 1 if power else strength)
                right = self._expr(node.right, strength - 1 if power else strength + 1)
                return f"{left} {symbol} {right}", strength
            case ast.UnaryOp():
                symbol, strength = _UNARY[type(node.op)]
                return f"{symbol}{self._expr(node.operand, strength)}", strength
            case ast.BoolOp():
                word, strength = (" and ", _AND) if isinstance(node.op, ast.And) else (" or ", _OR)
                return word.join(self._expr(v, strength + 1) for v in node.values), strength
            case ast.Compare():
                text = self._expr(node.left, _COMPARISON + 1)
                for operator, right in zip(node.ops, node.comparators, strict=True):
                    text += f" {_COMPARE[type(operator)]} {self._expr(right, _COMPARISON + 1)}"
                return text, _COMPARISON
            case ast.IfExp():
                test, body = self._expr(node.test, _OR), self._expr(node.body, _OR)
                return f"{body} if {test} else {self._expr(node.orelse, _TERNARY)}", _TERNARY
            case ast.Call():
                parts = [self._expr(a) for a in node.args]
                parts += [
                    f"{k.arg}={self._expr(k.value)}" if k.arg else f"**{self._expr(k.value)}"
                    for k in node.keywords
                ]
                return f"{self._expr(node.func, _ATOM)}({', '.join(parts)})", _ATOM
            case ast.Subscript():
                return f"{self._expr(node.value, _ATOM)}[{self._index(node.slice)}]", _ATOM
            case ast.Tuple():
                inner = ", ".join(self._expr(e) for e in node.elts)
                return f"({inner},)" if len(node.elts) == 1 else f"({inner})", _ATOM
            case ast.List():
                return f"[{', '.join(self._expr(e) for e in node.elts)}]", _ATOM
            case ast.Set():
                return f"{{{', '.join(self._expr(e) for e in node.elts)}}}", _ATOM
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                items = [f"{self._expr(k)}: {self._expr(v)}" if k else f"**{self._expr(v)}" for k, v in pairs]
                return f"{{{', '.join(items)}}}", _ATOM
            case ast.ListComp():
                return f"[{self._expr(node.elt)}{self._generators(node.generators)}]", _ATOM
            case ast.GeneratorExp():
                return f"({self._expr(node.elt)}{self._generators(node.generators)})", _ATOM
            case ast.SetComp():
                return f"{{{self._expr(node.elt)}{self._generators(node.generators)}}}", _ATOM
            case ast.DictComp():
                pair = f"{self._expr(node.key)}: {self._expr(node.value)}"
                return f"{{{pair}{self._generators(node.generators)}}}", _ATOM
            case ast.Lambda():
                return f"lambda {self.parameters(node.args)}: {self._expr(node.body)}", _TUPLE
            case ast.Starred():
                return f"*{self._expr(node.value)}", _TERNARY
            case ast.JoinedStr():
                return "f" + ascii("".join(self._piece(v) for v in node.values)), _ATOM
            case _:
                return f"<{type(node).__name__}>", _ATOM

    def _generators(self, generators: Sequence[ast.comprehension]) -> str:
        text = ""
        for each in generators:
            text += f" for {self._expr(each.target, _TUPLE)} in {self._expr(each.iter, _OR)}"
            text += "".join(f" if {self._expr(test, _OR)}" for test in each.ifs)
        return text

    def _piece(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return str(node.value).replace("{", "{{").replace("}", "}}")
        if isinstance(node, ast.FormattedValue):
            form = (
                f":{''.join(self._piece(v) for v in node.format_spec.values)}"
                if isinstance(node.format_spec, ast.JoinedStr)
                else ""
            )
            conversion = f"!{chr(node.conversion)}" if node.conversion > 0 else ""
            return f"{{{self._expr(node.value)}{conversion}{form}}}"
        return f"<{type(node).__name__}>"

    def _index(self, node: ast.expr) -> str:
        if isinstance(node, ast.Tuple) and node.elts:
            inner = ", ".join(self._index(e) for e in node.elts)
            return f"{inner}," if len(node.elts) == 1 else inner
        if isinstance(node, ast.Slice):
            lower = self._expr(node.lower) if node.lower else ""
            upper = self._expr(node.upper) if node.upper else ""
            step = f":{self._expr(node.step)}" if node.step else ""
            return f"{lower}:{upper}{step}"
        return self._expr(node)


def spell_parameters(args: ast.arguments) -> str:
    """Parameters as a source declares them: what messages say of a function."""
    return Printer(lambda _: None).parameters(args)


def parameter_defaults(node: ast.FunctionDef) -> dict[str, ast.expr]:
    """The default of each parameter that has one."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    found = {a.arg: d for a, d in zip(reversed(positional), reversed(args.defaults), strict=False)}
    found |= {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None}
    return found


def without_docstring(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """The statements of a function after its docstring."""
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body


def is_constexpr_hint(annotation: ast.expr | None) -> bool:
    """Whether an annotation is ``constexpr``, however it is reached (``tl.constexpr``, ``"tl.constexpr"``)."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.split(".")[-1].strip() == "constexpr"
    if isinstance(annotation, ast.Attribute):
        return annotation.attr == "constexpr"
    return isinstance(annotation, ast.Name) and annotation.id == "constexpr"
