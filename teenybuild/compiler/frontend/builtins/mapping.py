"""A function of scalars for every element: what it does to one, done to whole tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import constant_int
from teenybuild.compiler.frontend.builtins.joining import halves, joined
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Function, Tensor, describe, ir_element, is_tuple
from teenybuild.compiler.ir import arith, scf
from teenybuild.compiler.ir.constant import Constant
from teenybuild.compiler.ir.core import ELEMENTWISE, Block, Op, Value
from teenybuild.compiler.ir.types import with_shape

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


@builtin("tl.map_elementwise")
def map_elementwise(
    s: Semantics, scalar_fn: object, *args: object, pack: object = 1
) -> Tensor | tuple[Tensor, ...]:
    name = "tl.map_elementwise"
    if not isinstance(scalar_fn, Function):
        raise s.builder.error(f"{name} maps a function, got {describe(scalar_fn)}")
    if not args:
        raise s.builder.error(f"{name} maps a function over at least one tile")
    tiles = _one_shape(s, [s.tensor(a) for a in args])
    shape = tiles[0].shape
    count = constant_int(s, pack, f"pack of {name}")
    if count < 1 or count & (count - 1) or tiles[0].numel % count:
        raise s.builder.error(
            f"pack of {name} is a power of two that divides {tiles[0].numel}, got {describe(count)}"
        )
    columns = [column for tile in tiles for column in _columns(s, tile, count)]
    block = Block(args=[Value(ir_element(c.dtype)) for c in columns])
    with s.builder.into(block):
        given = s.call(scalar_fn, [Tensor(a, c.dtype) for a, c in zip(block.args, columns, strict=True)])
    results = given if is_tuple(given) else (given,)
    scalars = [r for r in results if isinstance(r, Tensor) and not r.is_tile]
    if len(scalars) != len(results) or len(results) % count or not results:
        raise s.builder.error(
            f"{name} needs scalars, {count} for each result; "
            f"{scalar_fn.name} gives {', '.join(map(describe, results))}"
        )
    lift = _Lift(s, scalar_fn.name, columns[0].shape)
    lift.known.update(zip(block.args, (c.value for c in columns), strict=True))
    lift.run(block)
    found: list[Tensor] = []
    for first in range(0, len(scalars), count):
        packed = scalars[first : first + count]
        if any(p.dtype != packed[0].dtype for p in packed):
            raise s.builder.error(
                f"{name} needs {count} of one dtype for each result; "
                f"{scalar_fn.name} gives {', '.join(map(describe, packed))}"
            )
        tile = _together(s, [Tensor(lift.of(p.value), p.dtype) for p in packed], name)
        found.append(s.reshape(tile, shape) if shape else tile)
    return tuple(found) if is_tuple(given) else found[0]


def _one_shape(s: Semantics, tiles: list[Tensor]) -> list[Tensor]:
    first = tiles[0]
    for tile in tiles[1:]:
        first, _ = s.broadcast(first, tile)
    return [s.broadcast(tile, first)[0] for tile in tiles]


def _columns(s: Semantics, tile: Tensor, count: int) -> list[Tensor]:
    """The tile's elements dealt out by turns: every ``count``-th from the first on, from the second on, and so on."""
    if count == 1:
        return [tile]
    even, odd = halves(s, s.reshape(tile, (max(tile.numel // 2, 1), 2)))
    pairs = zip(_columns(s, even, count // 2), _columns(s, odd, count // 2), strict=True)
    return [column for pair in pairs for column in pair]


def _together(s: Semantics, columns: list[Tensor], name: str) -> Tensor:
    """What :func:`_columns` dealt out, in order again."""
    if len(columns) == 1:
        return columns[0]
    even, odd = _together(s, columns[::2], name), _together(s, columns[1::2], name)
    both = joined(s, even, odd, name)
    return s.reshape(both, (both.numel,))


class _Lift:
    """Does on tiles of ``shape`` what a block does on scalars; of a branch both ways, and chooses."""

    def __init__(self, s: Semantics, name: str, shape: tuple[int, ...]) -> None:
        self._s = s
        self._name = name
        self._shape = shape
        #: Scalars of the block → tiles.
        self.known: dict[Value, Value] = {}

    def of(self, scalar: Value) -> Value:
        """The tile that stands for a scalar."""
        return self.known[scalar]

    def run(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, scf.If):
                self._choose(op)
            elif isinstance(op, Constant):
                self._put(op, Constant(op.value, with_shape(op.type, self._shape)))
            elif op.traits & ELEMENTWISE:
                self._put(op, _inferred(op.copy(self.of)))
            elif not isinstance(op, scf.Yield):
                raise self._s.builder.error(
                    f"{self._name} computes with numbers; {op.name} has no place in it"
                )

    def _choose(self, op: scf.If) -> None:
        self.run(op.then)
        self.run(op.otherwise)
        condition = self.of(op.condition)
        ways = zip(op.results, op.then.terminator.operands, op.otherwise.terminator.operands, strict=True)
        for result, a, b in ways:
            chosen = arith.Select(condition, self.of(a), self.of(b))
            self.known[result] = self._s.builder.add(chosen).results[0]

    def _put(self, op: Op, lifted: Op) -> None:
        self._s.builder.add(lifted)
        lifted.at(op.location)
        self.known.update(zip(op.results, lifted.results, strict=True))


def _inferred(op: Op) -> Op:
    """The operation with results as its operands now say."""
    op.set_results(Value(t, op) for t in op.infer())
    return op
