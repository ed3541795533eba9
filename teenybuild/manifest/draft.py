"""One ``[kernel.NAME]``, or ``[defaults]``, read by itself: every key checked and typed, none against another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from teenybuild.diagnostics import did_you_mean
from teenybuild.manifest import grid
from teenybuild.manifest.locate import KeyPath
from teenybuild.manifest.model import Config, OptionValue, Origin
from teenybuild.manifest.report import Report
from teenybuild.manifest.schema import OPTIONS
from teenybuild.manifest.shapes import Fault, Record
from teenybuild.manifest.table import as_table, check_table
from teenybuild.manifest.toml import Table, Toml
from teenybuild.manifest.typespec import TypeSpec, parse_spec
from teenybuild.targets import Target, parse_target
from teenybuild.types import Assume, Type, Value, parse_type

#: What ``"auto"`` stands for in the variant where it holds.
AUTO = Assume("div", 16)


@dataclass(slots=True)
class Draft:
    """Keys of one table that are right by themselves. A key that is not there, or is wrong, has its empty value.

    ``said`` are the keys that are there and right; ``broken`` the paths of those that are wrong.
    """

    said: set[str] = field(default_factory=set[str])
    broken: set[KeyPath] = field(default_factory=set[KeyPath])
    source: str = ""
    function: str = ""
    args: dict[str, TypeSpec] = field(default_factory=dict[str, TypeSpec])
    dtypes: dict[str, tuple[Type, ...]] = field(default_factory=dict[str, tuple[Type, ...]])
    const: dict[str, tuple[Value, ...]] = field(default_factory=dict[str, tuple[Value, ...]])
    configs: tuple[Config, ...] = ()
    options: dict[str, tuple[OptionValue, ...]] = field(default_factory=dict[str, tuple[OptionValue, ...]])
    grid: tuple[grid.Expr, ...] = ()
    assume: dict[str, Assume] = field(default_factory=dict[str, Assume])
    autos: tuple[str, ...] = ()
    exclude: tuple[Mapping[str, Value], ...] = ()
    outputs: tuple[str, ...] = ()
    mutates: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    globals: dict[str, Value] = field(default_factory=dict[str, Value])
    #: Of ``const`` and ``configs``, those that are "autotune".
    tuned: set[str] = field(default_factory=set[str])
    imports: bool = False


def read_draft(table: Table, record: Record, title: str, origin: Origin, report: Report) -> Draft:
    """The keys of ``table``, checked against ``record`` and typed. What is wrong goes to ``report``.

    ``title`` is what messages call the table; paths of ``origin`` start in it.
    """
    return _Reader(table, record, title, origin, report).draft


class _Reader:
    """One method a key of the schema, named after it; a test holds the two together."""

    def __init__(self, table: Table, record: Record, title: str, origin: Origin, report: Report) -> None:
        self.origin = origin
        self.report = report
        self.checked = check_table(table, record, title, origin, report)
        self.draft = Draft(said=set(self.checked.good), broken=set(self.checked.broken))
        for key, value in self.checked.good.items():
            getattr(self, f"read_{key}")(value)

    def read_source(self, value: Toml) -> None:
        self.draft.source = str(value)

    def read_function(self, value: Toml) -> None:
        self.draft.function = str(value)

    def read_args(self, value: Toml) -> None:
        self.draft.args = {name: parse_spec(str(text)) for name, text in as_table(value).items()}

    def read_dtypes(self, value: Toml) -> None:
        for name, choices in as_table(value).items():
            self.draft.dtypes[name] = tuple(parse_type(str(text)) for text in _each(choices))

    def read_const(self, value: Toml) -> None:
        if isinstance(value, str):
            self.draft.tuned.add("const")
        for name, values in as_table(value).items():
            self.draft.const[name] = tuple(_constant(each) for each in _each(values))

    def read_options(self, value: Toml) -> None:
        for name, values in as_table(value).items():
            self.draft.options[name] = tuple(_option(each) for each in _each(values))

    def read_configs(self, value: Toml) -> None:
        if isinstance(value, str):
            self.draft.tuned.add("configs")
        configs: list[Config] = []
        first: Mapping[str, Value] | None = None
        for index, entry in enumerate(self.checked.elements("configs")):
            if entry is None:
                continue
            options = {name: _option(given) for name, given in as_table(entry).items() if OPTIONS.row(name)}
            consts = {
                name: _constant(given) for name, given in as_table(entry).items() if not OPTIONS.row(name)
            }
            first = consts if first is None else first
            self._same_consts(index, consts, first)
            configs.append(Config(consts, options))
        self.draft.configs = tuple(configs)

    def _same_consts(self, index: int, consts: Mapping[str, Value], first: Mapping[str, Value]) -> None:
        way_out = "each set gives the same consts"
        for name in first:
            if name not in consts:
                message = f"configs[{index}] lacks {name}, which the first set gives"
                self.report.fault(Fault(("configs", index), message, way_out), self.origin)
        for name in consts:
            if name not in first:
                message = f"configs[{index}] gives {name}, which the first set does not"
                hint = did_you_mean(name, [*first, *OPTIONS.names()]) or way_out
                self.report.fault(Fault(("configs", index, name), message, hint, "key"), self.origin)
        if consts.keys() != first.keys():
            self.draft.broken.add(("configs",))

    def read_grid(self, _: Toml) -> None:
        entries: list[grid.Expr] = []
        for entry in self.checked.elements("grid"):
            # Any value will do for one that is wrong: the others are still checked.
            number = grid.Number(entry if isinstance(entry, int) else 1)
            entries.append(grid.parse(entry) if isinstance(entry, str) else number)
        self.draft.grid = tuple(entries)

    def read_assume(self, value: Toml) -> None:
        for name, entry in as_table(value).items():
            if entry == "auto":
                self.draft.assume[name] = AUTO
                self.draft.autos = (*self.draft.autos, name)
            else:
                [(kind, amount)] = as_table(entry).items()
                assert isinstance(amount, int)
                self.draft.assume[name] = Assume("div" if kind == "div" else "eq", amount)

    def read_exclude(self, _: Toml) -> None:
        self.draft.exclude = tuple(
            {name: _constant(given) for name, given in as_table(entry).items()}
            for entry in self.checked.elements("exclude")
        )

    def read_outputs(self, _: Toml) -> None:
        self.draft.outputs = tuple(str(name or "") for name in self.checked.elements("outputs"))

    def read_mutates(self, _: Toml) -> None:
        self.draft.mutates = tuple(str(name or "") for name in self.checked.elements("mutates"))

    def read_targets(self, _: Toml) -> None:
        self.draft.targets = tuple(parse_target(name) for name in self.checked.texts("targets"))

    def read_import(self, value: Toml) -> None:
        self.draft.imports = value is True

    def read_globals(self, value: Toml) -> None:
        self.draft.globals = {name: _constant(given) for name, given in as_table(value).items()}


# The shapes have been checked: these only tell the type checker so.


def _constant(value: Toml) -> Value:
    assert isinstance(value, int | float | str)
    return value


def _option(value: Toml) -> OptionValue:
    assert isinstance(value, int)
    return value


def _each(value: Toml) -> list[Toml]:
    """A single value is a list of one."""
    return value if isinstance(value, list) else [value]
