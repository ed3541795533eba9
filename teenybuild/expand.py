"""Manifest → specialisations: every combination of dtypes, consts, configs and options that is to be built. Pure.

Order, ids and ``exclude`` are part of the contract (``docs/contracts.md``).
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from teenybuild.diagnostics import Diagnostic, Note, UserError
from teenybuild.manifest.bind import BoundKernel, BoundManifest, Lookup, bind_each
from teenybuild.manifest.model import Config, Kernel, Manifest, fill_options
from teenybuild.manifest.reader import read
from teenybuild.manifest.report import Report
from teenybuild.manifest.schema import DEFAULT_OPTIONS
from teenybuild.manifest.typespec import sides, substitute
from teenybuild.specialisation import OptionValue, Specialisation
from teenybuild.types import (
    Absent,
    Assume,
    Descriptor,
    Pointer,
    Scalar,
    Tuple,
    Type,
    TypeSyntaxError,
    Value,
    canonical,
    leaves,
    said_of,
)

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.tuning import Heuristic

#: An id becomes part of file names: a longer one keeps its start, and ends in a digest of the whole.
LONGEST_ID = 120
_DIGEST = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """All there is to build: the manifest with its functions, and its specialisations in order."""

    manifest: BoundManifest
    specialisations: tuple[Specialisation, ...]


def plan(path: Path, lookup_in: Callable[[Manifest], Lookup]) -> Plan:
    """Read, bind and expand the manifest at ``path``; ``lookup_in`` gives the way to the sources it names.

    Raises UserError with everything that is wrong, found by any of the three, in source order.
    """
    reading = read(path)
    bound, problems = bind_each(reading.manifest, lookup_in(reading.manifest))
    report = Report()
    report.take(reading.diagnostics)
    report.take(_missing_roots(reading.manifest))
    report.take(problems)
    specialisations = _expand_all(bound, report)
    report.raise_any(str(file) for file in reading.manifest.files)
    return Plan(bound, specialisations)


def _missing_roots(manifest: Manifest) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for index, root in enumerate(manifest.build.roots):
        if not (manifest.directory / root).is_dir():
            span = manifest.main.span(("build", "roots", index), "value")
            hint = "roots are directories in which imports are looked up, relative to the manifest"
            found.append(Diagnostic(f"there is no directory {root}", span, hint=hint))
    return found


def expand_all(bound: BoundManifest) -> tuple[Specialisation, ...]:
    """The specialisations of every kernel, in the manifest's order.

    Raises UserError where an ``exclude`` matches nothing, a kernel has no specialisation left, or two have one id.
    """
    report = Report()
    specialisations = _expand_all(bound, report)
    report.raise_any(str(file) for file in bound.manifest.files)
    return specialisations


def expand(kernel: Kernel, parameters: Sequence[str]) -> tuple[Specialisation, ...]:
    """The specialisations of one kernel whose function has ``parameters``, in this order.

    Raises UserError where an ``exclude`` matches nothing, or nothing is left.
    """
    report = Report()
    specialisations = _expand(kernel, parameters, report)
    report.raise_any(())
    return tuple(specialisations)


def spell(value: Value | Type) -> str:
    """How a value is spelled in an id: letters, digits and ``_`` only."""
    if isinstance(value, Scalar | Pointer | Absent | Tuple | Descriptor):
        text = str(value)
        return text if _plain(text) else _digest(text)
    if isinstance(value, float):
        text = repr(value)
        return text.replace("-", "n").replace(".", "p") if _DECIMAL.fullmatch(text) else _digest(text)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value).replace("-", "n")
    if isinstance(value, str):
        return value if _plain(value) else _digest(canonical(value))
    return canonical(value)


_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _plain(text: str) -> bool:
    """``__`` parts the pieces of an id, so no piece may have it."""
    return _IDENTIFIER.fullmatch(text) is not None and "__" not in text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_ID else f"{text[: LONGEST_ID - _DIGEST - 1]}_{_digest(text)}"


def _expand_all(bound: BoundManifest, report: Report) -> tuple[Specialisation, ...]:
    found: list[Specialisation] = []
    for each in bound.kernels:
        found += _expand(each.kernel, each.parameters, report, each.heuristics)
    _check_ids(found, bound.kernels, report)
    return tuple(found)


def _check_ids(
    specialisations: Iterable[Specialisation], kernels: Iterable[BoundKernel], report: Report
) -> None:
    """Ids name files: they differ even where a file system folds case. One pair a kernel is enough to say."""
    first: dict[str, Specialisation] = {}
    said: set[tuple[str, str]] = set()
    by_name = {bound.kernel.name: bound.kernel for bound in kernels}
    for specialisation in specialisations:
        before = first.setdefault(specialisation.id.lower(), specialisation)
        pair = (before.kernel, specialisation.kernel)
        if before is specialisation or pair in said:
            continue
        said.add(pair)
        message = f"two specialisations have the id {specialisation.id}"
        if before.id != specialisation.id:
            message = f"the ids {before.id} and {specialisation.id} differ only in case, which file systems may fold"
        if before.kernel == specialisation.kernel:
            note = Note(_difference(before, specialisation))
        else:
            note = Note("the other kernel is here", by_name[before.kernel].span())
        span = by_name[specialisation.kernel].span()
        report.add(message, span, notes=[note], hint="change one of the values, or a name")


def _difference(one: Specialisation, other: Specialisation) -> str:
    mine, theirs = _inputs(one), _inputs(other)
    parts = [f"{name} = {mine[name]} and {theirs[name]}" for name in mine if mine[name] != theirs[name]]
    return f"they have {', '.join(parts)}" if parts else "they are one combination, given twice"


def _inputs(specialisation: Specialisation) -> dict[str, str]:
    values = (*specialisation.consts, *specialisation.options)
    return dict(specialisation.dtypes) | {name: canonical(value) for name, value in values}


class _Bindings(NamedTuple):
    """One choice for every dtype variable. ``excluded``: see :class:`_Excludes`."""

    piece: str
    choice: Mapping[str, Type]
    #: Of each argument; where consts give sides of blocks, with the number of those alone.
    types: tuple[tuple[str, Type], ...]
    dtypes: tuple[tuple[str, str], ...]
    excluded: int


class _Consts(NamedTuple):
    """One choice for every const and, with the config it may have come from, the options still open."""

    piece: str
    consts: tuple[tuple[str, Value], ...]
    options: tuple[_Options, ...]
    excluded: int


class _Options(NamedTuple):
    """One choice for every option."""

    piece: str
    options: tuple[tuple[str, OptionValue], ...]
    excluded: int


class _Excludes:
    """``exclude``, one bit a table.

    A table's keys are dtype variables, consts and options, and those are chosen one after the other. For each choice, the
    bits of the tables it agrees with are worked out once; a combination is excluded where a bit is set in all of its
    choices.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        known = {*kernel.dtypes, *kernel.consts, *DEFAULT_OPTIONS}
        # A table of [defaults] may name what this kernel does not have; it matches nothing here.
        entries = [entry for entry in kernel.exclude if known >= entry.keys()]
        self.tables = [{name: canonical(value) for name, value in entry.items()} for entry in entries]
        self.seen = 0

    def agreeing(self, values: Mapping[str, str]) -> int:
        """The tables that do not speak against ``values``. Names that are not among them are left to other choices."""
        bits = 0
        for index, table in enumerate(self.tables):
            if all(values[name] == value for name, value in table.items() if name in values):
                bits |= 1 << index
        return bits

    def excludes(self, bits: int) -> bool:
        self.seen |= bits
        return bits != 0

    def report_unseen(self, report: Report) -> None:
        if self.kernel.origin.is_inherited(("exclude",)):
            return
        for index in range(len(self.tables)):
            if not self.seen >> index & 1:
                span = self.kernel.span("exclude", index, part="value")
                message = "exclude matches nothing: no combination has all of these values"
                report.add(message, span, hint="remove it, or a key that keeps it from matching")


def _expand(
    kernel: Kernel, parameters: Sequence[str], report: Report, heuristics: Sequence[Heuristic] = ()
) -> list[Specialisation]:
    excludes = _Excludes(kernel)
    consts = list(_const_choices(kernel, parameters, excludes))
    closed = not any(True for spec in kernel.args.values() for _ in sides(spec))
    said: set[str] = set()
    found: list[Specialisation] = []
    for bindings in _dtype_choices(kernel, parameters, excludes):
        plain, auto = _assumptions(kernel, bindings.types)
        for choice in consts:
            start = bindings.piece + choice.piece
            for options in choice.options:
                if excludes.excludes(bindings.excluded & choice.excluded & options.excluded):
                    continue
                text = start + options.piece
                types = bindings.types if closed else _closed(kernel, bindings, choice, report, said)
                fixed = (kernel.name, types, bindings.dtypes, choice.consts, options.options)
                computed = (
                    _computed(heuristics, bindings, choice, options, plain, report) if heuristics else ()
                )
                found.append(Specialisation(_cut(text), *fixed, plain, False, computed))
                if auto is not None:
                    found.append(Specialisation(_cut(f"{text}__a"), *fixed, auto, True, computed))
    excludes.report_unseen(report)
    if not found:
        message = f"kernel {kernel.name} has no specialisation: exclude drops all of them"
        report.add(message, kernel.span("exclude"), hint="keep at least one, or remove the kernel")
    return found


def _closed(
    kernel: Kernel, bindings: _Bindings, choice: _Consts, report: Report, said: set[str]
) -> tuple[tuple[str, Type], ...]:
    """The types of one combination, where consts give sides of blocks. What is wrong is reported once (``said``)."""
    found: list[tuple[str, Type]] = []
    consts = dict(choice.consts)
    for name, open_type in bindings.types:
        try:
            found.append((name, substitute(kernel.args[name], bindings.choice, consts)))
        except TypeSyntaxError as wrong:
            found.append((name, open_type))
            if wrong.message not in said:
                said.add(wrong.message)
                report.add(wrong.message, kernel.span("args", name, part="value"))
    return tuple(found)


def _computed(
    heuristics: Sequence[Heuristic],
    bindings: _Bindings,
    choice: _Consts,
    options: _Options,
    assume: tuple[tuple[str, Assume], ...],
    report: Report,
) -> tuple[tuple[str, Value], ...]:
    """The consts that follow from one combination, in the order in which a launch would compute them."""
    from teenybuild.compiler.frontend.tuning import Facts

    consts = dict(choice.consts)
    found: list[tuple[str, Value]] = []
    for heuristic in heuristics:
        facts = Facts(dict(bindings.types), consts, dict(options.options), dict(assume))
        try:
            value = heuristic.value(facts)
        except UserError as wrong:
            report.take(wrong.diagnostics)
            continue
        consts[heuristic.name] = value
        found.append((heuristic.name, value))
    return tuple(found)


def _dtype_choices(kernel: Kernel, parameters: Sequence[str], excludes: _Excludes) -> Iterator[_Bindings]:
    args = [(name, kernel.args[name]) for name in parameters if name in kernel.args]
    for choice in itertools.product(*kernel.dtypes.values()):
        bindings = dict(zip(kernel.dtypes, choice, strict=True))
        yield _Bindings(
            "".join((kernel.name, *(f"__{spell(type)}" for type in choice))),
            bindings,
            tuple((name, substitute(spec, bindings)) for name, spec in args),
            tuple((name, str(type)) for name, type in bindings.items()),
            excludes.agreeing({name: canonical(str(type)) for name, type in bindings.items()}),
        )


def _const_choices(kernel: Kernel, parameters: Sequence[str], excludes: _Excludes) -> Iterator[_Consts]:
    options = [tuple(_option_choices(kernel, config, excludes)) for config in kernel.configs]
    for values in itertools.product(*kernel.const.values()):
        given = dict(zip(kernel.const, values, strict=True))
        for config, open_options in zip(kernel.configs, options, strict=True):
            consts = given | {name: config.consts[name] for name in kernel.config_consts}
            yield _Consts(
                "".join(f"__{spell(value)}" for value in consts.values()),
                tuple((name, consts[name]) for name in parameters if name in consts),
                open_options,
                excludes.agreeing({name: canonical(value) for name, value in consts.items()}),
            )


def _option_choices(kernel: Kernel, config: Config, excludes: _Excludes) -> Iterator[_Options]:
    lists = {name: values for name, values in kernel.options.items() if name not in config.options}
    for values in itertools.product(*lists.values()):
        options = dict(zip(lists, values, strict=True)) | dict(config.options)
        filled = fill_options(options)
        said = [(name, options[name]) for name in kernel.option_order if name in options]
        yield _Options(
            "".join(_option_piece(name, value) for name, value in said),
            filled,
            excludes.agreeing({name: canonical(value) for name, value in filled}),
        )


#: How an option is spelled in an id, before its value.
_OPTION_LETTERS = {"num_warps": "w", "num_stages": "s", "maxnreg": "r"}
#: What stands for a flag that is not as it is by default.
_OPTION_WORDS = {"enable_fp_fusion": "nofuse", "launch_cooperative_grid": "coop"}


def _option_piece(name: str, value: OptionValue) -> str:
    if value == DEFAULT_OPTIONS[name]:
        return ""
    letter = _OPTION_LETTERS.get(name)
    return f"__{_OPTION_WORDS[name]}" if letter is None else f"__{letter}{value}"


def _assumptions(
    kernel: Kernel, types: tuple[tuple[str, Type], ...]
) -> tuple[tuple[tuple[str, Assume], ...], tuple[tuple[str, Assume], ...] | None]:
    """What holds in the plain variant, and in the extra one; None where no auto says anything here.

    An argument that is absent has nothing to assume. What is said of an entry goes before what is said of its tuple.
    """
    every: list[tuple[str, Assume, bool]] = []
    for name, type in types:
        for leaf in leaves(name, type):
            key = said_of(leaf.name, kernel.assume) if not isinstance(leaf.type, Absent) else None
            if key is not None and (leaf.part != "base") and kernel.assume[key] != _NOTHING:
                every.append((leaf.name, kernel.assume[key], key in kernel.autos))
    plain = tuple((name, assume) for name, assume, auto in every if not auto)
    both = tuple((name, assume) for name, assume, _ in every)
    return plain, both if len(both) > len(plain) else None


#: How an entry of a tuple takes back what is assumed of all of them.
_NOTHING = Assume("div", 1)
