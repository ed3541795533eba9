"""Loops, branches and functions around other steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.language import oracle
from tests.support.run import Array

from .registry import operation, write_step
from .writer import Step, Value, Writer, language, run_steps

CARRIED = (*oracle.INTEGERS, "f32", "f64")


def inside(w: Writer, carried: Value, extra: Sequence[Value] = ()) -> tuple[list[str], list[Step], Value]:
    """Some steps in a block of their own, and which of their values has the type of one that is carried.

    Steps in the block know the carried value by its name.
    """
    inner = w.nested()
    inner.values += [*extra, carried]
    for _ in range(1 + inner.chance(2)):
        write_step(inner)
    there = [v for v in inner.values if v.shape == carried.shape and v.dtype in CARRIED and v != carried]
    made = [v for v in there if any(v in s.gives for s in inner.steps)]
    picked = inner.choose(made or there or [carried])
    # Joined to what was carried, so that every turn tells.
    after = inner.emit(
        f"({{0}} + {{1}}.to({language(carried.dtype)})).to({language(carried.dtype)})", carried.dtype, carried.shape, carried, picked,
        compute=lambda a, b: oracle.binary("+", a, oracle.cast(b, carried.dtype), carried.dtype),
    ) if not _wild(w, carried, picked) else inner.emit("{0} ^ 5", carried.dtype, carried.shape, carried, compute=lambda a: a ^ np.array(5, a.dtype))  # fmt: skip
    lines = [line for step in inner.steps for line in step.lines]
    return lines, inner.steps, after


def _wild(w: Writer, carried: Value, picked: Value) -> bool:
    """Whether peers convert the one to the other in ways of their own."""
    return w.rules.tame and picked.dtype in oracle.FLOATS and carried.dtype in oracle.INTEGERS


def enclose(
    w: Writer,
    head: Sequence[str],
    body: Sequence[str],
    gives: Value,
    steps: Sequence[Step],
    uses: Sequence[str],
    compute: Callable[[dict[str, Any]], Any],
) -> None:
    """Adds a block: lines before it and in it; ``compute`` gets what is known outside."""
    own = {v.name for s in steps for v in s.gives}
    outer = list(
        dict.fromkeys(
            n for n in [*uses, *(u for s in steps for u in s.uses)] if n not in own and n != gives.name
        )
    )
    # What is made outside only: the block's own counters are known when it runs.
    outer = [n for n in outer if n == "p" or any(v.name == n for v in w.values)]
    reads = {n: a for s in steps for n, a in s.reads.items()}

    def all_of(*arrays: Array) -> tuple[Any]:
        found = compute(dict(zip(outer, arrays, strict=True)))
        return (found if isinstance(found, np.ndarray) else None,)

    w.add(Step((*head, *(f"    {line}" for line in body)), (gives,), tuple(outer), all_of, reads))


def _start(w: Writer) -> tuple[Value, Value]:
    """A value to begin with, and the name that is carried."""
    first = w.value(("i32", "f32", "i64", "u32", "f64"))
    return first, Value(w.fresh("c"), first.dtype, first.shape)


@operation
def loops(w: Writer) -> None:
    """``for``, by every kind of range; the bounds of the run, or constants."""
    if w.outer is not None and w.outer.outer is not None:
        return
    first, carried = _start(w)
    # A value of the run, even where the loop is unrolled and its counter a constant.
    counter, turn = w.fresh("i"), Value(w.fresh(), "i32", ())
    kind = w.choose(["range", "tl.range", "tl.static_range", "down", "run"])
    low, count = w.number(0, 2), w.number(0, 3)
    head = {
        "range": f"range({low}, {low + count})",
        "tl.range": f"tl.range({low}, {low + 2 * count}, 2)",
        "tl.static_range": f"tl.static_range({count})",
        "down": f"range({count}, 0, -1)",
        "run": "range(p + 1)",
    }[kind]
    turns = {
        "range": range(low, low + count),
        "tl.range": range(low, low + 2 * count, 2),
        "tl.static_range": range(count),
        "down": range(count, 0, -1),
        "run": None,
    }[kind]
    body, steps, after = inside(w, carried, (turn,))

    def compute(known: dict[str, Any]) -> Any:
        now = known[first.name]
        for i in turns if turns is not None else range(int(known["p"]) + 1):
            if not isinstance(now, np.ndarray):
                return None
            scope = known | {carried.name: now, turn.name: np.array(i, np.int32)}
            run_steps(steps, scope, {})
            now = scope[after.name]
        return now

    enclose(
        w, [f"{carried.name} = {first.name}", f"for {counter} in {head}:"], [f"{turn.name} = {counter} + 0 * p", *body, f"{carried.name} = {after.name}"], carried, steps,
        [first.name, "p"], compute,
    )  # fmt: skip


@operation
def whiles(w: Writer) -> None:
    """``while`` with a counter that the run decides."""
    if w.outer is not None:
        return
    first, carried = _start(w)
    count = w.fresh("n")
    limit = w.number(0, 2)
    body, steps, after = inside(w, carried)

    def compute(known: dict[str, Any]) -> Any:
        now = known[first.name]
        for _ in range(int(known["p"]) + limit):
            if not isinstance(now, np.ndarray):
                return None
            scope = known | {carried.name: now}
            run_steps(steps, scope, {})
            now = scope[after.name]
        return now

    test = f"{count} > 0"
    if not w.rules.tame and w.maybe():  # the interpreter's tl.condition is never false
        test = f"tl.condition({test})"
    enclose(
        w, [f"{count} = p + {limit}", f"{carried.name} = {first.name}", f"while {test}:"],
        [*body, f"{carried.name} = {after.name}", f"{count} -= 1"], carried, steps, [first.name, "p"], compute,
    )  # fmt: skip


@operation
def branches(w: Writer) -> None:
    """``if`` on a scalar of the run, with or without ``else``; nested, they are in one another."""
    if w.outer is not None and w.outer.outer is not None:
        return
    first, carried = _start(w)
    scalars = [v for v in w.values if not v.shape and v.dtype in ("i32", "i64", "f32")]
    scalar = w.choose(scalars) if scalars else None
    test = f"{scalar.name} > 2" if scalar is not None else "p == 1"
    body, steps, after = inside(w, carried)
    lines, more, other = [*body, f"{carried.name} = {after.name}"], list(steps), carried
    if w.maybe():
        body, steps_of_else, other = inside(w, carried)
        more += steps_of_else
    else:
        body, steps_of_else = [], []

    def compute(known: dict[str, Any]) -> Any:
        holds = bool(known[scalar.name] > 2) if scalar is not None else int(known["p"]) == 1
        scope = known | {carried.name: known[first.name]}
        run_steps(steps if holds else steps_of_else, scope, {})
        return scope[after.name if holds else other.name]

    if body:
        lines = [*lines, "ELSE", *body, f"{carried.name} = {other.name}"]
    uses = [first.name, scalar.name if scalar is not None else "p"]
    enclose(w, [f"{carried.name} = {first.name}", f"if {test}:"], lines, carried, more, uses, compute)
    step = w.steps[-1]
    w.steps[-1] = Step(tuple("else:" if line == "    ELSE" else line for line in step.lines), *_rest(step))


def _rest(step: Step) -> tuple[Any, ...]:
    return step.gives, step.uses, step.compute, step.reads


TWO = "def NAME(a, b, TWICE: tl.constexpr):\n    if TWICE:\n        a = a + a\n    return a - b, b"
INNER = "def NAME(a, pair):\n    first, second = pair\n    if first.dtype == a.dtype:\n        return a + first\n    return a + second"


@operation
def helpers(w: Writer) -> None:
    """Functions beside the kernel: with constants, tuples, and several results."""
    x = w.value(("i32", "i64", "u16", "f64"))
    y = w.value((x.dtype,), x.shape)

    def add(a: Array, b: Array) -> Array:
        return oracle.binary("+", a, b, x.dtype)

    if w.maybe():
        name = w.helper(INNER)
        w.emit(f"{name}({{0}}, ({{1}}, {{0}}))", x.dtype, x.shape, x, y, compute=add)
        return
    name, twice = w.helper(TWO), w.maybe()
    both = (Value(w.fresh(), x.dtype, x.shape), Value(w.fresh(), x.dtype, x.shape))
    w.give(
        f"{name}({{0}}, {{1}}, {twice})", both, x, y,
        compute=lambda a, b: (oracle.binary("-", add(a, a) if twice else a, b, x.dtype), b),
    )  # fmt: skip
