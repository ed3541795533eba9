"""Host code: module-level expressions, and the functions they call, evaluated by reading them.

Constants, the configurations of ``@triton.autotune`` and the functions of ``@triton.heuristics`` are host code.  What is here is the
part of Python that computes with values that are known: numbers, strings, lists, dicts, comprehensions, functions with plain bodies.
Nothing is run, so nothing outside the sources can matter; whatever else a source does is an error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import BuiltinMethodType, MappingProxyType
from typing import Any

from teenybuild.compiler.frontend import constants
from teenybuild.compiler.frontend.builtins import ALIASES
from teenybuild.compiler.frontend.canonical import parameter_defaults, without_docstring
from teenybuild.compiler.frontend.expressions import CONVERSIONS, Expressions, Frame
from teenybuild.compiler.frontend.host_functions import CALLING, CHANGING, FUNCTIONS, METHODS
from teenybuild.compiler.frontend.host_values import (
    OLDEST_PYTHON,
    Closure,
    Target,
    TritonConfig,
    VersionInfo,
    freeze,
    has_truth,
    is_list,
    is_sequence,
)
from teenybuild.compiler.frontend.modules import BrokenModuleError, Module
from teenybuild.compiler.frontend.scope import Place
from teenybuild.compiler.frontend.source import Location
from teenybuild.compiler.frontend.values import (
    LONGEST,
    BoundMethod,
    Builtin,
    Class,
    Function,
    HostObject,
    Method,
    Poison,
    Range,
    Tensor,
    TupleType,
    describe,
    is_constant,
    is_dict,
    weight,
)
from teenybuild.diagnostics import UserError, did_you_mean

#: What is known of other modules.
_KNOWN: Mapping[str, object] = MappingProxyType(
    {"typing.TYPE_CHECKING": False, "sys.version_info": VersionInfo()}
)

#: Parameters of ``triton.Config``, with their defaults.
CONFIG: Mapping[str, object] = MappingProxyType(
    {
        "kwargs": None,
        "num_warps": 4,
        "num_stages": 3,
        "num_ctas": 1,
        "maxnreg": None,
        "pre_hook": None,
        "ir_override": None,
    }
)
#: Of those, what a launch does around a kernel. It is not looked at.
_HOOKS = ("pre_hook", "ir_override")

#: Evaluations before a source is said to take too long, and calls inside calls.
_MOST_STEPS, _DEEPEST = 1_000_000, 50
#: No constant of a kernel is larger.
_MOST_BITS = 4096

_TARGET = "triton.runtime.driver.active.get_current_target"

_CACHES = ("functools.cache", "functools.lru_cache")


class _Return(Exception):  # no error: how a body ends
    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class Host(Expressions):
    """Evaluates host code in a frame. ``steps`` counts down over everything that one expression leads to."""

    def __init__(self, frame: Frame, node: ast.AST, steps: list[int] | None = None, depth: int = 0) -> None:
        super().__init__(frame, node)
        self.steps = steps if steps is not None else [_MOST_STEPS]
        self.depth = depth

    def evaluate(self, node: ast.expr) -> object:
        """The value of an expression. Raises :class:`UserError`."""
        self._spend(node, 1)
        value = self._visit(node)
        if isinstance(value, HostObject):
            if value.path in _KNOWN:
                return _KNOWN[value.path]
            raise self._unknown_value(node, value)
        return value

    def _spend(self, node: ast.AST, steps: int) -> None:
        """Counts down for work done, so that no source can take the machine's time or memory."""
        self.steps[0] -= steps
        if self.steps[0] < 0:
            raise self.error(node, "this takes too long to read")

    def _made(self, node: ast.AST, value: object) -> object:
        """What Python has computed, if it is not too large; its size counts as work."""
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise self.error(node, "this is too large a number")
        if isinstance(value, str | list | tuple | Mapping | frozenset):
            long = isinstance(value, str) and len(value) > LONGEST
            size = weight(value)  # pyright: ignore[reportUnknownArgumentType]
            if long or size > LONGEST:
                raise self.error(node, "this is too long to read")
            self._spend(node, size)
        return value  # pyright: ignore[reportUnknownVariableType]

    def _unknown_value(self, node: ast.AST, value: HostObject) -> UserError:
        what = f"{value.why}, which is not known before the file runs" if value.foreign else value.why
        return self.error(node, f"this depends on {what}", value.hint)

    def _visit(self, node: ast.expr) -> object:
        match node:
            case ast.List():
                return self._made(node, list(self._items(node.elts)))
            case ast.Tuple():
                return self._made(node, tuple(self._items(node.elts)))
            case ast.Set():
                return self._python(node, frozenset, [list(self._items(node.elts))], {})
            case ast.Dict():
                return self._made(node, self._dict(node))
            case ast.ListComp() | ast.GeneratorExp():
                return self._made(node, [t.evaluate(node.elt) for t in self._turns(node, node.generators)])
            case ast.SetComp():
                items = [inner.evaluate(node.elt) for inner in self._turns(node, node.generators)]
                return self._python(node, frozenset, [items], {})
            case ast.DictComp():
                turns = self._turns(node, node.generators)
                pairs = [(inner._key(node.key), inner.evaluate(node.value)) for inner in turns]
                return self._made(node, dict(pairs))
            case ast.Lambda():
                return Closure(node, self.frame, self._defaults(node))
            case _:
                return super()._visit(node)

    def truth(self, node: ast.expr, value: object) -> bool:
        """Whether a value counts as true."""
        if not has_truth(value):
            raise self.error(node, f"{describe(value)} is neither true nor false")
        return bool(value)

    # Names and attributes -------------------------------------------------------------------------------------

    def lookup(self, name: str) -> object:
        """What a name means here: Python's own functions are known by name."""
        if (
            name not in self.frame.locals
            and not self.frame.module.defines(name, self.frame.at)
            and name in FUNCTIONS
        ):
            return Builtin(name)
        return super().lookup(name)

    def _settle(self, node: ast.expr, found: object) -> object:
        if isinstance(found, Builtin) and (found.name in FUNCTIONS or found.name == "triton.Config"):
            return found
        if isinstance(found, Builtin) and found.name == "triton.runtime":
            return HostObject(found.name, foreign=True, path=found.name)
        return super()._settle(node, found)

    def _attribute(self, node: ast.Attribute) -> object:
        owner = self._visit(node.value)
        if isinstance(owner, HostObject) and owner.path:
            path = f"{owner.path}.{node.attr}"
            return HostObject(f"{path}", owner.hint, owner.foreign, path)
        if isinstance(owner, HostObject):
            owner = self.evaluate(node.value)
        if isinstance(owner, TritonConfig) and node.attr in CONFIG and node.attr not in _HOOKS:
            return getattr(owner, node.attr)
        if isinstance(owner, VersionInfo) and node.attr == "major":
            return 3
        if isinstance(owner, Target) and node.attr in Target.known:
            return Target.known[node.attr]
        methods = next(
            (names for kind, names in METHODS.items() if isinstance(owner, kind)), frozenset[str]()
        )
        if is_dict(owner):
            methods = METHODS[dict] if isinstance(owner, dict) else METHODS[dict] - CHANGING
        if node.attr in methods:
            return BoundMethod(owner, node.attr)
        return self.attribute(node, owner)

    # Literals and operators -----------------------------------------------------------------------------------

    def _items(self, elements: Sequence[ast.expr]) -> Iterator[object]:
        for element in elements:
            if isinstance(element, ast.Starred):
                yield from self.iterate(element.value, self.evaluate(element.value))
            else:
                yield self.evaluate(element)

    def _dict(self, node: ast.Dict) -> dict[object, object]:
        found: dict[object, object] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.evaluate(value)
                if not is_dict(inner):
                    raise self.error(value, f"cannot unpack {describe(inner)}")
                found.update(inner)
            else:
                found[self._key(key)] = self.evaluate(value)
        return found

    def _key(self, node: ast.expr) -> object:
        key = freeze(self.evaluate(node))
        if not is_constant(key) or is_dict(key):
            raise self.error(node, f"{describe(key)} is no key of a dict that can be read")
        return key

    def _joined(self, node: ast.JoinedStr) -> object:
        parts: list[str] = []
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue):
                value = self.evaluate(piece.value)
                if not isinstance(value, bool | int | float | str | None):
                    raise self.error(piece.value, f"how {describe(value)} is written is not known")
                form = "" if piece.format_spec is None else str(self.evaluate(piece.format_spec))
                self.check_form(piece, form)
                shown = value if piece.conversion < 0 else CONVERSIONS[piece.conversion](value)
                parts.append(str(self._python(piece, format, [shown, form], {})))
            elif isinstance(piece, ast.Constant):
                parts.append(str(piece.value))
        return "".join(parts)

    def binary(self, node: ast.AST, op: type[ast.operator], left: object, right: object) -> object:
        """``left op right``. What comes of a frozen list is a list again."""
        left, right = (list(side) if is_list(side) else side for side in (left, right))
        for items, times in ((left, right), (right, left)):
            if (
                op is ast.Mult
                and is_sequence(items)
                and isinstance(times, int)
                and len(items) * times > LONGEST
            ):
                raise self.error(node, "a list too long to read")
        return self._made(node, super().binary(node, op, left, right))

    def _compare(self, node: ast.Compare) -> object:
        left = self.evaluate(node.left)
        result: object = True
        for operator, part in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(part)
            result = self._compared(node, type(operator), left, right)
            if not self.truth(node, result):
                return result
            left = right
        return result

    def _compared(self, node: ast.Compare, op: type[ast.cmpop], left: object, right: object) -> object:
        symbol, compute = constants.COMPARE[op]
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return super()._compare(node)
        if isinstance(left, VersionInfo):
            answer = left.compare(symbol, right)
            if answer is None:
                raise self.error(node, "which Python runs the file is not known")
            return answer
        identity = op in (ast.Is, ast.IsNot)
        if identity and not any(x is None or isinstance(x, bool) for x in (left, right)):
            return super()._compare(node)
        if op not in (ast.In, ast.NotIn) and not identity:
            left, right = (list(side) if is_list(side) else side for side in (left, right))
        if isinstance(left, Class) or isinstance(right, Class):
            raise self.error(node, "classes are not compared")
        return self._python(node, compute, [left, right], {})

    def _subscript(self, node: ast.Subscript) -> object:
        owner = self.evaluate(node.value)
        if isinstance(owner, VersionInfo):
            return self._version_part(node, owner)
        if not (is_sequence(owner) or is_dict(owner) or isinstance(owner, str)):
            return super()._subscript(node)
        if isinstance(node.slice, ast.Slice):
            bounds = [
                None if p is None else self.evaluate(p)
                for p in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            index: Any = self._python(node, slice, bounds, {})
        else:
            index = self.evaluate(node.slice)
        items: Any = owner
        return self._python(node, lambda: items[index], [], {})

    def _version_part(self, node: ast.Subscript, owner: VersionInfo) -> object:
        match node.slice:
            case ast.Constant(0):
                return 3
            case ast.Slice(None, ast.Constant(int(parts)), None) if parts >= len(OLDEST_PYTHON):
                return owner
            case _:
                raise self.error(node, "which Python runs the file is not known")

    # Comprehensions -------------------------------------------------------------------------------------------

    def _turns(self, node: ast.expr, generators: Sequence[ast.comprehension]) -> Iterator[Host]:
        """The evaluator of each turn of a comprehension."""
        inner = self._inside(
            Frame(self.frame.module, self.frame.name, self.frame.caller, self.frame.at), node
        )
        inner.frame.locals.update(self.frame.locals)
        return self._nested(inner, generators)

    def _nested(self, inner: Host, generators: Sequence[ast.comprehension]) -> Iterator[Host]:
        if not generators:
            yield inner
            return
        first, *rest = generators
        for item in self.iterate(first.iter, inner.evaluate(first.iter)):
            inner.assign(first.target, item)
            if all(inner.truth(test, inner.evaluate(test)) for test in first.ifs):
                yield from self._nested(inner, rest)

    def iterate(self, node: ast.expr, value: object) -> Sequence[object]:
        """The items of a value, in order."""
        if isinstance(value, frozenset):
            raise self.error(
                node, "the order of a set is not known before the file runs", "write a list, or sorted(…)"
            )
        if not isinstance(value, list | tuple | str | Mapping):
            raise self.error(node, f"cannot go through {describe(value)}")
        return list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def _inside(self, frame: Frame, node: ast.AST) -> Host:
        return Host(frame, node, self.steps, self.depth)

    # Calls ----------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> object:
        callee = self._visit(node.func)
        if isinstance(callee, HostObject) and callee.path in FUNCTIONS:
            callee = Builtin(callee.path)
        if isinstance(callee, HostObject) and callee.path == _TARGET and not node.args and not node.keywords:
            return Target()
        if isinstance(callee, HostObject) and callee.path == "collections.namedtuple":
            return self._tuple_type(node)
        if isinstance(callee, HostObject):
            raise self._unknown_value(node.func, callee)
        if isinstance(callee, Builtin) and callee.name == "triton.Config":
            return self._config(node)
        positional = list(self._items(node.args))
        return self.call(node, callee, positional, self._named(node))

    def _named(self, node: ast.Call) -> dict[str, object]:
        named: dict[str, object] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif is_dict(value) and all(isinstance(key, str) for key in value):
                named.update({str(key): item for key, item in value.items()})
            else:
                raise self.error(keyword.value, f"cannot unpack {describe(value)}")
        return named

    def call(
        self, node: ast.AST, callee: object, positional: list[object], named: dict[str, object]
    ) -> object:
        """A call of anything that host code can call."""
        self.at(node)
        match callee:
            case Builtin() if callee.name in FUNCTIONS:
                if callee.name in (
                    "list",
                    "tuple",
                    "zip",
                    "enumerate",
                    "map",
                    "filter",
                    "dict",
                    "str",
                ) and any(isinstance(a, frozenset) for a in positional):
                    raise self.error(
                        node,
                        "the order of a set is not known before the file runs",
                        "write a list, or sorted(…)",
                    )
                return self._python(node, FUNCTIONS[callee.name], positional, named, callee.name)
            case BoundMethod():
                return self._python(node, getattr(callee.owner, callee.name), positional, named, callee.name)
            case Closure():
                return self._call_closure(node, callee, positional, named)
            case Function():
                return self.call_function(node, callee, positional, named)
            case Builtin() if isinstance(node, ast.Call):
                frozen = {name: freeze(value) for name, value in named.items()}
                return self._call_builtin(
                    node, ALIASES.get(callee.name, callee.name), [freeze(a) for a in positional], frozen
                )
            case _:
                raise self.error(node, f"cannot call {describe(callee)}")

    def _python(
        self,
        node: ast.AST,
        function: Callable[..., Any],
        positional: Sequence[object],
        named: dict[str, object],
        name: str = "",
    ) -> object:
        """A call of a function of Python's, which may call back."""

        def given(value: object) -> object:
            if name not in CALLING or not isinstance(value, Closure | Function | Builtin | BoundMethod):
                return value

            def call(*items: object) -> object:
                return self.call(node, value, list(items), {})

            return call

        try:
            found = function(*map(given, positional), **{key: given(value) for key, value in named.items()})
        except (TypeError, ValueError, ArithmeticError, LookupError) as wrong:
            text = f"no {wrong.args[0]!r}" if isinstance(wrong, KeyError) and wrong.args else str(wrong)
            raise self.error(node, f"this fails when it runs: {text}") from None
        if isinstance(function, BuiltinMethodType):
            self._made(node, function.__self__)  # which it may have made longer
        return self._made(node, list(found) if name in ("items", "keys", "values") else found)

    def _call_closure(
        self, node: ast.AST, closure: Closure, positional: list[object], named: dict[str, object]
    ) -> object:
        frame, name = closure.frame, getattr(closure.node, "name", "<lambda>")
        inner = self._entered(node, Frame(frame.module, name, self.builder.location, frame.at))  # type: ignore[arg-type]
        inner.frame.locals.update(frame.locals)
        inner.bind(node, closure.node.args, positional, named, closure.defaults)
        if isinstance(closure.node, ast.Lambda):
            return inner.evaluate(closure.node.body)
        return inner.body(closure.node)

    def call_function(
        self, node: ast.AST, function: Function, positional: Sequence[object], named: dict[str, object]
    ) -> object:
        """A call of a function of the file's top level."""
        for decorator in function.node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            outside = self._inside(
                Frame(function.module, "", at=function.module.place_of(function.node)), target
            )
            meaning = outside._visit(target)
            cached = isinstance(meaning, HostObject) and meaning.path in _CACHES
            if not cached and meaning != Builtin("triton.constexpr_function"):
                raise self.error(
                    node, f"{function.name} is decorated, and what the decorator makes of it is not known"
                )
        # What it finds at module level is what stands there when it is called.
        at = self.frame.at if function.module is self.frame.module else None
        location = Location(self.frame.module.source, node, self.frame.caller, self.frame.name)
        inner = self._entered(node, Frame(function.module, function.name, location, at))
        names = [p.arg for p in function.parameters]
        written = parameter_defaults(function.node)
        given = {*names[: len(positional)], *named}
        defaults = {name: function.default(value) for name, value in written.items() if name not in given}
        inner.bind(node, function.node.args, list(positional), named, defaults)
        return inner.body(function.node)

    def _entered(self, node: ast.AST, frame: Frame) -> Host:
        if self.depth >= _DEEPEST:
            # Where it stands is enough: the calls that led here would fill the screen.
            raise Location(self.frame.module.source, node).error("calls are nested too deeply to read")
        return Host(frame, node, self.steps, self.depth + 1)

    def _defaults(self, node: ast.Lambda | ast.FunctionDef) -> dict[str, object]:
        args = node.args
        listed = [*args.posonlyargs, *args.args]
        pairs = [
            *zip(reversed(listed), reversed(args.defaults), strict=False),
            *zip(args.kwonlyargs, args.kw_defaults, strict=True),
        ]
        return {parameter.arg: self.evaluate(value) for parameter, value in pairs if value is not None}

    def bind(
        self,
        node: ast.AST,
        args: ast.arguments,
        positional: list[object],
        named: dict[str, object],
        defaults: Mapping[str, object],
    ) -> None:
        """Gives the parameters of a function that is being called their values."""
        listed = [a.arg for a in (*args.posonlyargs, *args.args)]
        values = dict(zip(listed, positional, strict=False))
        more = positional[len(listed) :]
        if args.vararg is not None:
            values[args.vararg.arg] = tuple(more)
        elif more:
            raise self.error(
                node, f"{self.frame.name} takes {len(listed)} arguments by position, got {len(positional)}"
            )
        rest: dict[object, object] = {}
        known = [*listed, *(a.arg for a in args.kwonlyargs)]
        for name, value in named.items():
            if name in values:
                raise self.error(node, f"{name} is given twice")
            if name in known:
                values[name] = value
            elif args.kwarg is not None:
                rest[name] = value
            else:
                raise self.error(
                    node, f"{self.frame.name} has no parameter {name}", did_you_mean(name, known)
                )
        if args.kwarg is not None:
            values[args.kwarg.arg] = rest
        for name in known:
            if name not in values and name not in defaults:
                raise self.error(node, f"{self.frame.name} needs a value for {name}")
            values.setdefault(name, defaults.get(name))
        self.frame.locals.update(values)

    def _tuple_type(self, node: ast.Call) -> TupleType:
        """``collections.namedtuple("Name", ["field", …], defaults=[…])``."""
        named = self._named(node)
        match [*self._items(node.args)], named.pop("defaults", ()):
            case [str(name), fields], defaults if not named and is_sequence(defaults):
                listed = fields.replace(",", " ").split() if isinstance(fields, str) else fields
                if is_sequence(listed) and all(isinstance(field, str) for field in listed):
                    if len(defaults) > len(listed):
                        raise self._broken(node, f"{name} has more defaults than fields")
                    return TupleType(name, tuple(map(str, listed)), tuple(map(freeze, defaults)))
            case _:
                pass
        raise self.error(
            node,
            "what this makes is not known before the file runs",
            'write namedtuple("Name", ["field", …])',
        )

    def _config(self, node: ast.Call) -> TritonConfig:
        """``triton.Config(...)``. Its hooks are not looked at: they are about launching."""
        values: dict[str, object] = {}
        for name, value in zip(CONFIG, node.args, strict=False):
            if isinstance(value, ast.Starred):
                raise self.error(value, "a starred argument of triton.Config is not read")
            values[name] = None if name in _HOOKS else self.evaluate(value)
        if len(node.args) > len(CONFIG):
            raise self._broken(node, f"triton.Config takes {len(CONFIG)} arguments, got {len(node.args)}")
        for keyword in node.keywords:
            if keyword.arg is None:
                values.update(self._named(ast.Call(node.func, [], [keyword])))
            else:
                values[keyword.arg] = None if keyword.arg in _HOOKS else self.evaluate(keyword.value)
            for name in values:
                if name not in CONFIG:
                    hint = did_you_mean(name, CONFIG) or f"its parameters are {', '.join(CONFIG)}"
                    raise self._broken(keyword, f"triton.Config has no parameter {name}", hint)
        if "kwargs" not in values:
            raise self._broken(node, "triton.Config needs a dict of constants first: it may be empty")
        kwargs = values["kwargs"]
        if not is_dict(kwargs):
            raise self._broken(node, f"triton.Config takes a dict of constants, got {describe(kwargs)}")
        filled = {**CONFIG, **values}
        return TritonConfig(
            MappingProxyType({key: freeze(value) for key, value in kwargs.items()}),
            filled["num_warps"],
            filled["num_stages"],
            filled["num_ctas"],
            filled["maxnreg"],
            self.frame.module,
            node,
        )

    def _broken(self, node: ast.AST, message: str, hint: str | None = None) -> BrokenModuleError:
        """What running the file would say too."""
        return BrokenModuleError(self.error(node, message, hint).diagnostics)

    # Bodies of functions --------------------------------------------------------------------------------------

    def body(self, function: ast.FunctionDef) -> object:
        """What a function returns."""
        try:
            self._statements(without_docstring(function.body))
        except _Return as returned:
            return returned.value
        return None

    def _statements(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Does what a statement does to the names of the frame."""
        match node:
            case ast.Return():
                raise _Return(None if node.value is None else self.evaluate(node.value))
            case ast.Assign():
                value = self.evaluate(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.evaluate(node.value))
            case ast.AugAssign():
                self._augmented(node)
            case ast.Expr():
                self.evaluate(node.value)
            case ast.If():
                taken = self.truth(node.test, self.evaluate(node.test))
                self._statements(node.body if taken else node.orelse)
            case ast.For():
                self._for(node)
            case ast.Assert():
                if not self.truth(node.test, self.evaluate(node.test)):
                    raise self.error(node, "this assertion fails when it runs")
            case ast.FunctionDef() if not node.decorator_list:
                self.frame.locals[node.name] = Closure(node, self.frame, self._defaults(node))
            case ast.Pass():
                pass
            case ast.Break():
                raise _Break
            case ast.Continue():
                raise _Continue
            case _:
                raise self.error(
                    node, f"what {type(node).__name__} does here is not known before the file runs"
                )

    def _for(self, node: ast.For) -> None:
        for item in self.iterate(node.iter, self.evaluate(node.iter)):
            self.assign(node.target, item)
            try:
                self._statements(node.body)
            except _Continue:
                continue
            except _Break:
                return
        self._statements(node.orelse)

    def _augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            before = self.evaluate(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            value = self.evaluate(node.value)
            if isinstance(node.op, ast.Add) and isinstance(before, list):
                self._python(node, before.extend, [self.iterate(node.value, value)], {})  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
                return
            self.frame.locals[target.id] = self.binary(node, type(node.op), before, value)  # pyright: ignore[reportUnknownArgumentType]
        else:
            raise self.error(node, "what this changes is not known before the file runs")

    def assign(self, target: ast.expr, value: object) -> None:
        """Gives a name, names in a tuple, or an element a value."""
        match target:
            case ast.Name():
                self.frame.locals[target.id] = value
            case ast.Tuple() | ast.List() if not any(isinstance(e, ast.Starred) for e in target.elts):
                items = self.iterate(target, value)
                if len(items) != len(target.elts):
                    raise self.error(target, f"{len(target.elts)} names for {len(items)} values")
                for inner, item in zip(target.elts, items, strict=True):
                    self.assign(inner, item)
            case ast.Subscript() if not isinstance(target.slice, ast.Slice):
                owner = self.evaluate(target.value)
                if not isinstance(owner, list | dict):
                    raise self.error(target, f"{describe(owner)} cannot be changed here")
                key = self.evaluate(target.slice)
                self._python(target, owner.__setitem__, [freeze(key), value], {})  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            case _:
                raise self.error(target, "what this changes is not known before the file runs")


def static(module: Module, node: ast.expr, at: Place | None = None) -> object:
    """A module-level expression as at a place, as a constant or a thing of the language. Raises :class:`UserError`."""
    try:
        value = freeze(Host(Frame(module, "", at=at), node).evaluate(node))
    except RecursionError:
        raise Location(module.source, node).error("this is nested too deeply to read") from None
    if isinstance(value, Tensor | Method | Range | Poison | BoundMethod):
        raise Location(module.source, node).error(f"{describe(value)} is not known at compile time")
    return value


def replay(module: Module, name: str, value: object, statements: Sequence[tuple[ast.stmt, Place]]) -> object:
    """What a list or dict has become after statements that change it, in order, each as at its place. Raises :class:`UserError`."""
    kept = _thaw(value)
    for statement, at in statements:
        # What one statement leaves in other names is the module's to know.
        host = Host(Frame(module, "", at=at, locals={name: kept}), statement)
        try:
            host.statement(statement)
        except (_Return, _Break, _Continue, RecursionError):
            raise Location(module.source, statement).error(
                "what this does is not known before the file runs"
            ) from None
        kept = host.frame.locals[name]
    return freeze(kept)


def _thaw(value: object) -> object:
    """A frozen list or dict as one that can be changed."""
    if is_list(value):
        return [_thaw(item) for item in value]
    return {key: _thaw(item) for key, item in value.items()} if is_dict(value) else value
