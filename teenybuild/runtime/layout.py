"""The arguments of a specialisation: what each must be, and how they are packed for a launch."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .dtypes import DTYPES, bf16_bits
from .kinds import Kind, kind_of, passed
from .views import View

#: Which views may be passed for a scalar of each kind: a whole number is a float too, and a bool is no number.
ACCEPTED = {"bool": ("bool",), "int": ("int",), "uint": ("int",), "float": ("float", "int")}


class Argument(NamedTuple):
    """One argument of a specialisation: a parameter, an entry of a tuple, or a part of a descriptor.

    ``type`` is ``*f32``, ``i32`` or ``none``; ``place`` is where it stands among what is passed, absent ones counted.

    ``div``: the address or value is a multiple of it. ``eq``: the value is this. ``writes``: the kernel stores through it.
    """

    place: int
    name: str
    type: str
    div: int = 1
    eq: int | None = None
    writes: bool = False


class Pointer(NamedTuple):
    """What is checked of an array at every launch. ``mask`` has the low bits that must be 0 in its address."""

    place: int
    what: str
    mask: int
    writes: bool


class Scalar(NamedTuple):
    """What is checked of a number at every launch, beside its range, which packing checks."""

    place: int
    kinds: tuple[str, ...]
    mask: int
    eq: int | None


class Layout:
    """What a specialisation says of its arguments.

    ``names`` and ``types`` have every parameter, in order. ``nested``: some are tuples or descriptors, so that a call's arguments are
    flattened before anything here looks at them; ``arguments`` are then what comes out. ``pack`` and ``pack_into`` are those of a struct with the arguments alone, as the host
    takes them; ``offsets`` are their places in it, ``size`` its bytes.
    """

    __slots__ = (
        "absent",
        "arguments",
        "converted",
        "format",
        "names",
        "nested",
        "offsets",
        "order",
        "pack",
        "pointers",
        "scalars",
        "size",
        "types",
    )

    def __init__(
        self, parameters: Sequence[str], types: Sequence[Any], arguments: Sequence[dict[str, Any]], size: int
    ) -> None:
        """``types`` and ``arguments`` are as an artifact's description has them."""
        said = {each["name"]: each for each in arguments}
        self.names = tuple(parameters)
        self.types: tuple[Kind, ...] = tuple(map(kind_of, types))
        self.nested = any(not isinstance(kind, str) for kind in self.types)
        flat = [
            each for name, kind in zip(parameters, self.types, strict=True) for each in passed(name, kind)
        ]
        self.arguments = tuple(_argument(i, name, said.get(name)) for i, name in enumerate(flat))
        self.absent = tuple(each.place for each in self.arguments if each.type == "none")
        present = [each for each in self.arguments if each.type != "none"]
        self.order = tuple(each.place for each in present)
        self.pointers = tuple(
            # An element lies on a multiple of its size, whatever else is assumed.
            Pointer(each.place, each.type, max(each.div, DTYPES[each.type[1:]].size) - 1, each.writes)
            for each in present
            if each.type.startswith("*")
        )
        self.scalars = tuple(
            Scalar(each.place, ACCEPTED[DTYPES[each.type].kind], each.div - 1, each.eq)
            for each in present
            if not each.type.startswith("*")
        )
        self.converted: tuple[tuple[int, Callable[[float], int]], ...] = tuple(
            (place, bf16_bits) for place, each in enumerate(present) if each.type == "bf16"
        )
        self.offsets = tuple(said[each.name]["offset"] for each in present)
        self.size = size
        self.format = _format([each.type for each in present], self.offsets, size)
        self.pack = struct.Struct(self.format).pack

    def values(self, views: Sequence[View]) -> list[Any]:
        """What is packed, in order. Raises OverflowError where a number is too large for bf16."""
        values = [views[index][1] for index in self.order]
        for place, convert in self.converted:
            values[place] = convert(values[place])
        return values

    def holds(self, values: Sequence[Any], views: Sequence[View]) -> bool:
        """Whether everything that is assumed of the arguments of a call is so."""
        if self.nested:
            from .flatten import flatten

            _, views, problems = flatten(self, values, views)
            if problems:
                return False
        for index, _, mask, _ in self.pointers:
            if views[index][1] & mask:
                return False
        for index, _, mask, eq in self.scalars:
            if (mask and views[index][1] & mask) or (eq is not None and views[index][1] != eq):
                return False
        return True


def _argument(place: int, name: str, said: dict[str, Any] | None) -> Argument:
    if said is None:
        return Argument(place, name, "none")
    star = "*" if said["kind"] == "pointer" else ""
    assume = said["assume"]
    writes = said["access"] in ("write", "readwrite")
    return Argument(place, name, star + said["dtype"], assume.get("div", 1), assume.get("eq"), writes)


def _format(types: Sequence[str], offsets: Sequence[int], size: int) -> str:
    """The format of :mod:`struct` with each value at its offset, and padding written out."""
    pieces, at = ["="], 0
    for type_, offset in zip(types, offsets, strict=True):
        row = DTYPES["u64" if type_.startswith("*") else type_]
        pieces.append(f"{offset - at}x{row.format}")
        at = offset + row.size
    return "".join([*pieces, f"{size - at}x"])
