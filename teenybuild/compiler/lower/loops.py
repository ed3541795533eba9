"""A counted loop of LLVM IR around what one lane does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from teenybuild.compiler.lower.text import Text


def counted(
    text: Text,
    count: str,
    step: int,
    carried: Sequence[tuple[str, str]],
    turn: Callable[[str, Sequence[str]], Sequence[str]],
    index_type: str = "i64",
) -> list[str]:
    """``for (i = 0; i < count; i += step)``, at least once. ``carried`` holds (type, first value); ``turn`` gives the next ones.

    The values after the last turn are returned.
    """
    head, done = text.label(), text.label()
    before = text.block
    text.do(f"br label %{head}")
    text.open(head)
    index, following = text.name(), text.name()
    names = [text.name() for _ in carried]
    phis = text.slot()
    after = list(turn(index, names))
    text.do(f"{following} = add nuw nsw {index_type} {index}, {step}")
    latch = text.block
    more = text.op(f"icmp ult {index_type} {following}, {count}")
    text.do(f"br i1 {more}, label %{head}, label %{done}")
    with text.into(phis):
        text.do(f"{index} = phi {index_type} [ 0, %{before} ], [ {following}, %{latch} ]")
        for name, (type_, first), last in zip(names, carried, after, strict=True):
            text.do(f"{name} = phi {type_} [ {first}, %{before} ], [ {last}, %{latch} ]")
    text.open(done)
    return after
