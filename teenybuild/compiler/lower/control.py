"""Loops and branches of a program. Every lane takes the same way, so they are plain branches around lanes' work."""

from __future__ import annotations

from collections.abc import Callable

from teenybuild.compiler.ir.constant import constant_of
from teenybuild.compiler.ir.core import Block
from teenybuild.compiler.ir.scf import Condition, For, If, While
from teenybuild.compiler.ir.types import dtype_of
from teenybuild.compiler.lower.machine import Machine

LowerBlock = Callable[[Block], None]


def lower_for(machine: Machine, op: For, lower_block: LowerBlock) -> None:
    """``for``: a test before each turn, carried values in the machine's keeping.

    Whether there is another turn is asked of what is left, not of the next value: that may lie beyond the type's last.
    """
    text = machine.text
    machine.meet()
    llvm = dtype_of(op.lower.type).llvm
    first, last, step = (machine.scalar(v) for v in (op.lower, op.upper, op.step))
    index, *carried = op.body.args
    carry = machine.carry(carried, op.initial)
    head, body, done = text.label(), text.label(), text.label()
    some = text.op(f"icmp slt {llvm} {first}, {last}")
    if constant_of(op.step) is None:
        # A step that does not lead there is taken for no turn at all, not for endless ones.
        some = text.op(f"and i1 {some}, {text.op(f'icmp sgt {llvm} {step}, 0')}")
    before = text.block
    text.do(f"br label %{head}")
    text.open(head)
    variable, following, more = text.name(), text.name(), text.name()
    phi = text.slot()
    carry.enter(before)
    machine.set_scalar(index, variable)
    text.do(f"br i1 {more}, label %{body}, label %{done}")
    text.open(body)
    lower_block(op.body)
    machine.meet()
    carry.again(op.body.terminator.operands)
    left = text.op(f"sub {llvm} {last}, {variable}")
    again = text.op(f"icmp ugt {llvm} {left}, {step}")
    text.do(f"{following} = add {llvm} {variable}, {step}")
    latch = text.block
    carry.close(latch)
    text.do(f"br label %{head}")
    with text.into(phi):
        text.do(f"{variable} = phi {llvm} [ {first}, %{before} ], [ {following}, %{latch} ]")
        text.do(f"{more} = phi i1 [ {some}, %{before} ], [ {again}, %{latch} ]")
    text.open(done)
    carry.leave(op.results)


def lower_while(machine: Machine, op: While, lower_block: LowerBlock) -> None:
    """``while``: the test at the head of each turn, carried values in the machine's keeping."""
    text = machine.text
    machine.meet()
    carry = machine.carry(op.test.args, op.initial)
    head, body, done = text.label(), text.label(), text.label()
    before = text.block
    text.do(f"br label %{head}")
    text.open(head)
    carry.enter(before)
    lower_block(op.test)
    machine.meet()
    last = op.test.terminator
    assert isinstance(last, Condition)
    text.do(f"br i1 {machine.scalar(last.condition)}, label %{body}, label %{done}")
    text.open(body)
    # What the test is given is what the body is given, and what there is at the end.
    carry.name(op.body.args)
    lower_block(op.body)
    machine.meet()
    carry.again(op.body.terminator.operands)
    carry.close(text.block)
    text.do(f"br label %{head}")
    text.open(done)
    carry.leave(op.results)


def lower_if(machine: Machine, op: If, lower_block: LowerBlock) -> None:
    """``if``: results in the machine's keeping."""
    text = machine.text
    machine.meet()
    then, otherwise, done = text.label(), text.label(), text.label()
    join = machine.join(op.results)
    text.do(f"br i1 {machine.scalar(op.condition)}, label %{then}, label %{otherwise}")
    for label, block in ((then, op.then), (otherwise, op.otherwise)):
        text.open(label)
        lower_block(block)
        machine.meet()
        join.give(block.terminator.operands)
        text.do(f"br label %{done}")
    text.open(done)
    join.take()
