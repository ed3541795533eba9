"""What stands above a kernel, for one compile: a configuration of ``@triton.autotune``, and what ``@triton.heuristics`` computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.decorators import launch_decorators
from teenybuild.compiler.targets.base import Settings
from teenybuild.diagnostics import UserError, error
from teenybuild.types import Assume, Type, Value

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.tuning import TunedConfig
    from teenybuild.compiler.frontend.values import Function


@dataclass(frozen=True, slots=True)
class Said:
    """What a compile is asked for: types, constants and assumptions by parameter, and options."""

    types: Mapping[str, Type]
    consts: Mapping[str, Value]
    assume: Mapping[str, Assume]
    settings: Settings


def completed(function: Function, said: Said, config: int | None) -> Said:
    """With the constants and options of one configuration, then with what is computed for parameters that have no value yet.

    Raises :class:`UserError` where that cannot be read, and where a constant is left to ``@triton.autotune`` and no configuration is named.
    """
    if not launch_decorators(function):
        if config is not None:
            raise _nothing_to_read(function)
        return said
    # Loaded with the first kernel that has a decorator.
    from teenybuild.compiler.frontend.tuning import Facts, heuristics

    if config is not None:
        said = _with_config(function, said, config)
    settings = said.settings
    options = {"num_warps": settings.num_warps, "num_stages": settings.num_stages, "num_ctas": 1}
    consts = dict(said.consts)
    for heuristic in heuristics(function):
        if heuristic.name not in consts and heuristic.name not in said.types:
            consts[heuristic.name] = heuristic.value(Facts(said.types, consts, options, said.assume))
    said = replace(said, consts=consts)
    if config is None:
        _check_nothing_is_left(function, said)
    return said


def _with_config(function: Function, said: Said, config: int) -> Said:
    configs = _configs(function)
    if not configs:
        raise _nothing_to_read(function)
    if not 0 <= config < len(configs):
        last = len(configs) - 1
        raise error(
            f"config is {config}, and @triton.autotune of {function.name} has configs 0 to {last}",
            span=configs[last].span,
        )
    chosen = configs[config]
    both = [name for name in chosen.consts if name in said.consts]
    if both:
        raise error(
            f"{', '.join(both)} of {function.name} is given by const and by config {config}", span=chosen.span
        )
    return replace(
        said,
        consts={**said.consts, **chosen.consts},
        settings=replace(said.settings, **chosen.options),
    )


def _configs(function: Function) -> tuple[TunedConfig, ...]:
    from teenybuild.compiler.frontend.tuning import autotune

    return autotune(function) or ()


def _nothing_to_read(function: Function) -> UserError:
    return error(
        f"{function.name} has no @triton.autotune with configs to choose from",
        hint="give its constants in const, and its options as arguments",
    )


def _check_nothing_is_left(function: Function, said: Said) -> None:
    """No constant is left that a configuration would give."""
    defaults = {*_defaults(function), *said.types, *said.consts}
    missing = [p.arg for p in function.parameters if p.arg not in defaults]
    if not missing:
        return
    configs = _configs(function)
    tuned = [name for name in missing if any(name in each.consts for each in configs)]
    if tuned:
        first = ", ".join(
            f"{name} = {value!r}" for name, value in {**configs[0].consts, **configs[0].options}.items()
        )
        raise error(
            f"{function.name} leaves {', '.join(tuned)} to @triton.autotune",
            span=configs[0].span,
            hint=f"give a value in const, or say which of its {len(configs)} configs: config=0 is {first}",
        )


def _defaults(function: Function) -> Mapping[str, object]:
    from teenybuild.compiler.frontend.canonical import parameter_defaults

    return parameter_defaults(function.node)
