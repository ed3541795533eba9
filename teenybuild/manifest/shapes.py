"""Shapes a value of the manifest may have.

A shape says what it expects in words, checks a value, and gives its JSON Schema. The keys of the manifest are rows that
hold shapes (:mod:`teenybuild.manifest.schema`); no key is described anywhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

from teenybuild.diagnostics import did_you_mean, near
from teenybuild.manifest.locate import KeyPath, Part
from teenybuild.manifest.toml import Toml
from teenybuild.types import canonical

#: JSON, as ``json.dumps`` takes it.
Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a value: where (from the value checked), what, and a way out."""

    path: KeyPath
    message: str
    hint: str | None = None
    part: Part = "value"
    #: For a string: the characters of it that are wrong, from 0, the end exclusive.
    within: tuple[int, int] | None = None


class Problem(NamedTuple):
    """What is wrong with one string (``within``: with which characters of it), and a way out."""

    message: str
    hint: str | None = None
    within: tuple[int, int] | None = None


#: Finds what is wrong with a string.
Check: TypeAlias = Callable[[str], Problem | None]


class Shape(Protocol):
    """What a value may be."""

    def words(self) -> str:
        """What is expected, to be read after "must be"."""
        ...

    def takes(self, value: Toml) -> bool:
        """Whether ``value`` is of the right kind; it may still be out of range, or wrong further in."""
        ...

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        """Everything wrong with a value that :meth:`takes` let through. ``name`` is what messages call it."""
        ...

    def json(self) -> Json:
        """The JSON Schema (draft 2020-12) of the shape."""
        ...


def check(shape: Shape, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
    """Everything that keeps ``value`` from having ``shape``."""
    if shape.takes(value):
        yield from shape.faults(value, path, name)
    else:
        yield Fault(path, f"{name} must be {shape.words()}, not {spelled(value)}", _wrap_hint(shape, value))


#: Integers beyond this are not shown digit for digit.
_LONG = 10**20


def spelled(value: Toml) -> str:
    """A value in words: ``the integer 3``, ``a table``."""
    match value:
        case bool():
            return f"the boolean {canonical(value)}"
        case int():
            # Python refuses to print integers of thousands of digits.
            return f"the integer {value}" if abs(value) < _LONG else "an integer of more than 20 digits"
        case float():
            return f"the float {value!r}"
        case str():
            return f"the string {quoted(value)}"
        case list():
            return "a list" if value else "an empty list"
        case dict():
            return "a table" if value else "an empty table"
        case _:
            return "a date or time"


def quoted(text: str) -> str:
    """A string as messages show it: in double quotes, cut where it is long."""
    shown = text if len(text) <= 60 else text[:57] + "…"
    return json.dumps(shown, ensure_ascii=False)


def _wrap_hint(shape: Shape, value: Toml) -> str | None:
    """A way out for a value of the wrong kind that says the right thing."""
    if isinstance(shape, Either):
        return next((hint for each in shape.shapes if (hint := _wrap_hint(each, value)) is not None), None)
    if isinstance(value, str):
        bare = value.strip().lower()
        literal = bare in ("true", "false") or bare.removeprefix("-").isdecimal()
        if literal and len(bare) < 20 and isinstance(shape, Whole | Flag | Choice):
            return f"write it without quotes: {bare}"
    elif isinstance(value, bool) or not isinstance(value, int | float) or abs(value) >= _LONG:
        return None
    text = quoted(value) if isinstance(value, str) else repr(value)
    if isinstance(shape, ListOf) and shape.item.takes(value):
        return f"put it in a list: [{text}]"
    if isinstance(shape, Text) and shape.check is not None and shape.check(text) is None:
        return f'write it in quotes: "{text}"'
    return None


@dataclass(frozen=True, slots=True)
class Text:
    """A string. ``what`` says of what kind, ``check`` finds what is wrong with one."""

    what: str = "a string"
    check: Check | None = None
    pattern: str | None = None

    def words(self) -> str:
        return self.what

    def takes(self, value: Toml) -> bool:
        return isinstance(value, str)

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        assert isinstance(value, str)
        if value == "":
            yield Fault(path, f"{name} must be {self.what}, and is empty")
        elif self.check is not None and (problem := self.check(value)) is not None:
            yield Fault(path, problem.message, problem.hint, within=problem.within)

    def json(self) -> Json:
        return {"type": "string", "minLength": 1} | ({"pattern": self.pattern} if self.pattern else {})


@dataclass(frozen=True, slots=True)
class Flag:
    """A boolean."""

    def words(self) -> str:
        return "true or false"

    def takes(self, value: Toml) -> bool:
        return isinstance(value, bool)

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        return iter(())

    def json(self) -> Json:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer from ``low`` to ``high``, both included; a power of two where ``power`` says so."""

    low: int
    high: int
    power: bool = False

    def words(self) -> str:
        return f"{'a power of two' if self.power else 'an integer'} from {self.low} to {self.high}"

    def takes(self, value: Toml) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        assert isinstance(value, int)
        power = not self.power or value & (value - 1) == 0
        if not (self.low <= value <= self.high and power):
            yield Fault(path, f"{name} must be {self.words()}, not {spelled(value)}")

    def json(self) -> Json:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few strings or integers. ``later`` are those that are known, and refused for now, each with the reason."""

    values: tuple[str | int, ...]
    later: Mapping[str, str] = field(default_factory=dict[str, str])

    def words(self) -> str:
        known = [quoted(value) if isinstance(value, str) else str(value) for value in self.values]
        return alternatives([*known, *(f"{quoted(value)} (not yet)" for value in self.later)])

    def takes(self, value: Toml) -> bool:
        return type(value) in {type(known) for known in (*self.values, *self.later)}

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        if isinstance(value, str) and value in self.later:
            yield not_yet(f"{name} = {quoted(value)}", self.later[value], path)
        elif value not in self.values:
            known = [text for text in (*self.values, *self.later) if isinstance(text, str)]
            hint = did_you_mean(value, known) if isinstance(value, str) else None
            yield Fault(path, f"{name} must be {self.words()}, not {spelled(value)}", hint)

    def json(self) -> Json:
        return {"enum": [*self.values, *self.later]}


#: Constants fit what a kernel can hold: signed or unsigned 64 bits.
_INT_LOW, _INT_HIGH = -(1 << 63), (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Constant:
    """A compile-time constant."""

    def words(self) -> str:
        return "an integer, a float, a boolean or a string"

    def takes(self, value: Toml) -> bool:
        return isinstance(value, int | float | str)

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        if isinstance(value, int) and not _INT_LOW <= value <= _INT_HIGH:
            yield Fault(path, f"{name} must fit 64 bits, signed or unsigned, and {spelled(value)} does not")

    def json(self) -> Json:
        return {"type": ["integer", "number", "boolean", "string"]}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of ``least`` to ``most`` elements, all different where ``distinct``. ``why`` explains ``least``."""

    item: Shape
    least: int = 0
    most: int | None = None
    distinct: bool = True

    def words(self) -> str:
        if self.most is not None:
            return f"a list of {self.least} to {self.most} elements, each {self.item.words()}"
        return f"a list, each element {self.item.words()}"

    def takes(self, value: Toml) -> bool:
        return isinstance(value, list)

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        assert isinstance(value, list)
        if len(value) < self.least and self.most is None:
            yield Fault(
                path,
                f"{name} is an empty list: nothing would be built",
                "name at least one, or leave the key out",
            )
        elif len(value) < self.least or (self.most is not None and len(value) > self.most):
            yield Fault(path, f"{name} must have {self.least} to {self.most} elements, not {len(value)}")
        first: dict[str, int] = {}
        for index, element in enumerate(value):
            here = (*path, index)
            wrong = False
            for fault in check(self.item, element, here, f"{name}[{index}]" if len(value) > 1 else name):
                wrong = True
                yield fault
            if wrong or not self.distinct:
                continue
            before = first.setdefault(identity(element), index)
            if before != index:
                message = f"{name} has {_shown(element)} twice, as elements {before} and {index}"
                yield Fault(here, message, "keep one of them")

    def json(self) -> Json:
        schema: Json = {"type": "array", "items": self.item.json()}
        if self.least:
            schema["minItems"] = self.least
        if self.most is not None:
            schema["maxItems"] = self.most
        if self.distinct:
            schema["uniqueItems"] = True
        return schema


@dataclass(frozen=True, slots=True)
class TableOf:
    """A table with keys the user chooses. ``what`` says of what, ``check`` finds what is wrong with a key.

    Keys that ``known`` has are of its shape.
    """

    what: str
    value: Shape
    check: Check | None = None
    least: int = 0
    known: Record | None = None

    def words(self) -> str:
        return f"a table of {self.what}"

    def takes(self, value: Toml) -> bool:
        return isinstance(value, dict)

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        assert isinstance(value, dict)
        if len(value) < self.least:
            yield Fault(path, f"{name} must be {self.words()}, and is empty")
        for key, element in value.items():
            row = self.known.row(key) if self.known is not None else None
            if row is None and self.check is not None and (problem := self.check(key)) is not None:
                yield Fault((*path, key), problem.message, problem.hint, "key")
            shape = self.value if row is None else row.shape
            yield from check(shape, element, (*path, key), f"{name}.{key}")

    def json(self) -> Json:
        schema: Json = {"type": "object", "additionalProperties": self.value.json()}
        if self.known is not None:
            schema["properties"] = self.known.json()["properties"]
        return schema | ({"minProperties": self.least} if self.least else {})


@dataclass(frozen=True, slots=True)
class Either:
    """One of several shapes that differ in kind."""

    shapes: tuple[Shape, ...]

    def words(self) -> str:
        first, *rest = self.shapes
        # One value or a list of them: said once.
        lists = ["a list of such" if isinstance(s, ListOf) and s.item == first else s.words() for s in rest]
        return ", or ".join([first.words(), *lists])

    def takes(self, value: Toml) -> bool:
        return any(shape.takes(value) for shape in self.shapes)

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        shape = next(shape for shape in self.shapes if shape.takes(value))
        for fault in shape.faults(value, path, name):
            if isinstance(shape, Choice) and value not in shape.later:
                # Not one of the words: it may have been meant as any of the shapes.
                fault = replace(fault, message=f"{name} must be {self.words()}, not {spelled(value)}")
            yield fault

    def json(self) -> Json:
        return {"anyOf": [shape.json() for shape in self.shapes]}


@dataclass(frozen=True, slots=True)
class Row:
    """One key of a table that has fixed keys.

    ``default`` is TOML text, or words; ``doc`` one or two sentences; ``since`` the version that first had it; ``later``
    why the key is refused for now.
    """

    name: str
    shape: Shape
    doc: str
    default: str = ""
    required: bool = False
    since: str = "0.1"
    later: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A table with fixed keys."""

    rows: tuple[Row, ...]
    what: str = "a table"
    #: Exactly one of the keys must stand.
    one: bool = False
    #: Keys that belong to another table, and a hint that says where.
    elsewhere: Mapping[str, str] = field(default_factory=dict[str, str])

    def words(self) -> str:
        if self.one:
            return alternatives([f"{{ {row.name} = … }}" for row in self.rows])
        return self.what

    def takes(self, value: Toml) -> bool:
        return isinstance(value, dict)

    def faults(self, value: Toml, path: KeyPath, name: str) -> Iterator[Fault]:
        assert isinstance(value, dict)
        for key, element in value.items():
            yield from self.key_faults(key, element, (*path, key), name, f"{name}.")
        yield from self.missing(value, path, name)
        if self.one and len(value) != 1:
            yield Fault(path, f"{name} must be {self.words()}, and has {len(value)} keys")

    def key_faults(
        self, key: str, value: Toml, path: KeyPath, title: str, prefix: str = ""
    ) -> Iterator[Fault]:
        """Everything wrong with one key and its value. ``title`` is what messages call the table."""
        row = self.row(key)
        if row is None:
            yield Fault(path, f"{title} has no key {quoted(key)}", self._hint(key, value), "key")
        elif row.later is not None:
            yield not_yet(f"{prefix}{key}", row.later, path, "key")
        else:
            yield from check(row.shape, value, path, f"{prefix}{key}")

    def missing(self, there: Container[object], path: KeyPath, title: str) -> Iterator[Fault]:
        """The required keys that are not among those that are ``there``."""
        for row in self.rows:
            if row.required and row.name not in there:
                yield Fault(path, f"{title} must say {row.name}: {row.shape.words()}", part="key")

    def _hint(self, key: str, value: Toml) -> str:
        """What was meant: a table by a name near to this one, a key of another table, or any near name."""
        tables = [row.name for row in self.rows if isinstance(value, dict) and row.shape.takes(value)]
        hint = did_you_mean(key, tables) or self.elsewhere.get(key) or did_you_mean(key, self.names())
        if hint is not None:
            return hint
        meant = near(key, self.elsewhere)
        return (
            f"did you mean {meant}? {self.elsewhere[meant]}"
            if meant
            else f"keys are {', '.join(self.names())}"
        )

    def row(self, name: str) -> Row | None:
        """The row of a key, or None."""
        return next((row for row in self.rows if row.name == name), None)

    def names(self) -> list[str]:
        return [row.name for row in self.rows]

    def json(self) -> Json:
        schema: Json = {
            "type": "object",
            "properties": {row.name: row.shape.json() | {"description": row.doc} for row in self.rows},
            "additionalProperties": False,
        }
        required = [row.name for row in self.rows if row.required]
        if required:
            schema["required"] = required
        if self.one:
            schema |= {"minProperties": 1, "maxProperties": 1}
        return schema


def not_yet(what: str, reason: str, path: KeyPath, part: Part = "value") -> Fault:
    """The fault of what is known, and left to a later version."""
    return Fault(path, f"{what} is not supported by this version of teenybuild", reason, part)


def alternatives(texts: list[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def identity(value: Toml) -> str:
    """A text that is the same for elements that say the same."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{canonical(k)}:{identity(v)}" for k, v in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(identity(v) for v in value) + "]"
    return canonical(value) if isinstance(value, str | int | float) else value.isoformat()


def _shown(value: Toml) -> str:
    if isinstance(value, str):
        return quoted(value)
    return canonical(value) if isinstance(value, int | float) else "the same entry"
