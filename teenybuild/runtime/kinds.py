"""What a parameter takes: a plain type, a tuple of such, or blocks of an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias


class Blocks(NamedTuple):
    """A tensor descriptor: an array of ``dtype`` that the kernel sees in blocks of these sides."""

    dtype: str
    block: tuple[int, ...]


#: ``*f32``, ``i32`` or ``none``; a tuple of kinds; or blocks.
Kind: TypeAlias = "str | tuple[Kind, ...] | Blocks"


def kind_of(said: Any) -> Kind:
    """The kind that an index, or an artifact's description, says of a parameter."""
    if isinstance(said, str):
        return said
    if "block" in said:
        return Blocks(said["dtype"], tuple(said["block"]))
    return tuple([kind_of(each) for each in said])


def spelled(kind: Kind) -> str:
    """As the manifest spells it: ``(*f32, i32)``, ``desc<f16[128, 64]>``."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, Blocks):
        return f"desc<{kind.dtype}[{', '.join(map(str, kind.block))}]>"
    return f"({', '.join(map(spelled, kind))}{',' if len(kind) == 1 else ''})"


def passed(name: str, kind: Kind) -> Iterator[str]:
    """The names of what is passed for a parameter, in order, absent entries among them."""
    if isinstance(kind, str):
        yield name
    elif isinstance(kind, Blocks):
        rank = len(kind.block)
        yield name
        yield from (f"{name}.shape[{axis}]" for axis in range(rank))
        yield from (f"{name}.strides[{axis}]" for axis in range(rank - 1))
        yield f"{name}.padding"
    else:
        for place, each in enumerate(kind):
            yield from passed(f"{name}[{place}]", each)
