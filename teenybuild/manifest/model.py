"""What a manifest says, typed. Plain frozen data; mappings keep their declared order and are not to be changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from teenybuild.diagnostics import Span
from teenybuild.manifest.grid import Expr
from teenybuild.manifest.locate import KeyPath, Part
from teenybuild.manifest.schema import DEFAULT_OPTIONS
from teenybuild.manifest.toml import TomlFile
from teenybuild.manifest.typespec import TypeSpec
from teenybuild.specialisation import OptionValue
from teenybuild.targets import Target
from teenybuild.types import Assume, Type, Value


@dataclass(frozen=True, slots=True)
class Config:
    """One set of consts and options that go together."""

    consts: Mapping[str, Value]
    options: Mapping[str, OptionValue]


#: What a kernel without ``configs`` has: one set of nothing.
NO_CONFIG = Config({}, {})


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the keys of one table are written: under ``base``, in ``file``.

    ``inherited`` are the paths (of one or two parts) that came from ``[defaults]`` of ``main``.
    """

    file: TomlFile
    base: KeyPath
    main: TomlFile
    inherited: frozenset[KeyPath] = frozenset()

    def span(self, path: KeyPath, part: Part = "key") -> Span:
        """Where a key of the table stands, or else the nearest thing around it; ``()`` is the table itself."""
        file, full = self._full(path)
        return file.span(full, part)

    def span_inside(self, path: KeyPath, start: int, end: int) -> Span:
        """Where characters ``start`` to ``end`` (from 0) of a string stand."""
        file, full = self._full(path)
        return file.span_inside(full, start, end)

    def is_inherited(self, path: KeyPath) -> bool:
        """Whether ``path`` was said in ``[defaults]``."""
        return path[:1] in self.inherited or path[:2] in self.inherited

    def _full(self, path: KeyPath) -> tuple[TomlFile, KeyPath]:
        if self.is_inherited(path):
            return self.main, ("defaults", *path)
        return self.file, (*self.base, *path)


@dataclass(frozen=True, slots=True)
class Kernel:
    """One ``[kernel.NAME]``, with ``[defaults]`` merged in.

    ``source`` is relative to ``[build] kernels``, with forward slashes. ``const`` may hold keys of ``[defaults]`` that
    the function does not have; ``bind`` drops those. ``configs`` is never empty: without any, it is one empty set.
    ``grid`` is empty where a launch must give it. ``autos`` are the arguments of ``assume`` that hold in the extra
    variant only. In ``exclude``, a dtype variable's value is the type as it is spelled.
    """

    name: str
    source: str
    function: str
    args: Mapping[str, TypeSpec]
    dtypes: Mapping[str, tuple[Type, ...]]
    const: Mapping[str, tuple[Value, ...]]
    configs: tuple[Config, ...]
    options: Mapping[str, tuple[OptionValue, ...]]
    grid: tuple[Expr, ...]
    assume: Mapping[str, Assume]
    autos: tuple[str, ...]
    exclude: tuple[Mapping[str, Value], ...]
    outputs: tuple[str, ...]
    mutates: tuple[str, ...]
    targets: tuple[Target, ...]
    globals: Mapping[str, Value]
    #: Of ``const`` and ``configs``, those that are read off ``@triton.autotune``; ``bind`` resolves and empties it.
    tuned: frozenset[str]
    #: Whether the source may be run to find out what reading it does not tell.
    imports: bool
    origin: Origin = field(repr=False, compare=False)
    #: Paths of keys that were wrong, and reported: what is missing because of them is not missing.
    broken: frozenset[KeyPath] = field(default=frozenset(), repr=False, compare=False)

    @property
    def config_consts(self) -> tuple[str, ...]:
        """Consts that ``configs`` gives, in the order the first config declares them."""
        return tuple(self.configs[0].consts)

    @property
    def consts(self) -> tuple[str, ...]:
        """Every const: those of ``const``, then those of ``configs``."""
        return (*self.const, *self.config_consts)

    @property
    def option_order(self) -> tuple[str, ...]:
        """Every option that is said, in declared order: those of ``options``, then those only ``configs`` has."""
        said = (*self.options, *(name for config in self.configs for name in config.options))
        return tuple(dict.fromkeys(said))

    @property
    def count(self) -> int:
        """Specialisations before ``exclude``, the extra variant counted in."""
        choices = math.prod(len(values) for values in (*self.dtypes.values(), *self.const.values()))
        sets = sum(
            math.prod(len(values) for name, values in self.options.items() if name not in config.options)
            for config in self.configs
        )
        return choices * sets * (2 if self.autos else 1)

    def span(self, *path: str | int, part: Part = "key") -> Span:
        """Where a key (or its value) is written, be it in the kernel or in ``[defaults]``: ``kernel.span("args", "x")``."""
        return self.origin.span(path, part)

    def is_broken(self, *path: str | int) -> bool:
        """Whether ``path``, or what holds it, was wrong and has been reported."""
        return any(path[:length] in self.broken for length in range(1, len(path) + 1))


@dataclass(frozen=True, slots=True)
class Build:
    """``[build]``. Paths are relative to the manifest, with forward slashes, except ``cache``, which may be absolute.

    ``ptx`` is the PTX ISA version asked for, by GPU target; ``ptx_any`` that for every other one.
    """

    targets: tuple[Target, ...]
    kernels: str = "kernels"
    roots: tuple[str, ...] = ()
    loader: str = "teeny_kernels"
    emit: tuple[str, ...] = ("ptx",)
    assembler: str = "nvjitlink"
    ptx: Mapping[str, str] = field(default_factory=dict[str, str])
    ptx_any: str | None = None
    cache: str | None = None
    include: tuple[str, ...] = ()
    lineinfo: bool = False
    debug: bool = False

    def ptx_version(self, target: Target) -> str | None:
        """The PTX ISA version asked for, or None: the lowest that the target and the code need."""
        return None if target.machine == "cpu" else self.ptx.get(target.name, self.ptx_any)


@dataclass(frozen=True, slots=True)
class Manifest:
    """``kernels.toml`` and what it includes.

    ``path`` is as it was given; ``directory`` is its directory, which paths are relative to. ``files`` is every file that
    was read: the manifest, then those included, in order.
    """

    path: Path
    directory: Path
    edition: int
    build: Build
    kernels: tuple[Kernel, ...]
    files: tuple[Path, ...]
    main: TomlFile = field(repr=False, compare=False)

    def kernel(self, name: str) -> Kernel | None:
        """The kernel of that name, or None."""
        return next((kernel for kernel in self.kernels if kernel.name == name), None)

    def span(self, path: Sequence[str | int], part: Part = "key") -> Span:
        """Where a key (or its value) is written: ``manifest.span(("kernel", "matmul", "args", "x"))``.

        A key that a kernel has from ``[defaults]`` is found there. What is not written at all gives the nearest thing
        around it.
        """
        path = tuple(path)
        kernel = self.kernel(str(path[1])) if len(path) > 1 and path[0] == "kernel" else None
        return kernel.origin.span(path[2:], part) if kernel is not None else self.main.span(path, part)


def fill_options(options: Mapping[str, OptionValue]) -> tuple[tuple[str, OptionValue], ...]:
    """All options in documented order, defaults for those not in ``options``."""
    return tuple((name, options.get(name, default)) for name, default in DEFAULT_OPTIONS.items())
