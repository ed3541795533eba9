"""Checks that tile IR is well formed: every value defined before use, every operation's own rules, blocks ended."""

from __future__ import annotations

from teenybuild.compiler.ir.core import TERMINATOR, Block, Function, Value, VerifyError


def verify(function: Function) -> None:
    """Raises :class:`VerifyError`, which is a bug of ours, at the first malformed operation."""
    _block(function.body, set(function.body.args))


def _block(block: Block, visible: set[Value]) -> None:
    for i, op in enumerate(block.ops):
        for value in op.operands:
            if value not in visible:
                raise VerifyError(op, "reads a value that is not defined before it")
        ends = bool(op.traits & TERMINATOR)
        if ends != (i == len(block.ops) - 1):
            raise VerifyError(op, "a block ends in one terminator")
        op.verify()
        for inner in op.blocks:
            _block(inner, visible | set(inner.args))
        visible.update(op.results)
