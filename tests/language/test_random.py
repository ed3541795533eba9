"""Random programs of elementwise operations: the oracle predicts every bit, on both host targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.elementwise import evaluate, language_dtype
from tests.support.run import Array, assert_same_bits

from . import oracle

COUNT = 48


@dataclass(frozen=True)
class Node:
    """An expression, what it evaluates to, and its dtype."""

    text: str
    value: Array

    @property
    def dtype(self) -> str:
        return oracle.name_of(self.value)


def leaf(name: str, seed: int) -> Node:
    return Node(f"{name}_{seed}", oracle.values(name, COUNT, seed))


LEAVES = {f"{name}_{seed}": leaf(name, seed) for name in oracle.ALL for seed in (0, 1)}


def combine(draw: st.DrawFn, left: Node, right: Node) -> Node:
    """A binary operator that takes the two, or a choice between them."""
    kind = draw(st.sampled_from([*oracle.BINARY, "/", "<<", ">>", "where"]))
    meet = oracle.promote(left.dtype, right.dtype)
    assert meet is not None
    if kind == "where":
        condition = oracle.cast(left.value, "i1")
        a, b = oracle.cast(left.value, meet), oracle.cast(right.value, meet)
        return Node(f"tl.where({left.text}, {right.text}, {left.text})", np.where(condition, b, a))
    if kind in ("<<", ">>"):
        if meet not in oracle.INTEGERS:
            return left
        amount = draw(st.integers(0, oracle.width(meet) - 1))
        shift = np.left_shift if kind == "<<" else np.right_shift
        value = oracle.cast(left.value, meet) if left.dtype != "i1" else None
        if value is None or left.dtype in oracle.FLOATS:
            return left
        own = left.value
        amount %= oracle.width(left.dtype)
        return Node(f"({left.text} {kind} {amount})", shift(own, np.array(amount, own.dtype)))
    if kind == "/":
        division = oracle.promote(left.dtype, right.dtype, division=True)
        if division is None:
            return right
        return Node(f"({left.text} / {right.text})", oracle.divide(left.value, right.value, division))
    _, takes, division = oracle.BINARY[kind]
    dtype = oracle.meet(kind, left.dtype, right.dtype)
    if dtype is None or (takes == "int" and dtype in oracle.FLOATS):
        return left
    text, other = right.text, right.value
    if division:
        one = "True" if dtype == "i1" else "1"
        cast = f"{right.text}.to({language_dtype(dtype)})"
        text, other = f"tl.where({cast} == 0, {one}, {cast})", oracle.nonzero(oracle.cast(other, dtype))
    return Node(oracle.spell(kind, left.text, text), oracle.binary(kind, left.value, other, dtype))


def change(draw: st.DrawFn, node: Node) -> Node:
    """A cast, a sign, an absolute value, or a number joined to it."""
    kind = draw(st.sampled_from(["cast", "cast", "minus", "abs", "not", "number"]))
    if kind == "cast":
        to = draw(st.sampled_from(oracle.ALL))
        return Node(f"{node.text}.to({language_dtype(to)})", oracle.cast(node.value, to))
    if kind == "minus":
        zero = np.zeros_like(node.value)
        return Node(f"(-{node.text})", oracle.binary("-", zero, node.value, node.dtype))
    if kind == "abs":
        return Node(f"tl.abs({node.text})", np.abs(node.value))
    if kind == "not":
        return Node(f"(not {node.text})", node.value == 0)
    number = draw(st.sampled_from([0, 1, 2, 7, 0.5, -3.25, 1e10]))
    op = draw(st.sampled_from(["+", "*", "-", "<", "maximum"]))
    dtype = oracle.meet_number(op, node.dtype, number)
    assert dtype is not None
    own = np.full(COUNT, number, np.float64 if isinstance(number, float) else np.int32)
    return Node(oracle.spell(op, node.text, f"({number!r})"), oracle.binary(op, node.value, own, dtype))


@st.composite
def programs(draw: st.DrawFn) -> list[Node]:
    """Values computed one from another, the last few of which are stored."""
    made = [
        LEAVES[name]
        for name in draw(st.lists(st.sampled_from(sorted(LEAVES)), min_size=2, max_size=4, unique=True))
    ]
    for _ in range(draw(st.integers(1, 14))):
        first = draw(st.sampled_from(made))
        if draw(st.booleans()):
            node = combine(draw, first, draw(st.sampled_from(made)))
        else:
            node = change(draw, first)
        if len(node.text) < 600:
            made.append(node)
    return made


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(nodes=programs())
def test_random_expressions(nodes: list[Node]) -> None:
    """Without fusion of multiply and add, which the oracle does not know."""
    inputs = {name: node.value for name, node in LEAVES.items() if any(name in n.text for n in nodes)}
    stored = {f"r{n}": node for n, node in enumerate(nodes) if node.text not in inputs}
    if not stored:
        return
    expressions = {name: (node.text, node.dtype) for name, node in stored.items()}
    found = evaluate(expressions, inputs, enable_fp_fusion=False)
    for name, node in stored.items():
        assert_same_bits(found[name], node.value, node.text)
