"""Where the front end puts operations: the current block, and the place in the source they come from."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from teenybuild.compiler.frontend.source import Location
from teenybuild.compiler.frontend.values import Tensor, ir_element
from teenybuild.compiler.ir.constant import constant
from teenybuild.compiler.ir.core import Block, Op
from teenybuild.compiler.ir.types import Element
from teenybuild.diagnostics import UserError
from teenybuild.dtypes import DType


class Builder:
    """Appends operations to the innermost open block."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.block = Block()
        #: How many operations have been made.
        self.made = 0

    def add(self, op: Op) -> Op:
        """Appends ``op``, stamped with the current place."""
        op.at(self.location)
        self.made += 1
        self.block.ops.append(op)
        return op

    def tensor(self, op: Op, dtype: Element) -> Tensor:
        """Appends ``op`` and gives its one result, as a value of the language."""
        return Tensor(self.add(op).results[0], dtype)

    def number(self, value: int | float, dtype: DType) -> Tensor:
        """A scalar constant."""
        return self.tensor(constant(value, ir_element(dtype)), dtype)

    @contextmanager
    def into(self, block: Block) -> Generator[Block]:
        """Appends to ``block`` for a while."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def error(self, message: str, hint: str | None = None) -> UserError:
        """A user's mistake at the current place."""
        return self.location.error(message, hint)
