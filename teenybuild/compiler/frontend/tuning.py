"""What ``@triton.autotune`` and ``@triton.heuristics`` say of a kernel, read off the source.

Only what decides which code there can be is read: the configurations, and the functions that compute constants.  How a launch would
choose among them (``key``, ``prune_configs_by``, hooks) is not looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from teenybuild.compiler.frontend.canonical import parameter_defaults
from teenybuild.compiler.frontend.decorators import is_builtin
from teenybuild.compiler.frontend.expressions import Frame
from teenybuild.compiler.frontend.host import Host
from teenybuild.compiler.frontend.host_values import Argument, Closure, NotKnown, TritonConfig, freeze
from teenybuild.compiler.frontend.modules import BrokenModuleError
from teenybuild.compiler.frontend.scope import Place
from teenybuild.compiler.frontend.source import Location
from teenybuild.compiler.frontend.values import Function, describe, is_dict, is_tuple
from teenybuild.diagnostics import Diagnostic, Span, UserError, did_you_mean
from teenybuild.types import Absent, Assume, Tuple, Type, Value

#: What each decorator takes, in order.
_AUTOTUNE = (
    "configs",
    "key",
    "prune_configs_by",
    "reset_to_zero",
    "restore_value",
    "pre_hook",
    "post_hook",
    "warmup",
    "rep",
    "use_cuda_graph",
    "do_bench",
    "cache_results",
)
_HEURISTICS = ("values",)
#: What a heuristic may compute beside constants: how a launch runs a kernel.
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")

#: The way out where reading does not tell.
_LIST_THEM = "list them in the manifest"
_RUN_IT = f"{_LIST_THEM}, or say import = true there and build with --allow-import"


def _way_out(function: Function) -> str:
    return _LIST_THEM if function.module.library.imported is not None else _RUN_IT


@dataclass(frozen=True, slots=True)
class TunedConfig:
    """One configuration: constants by parameter, and the options that ``triton.Config`` always sets."""

    consts: Mapping[str, Value]
    options: Mapping[str, int]
    span: Span


@dataclass(frozen=True, slots=True)
class Facts:
    """What one specialisation fixes: what a heuristic may ask for."""

    types: Mapping[str, Type]
    consts: Mapping[str, Value]
    options: Mapping[str, object]
    assume: Mapping[str, Assume]


@dataclass(frozen=True, slots=True, eq=False)
class Heuristic:
    """A function that computes the constant ``name`` from a launch's arguments."""

    name: str
    function: Function
    callee: Closure | Function
    node: ast.AST
    host: Host

    @property
    def span(self) -> Span:
        module = self.callee.module if isinstance(self.callee, Function) else self.callee.frame.module
        return module.source.span(self.node)

    def value(self, facts: Facts) -> Value:
        """The constant for one specialisation. Raises :class:`UserError` where it takes more than that fixes."""
        arguments: dict[object, object] = {
            **facts.options,
            **{n: _argument(n, t, facts) for n, t in facts.types.items()},
        }
        arguments.update(facts.consts)
        what = f"{self.name} of @triton.heuristics"
        way_out = f"give it values: const = {{ {self.name} = … }}"
        try:
            found = freeze(self.host.call(self.node, self.callee, [arguments], {}))
        except NotKnown as asked:
            message = f"{what} needs the value of {asked.name}, which is known at launch only"
            hint = f"{way_out}; assume = {{ {asked.name} = … }} may settle it too"
            raise UserError(Diagnostic(message, self.span, hint=hint)) from None
        except UserError as wrong:
            raise UserError(
                Diagnostic(f"{what} cannot be read: {d.message}", d.span, d.notes, way_out)
                for d in wrong.diagnostics
            ) from None
        if not isinstance(found, bool | int | float | str | None):
            message = f"{what} gives {describe(found)}, and a constant is an integer, a float, a boolean, a string or None"
            raise UserError(Diagnostic(message, self.span))
        return found


def _argument(name: str, type_: Type, facts: Facts) -> object:
    if isinstance(type_, Absent):
        return None
    if isinstance(type_, Tuple):
        return tuple(_argument(f"{name}[{i}]", item, facts) for i, item in enumerate(type_.items))
    assumed = facts.assume.get(name)
    if assumed is None:
        return Argument(name)
    return assumed.value if assumed.kind == "eq" else Argument(name, assumed.value)


def _calls(function: Function, name: str) -> Iterator[ast.Call]:
    """The decorators of that name, as calls, from the top."""
    for decorator in function.node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if is_builtin(function, target, name):
            if not isinstance(decorator, ast.Call):
                raise Location(function.module.source, decorator).error(f"@{name} takes arguments")
            yield decorator


def _argument_of(
    function: Function, call: ast.Call, name: str, parameters: tuple[str, ...]
) -> ast.expr | None:
    """The first argument of a decorator, however it is passed; the others are only checked by name."""
    wanted = parameters[0]
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg not in parameters:
            hint = did_you_mean(keyword.arg, parameters) or f"it takes {', '.join(parameters)}"
            raise Location(function.module.source, keyword).error(
                f"@{name} has no parameter {keyword.arg}", hint
            )
    if call.args and not isinstance(call.args[0], ast.Starred):
        return call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg == wanted), None)


def _at(function: Function) -> Place | None:
    return function.module.place_of(function.node)


def _evaluated(function: Function, node: ast.expr, what: str) -> tuple[Host, object]:
    host = Host(Frame(function.module, "", at=_at(function)), node)
    try:
        return host, freeze(host.evaluate(node))
    except BrokenModuleError:
        raise
    except UserError as wrong:
        message, hint = f"{what} cannot be read without running the file", _way_out(function)
        raise UserError(
            Diagnostic(f"{message}: {d.message}", d.span, d.notes, hint) for d in wrong.diagnostics
        ) from None


def autotune(function: Function) -> tuple[TunedConfig, ...] | None:
    """The configurations of ``@triton.autotune``; None where there is no such decorator. Raises :class:`UserError`."""
    imported = function.module.library.imported
    told = imported.configs(function) if imported is not None else None
    try:
        read = _read_autotune(function)
    except UserError:
        if told is None:
            raise
        read = None
    return _configs(function, told, function.node) if read is None and told is not None else read


def _read_autotune(function: Function) -> tuple[TunedConfig, ...] | None:
    calls = list(_calls(function, "triton.autotune"))
    if not calls:
        return None
    source = function.module.source
    if len(calls) > 1:
        raise Location(source, calls[1]).error(
            f"{function.name} has two @triton.autotune", "one of them decides: keep that"
        )
    [call] = calls
    node = _argument_of(function, call, "triton.autotune", _AUTOTUNE)
    if node is None:
        raise Location(source, call).error(
            "@triton.autotune has no configs that could be read", _way_out(function)
        )
    _, found = _evaluated(function, node, "the configs of @triton.autotune")
    if not is_tuple(found):
        raise Location(source, node).error(
            f"the configs of @triton.autotune are a list, not {_described(found)}"
        )
    return _configs(function, found, call)


def _configs(function: Function, found: tuple[object, ...], call: ast.AST) -> tuple[TunedConfig, ...]:
    source = function.module.source
    configs: list[TunedConfig] = []
    wrong: list[Diagnostic] = []
    for each in found:
        if not isinstance(each, TritonConfig):
            raise Location(source, call).error(
                f"the configs of @triton.autotune are triton.Config, not {_described(each)}"
            )
        try:
            configs.append(_config(function, each))
        except UserError as problem:
            wrong += problem.diagnostics
    if wrong:
        raise UserError(dict.fromkeys(wrong))
    # What Triton takes where the list is empty.
    return _filled(function, configs) or (
        TunedConfig({}, {"num_warps": 4, "num_stages": 3}, source.span(call)),
    )


def _filled(function: Function, configs: list[TunedConfig]) -> tuple[TunedConfig, ...]:
    """The configs, each with every constant that any of them gives, in one order: what one leaves open has its default."""
    names = dict.fromkeys(name for config in configs for name in config.consts)
    defaults = parameter_defaults(function.node)
    filled: list[TunedConfig] = []
    wrong: list[Diagnostic] = []
    for config in configs:
        consts: dict[str, Value] = {}
        for name in names:
            value = (
                config.consts.get(name)
                if name in config.consts or name not in defaults
                else function.default(defaults[name])
            )
            if name not in config.consts and name not in defaults:
                said = f"a config leaves {name} open, which another gives, and {function.name} has no default for it"
                wrong.append(Diagnostic(said, config.span, hint="each config gives the same constants"))
            elif isinstance(value, bool | int | float | str | None):
                consts[name] = value
            else:
                said = f"a config leaves {name} open, and its default is no number, boolean or string: {describe(value)}"
                wrong.append(Diagnostic(said, config.span))
        filled.append(TunedConfig(consts, config.options, config.span))
    if wrong:
        raise UserError(wrong)
    return tuple(filled)


def _described(value: object) -> str:
    if isinstance(value, TritonConfig):
        return "one triton.Config"
    return "a function" if isinstance(value, Closure) else describe(value)


def _config(function: Function, config: TritonConfig) -> TunedConfig:
    location = Location(config.module.source, config.node)
    known = [p.arg for p in function.parameters]
    consts: dict[str, Value] = {}
    wrong: list[Diagnostic] = []
    for name, value in config.kwargs.items():
        if not isinstance(name, str) or name not in known:
            hint = did_you_mean(str(name), known) or f"its parameters are {', '.join(known)}"
            said = f"a config gives {name}, and {function.name} has no such parameter"
            wrong.append(Diagnostic(said, _key_span(config, name), location.chain(), hint))
        elif not isinstance(value, bool | int | float | str | None):
            said = f"a config gives {name} {describe(value)}, and a constant is an integer, a float, a boolean, a string or None"
            wrong.append(Diagnostic(said, _key_span(config, name), location.chain()))
        else:
            consts[name] = value
    options: dict[str, int] = {}
    for name in ("num_warps", "num_stages", "maxnreg"):
        value = getattr(config, name)
        if isinstance(value, int) and not isinstance(value, bool):
            options[name] = value
        elif not (value is None and name == "maxnreg"):
            wrong.append(
                Diagnostic(f"{name} of a config is an integer, not {describe(value)}", location.span())
            )
    if config.num_ctas != 1:
        said = f"a config has num_ctas = {config.num_ctas}: clusters of blocks are not in this version"
        wrong.append(Diagnostic(said, location.span(), hint="list the other configs in the manifest"))
    if wrong:
        raise UserError(wrong)
    return TunedConfig(consts, options, location.span())


def _key_span(config: TritonConfig, name: object) -> Span:
    """Where a config names a constant; the config itself where it does so indirectly."""
    source = config.module.source
    for node in ast.walk(config.node):
        if isinstance(node, ast.Dict):
            for key in node.keys:
                if isinstance(key, ast.Constant) and key.value == name:
                    return source.span(key)
    return source.span(config.node)


def heuristics(function: Function) -> tuple[Heuristic, ...]:
    """What ``@triton.heuristics`` computes, in the order a launch would. Raises :class:`UserError`."""
    imported = function.module.library.imported
    told = imported.heuristics(function) if imported is not None else None
    try:
        read = _read_heuristics(function)
    except UserError:
        if told is None:
            raise
        read = ()
    if read or told is None:
        return read
    host = Host(Frame(function.module, ""), function.node)
    return tuple(each for values in told for each in _named(function, values, host, function.node))


def _read_heuristics(function: Function) -> tuple[Heuristic, ...]:
    found: list[Heuristic] = []
    for call in _calls(function, "triton.heuristics"):
        location = Location(function.module.source, call)
        node = _argument_of(function, call, "triton.heuristics", _HEURISTICS)
        if node is None:
            raise location.error("@triton.heuristics has no values that could be read")
        host, values = _evaluated(function, node, "the values of @triton.heuristics")
        if not is_dict(values):
            raise location.error(f"@triton.heuristics takes a dict of functions, not {_described(values)}")
        found += _named(function, values, host, node)
    return tuple(found)


def _named(
    function: Function, values: Mapping[object, object], host: Host, node: ast.AST
) -> Iterator[Heuristic]:
    """Each function of one decorator, with the constant that it computes."""
    location = Location(function.module.source, node)
    known = [p.arg for p in function.parameters]
    for name, callee in values.items():
        if name in _OPTIONS and name not in known:
            continue  # the manifest's to say
        if not isinstance(name, str) or name not in known:
            hint = did_you_mean(str(name), known) or f"its parameters are {', '.join(known)}"
            said = f"@triton.heuristics computes {name}, and {function.name} has no such parameter"
            raise location.error(said, hint)
        if not isinstance(callee, Closure | Function):
            raise location.error(f"{name} of @triton.heuristics is a function, not {_described(callee)}")
        yield Heuristic(name, function, callee, callee.node, host)
