"""One kernel: its own keys with those of ``[defaults]``, checked against each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from teenybuild.diagnostics import Diagnostic, did_you_mean
from teenybuild.dtypes import BY_NAME
from teenybuild.manifest import grid
from teenybuild.manifest.checks import ptx_too_old
from teenybuild.manifest.draft import Draft
from teenybuild.manifest.locate import KeyPath
from teenybuild.manifest.model import NO_CONFIG, Build, Kernel, Origin
from teenybuild.manifest.report import Report
from teenybuild.manifest.schema import OPTIONS
from teenybuild.manifest.shapes import quoted
from teenybuild.manifest.typespec import Variable, sides, substitute, variables
from teenybuild.types import (
    Absent,
    Assume,
    Descriptor,
    Leaf,
    Pointer,
    Scalar,
    Tuple,
    Type,
    TypeSyntaxError,
    Value,
    canonical,
    leaves,
    parameter_of,
    said_of,
    side_problem,
    type_at,
)

T = TypeVar("T")

#: The keys that declare names.
_DECLARING = ("args", "dtypes", "const", "configs")

#: More specialisations than this are a slip, not a wish; they are refused before any is made.
MOST = 1_000_000


def build_kernel(
    name: str, own: Draft, defaults: Draft, build: Build, origin: Origin, report: Report
) -> Kernel:
    """The kernel that ``own`` and ``defaults`` describe. What does not fit together goes to ``report``."""
    kernel = _merge(name, own, defaults, build, origin)
    return _Checks(kernel, build, report).run()


def _merge(name: str, own: Draft, defaults: Draft, build: Build, origin: Origin) -> Kernel:
    inherited: set[KeyPath] = set()

    def table(
        key: str, mine: Mapping[str, T], theirs: Mapping[str, T], drop: Iterable[str] = ()
    ) -> dict[str, T]:
        """Inherited keys, then the kernel's own; a key that was wrong in the kernel is not looked up in [defaults]."""
        gone = {*mine, *drop, *(path[1] for path in own.broken if len(path) > 1 and path[0] == key)}
        kept = {name: value for name, value in theirs.items() if name not in gone}
        inherited.update((key, name) for name in kept)
        return kept | dict(mine)

    def whole(key: str, mine: T, theirs: T) -> T:
        if key in own.said or (key,) in own.broken or key not in defaults.said:
            return mine
        inherited.add((key,))
        return theirs

    used = {each.name for spec in own.args.values() for each in variables(spec)}
    configs = own.configs or (NO_CONFIG,)
    # Where args could not be read, nothing is known to be unused.
    unknown = (
        ()
        if ("args",) in own.broken
        else [name for name in defaults.assume if parameter_of(name) not in own.args]
    )
    assume = table("assume", own.assume, defaults.assume, unknown)
    autos = {*own.autos, *(auto for auto in defaults.autos if auto not in own.assume)}
    tuned = set(own.tuned)
    if "const" not in own.said and ("const",) not in own.broken and "const" in defaults.tuned:
        tuned.add("const")
        inherited.add(("const",))
    theirs = {} if "const" in own.tuned else defaults.const
    return Kernel(
        name=name,
        source=own.source,
        function=own.function or name,
        args=own.args,
        dtypes=table("dtypes", own.dtypes, defaults.dtypes, [n for n in defaults.dtypes if n not in used]),
        const=table("const", own.const, theirs, (*own.args, *configs[0].consts)),
        configs=configs,
        options=table("options", own.options, defaults.options),
        grid=own.grid,
        # A multiple of 1 is no assumption; it is how a kernel takes one of [defaults] back, and an entry one of its tuple.
        assume={n: a for n, a in assume.items() if (a.kind, a.value) != ("div", 1) or n != parameter_of(n)},
        autos=tuple(n for n in assume if n in autos),
        exclude=whole("exclude", own.exclude, defaults.exclude),
        outputs=whole("outputs", own.outputs, defaults.outputs),
        mutates=whole("mutates", own.mutates, defaults.mutates),
        targets=whole("targets", own.targets, defaults.targets) or build.targets,
        globals=table("globals", own.globals, defaults.globals),
        tuned=frozenset(tuned),
        imports=whole("import", own.imports, defaults.imports),
        origin=Origin(origin.file, origin.base, origin.main, frozenset(inherited)),
        broken=frozenset(own.broken | defaults.broken),
    )


def check_again(kernel: Kernel, report: Report) -> None:
    """Checks a kernel whose configs have been read off its decorator."""
    _Checks(kernel, None, report).again()


class _Checks:
    """Each method checks one key against the others."""

    def __init__(self, kernel: Kernel, build: Build | None, report: Report) -> None:
        self.kernel = kernel
        self.build = build
        self.report = report
        self.broken: set[KeyPath] = set(kernel.broken)

    def run(self) -> Kernel:
        types = self.types()
        self.dtypes()
        self.consts()
        if not self.kernel.tuned:
            self.assume(types)
            self.grid(types)
            self.exclude()
            self.count()
        self.pointers("outputs", self.kernel.outputs, types)
        self.pointers("mutates", self.kernel.mutates, types)
        self.either_output_or_mutated()
        self.targets()
        return replace(self.kernel, broken=frozenset(self.broken))

    def again(self) -> None:
        """What hangs on the consts, once the decorator has said which there are."""
        types = self.types()
        self.consts()
        self.assume(types)
        self.grid(types)
        self.exclude()
        self.count()

    def wrong(self, message: str, path: KeyPath, hint: str | None = None, *, key: bool = False) -> None:
        """Report something wrong at ``path``; where that is in ``[defaults]``, the message names the kernel."""
        if self.kernel.origin.is_inherited(path):
            message = f"{message} (kernel {self.kernel.name})"
        self.report.add(message, self.kernel.span(*path, part="key" if key else "value"), hint=hint)
        self.broken.add(path[:2] if len(path) > 1 and isinstance(path[1], str) else path[:1])

    def unknown(
        self, what: str, path: KeyPath, message: str, known: Iterable[str], *, key: bool = False
    ) -> None:
        """Report a name that stands for nothing, unless what would have declared it was wrong, and reported."""
        if any(self.kernel.is_broken(table, what) for table in _DECLARING):
            self.broken.add(path[:1])
            return
        known = [*known, *(str(path[1]) for path in self.broken if len(path) > 1 and path[0] in _DECLARING)]
        listed = f"known here: {', '.join(known)}" if known else None
        self.wrong(message, path, did_you_mean(what, known) or listed, key=key)

    def types(self) -> dict[str, tuple[Type, ...]]:
        """The types that each argument can have. Of blocks that consts give, they tell the axes alone."""
        found: dict[str, tuple[Type, ...]] = {}
        for name, spec in self.kernel.args.items():
            used = {each.name: each for each in variables(spec)}
            undeclared = [each for each in used.values() if each.name not in self.kernel.dtypes]
            for each in undeclared:
                self.undeclared(name, each)
            self.sides(name)
            if undeclared:
                continue
            try:
                found[name] = tuple(
                    substitute(spec, dict(zip(used, choice, strict=True)))
                    for choice in itertools.product(*(self.kernel.dtypes[each] for each in used))
                )
            except TypeSyntaxError as problem:
                way_out = None
                if isinstance(spec, Variable):
                    what = " pointer" if " a pointer where " in problem.message else ""
                    way_out = f'write "{spec.name}": it stands for the{what or " whole"}'
                self.wrong(problem.message, ("args", name), way_out)
        return found

    def sides(self, argument: str) -> None:
        """What blocks of descriptors name are consts, and powers of two. Those of a decorator are looked at when it has been read."""
        kernel = self.kernel
        for side in sides(kernel.args[argument]):
            configs = [config.consts[side.name] for config in kernel.configs if side.name in config.consts]
            values = kernel.const.get(side.name, tuple(configs))
            reported = any(kernel.is_broken(table, side.name) for table in ("const", "configs"))
            if not values and (reported or kernel.tuned):
                continue
            span = kernel.origin.span_inside(("args", argument), side.start, side.start + len(side.name))
            wrong = next((problem for value in values if (problem := side_problem(value)) is not None), None)
            if wrong is not None:
                self.broken.add(("args", argument))
                self.report.add(f"{side.name}: {wrong}", span)
            elif not values:
                self.broken.add(("args", argument))
                hint = (
                    did_you_mean(side.name, kernel.consts) or f"give it values: const = {{ {side.name} = … }}"
                )
                self.report.add(f"the block has {side.name}, which is not a const", span, hint=hint)

    def undeclared(self, name: str, spec: Variable) -> None:
        self.broken.add(("args", name))
        if self.kernel.is_broken("dtypes", spec.name):
            return
        span = self.kernel.origin.span_inside(("args", name), spec.start, spec.start + len(spec.name))
        if spec.name.lower() in BY_NAME:
            message, hint = f'"{spec.name}" is not a dtype', f"did you mean {spec.name.lower()}?"
        else:
            message = f"{spec.name} is not declared in dtypes"
            declare = f'declare it: dtypes = {{ {spec.name} = ["f32"] }}'
            hint = did_you_mean(spec.name, self.kernel.dtypes) or declare
        self.report.add(message, span, hint=hint)

    def dtypes(self) -> None:
        used = {each.name for spec in self.kernel.args.values() for each in variables(spec)}
        if any(path[:1] == ("args",) for path in self.broken):
            return
        for name in self.kernel.dtypes:
            if name not in used:
                message = f"no argument uses the dtype variable {name}"
                self.wrong(message, ("dtypes", name), f'args = {{ x_ptr = "*{name}" }} uses it', key=True)

    def consts(self) -> None:
        kernel = self.kernel
        places: dict[str, KeyPath] = {name: ("const", name) for name in kernel.const}
        for name in kernel.config_consts:
            if name in places:
                message = f"{name} is in const and in configs; it can be in one of them"
                self.wrong(message, places[name], "configs gives it a value in each set", key=True)
            places.setdefault(name, ("configs", 0, name))
        for name, path in places.items():
            if name in kernel.args:
                message = f"{name} is in args and in {path[0]}: a parameter is an argument or a const"
                self.wrong(
                    message, path, "arguments are passed at launch, consts are fixed at build time", key=True
                )
            if name in kernel.dtypes:
                self.wrong(f"{name} is a const and a dtype variable", path, "rename the variable", key=True)

    def assume(self, types: Mapping[str, tuple[Type, ...]]) -> None:
        for name, assume in self.kernel.assume.items():
            path = ("assume", name)
            if name in self.kernel.consts:
                message = f"{name} is a const, and assume is for arguments"
                self.wrong(message, path, "the compiler knows the value of a const", key=True)
            elif (found := self.entry(name, path, f"assume names {name}", types, key=True)) is not None:
                self.assumable(assume, found, path)

    def entry(
        self,
        name: str,
        path: KeyPath,
        said: str,
        types: Mapping[str, tuple[Type, ...]],
        known: Iterable[str] | None = None,
        *,
        key: bool = False,
    ) -> list[Type] | None:
        """The types that an argument, or an entry of a tuple (``ptrs[1]``), can have; None where there is none, which is reported."""
        parameter = parameter_of(name)
        if parameter not in self.kernel.args:
            self.unknown(parameter, path, f"{said}, which is not in args", known or self.kernel.args, key=key)
            return None
        if parameter not in types:
            return None
        found = [at for each in types[parameter] if (at := type_at(each, name)) is not None]
        if not found:
            message, hint = self.no_entry(said, parameter)
            self.wrong(message, path, hint, key=key)
        return found or None

    def no_entry(self, said: str, parameter: str) -> tuple[str, str | None]:
        """Message and hint for a name that leads nowhere within a parameter."""
        spec = self.kernel.args[parameter]
        return f"{said}, which {parameter} does not have: it is {spec}", None

    def assumable(self, assume: Assume, types: Iterable[Type], path: KeyPath) -> None:
        """A pointer has an address to divide; only an integer can be 1. A tuple stands for all entries of which nothing else is said."""
        name = str(path[1])
        if (assume.kind, assume.value) == ("div", 1):
            return
        for type in types:
            for leaf in leaves(name, type):
                if said_of(leaf.name, self.kernel.assume) not in (name, None):
                    continue
                if leaf.part == "base":
                    message = f"{leaf.name} is a descriptor, whose address and strides are multiples of 16 bytes as it is"
                    hint = f'its extents may be assumed: assume = {{ "{leaf.name}.shape[0]" = … }}'
                    self.wrong(message, path, hint, key=True)
                    return
                if leaf.part or self.is_assumable(assume, leaf):
                    continue
                only = "pointers and integers" if assume.kind == "div" else "integers"
                self.wrong(f"{assume.kind} is for {only}, and {leaf.name} is {leaf.type}", path, key=True)
                return

    def is_assumable(self, assume: Assume, leaf: Leaf) -> bool:
        pointer = isinstance(leaf.type, Pointer) and assume.kind == "div"
        return _is_integer(leaf.type) or pointer or isinstance(leaf.type, Absent)

    def grid(self, types: Mapping[str, tuple[Type, ...]]) -> None:
        for index, expr in enumerate(self.kernel.grid):
            for node in grid.name_nodes(expr):
                problem = self.not_a_number(node.name, types)
                if problem is None:
                    continue
                self.broken.add(("grid",))
                if problem:
                    span = self.kernel.origin.span_inside(("grid", index), node.start, node.end)
                    self.report.add(problem, span, hint=self.grid_hint(node.name, types))

    def not_a_number(self, name: str, types: Mapping[str, tuple[Type, ...]]) -> str | None:
        """Why ``name`` is not an integer the grid can use; empty where something reported before is the reason."""
        kernel, parameter = self.kernel, parameter_of(name)
        if name in kernel.consts:
            configs = tuple(config.consts[name] for config in kernel.configs if name in config.consts)
            values = kernel.const.get(name, configs)
            bad = [v for v in values if isinstance(v, bool) or not isinstance(v, int)]
            return f"the grid needs integers, and {name} can be {canonical(bad[0])}" if bad else None
        if parameter in types:
            there = [at for type in types[parameter] if (at := type_at(type, name)) is not None]
            if not there:
                return self.no_entry(f"the grid names {name}", parameter)[0]
            wrong = [type for type in there if not _is_integer(type)]
            return f"the grid needs integers, and {name} is {_kind(wrong[0])}" if wrong else None
        if name in kernel.dtypes:
            return f"the grid needs integers, and {name} is a dtype variable"
        reported = any(kernel.is_broken(table, parameter) for table in ("args", "const", "configs"))
        if reported or ("args", parameter) in self.broken:
            return ""
        return f"the grid names {parameter}, which is neither in args nor a const"

    def grid_hint(self, name: str, types: Mapping[str, tuple[Type, ...]]) -> str | None:
        known = [*self.kernel.args, *self.kernel.consts]
        for type in types.get(parameter_of(name), ()):
            at = type_at(type, name)
            if isinstance(at, Descriptor):
                return f"its extents are integers: {name}.shape[0]"
            if isinstance(at, Tuple):
                return f"name one of its entries: {name}[0]"
        if parameter_of(name) in known or name in self.kernel.dtypes:
            return None
        if name in grid.FUNCTIONS:
            return f"a function is called: {grid.FUNCTIONS[name].shape}"
        return did_you_mean(name, known) or (f"known here: {', '.join(known)}" if known else None)

    def pointers(self, key: str, names: tuple[str, ...], types: Mapping[str, tuple[Type, ...]]) -> None:
        """Pointers, descriptors, and tuples that have some: the name of a tuple stands for all of them."""
        pointers = [n for n, choices in types.items() if any(map(_has_pointers, choices))]
        for index, name in enumerate(names):
            path = (key, index)
            if name == "":  # was wrong by itself
                continue
            found = self.entry(name, path, f"{key} names {name}", types, pointers)
            bad = [t for t in found or () if not (_has_pointers(t) or isinstance(t, Absent))]
            if bad:
                self.wrong(f"{key} are pointers, and {name} is {_kind(bad[0])}", path)

    def either_output_or_mutated(self) -> None:
        for index, name in enumerate(self.kernel.mutates):
            other = next((n for n in self.kernel.outputs if n and name and _overlap(n, name)), None)
            if other is not None:
                hint = "outputs are only written; what is also read is in mutates alone"
                both = name if name == other else f"what {other} and {name} stand for"
                self.wrong(f"{both} is in outputs and in mutates", ("mutates", index), hint)

    def exclude(self) -> None:
        # What [defaults] excludes need not be something this kernel has.
        if self.kernel.origin.is_inherited(("exclude",)):
            return
        for index, entry in enumerate(self.kernel.exclude):
            for name, value in entry.items():
                self.excluded(name, value, ("exclude", index, name))

    def excluded(self, name: str, value: Value, path: KeyPath) -> None:
        kernel = self.kernel
        known = [*kernel.dtypes, *kernel.consts, *OPTIONS.names()]
        if name not in known:
            self.unknown(name, path, f"exclude names {name}, which does not vary here", known, key=True)
            return
        if name in kernel.dtypes:
            choices = [quoted(str(type)) for type in kernel.dtypes[name]]
            given = quoted(value) if isinstance(value, str) else canonical(value)
        elif name in kernel.consts:
            configs = (config.consts[name] for config in kernel.configs if name in config.consts)
            choices = [canonical(v) for v in kernel.const.get(name, tuple(configs))]
            given = canonical(value)
        else:
            return
        if given not in choices:
            hint = did_you_mean(given, choices) or f"its values are {', '.join(dict.fromkeys(choices))}"
            self.wrong(f"exclude matches nothing: {name} is never {given}", path, hint)

    def targets(self) -> None:
        """Against the PTX version that holds for all targets; ``[build]`` has checked its own."""
        build = self.build
        if build is None or self.kernel.targets is build.targets or build.ptx_any is None:
            return
        for index, target in enumerate(self.kernel.targets):
            if target.name in build.ptx:
                continue
            problem = ptx_too_old(build.ptx_any, target)
            if problem is not None:
                span = self.kernel.span("targets", index, part="value")
                self.report.add(problem.message, span, hint=problem.hint)

    def count(self) -> None:
        # Consts of [defaults] that the function does not have are dropped later, so they are not counted yet.
        origin = self.kernel.origin
        own = {
            name: values
            for name, values in self.kernel.const.items()
            if not origin.is_inherited(("const", name))
        }
        problem = count_problem(replace(self.kernel, const=own))
        if problem is not None:
            self.report.take([problem])
            self.broken.add(())


def count_problem(kernel: Kernel) -> Diagnostic | None:
    """What is wrong with a kernel of more specialisations than anyone can want, or None."""
    if kernel.count <= MOST:
        return None
    message = f"kernel {kernel.name} has {kernel.count:,} specialisations, counted before exclude; at most {MOST:,} are read"
    return Diagnostic(message, kernel.span(), hint="values that go together multiply less in configs")


def _is_integer(type: Type) -> bool:
    """An integer one can calculate with: a bool is none."""
    return isinstance(type, Scalar) and type.dtype.is_int and not type.dtype.is_bool


def _has_pointers(type: Type) -> bool:
    return any(isinstance(leaf.type, Pointer) for leaf in leaves("", type))


def _overlap(one: str, other: str) -> bool:
    """Whether two names are of one argument, or one of a tuple and the other of an entry of it."""
    short, long = sorted((one, other), key=len)
    return long == short or long.startswith(f"{short}[")


def _kind(type: Type) -> str:
    """A type in words: ``a float (f32)``."""
    match type:
        case Pointer():
            return f"a pointer ({type})"
        case Absent():
            return "none"
        case Tuple():
            return f"the tuple {type}"
        case Descriptor():
            return f"a descriptor of {type.dtype}"
        case Scalar(dtype=dtype):
            word = "a boolean" if dtype.is_bool else "an integer" if dtype.is_int else "a float"
            return f"{word} ({type})"
