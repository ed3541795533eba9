"""What a kernel's methods take, as type checkers are told: one signature a product of what was built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teenybuild.dtypes import Kind
from teenybuild.loader.boxes import cover
from teenybuild.loader.text import literal
from teenybuild.loader.variants import Built, Variant
from teenybuild.manifest.schema import DEFAULT_OPTIONS
from teenybuild.types import Absent, Descriptor, Pointer, Scalar, Tuple, Type, Value

#: What scalars are to a type checker: names of ``runtime/protocols.py``, and of Python.
_NUMBERS: dict[Kind, str] = {"bool": "bool", "int": "Int", "uint": "Int", "float": "Float"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its name, its types (alternatives; constants stand for themselves), and its default, if it has one."""

    name: str
    types: tuple[str, ...]
    default: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One way to call a method: ``by_position`` by position or name, ``named`` by name only.

    ``gives`` are the types of the arguments of the specialisation that it returns; None where it returns nothing.
    """

    by_position: tuple[Parameter, ...]
    named: tuple[Parameter, ...]
    gives: tuple[str, ...] | None


class Calls:
    """How the methods of one kernel may be called: each list has one call, or one for each overload."""

    def __init__(self, built: Built) -> None:
        kernel = built.kernel
        self._built = built
        self._named = (*kernel.consts, *kernel.option_order)
        plain = [variant for variant in built.variants if not variant.specialisation.auto]
        self._has_auto = len(plain) < len(built.variants)
        self._rows = [_row(variant, built.parameters, tuple(kernel.dtypes), self._named) for variant in plain]
        said = {*built.parameters, *(name for name, _ in plain[0].specialisation.consts), *DEFAULT_OPTIONS}
        target = Parameter(_free("target", said), (*map(literal, built.targets), "None"), "None")
        stream = Parameter(_free("stream", said), ("Stream", "None"), "None")
        grid = Parameter(_free("grid", said), ("Grid",))
        if kernel.grid:
            grid = Parameter(grid.name, ("Grid", "None"), "None")
        self.call = self._calls((stream, target), grid)
        self.pick = self._calls((target,), None)
        self.spec = self._specs(_free("auto", {*kernel.dtypes, *said} - set(built.parameters)))

    def _calls(self, launch: tuple[Parameter, ...], grid: Parameter | None) -> list[Call]:
        """Calls with arguments, which consts and options go with by what is ``None``."""
        count = len(self._built.parameters)
        found: list[Call] = []
        for box in cover([(*row.kinds, *row.named) for row in self._rows]):
            first = next(row for row in self._rows if _inside((*row.kinds, *row.named), box))
            by_position = tuple(map(Parameter, self._built.parameters, box[:count]))
            named = tuple(map(Parameter, self._named, box[count:], first.defaults))
            gives = None if grid is not None else tuple(map(_either, box[:count]))
            extra = (grid, *launch) if grid is not None else launch
            found.append(Call(by_position, (*named, *extra), gives))
        return found

    def _specs(self, auto: str) -> list[Call]:
        """Calls without arguments. What they give depends on dtype variables where those may be ``none``."""
        dtypes = tuple(self._built.kernel.dtypes)
        names = (*dtypes, *self._named)
        found: list[Call] = []
        # What it takes goes in as one more dimension: a call gives one kind of thing.
        rows = [(*row.dtypes, *row.named, ", ".join(row.kinds)) for row in self._rows]
        for box in cover(rows):
            first = self._rows[next(place for place, row in enumerate(rows) if _inside(row, box))]
            # Calls that give different things must not overlap: only those like the first may leave their dtype variables out.
            defaults = [*first.dtypes, *first.defaults]
            if first.kinds != self._rows[0].kinds:
                defaults[: len(dtypes)] = [""] * len(dtypes)
            named = tuple(map(Parameter, names, box[:-1], defaults))
            extra = (Parameter(auto, ("bool",), "False"),) if self._has_auto else ()
            found.append(Call((), (*named, *extra), first.kinds))
        return found


@dataclass(frozen=True, slots=True)
class _Row:
    """One plain specialisation: the kind of each parameter, its dtype variables, and consts and options as types and as source."""

    kinds: tuple[str, ...]
    dtypes: tuple[str, ...]
    named: tuple[str, ...]
    defaults: tuple[str, ...]


def _row(variant: Variant, parameters: Sequence[str], dtypes: Sequence[str], named: Sequence[str]) -> _Row:
    each = variant.specialisation
    types, bound, values = dict(each.types), dict(each.dtypes), {**dict(each.options), **dict(each.consts)}
    return _Row(
        tuple(_kind(types[name]) for name in parameters),
        tuple(literal(bound[name]) for name in dtypes),
        tuple(_constant(values[name]) for name in named),
        tuple(literal(values[name]) for name in named),
    )


def _kind(type_: Type) -> str:
    match type_:
        case Absent():
            return "None"
        case Pointer():
            return "Array"
        case Scalar():
            return _NUMBERS[type_.dtype.kind]
        case Tuple():
            return f"tuple[{', '.join(map(_kind, type_.items)) or '()'}]"
        case Descriptor():
            return "Described"


def _constant(value: Value) -> str:
    """A constant as a type. There are no types of one float."""
    return "float" if isinstance(value, float) else literal(value)


def _either(types: Sequence[str]) -> str:
    return " | ".join(types)


def _inside(row: Sequence[str], box: Sequence[Sequence[str]]) -> bool:
    return all(value in values for value, values in zip(row, box, strict=True))


def _free(name: str, taken: set[str]) -> str:
    """What ``runtime/signature.py`` calls an argument of its own, where the kernel has one of that name."""
    return f"{name}_" if name in taken else name
