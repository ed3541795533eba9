"""Which formula a function of libdevice is, by its symbol (``__nv_tanhf``), and how it comes into a program.

A formula takes and gives :class:`~teenybuild.compiler.lower.formula.Term`\\ s. A long one becomes a private function of the module, written once
however many registers call it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from teenybuild.compiler.lower.formula import Term
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.text import Text
from teenybuild.dtypes import DType

Formula = Callable[..., Term]
_Formula = TypeVar("_Formula", bound=Formula)


@dataclass(frozen=True, slots=True)
class Known:
    """A formula, and whether it stands in a function of its own."""

    formula: Formula
    own: bool


#: Every function there is, by symbol. Importing a module of this package enters its own.
FUNCTIONS: dict[str, Known] = {}


def symbols(*names: str, own: bool = True) -> Callable[[_Formula], _Formula]:
    """Registers a formula under symbols, without their ``__nv_``."""

    def register(formula: _Formula) -> _Formula:
        FUNCTIONS.update({f"__nv_{name}": Known(formula, own) for name in names})
        return formula

    return register


def function(*names: str, own: bool = True) -> Callable[[_Formula], _Formula]:
    """Registers a formula for f32 (``__nv_…f``) and for f64 (``__nv_…``)."""
    return symbols(*(name + suffix for name in names for suffix in ("f", "")), own=own)


def call(lane: Lane, symbol: str, operands: Sequence[Term], result: DType) -> Term:
    """The value of a function."""
    known = FUNCTIONS[symbol]
    if not known.own:
        return known.formula(*operands)
    return in_a_function(
        lane, symbol.removeprefix("__nv_"), operands, [result], lambda *x: [known.formula(*x)]
    )[0]


def in_a_function(
    lane: Lane,
    name: str,
    operands: Sequence[Term],
    results: Sequence[DType],
    formula: Callable[..., Sequence[Term]],
) -> list[Term]:
    """The results of a formula that is written once, as a private function, and called."""
    full = f"@teeny.{name}" + (f".v{lane.width}" if lane.width > 1 else "")
    given = ", ".join(lane.of(r.llvm) for r in results)
    type_ = given if len(results) == 1 else f"{{ {given} }}"
    if not lane.text.defines(full):
        text = Text()
        inner = Lane(lane.machine, lane.width, text)
        inside = [Term(inner, f"%x{i}", o.dtype) for i, o in enumerate(operands)]
        found = formula(*inside)
        value = found[0].name
        if len(results) > 1:
            value = "poison"
            for i, part in enumerate(found):
                value = text.op(f"insertvalue {type_} {value}, {lane.of(part.dtype.llvm)} {part.name}, {i}")
        text.do(f"ret {type_} {value}")
        parameters = ", ".join(f"{lane.of(o.dtype.llvm)} {o.name}" for o in inside)
        lane.text.define_function(full, f"{type_} {full}({parameters})", text)
    arguments = ", ".join(f"{lane.of(o.dtype.llvm)} {o.name}" for o in operands)
    made = lane.op(f"call {type_} {full}({arguments})")
    if len(results) == 1:
        return [Term(lane, made, results[0])]
    return [Term(lane, lane.op(f"extractvalue {type_} {made}, {i}"), r) for i, r in enumerate(results)]
