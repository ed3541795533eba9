"""``const = "autotune"`` and ``configs = "autotune"``: the sets that the decorator lists, in the place of those of the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from teenybuild.diagnostics import Diagnostic, Note
from teenybuild.manifest.kernel import check_again
from teenybuild.manifest.model import Config, Kernel
from teenybuild.manifest.report import Report
from teenybuild.manifest.schema import OPTIONS
from teenybuild.manifest.shapes import check
from teenybuild.types import canonical

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.tuning import TunedConfig
    from teenybuild.manifest.bind import Signature


def resolve(kernel: Kernel, signature: Signature) -> tuple[Kernel, list[Diagnostic]]:
    """The kernel with what its decorator says, and what is wrong with that. ``tuned`` stays where it could not be resolved."""
    if not kernel.tuned:
        return kernel, []
    if signature.untuned:
        return kernel, list(signature.untuned)
    if signature.configs is None:
        if "configs" not in kernel.tuned and kernel.origin.is_inherited(("const",)):
            return replace(kernel, tuned=frozenset()), []
        return kernel, [_nothing_to_read(kernel, signature)]
    problems = _wrong_options(signature.configs) if "configs" in kernel.tuned else []
    configs = [
        Config(each.consts, each.options if "configs" in kernel.tuned else {}) for each in signature.configs
    ]
    # ``configs = "autotune"`` says all that ``const = "autotune"`` does; beside a list of configs, the two multiply.
    if "configs" not in kernel.tuned:
        configs = [_both(one, other) for one in configs for other in kernel.configs]
    names = configs[0].consts
    const = {
        n: v
        for n, v in kernel.const.items()
        if n not in names or not kernel.origin.is_inherited(("const", n))
    }
    resolved = replace(kernel, const=const, configs=_distinct(configs), tuned=frozenset())
    report = Report()
    check_again(resolved, report)
    return resolved, [*problems, *report.sorted(())]


def _nothing_to_read(kernel: Kernel, signature: Signature) -> Diagnostic:
    key = "configs" if "configs" in kernel.tuned else "const"
    notes = (Note(f"{signature.function} is here", signature.span),) if signature.span else ()
    message = f"{signature.function} has no @triton.autotune to read"
    hint = (
        "list the values here"
        if kernel.imports
        else "list the values here; import = true looks for them in what other decorators make"
    )
    return Diagnostic(message, kernel.span(key, part="value"), notes, hint)


def _both(one: Config, other: Config) -> Config:
    return Config({**one.consts, **other.consts}, {**one.options, **other.options})


def _distinct(configs: Sequence[Config]) -> tuple[Config, ...]:
    """Each set once, where it stands first."""

    def identity(values: Mapping[str, object]) -> str:
        return ",".join(f"{name}={canonical(value)}" for name, value in values.items())  # type: ignore[arg-type]  # constants

    found: dict[tuple[str, str], Config] = {}
    for each in configs:
        found.setdefault((identity(each.consts), identity(each.options)), each)
    return tuple(found.values())


def _wrong_options(configs: Sequence[TunedConfig]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for config in configs:
        for name, value in config.options.items():
            row = OPTIONS.row(name)
            assert row is not None
            found += [
                Diagnostic(
                    f"in a config, {fault.message}",
                    config.span,
                    hint="list the other configs in the manifest",
                )
                for fault in check(row.shape, value, (), name)
            ]
    return list(dict.fromkeys(found))
