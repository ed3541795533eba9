"""What module-level names of a kernel file mean, settled without running the file.

Functions, constants, imports of the language and of other kernel files are resolved when first asked for. Everything else
(``import torch``, classes, code that computes) stands for a :class:`HostObject`, an error only where a kernel uses it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.canonical import without_docstring
from teenybuild.compiler.frontend.scope import (
    COMPUTED,
    Block,
    Changes,
    Item,
    Place,
    bound_in_passing,
    changed_by_functions,
)
from teenybuild.compiler.frontend.source import Location, Source, read_source
from teenybuild.compiler.frontend.values import (
    Builtin,
    Class,
    Function,
    HostObject,
    Namespace,
    TupleType,
    is_constant,
    is_dict,
    is_tuple,
    same_constant,
)
from teenybuild.diagnostics import Span, UserError, did_you_mean, error

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.imported import Imported

#: Modules that mean the language, by what a source may import.
LANGUAGE_MODULES = {
    "triton": "triton",
    "triton.language": "tl",
    "triton.language.math": "tl.math",
    "triton.language.random": "tl.random",
    "triton.language.extra": "tl.extra",
    "triton.language.extra.cuda": "tl.extra.cuda",
    "triton.language.extra.libdevice": "tl.extra.libdevice",
    "triton.language.extra.cuda.libdevice": "tl.extra.libdevice",
    "teenybuild": "triton",
    "teenybuild.language": "tl",
    "teenybuild.language.math": "tl.math",
    "teenybuild.language.extra": "tl.extra",
    "teenybuild.language.extra.cuda": "tl.extra.cuda",
    "teenybuild.language.extra.libdevice": "tl.extra.libdevice",
    "math": "math",
}

#: Members of language modules that are modules themselves.
_SUBMODULES = {
    ("triton", "language"): "tl",
    ("tl", "math"): "tl.math",
    ("tl", "random"): "tl.random",
    ("tl", "extra"): "tl.extra",
    ("tl.extra", "libdevice"): "tl.extra.libdevice",
    ("tl.extra", "cuda"): "tl.extra.cuda",
    ("tl.extra.cuda", "libdevice"): "tl.extra.libdevice",
}

#: Evaluates a module-level expression as at a place; supplied by ``host.py``, which imports this module.
Evaluate = Callable[["Module", ast.expr, Place | None], object]


class Library:
    """All kernel files read in one process, and where imports between them are looked up.

    ``roots`` are searched in order.  Messages call a file by its path relative to ``base`` where it lies under it, behind ``prefix``.
    """

    def __init__(
        self,
        base: Path,
        roots: tuple[Path, ...],
        evaluate: Evaluate,
        overrides: Mapping[str, object] = MappingProxyType({}),
        prefix: str = "",
        imported: Imported | None = None,
    ) -> None:
        #: What importing the files told, where that is allowed.
        self.imported = imported
        self.base = base
        self.prefix = prefix
        self.roots = roots
        self.evaluate = evaluate
        #: The manifest's ``globals``: values of module-level names, in whichever file, that win over what the sources say.
        self.overrides = overrides
        self._modules: dict[Path, Module] = {}
        self._missed: set[Path] = set()
        #: What imports have been found to mean: every name that a file may take by * asks again.
        self._found: dict[tuple[str, Path, int], Path | None] = {}

    def module(self, path: Path) -> Module:
        """The module at ``path``, read at first use. Raises :class:`UserError`."""
        try:
            key = Path(path).resolve()
        except (
            OSError,
            RuntimeError,
        ) as wrong:  # a link that leads to itself: one or the other, by Python's version
            what = f"cannot read the kernel file: {getattr(wrong, 'strerror', None) or 'a link that leads to itself'}"
            raise error(what, Span(self._display(path), 1, 1, 1, 2)) from None
        found = self._modules.get(key)
        if found is None:
            found = self._modules[key] = Module(self, key, read_source(key, self._display(path)))
        return found

    def _display(self, path: Path) -> str:
        try:
            return self.prefix + Path(path).absolute().relative_to(self.base.absolute()).as_posix()
        except ValueError:
            return Path(path).as_posix()

    @property
    def modules(self) -> tuple[Module, ...]:
        """Every file read so far."""
        return tuple(self._modules.values())

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file read so far, sorted."""
        return tuple(sorted(self._modules))

    def find(self, name: str, importer: Path, level: int) -> Path | None:
        """The kernel file that ``import name`` means in ``importer``, or None where it is no kernel file."""
        key = (name, importer, level)
        if key not in self._found:
            self._found[key] = self._find(name, importer, level)
        return self._found[key]

    def _find(self, name: str, importer: Path, level: int) -> Path | None:
        parts = name.split(".") if name else []
        if level:
            start = importer.parent
            for _ in range(level - 1):
                start = start.parent
            candidates = (start,)
        else:
            candidates = (*self.roots, importer.parent)
        for root in candidates:
            target = root.joinpath(*parts)
            for path in (
                target.with_suffix(".py") if parts else target / "__init__.py",
                target / "__init__.py",
            ):
                if path.is_file():
                    return path
                self._missed.add(path.parent)
        return None

    @property
    def searched(self) -> tuple[Path, ...]:
        """Directories in which a file that is not there was looked for: one that appears there may change what an import means."""
        found: set[Path] = set()
        for directory in self._missed:
            while not directory.is_dir():
                directory = directory.parent
            found.add(directory.absolute())
        return tuple(sorted(found))


class BrokenModuleError(UserError):
    """The file would fail if it were run: no value of the manifest's would help."""


class Module:
    """One kernel file, its names resolved on demand."""

    def __init__(self, library: Library, path: Path, source: Source) -> None:
        self.library = library
        self.path = path
        self.source = source
        self._blocks: dict[int, Block] = {}
        #: Where kernels see the file from: its end.
        self.end = self._end(source.tree.body)
        # Names that no single statement gives their meaning. What makes them is searched for as text first: walking every file
        # would take longer than all else that is done here.
        self._scattered: frozenset[str] = frozenset()
        if any("global" in line for line in source.lines):
            self._scattered |= changed_by_functions(source.tree)
        if any(":=" in line for line in source.lines):
            self._scattered |= bound_in_passing(source.tree)
        self._resolved: dict[tuple[str, Place], object] = {}
        #: What is being found out now: a second time round, it is a circle.
        self._resolving: set[tuple[str, Place]] = set()
        self._starred: set[str] = set()
        #: Lists and dicts that statements of the top level change: the index of the last of these.
        self._last_change: dict[str, int] = {}

    def _end(self, statements: Sequence[ast.stmt], outer: Place | None = None) -> Place:
        """The place behind the last of these statements. Blocks are made once, so that equal places are equal."""
        block = self._blocks.get(id(statements))
        if block is None:
            block = self._blocks[id(statements)] = Block.of(statements)
        return Place(block, len(statements), outer)

    def mentions(self, name: str) -> bool:
        """Whether the file uses or defines ``name`` anywhere: a value given for it may then matter."""
        return self.binding(name) is not None or any(
            isinstance(node, ast.Name) and node.id == name for node in ast.walk(self.source.tree)
        )

    @property
    def names(self) -> list[str]:
        """All module-level names."""
        return list(self.end.block.bindings)

    def defines(self, name: str, at: Place | None = None) -> bool:
        """Whether the file gives ``name`` a meaning at module level, before ``at``."""
        given = name in self.library.overrides or name in self._scattered or self._is_told(name, at)
        return given or self.binding(name, at) is not None

    def lookup(self, name: str, at: Place | None = None) -> object:
        """What ``name`` means at a place, the end if none is named; raises KeyError where the file does not define it."""
        if name in self.library.overrides:
            return _given(self.library.overrides[name])
        if not self._is_told(name, at):
            return self._read(name, at)
        # Reading comes first, so that what it settles does not hang on who is asked.
        try:
            read = self._read(name, at)
        except (KeyError, UserError) as wrong:
            return self._told(name, wrong)
        return self._told(name, read) if isinstance(read, HostObject) else read

    def _is_told(self, name: str, at: Place | None) -> bool:
        """Whether importing the file told what ``name`` is at its end, and it was that at ``at`` already."""
        imported = self.library.imported
        if imported is None or name not in imported.names(self):
            return False
        outermost = at
        while outermost is not None and outermost.outer is not None:
            outermost = outermost.outer
        if outermost is None or outermost.index >= len(outermost.block.statements):
            return at is None or at.outer is None
        bound = self.end.block.bindings.get(name, [])
        binding = self.binding(name, at)
        global_ = binding is not None and binding.block is self.end.block  # not an attribute of a class
        return global_ and len(bound) == 1 and bound[0][0] < outermost.index

    def _told(self, name: str, otherwise: object) -> object:
        """What the import told, or else what reading gave."""
        from teenybuild.compiler.frontend.imported import Untold

        assert self.library.imported is not None
        try:
            return self.library.imported.value(self, name)
        except Untold:
            if isinstance(otherwise, Exception):
                raise otherwise from None
            return otherwise

    def _read(self, name: str, at: Place | None) -> object:
        """What reading the file says of a name."""
        if name in self._scattered:
            return self._computed(name, "sets when it runs")
        place = self.binding(name, at)
        if place is None:
            raise KeyError(name)
        key = (name, place)
        if key not in self._resolved:
            if key in self._resolving:
                said = Location(self.source, place.statement).error(f"{name} is defined in terms of itself")
                raise BrokenModuleError(said.diagnostics)
            self._resolving.add(key)
            try:
                self._resolved[key] = self._resolve(name, place)
            finally:
                self._resolving.discard(key)
        if name in self._last_change and self._top_index(at) <= self._last_change[name]:
            return self._computed(name, "changes when it runs")  # what it is in between is nobody's question
        return self._resolved[key]

    def _top_index(self, at: Place | None) -> int:
        """How many statements of the file's top level lie before a place."""
        place = at or self.end
        while place.outer is not None:
            place = place.outer
        return place.index

    def binding(self, name: str, at: Place | None = None) -> Place | None:
        """The statement that gives ``name`` its meaning at a place."""
        place: Place | None = at or self.end
        while place is not None:
            block = place.block
            own = next((i for i, _ in reversed(block.bindings.get(name, ())) if i < place.index), -1)
            asked: set[tuple[str | None, int]] = set()
            for star in reversed(block.stars):
                if not own < star < place.index:
                    continue
                node = block.statements[star]
                assert isinstance(node, ast.ImportFrom)
                file = (node.module, node.level)
                if file not in asked and self._through_star(name, place.before(star)) is not None:
                    return place.before(star)
                asked.add(file)
            if own >= 0:
                return place.before(own)
            place = place.outer
        return None

    def too_early(self, node: ast.Name, at: Place | None) -> bool:
        """Whether a name that has no meaning at a place gets one further down."""
        return at is not None and not self.defines(node.id, at) and self.defines(node.id)

    def place_of(self, function: ast.FunctionDef) -> Place | None:
        """Where a function is defined: what its defaults see. None for one that is not at module level."""
        return self._place_of(function, self.end)

    def _place_of(self, node: ast.stmt, end: Place) -> Place | None:
        for index, statement in enumerate(end.block.statements):
            here = end.before(index)
            if statement is node:
                return here
            for inner in self._ends(statement, here):
                found = self._place_of(node, inner)
                if found is not None:
                    return found
        return None

    def _ends(self, statement: ast.stmt, here: Place) -> Iterator[Place]:
        """The ends of the blocks that a statement has at module level."""
        match statement:
            case ast.If():
                yield self._end(statement.body, here)
                yield self._end(statement.orelse, here)
            case ast.Try():
                yield self._end(statement.body, here)
                ways = self._ways(statement, here)
                yield from ways
                # What a function in ``finally`` sees is taken from the first way that leads there.
                yield self._end(statement.finalbody, ways[0])
            case ast.With() | ast.For() | ast.While():
                yield self._end(statement.body, here)
            case _:
                return

    def _through_star(self, name: str, place: Place) -> Module | HostObject | None:
        """The kernel file that ``from file import *`` takes ``name`` from; of another kind of file nobody knows what it gives."""
        node = place.statement
        assert isinstance(node, ast.ImportFrom)
        if name in self._starred:
            return None
        path = self.library.find(node.module or "", self.path, node.level)
        if path is None:
            before = self.binding(name, place)
            if before is None or not isinstance(before.statement, ast.Assign | ast.AnnAssign):
                return None
            return self._computed(name, f"may take from {node.module} by *")
        self._starred.add(name)
        try:
            module = self.library.module(path)
            exported = module.exports(name)
            if exported is None:
                if self.defines(name, place) and _same(self.lookup(name, place), module.lookup(name)):
                    return None  # it makes no difference
                return self._computed(name, f"may take from {module.source.display} by *")
            return module if exported else None
        finally:
            self._starred.discard(name)

    def exports(self, name: str) -> bool | None:
        """Whether ``from file import *`` gives ``name``: what ``__all__`` lists, else what has no underscore in front.

        None where only running the file would tell what ``__all__`` lists.
        """
        if not self.defines(name):
            return False
        if not self.defines("__all__"):
            return not name.startswith("_")
        listed = self.lookup("__all__")
        return name in listed if is_tuple(listed) else None

    def _resolve(self, name: str, place: Place) -> object:
        """What the statement at ``place`` makes ``name`` mean."""
        node = place.statement
        item = next((i for at, i in reversed(place.block.bindings.get(name, ())) if at == place.index), None)
        if item is COMPUTED:
            return self._computed(name, "sets when it runs")
        match node:
            case ast.FunctionDef():
                return Function(self, node)
            case ast.Import():
                assert isinstance(item, ast.alias)
                return self._import(item.name) if item.asname else self._import_first(item.name)
            case ast.ImportFrom() if item is None:
                source = self._through_star(name, place)
                return source.lookup(name) if isinstance(source, Module) else source
            case ast.ImportFrom():
                assert isinstance(item, ast.alias)
                return self._import_from(node, item.name)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return self._assigned(name, item, place)
            case ast.If():
                return self._resolve_if(name, node, place)
            case ast.Try():
                return self._resolve_try(name, node, place)
            case ast.ClassDef():
                return self._class(node, place)
            case _:
                return self._computed(name, "sets when it runs")

    def _assigned(self, name: str, item: Item, place: Place) -> object:
        expression, path = item if isinstance(item, tuple) else (item, ())
        assert isinstance(expression, ast.expr)
        if isinstance(expression, ast.Lambda):
            return HostObject(f"the lambda {name}", "write it as a function, with def")
        try:
            value = self.library.evaluate(self, expression, place)
        except BrokenModuleError:
            raise
        except UserError:
            return self._computed(name, "computes when it runs")
        for index in path:
            if not is_tuple(value) or index >= len(value):
                return self._computed(name, "computes when it runs")
            value = value[index]
        if (is_tuple(value) or is_dict(value)) and name in self._changes.all:
            changed = None if path else self._replayed(name, value, place)
            return self._computed(name, "changes when it runs") if changed is None else changed
        return value

    def _replayed(self, name: str, value: object, place: Place) -> object | None:
        """A list or dict of the top level after what changes it below, where that is all that does; None where something else may."""
        from teenybuild.compiler.frontend.host import replay

        top = self.end.block
        changes = self._changes
        if (
            place.block is not top
            or len(top.bindings[name]) != 1
            or changes.also.get(name)
            or name in changes.grown
        ):
            return None
        changing: list[tuple[ast.stmt, Place]] = []
        for index in range(place.index + 1, len(top.statements)):
            statement = top.statements[index]
            if not changes.by(statement, name):
                continue
            if not isinstance(statement, ast.Expr | ast.For | ast.If | ast.Assign):
                return None  # a function, which may be called at any time
            changing.append((statement, self.end.before(index)))
        try:
            found = replay(self, name, value, changing)
        except UserError:
            return None
        if changing:
            self._last_change[name] = self._top_index(changing[-1][1])
        return found

    @cached_property
    def _changes(self) -> Changes:
        """What lists, dicts and classes of the file go through. Found out where one matters: it takes a walk over the file."""
        return Changes(self.source.tree)

    def _class(self, node: ast.ClassDef, place: Place) -> object:
        """A class that does nothing but hold constants can be read; what any other is, nobody knows before it runs."""
        bases = [self._base(base, place) for base in node.bases]
        if bases == ["typing.NamedTuple"]:
            return self._named_tuple(node, place)
        plain = not node.decorator_list and not node.keywords and node.name not in self._changes.all
        if not plain or any(base not in _BASES for base in bases):
            return HostObject(f"the class {node.name}")
        return Class(self, node, self._end(node.body, place), members="enum.Enum" in bases)

    def _named_tuple(self, node: ast.ClassDef, place: Place) -> object:
        """A ``NamedTuple`` with fields alone; methods would have to run."""
        fields: list[str] = []
        defaults: list[object] = []
        for statement in without_docstring(node.body):
            match statement:
                case ast.AnnAssign(target=ast.Name(name), value=default):
                    fields.append(name)
                    if default is not None:
                        defaults.append(self.library.evaluate(self, default, place))
                case ast.Pass():
                    pass
                case _:
                    return HostObject(f"the class {node.name}", "a NamedTuple of kernels has fields only")
        if node.decorator_list or node.keywords:
            return HostObject(f"the class {node.name}")
        return TupleType(node.name, tuple(fields), tuple(defaults))

    def _base(self, node: ast.expr, place: Place) -> str:
        """The dotted name of a class' base: of one that is imported from no kernel file, or ``object``."""
        if isinstance(node, ast.Name) and self.defines(node.id, place):
            found = self.lookup(node.id, place)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = node.value.id
            found = self.lookup(owner, place) if self.defines(owner, place) else None
            if isinstance(found, HostObject) and found.path:
                return f"{found.path}.{node.attr}"
        else:
            return node.id if isinstance(node, ast.Name) else ""
        return found.path if isinstance(found, HostObject) else ""

    def _computed(self, name: str, how: str) -> HostObject:
        """A name whose value only running the file would tell."""
        return HostObject(
            f"{name}, which {self.source.display} {how}",
            f"if it is a constant, give {name} a value under globals",
        )

    def _resolve_if(self, name: str, node: ast.If, place: Place) -> object:
        """What the side of an ``if`` that is taken leaves; where the test is no constant, what both leave, if that is one thing."""
        try:
            test = self.library.evaluate(self, node.test, place)
        except UserError:
            test = None
        ends = [self._end(side, place) for side in (node.body, node.orelse)]
        if isinstance(test, bool):
            ends = [ends[0 if test else 1]]
        return self._agreed(name, ends, "sets under a condition")

    def _resolve_try(self, name: str, node: ast.Try, place: Place) -> object:
        """What ``try`` leaves: what its body does, where that cannot fail; else what every way through it agrees on."""
        ends = [self._end(node.finalbody, way) for way in self._ways(node, place)]
        return self._agreed(name, ends, "sets when it runs")

    def _ways(self, node: ast.Try, place: Place) -> list[Place]:
        """The ends of the ways through a ``try``, before its ``finally``: without an exception, then each handler that may be needed."""
        body = self._end(node.body, place)
        fails = next((i for i in range(len(node.body)) if not self._succeeds(body.before(i))), len(node.body))
        handlers = [self._end(handler.body, body.before(fails)) for handler in node.handlers]
        return [self._end(node.orelse, body), *(handlers if fails < len(node.body) else ())]

    def _succeeds(self, place: Place) -> bool:
        """Whether a statement of a ``try`` is certain not to raise."""
        match place.statement:
            case ast.Import() as node:
                return all(self._known(alias.name, 0) for alias in node.names)
            case ast.ImportFrom() as node:
                space = "" if node.level else LANGUAGE_MODULES.get(node.module or "", "")
                if any(_missing(namespace_member(space, alias.name)) for alias in node.names if space):
                    return False
                return self._known(node.module or "", node.level)
            case ast.Assign() | ast.AnnAssign() as node if node.value is not None:
                try:
                    self.library.evaluate(self, node.value, place)
                except UserError:
                    return False
                return True
            case ast.FunctionDef() | ast.ClassDef() | ast.Pass() | ast.Expr(ast.Constant()):
                return True
            case _:
                return False

    def _known(self, module: str, level: int) -> bool:
        """Whether an import is certain to find its module: one of the language, of Python's own, or a kernel file."""
        own = not level and (
            module in LANGUAGE_MODULES or module.partition(".")[0] in sys.stdlib_module_names
        )
        return own or self.library.find(module, self.path, level) is not None

    def _agreed(self, name: str, ends: Sequence[Place], how: str) -> object:
        """What ``name`` means at the end of each of several ways, where that is one thing."""
        found = [self.lookup(name, end) for end in ends if self.defines(name, end)]
        # A way that imports what the language does not have, for some older Triton, is not the way that is taken.
        found = [f for f in found if not _missing(f)] or found
        usable = [f for f in found if not (isinstance(f, HostObject) and f.foreign)]
        if usable and len(usable) < len(found) and is_constant(usable[0]):
            # Whether the foreign module is there decides, and that is not for a build to say.
            return self._computed(name, how)
        first, *others = usable or found or [self._computed(name, how)]
        return first if all(_same(first, other) for other in others) else self._computed(name, how)

    def submodule(self, name: str) -> Module | None:
        """A file of the package that this file is the ``__init__`` of: what ``import package.name`` makes an attribute."""
        if self.path.name != "__init__.py":
            return None
        for path in (self.path.parent / f"{name}.py", self.path.parent / name / "__init__.py"):
            if path.is_file():
                return self.library.module(path)
        return None

    def _import(self, dotted: str) -> object:
        language = LANGUAGE_MODULES.get(dotted)
        if language is not None:
            return Namespace(language)
        path = self.library.find(dotted, self.path, 0)
        return self.library.module(path) if path is not None else _foreign(f"the module {dotted}", dotted)

    def _import_first(self, dotted: str) -> object:
        """``import a.b.c`` binds ``a``, and makes ``b`` an attribute of it."""
        first, _, rest = dotted.partition(".")
        found = self._import(first)
        if rest and isinstance(found, HostObject) and self.library.find(dotted, self.path, 0) is not None:
            hint = f"write import {dotted} as {dotted.rpartition('.')[2]}"
            return HostObject(f"the package {first}, which has no __init__.py", hint)
        return found

    def _import_from(self, node: ast.ImportFrom, member: str) -> object:
        name = node.module or ""
        if not node.level and name in LANGUAGE_MODULES:
            return namespace_member(LANGUAGE_MODULES[name], member)
        inner = self.library.find(f"{name}.{member}".lstrip("."), self.path, node.level)
        path = self.library.find(name, self.path, node.level)
        if path is not None and path != self.path:
            module = self.library.module(path)
            if module.defines(member):
                return module.lookup(member)
            if inner is None:
                raise Location(self.source, node).error(
                    f"{module.source.display} does not define {member}", did_you_mean(member, module.names)
                )
        if inner is not None:
            return self.library.module(inner)
        dots = "." * node.level
        if node.level:
            raise Location(self.source, node).error(
                f"no kernel file is found for {dots}{name}",
                "relative imports are looked up beside the file",
            )
        return _foreign(f"{member} of the module {dots}{name}", name, f"{name}.{member}")


#: Classes that a class of constants may stand on.
_BASES = frozenset({"object", "enum.Enum", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})


def _foreign(what: str, module: str, path: str = "") -> HostObject:
    """Something imported from no kernel file. A library of Python's own, or one of tensors, is not looked for among kernels."""
    known = {*sys.stdlib_module_names, "numpy", "torch", "triton"}
    hint = f"if {module} is a kernel file, name the directory it lies in under roots"
    shown = None if module.partition(".")[0] in known else hint
    return HostObject(what, shown, foreign=True, path=path or module)


def namespace_member(space: str, member: str) -> object:
    """``member`` of a language module: another module, or a builtin, a dtype, a number by that dotted name.

    Whether the language has it is settled where it is used.
    """
    inner = _SUBMODULES.get((space, member))
    if inner is not None:
        return Namespace(inner)
    return Builtin(f"{space}.{member}")


def _missing(value: object) -> bool:
    """Whether something is said to be of the language and is not."""
    from teenybuild.compiler.frontend import builtins  # which imports what this module is for

    return isinstance(value, Builtin) and value.name.startswith("tl.") and not builtins.has(value.name)


def _given(value: object) -> object:
    """A value from the manifest. TOML has no dtypes and no functions: "tl.exp" means one."""
    if isinstance(value, str) and value.startswith("tl."):
        space, _, member = value.rpartition(".")
        return namespace_member(space, member)
    return value


def _same(a: object, b: object) -> bool:
    """Whether two meanings of a name are one."""
    if isinstance(a, Function) and isinstance(b, Function):
        return a.node is b.node
    if isinstance(a, HostObject) and isinstance(b, HostObject) and a.path:
        return a.path == b.path
    if isinstance(a, Builtin) and isinstance(b, Builtin):
        # By Triton's version, public files take a function from libdevice or from the language itself.
        return a.name.rpartition(".")[2] == b.name.rpartition(".")[2]
    return a is b or same_constant(a, b) or (isinstance(a, Namespace) and a == b)


def find_function(module: Module, name: str) -> Function:
    """The kernel ``name`` of a file. Raises :class:`UserError` that lists what the file has."""
    node = module.source.function(name)
    if node is None and module.defines(name):
        # One that is defined under a condition, or by another name.
        found = module.lookup(name)
        if isinstance(found, Function):
            return found
    if node is None:
        names = module.source.functions()
        hint = did_you_mean(name, names) or (
            f"it has {', '.join(names)}" if names else "it has no functions at all"
        )
        raise error(f"{module.source.display} has no function {name}", hint=hint)
    return Function(module, node)
