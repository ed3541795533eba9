"""Which accesses are of blocks that hardware copies: of arrays that are aligned as it asks, in boxes as it knows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.arrays import Argument, Given
from teenybuild.compiler.ir.core import Value
from teenybuild.compiler.ir.types import Tile, dtype_of
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.boxes import Boxes, boxes
from teenybuild.types import DESCRIPTOR_AXES

#: What an array's address and its strides in bytes are multiples of (CUDA driver API, ``cuTensorMapEncodeTiled``).
_ALIGNED = 16


@dataclass(frozen=True, slots=True)
class BlockCopies:
    """Of one kernel, whose arguments these are; through those that are ``shared`` goes more than one access.

    What may be ``written`` is not read as blocks: hardware that is told of a block ahead of time reads what was there before.
    """

    arguments: Sequence[Value]
    axes: AxisAnalysis
    shared: frozenset[Argument]
    written: frozenset[Argument]

    def boxes(self, op: tt.Load | tt.Store) -> Boxes | None:
        """How the block that is read or written is copied; None where it is not."""
        array, tile = op.array, (op.result if isinstance(op, tt.Load) else op.value).type
        if array is None or not isinstance(tile, Tile) or len(tile.shape) > DESCRIPTOR_AXES:
            return None
        if isinstance(op, tt.Load) and array.base in self.written:
            return None
        dtype = dtype_of(tile)
        # NaN outside an array is only known of floats of 16 bits and more.
        if dtype.is_fp8 and array.padding == 1:
            return None
        dense = [axis for axis, stride in enumerate(array.strides) if stride == 1]
        if not dense or self._divisor(array.base) % _ALIGNED:
            return None
        fastest = dense[-1]
        strides = [stride for axis, stride in enumerate(array.strides) if axis != fastest]
        if any(self._divisor(stride) * dtype.size % _ALIGNED for stride in strides):
            return None
        return boxes(tile.shape, fastest, dtype.size)

    def _divisor(self, given: Given) -> int:
        """What a number, or an address, is a multiple of."""
        return self.axes[self.arguments[given.number]].divisor if isinstance(given, Argument) else given
