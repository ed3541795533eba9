"""The grid language: integers, names, ``+ - * // %``, and four functions. Parsed, never ``eval``ed.

    grid = ["cdiv(m, BM) * cdiv(n, BN)", "min(k, 4)"]

Values are exact and fit 64 bits, signed; ``//`` and ``%`` round down, as in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from teenybuild.diagnostics import did_you_mean

#: An expression is at most so many characters, and so many operations deep: far above any real grid, and low enough
#: that walking the tree can never exhaust the stack.
LONGEST = 1000
DEEPEST = 64

#: Every value is a signed 64-bit integer.
LOWEST = -(1 << 63)
HIGHEST = (1 << 63) - 1

Operator: TypeAlias = Literal["+", "-", "*", "//", "%"]


class GridError(ValueError):
    """An expression that cannot be read, or that has no value.

    ``start`` and ``end`` count characters of the expression from 0, ``end`` exclusive.
    """

    def __init__(self, message: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Number:
    """An integer written out."""

    value: int
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """An argument, an entry of one (``sizes[0]``, ``a.shape[1]``) or a const."""

    name: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Negate:
    """``-operand``."""

    operand: Expr
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """``left operator right``."""

    operator: Operator
    left: Expr
    right: Expr
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """``function(arguments)``."""

    function: str
    arguments: tuple[Expr, ...]
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


#: ``start`` and ``end`` of a node are its place in the text, and do not take part in comparisons.
Expr: TypeAlias = Number | Name | Negate | Binary | Call


class _Function(NamedTuple):
    shape: str
    least: int
    most: int | None


def cdiv(a: int, b: int) -> int:
    """``a / b`` rounded up."""
    return -(-a // b)


def next_power_of_2(a: int) -> int:
    """The smallest power of two that is at least ``a``; 1 for anything up to 1."""
    return 1 << (a - 1).bit_length() if a > 1 else 1


#: What may be called: how it is written, and how many arguments it takes.
FUNCTIONS: dict[str, _Function] = {
    "cdiv": _Function("cdiv(a, b)", 2, 2),
    "min": _Function("min(a, …)", 1, None),
    "max": _Function("max(a, …)", 1, None),
    "next_power_of_2": _Function("next_power_of_2(a)", 1, 1),
}


def parse(text: str) -> Expr:
    """The expression that ``text`` spells. Raises :class:`GridError`."""
    if len(text) > LONGEST:
        raise GridError(
            f"the expression has {len(text)} characters; at most {LONGEST} are read", 0, len(text)
        )
    return _Parser(text).whole()


def names(expr: Expr) -> tuple[str, ...]:
    """Every name in ``expr``, once, in the order of first use."""
    return tuple(dict.fromkeys(node.name for node in name_nodes(expr)))


def name_nodes(expr: Expr) -> Iterator[Name]:
    """Every use of a name in ``expr``, from left to right."""
    return (node for node in walk(expr) if isinstance(node, Name))


def walk(expr: Expr) -> Iterator[Expr]:
    """``expr`` and everything in it, from left to right."""
    yield expr
    match expr:
        case Negate(operand=operand):
            yield from walk(operand)
        case Binary(left=left, right=right):
            yield from walk(left)
            yield from walk(right)
        case Call(arguments=arguments):
            for argument in arguments:
                yield from walk(argument)
        case Number() | Name():
            pass


def evaluate(expr: Expr, values: Mapping[str, int]) -> int:
    """The value of ``expr`` where names stand for ``values``.

    Raises :class:`GridError` where a name has no value, a divisor is 0, or any value on the way does not fit a signed
    64-bit integer.
    """
    match expr:
        case Number(value=value):
            result = value
        case Name(name=name):
            if name not in values:
                raise GridError(f"{name} has no value", expr.start, expr.end)
            result = values[name]
        case Negate(operand=operand):
            result = -evaluate(operand, values)
        case Binary():
            result = _binary(expr, evaluate(expr.left, values), evaluate(expr.right, values))
        case Call():
            result = _call(expr, [evaluate(argument, values) for argument in expr.arguments])
    if not LOWEST <= result <= HIGHEST:
        raise GridError(f"{result} does not fit a signed 64-bit integer", expr.start, expr.end)
    return result


def to_python(expr: Expr, name: Callable[[str], str] = str) -> str:
    """``expr`` as the source of a Python expression with the same value.

    It calls ``cdiv``, ``next_power_of_2``, ``min`` and ``max``; ``name`` gives what each name is written as. Python's
    integers have no width: whoever runs the text checks the range of what comes out.
    """
    return _python(expr, name, 0)


_STRENGTH: dict[str, int] = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2}
_UNARY = 3


def _python(expr: Expr, name: Callable[[str], str], least: int) -> str:
    """``least`` is how strongly the text must bind to stand without parentheses."""
    match expr:
        case Number(value=value):
            return str(value)
        case Name(name=text):
            return name(text)
        case Negate(operand=operand):
            strength, text = _UNARY, f"-{_python(operand, name, _UNARY)}"
        case Binary(operator=operator, left=left, right=right):
            strength = _STRENGTH[operator]
            text = f"{_python(left, name, strength)} {operator} {_python(right, name, strength + 1)}"
        case Call(function=function, arguments=arguments):
            # Python's min(a) wants something to iterate over.
            if function in ("min", "max") and len(arguments) == 1:
                return _python(arguments[0], name, least)
            return f"{function}({', '.join(_python(a, name, 0) for a in arguments)})"
    return text if strength >= least else f"({text})"


def _binary(expr: Binary, left: int, right: int) -> int:
    match expr.operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//" | "%":
            if right == 0:
                raise GridError("division by zero", expr.right.start, expr.right.end)
            return left // right if expr.operator == "//" else left % right


def _call(expr: Call, operands: Sequence[int]) -> int:
    match expr.function:
        case "cdiv":
            if operands[1] == 0:
                raise GridError("division by zero", expr.arguments[1].start, expr.arguments[1].end)
            return cdiv(operands[0], operands[1])
        case "min":
            return min(operands)
        case "max":
            return max(operands)
        case _:
            return next_power_of_2(operands[0])


class _Token(NamedTuple):
    kind: Literal["number", "name", "symbol", "end"]
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"(?P<number>[0-9]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*(\[[0-9]+\])*(\.(shape|strides)\[[0-9]+\])?)|(?P<symbol>//|[-+*%(),])"
)
_BLANK = re.compile(r"[ \t\r\n]*")
_MISTAKES = {
    "/": "division is // (rounded down) or cdiv(a, b) (rounded up)",
    ".": "every value is an integer",
    "'": "names stand without quotes",
    '"': "names stand without quotes",
}


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while True:
        at = _skip(text, at)
        if at == len(text):
            return [*found, _Token("end", "", at, at)]
        match = _TOKEN.match(text, at)
        if match is None:
            message = f"{text[at]} is not part of the grid language"
            hint = _MISTAKES.get(text[at], "it has names, integers, + - * // %, parentheses and commas")
            raise GridError(message, at, at + 1, hint)
        found.append(_token(match))
        at = match.end()


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank is not None else at


def _token(match: re.Match[str]) -> _Token:
    start, end = match.span()
    if match["number"]:
        return _Token("number", match["number"], start, end)
    if match["name"]:
        return _Token("name", match["name"], start, end)
    return _Token("symbol", match["symbol"], start, end)


class _Parser:
    """Recursive descent, one method a level of precedence. ``depth`` bounds recursion and the tree alike."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.at = 0

    def whole(self) -> Expr:
        expr, _ = self.sum(0)
        if self.token.kind != "end":
            raise self.unexpected("an operator or the end")
        return expr

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def advance(self) -> _Token:
        token = self.token
        self.at += 1
        return token

    def take(self, symbol: str) -> bool:
        if self.token.kind == "symbol" and self.token.text == symbol:
            self.at += 1
            return True
        return False

    def unexpected(self, expected: str) -> GridError:
        token = self.token
        if token.kind == "end":
            return GridError(
                f"expected {expected}, but the expression ends", max(token.start - 1, 0), token.end
            )
        # "**" comes out as two tokens.
        power = token.text == "*" and self.at > 0 and self.tokens[self.at - 1].text == "*"
        hint = "there is no power operator; write the product out" if power else None
        return GridError(f'expected {expected}, not "{token.text}"', token.start, token.end, hint)

    def deeper(self, depth: int) -> int:
        if depth >= DEEPEST:
            message = f"the expression is more than {DEEPEST} operations deep"
            raise GridError(message, self.token.start, self.token.end)
        return depth + 1

    # Each level gives the expression and how many operations deep its tree is.

    def sum(self, depth: int) -> tuple[Expr, int]:
        return self.chain(("+", "-"), self.product, depth)

    def product(self, depth: int) -> tuple[Expr, int]:
        return self.chain(("*", "//", "%"), self.unary, depth)

    def chain(
        self, operators: tuple[Operator, ...], level: Callable[[int], tuple[Expr, int]], depth: int
    ) -> tuple[Expr, int]:
        left, height = level(depth)
        while (operator := self.operator(operators)) is not None:
            right, other = level(self.deeper(depth))
            height = self.deeper(max(height, other))
            left = Binary(operator, left, right, left.start, right.end)
        return left, height

    def operator(self, operators: tuple[Operator, ...]) -> Operator | None:
        return next((operator for operator in operators if self.take(operator)), None)

    def unary(self, depth: int) -> tuple[Expr, int]:
        start = self.token.start
        if self.take("-"):
            operand, height = self.unary(self.deeper(depth))
            return Negate(operand, start, operand.end), self.deeper(height)
        return self.atom(depth)

    def atom(self, depth: int) -> tuple[Expr, int]:
        token = self.token
        if token.kind == "number":
            return self.number(), 0
        if token.kind == "name":
            self.advance()
            if self.take("("):
                return self.call(token, depth)
            return Name(token.text, token.start, token.end), 0
        if self.take("("):
            inner, height = self.sum(self.deeper(depth))
            if not self.take(")"):
                raise self.unexpected('")"')
            return inner, height
        raise self.unexpected("a name, an integer or a parenthesis")

    def number(self) -> Number:
        token = self.advance()
        if len(token.text) > 1 and token.text.startswith("0"):
            raise GridError("integers have no leading zeros", token.start, token.end)
        if len(token.text) > 19 or int(token.text) > HIGHEST:
            raise GridError(f"{token.text} does not fit a signed 64-bit integer", token.start, token.end)
        return Number(int(token.text), token.start, token.end)

    def call(self, name: _Token, depth: int) -> tuple[Expr, int]:
        function = FUNCTIONS.get(name.text)
        if function is None:
            known = ", ".join(f.shape for f in FUNCTIONS.values())
            hint = did_you_mean(name.text, FUNCTIONS) or f"functions are {known}"
            raise GridError(f"{name.text} is not a function of the grid language", name.start, name.end, hint)
        arguments: list[Expr] = []
        height = 0
        while not self.take(")"):
            if arguments and not self.take(","):
                raise self.unexpected('"," or ")"')
            argument, other = self.sum(self.deeper(depth))
            arguments.append(argument)
            height = max(height, other)
        end = self.tokens[self.at - 1].end
        if len(arguments) < function.least or (function.most is not None and len(arguments) > function.most):
            came = f"{len(arguments)} argument{'' if len(arguments) == 1 else 's'}"
            raise GridError(f"{name.text} takes {function.shape}, not {came}", name.start, end)
        return Call(name.text, tuple(arguments), name.start, end), self.deeper(height)
