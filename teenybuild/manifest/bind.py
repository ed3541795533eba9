"""Each kernel against the function it names: which parameter is what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from teenybuild.diagnostics import Diagnostic, Note, Span, UserError, did_you_mean, near
from teenybuild.manifest import grid
from teenybuild.manifest.kernel import MOST, count_problem
from teenybuild.manifest.model import Kernel, Manifest
from teenybuild.manifest.report import Report
from teenybuild.manifest.tuned import resolve

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.tuning import Heuristic, TunedConfig


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel's function. ``constexpr``: its annotation says that it is a const."""

    name: str
    constexpr: bool = False
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel's function as its source declares it: parameters in order, ``span`` of the ``def``.

    ``configs`` are those of ``@triton.autotune``, read where the manifest asks for them; ``heuristics`` compute constants that the
    manifest leaves out. ``untuned`` and ``unreadable`` are why the one or the other could not be read.
    """

    function: str
    parameters: tuple[Parameter, ...]
    span: Span | None = None
    configs: tuple[TunedConfig, ...] | None = None
    untuned: tuple[Diagnostic, ...] = ()
    heuristics: tuple[Heuristic, ...] = ()
    unreadable: tuple[Diagnostic, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)


#: Finds the function of a kernel. Raises UserError where there is no such file or function.
Lookup = Callable[[Kernel], Signature]


@dataclass(frozen=True, slots=True)
class BoundKernel:
    """A kernel and its function, which fit.

    ``kernel`` no longer has what ``[defaults]`` said and the function does not use. ``defaulted`` are the const parameters
    that take their default from the source, and are no part of ids. ``heuristics`` compute the rest.
    """

    kernel: Kernel
    signature: Signature
    defaulted: tuple[str, ...]
    heuristics: tuple[Heuristic, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters, in source order."""
        return self.signature.names


@dataclass(frozen=True, slots=True)
class BoundManifest:
    """A manifest whose kernels have been compared with their sources, in the manifest's order."""

    manifest: Manifest
    kernels: tuple[BoundKernel, ...]

    def kernel(self, name: str) -> BoundKernel | None:
        """The kernel of that name, or None."""
        return next((bound for bound in self.kernels if bound.kernel.name == name), None)


def bind(manifest: Manifest, lookup: Lookup) -> BoundManifest:
    """``manifest`` with each kernel's function.

    Raises UserError with everything that does not fit, of all kernels, and what ``lookup`` raised.
    """
    bound, diagnostics = bind_each(manifest, lookup)
    if diagnostics:
        raise UserError(diagnostics)
    return bound


def bind_each(manifest: Manifest, lookup: Lookup) -> tuple[BoundManifest, tuple[Diagnostic, ...]]:
    """The kernels that fit their functions, and what is wrong with the others.

    Kernels whose source or function was wrong in the manifest are not looked up; others with mistakes are compared as far
    as they could be read, and not kept.
    """
    report = Report()
    kept: list[BoundKernel] = []
    for kernel in manifest.kernels:
        if kernel.is_broken("source") or kernel.is_broken("function"):
            continue
        try:
            signature = lookup(kernel)
        except UserError as error:
            report.take(error.diagnostics)
            continue
        problems, bound = _bind_kernel(kernel, signature)
        report.take(problems)
        if not problems and not kernel.broken:
            kept.append(bound)
    total = sum(bound.kernel.count for bound in kept)
    if total > MOST:
        message = (
            f"the build has {total:,} specialisations, counted before exclude; at most {MOST:,} are read"
        )
        report.add(message, manifest.span(("kernel",)), hint="split it into several manifests")
    return BoundManifest(manifest, tuple(kept)), report.sorted(str(file) for file in manifest.files)


def _bind_kernel(kernel: Kernel, signature: Signature) -> tuple[list[Diagnostic], BoundKernel]:
    tuned, problems = resolve(kernel, signature)
    check = _Check(tuned, signature)
    check.found += problems
    check.args()
    check.consts()
    check.parameters()
    trimmed = check.trimmed()
    check.mentions(trimmed)
    if not check.found and (problem := count_problem(trimmed)) is not None:
        check.found.append(problem)
    said = {*trimmed.args, *trimmed.consts}
    heuristics = tuple(each for each in signature.heuristics if each.name not in said)
    said |= {each.name for each in heuristics}
    defaulted = tuple(name for name in signature.names if name not in said)
    return check.found, BoundKernel(trimmed, signature, defaulted, heuristics)


#: What parameters whose names end so have most often.
_EXAMPLES = {"ptr": "*f32", "ptrs": "(*f32, *f32)", "desc": "desc<f16[64, 64]>"}


class _Check:
    def __init__(self, kernel: Kernel, signature: Signature) -> None:
        self.kernel = kernel
        self.signature = signature
        self.by_name = {parameter.name: parameter for parameter in signature.parameters}
        self.found: list[Diagnostic] = []
        self.here = [Note(f"{signature.function} is here", signature.span)] if signature.span else []

    def wrong(self, message: str, span: Span, hint: str | None = None) -> None:
        self.found.append(Diagnostic(message, span, tuple(self.here), hint))

    def lacks(self, name: str, span: Span, candidates: Iterable[str]) -> None:
        """The manifest names a parameter that the function does not have."""
        there = ", ".join(self.by_name) or "none"
        hint = did_you_mean(name, candidates) or f"its parameters are {there}"
        self.wrong(f"{self.signature.function} has no parameter {name}", span, hint)

    def free(self) -> list[str]:
        """Parameters that the manifest says nothing of: what a wrong name may have meant."""
        computed = (each.name for each in self.signature.heuristics)
        said = {*self.kernel.args, *self.kernel.consts, *computed}
        return [name for name in self.by_name if name not in said]

    def args(self) -> None:
        for name in self.kernel.args:
            parameter = self.by_name.get(name)
            if parameter is None:
                self.lacks(name, self.kernel.span("args", name), self.free())
            elif parameter.constexpr:
                message = f"{name} has a type in args, and {self.signature.function} declares it constexpr"
                hint = f"give it values: const = {{ {name} = … }}"
                self.wrong(message, self.kernel.span("args", name), hint)

    def consts(self) -> None:
        for name in self.kernel.const:
            if name not in self.by_name and not self.kernel.origin.is_inherited(("const", name)):
                self.lacks(name, self.kernel.span("const", name), self.free())
        for name in self.kernel.config_consts:
            if name not in self.by_name:
                self.lacks(name, self.kernel.span("configs", 0, name), self.free())

    def parameters(self) -> None:
        """Every parameter has a type, a value, or a default."""
        free = self.free()
        # A misspelled name is reported once: as the name that the function lacks.
        lacking = [name for name in (*self.kernel.args, *self.kernel.consts) if name not in self.by_name]
        meant = {near(name, free) for name in lacking}
        for parameter in (self.by_name[name] for name in free):
            name = parameter.name
            if name in meant or (parameter.constexpr and parameter.has_default):
                continue
            if any(self.kernel.is_broken(table, name) for table in ("args", "const", "configs")):
                continue
            if self.kernel.tuned or self.signature.unreadable:
                # What would have given it a value was wrong, and is reported.
                self.found += [d for d in self.signature.unreadable if d not in self.found]
                if parameter.constexpr:
                    continue
            if parameter.constexpr:
                message = f"the const parameter {name} of {self.signature.function} has no value"
                self.wrong(message, self.kernel.span("const"), f"give it one: const = {{ {name} = … }}")
            else:
                message = f"the parameter {name} of {self.signature.function} has no type"
                example = next((type for end, type in _EXAMPLES.items() if name.endswith(end)), "i32")
                hint = f'give it one: args = {{ {name} = "{example}" }}, or a value under const'
                self.wrong(message, self.kernel.span("args"), hint)

    def trimmed(self) -> Kernel:
        """The kernel without consts of ``[defaults]`` that the function does not have."""
        kept = {name: values for name, values in self.kernel.const.items() if name in self.by_name}
        return replace(self.kernel, const=kept)

    def mentions(self, kernel: Kernel) -> None:
        """``grid`` and ``exclude`` may name a const that ``[defaults]`` gave and the function does not have."""
        gone = {name for name in self.kernel.const if name not in kernel.const}
        gone = {name for name in gone if self.kernel.origin.is_inherited(("const", name))}
        for index, expr in enumerate(kernel.grid):
            for node in grid.name_nodes(expr):
                if node.name in gone:
                    span = kernel.origin.span_inside(("grid", index), node.start, node.end)
                    self.lacks(node.name, span, kernel.consts)
        if kernel.origin.is_inherited(("exclude",)):
            return
        for index, entry in enumerate(kernel.exclude):
            for name in entry:
                if name in gone:
                    self.lacks(name, kernel.span("exclude", index, name), kernel.consts)
