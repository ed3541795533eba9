"""``teenybuild.compile``: one kernel, one specialisation, from Python."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from teenybuild.cache import Cache, Entry, default_directory
from teenybuild.compiler.frontend.host import static
from teenybuild.compiler.frontend.kernel import Instance
from teenybuild.compiler.frontend.modules import Library, find_function
from teenybuild.compiler.frontend.reach import Reached, reach
from teenybuild.compiler.pipeline import Job, Product, compile_job, target_field
from teenybuild.compiler.targets.base import Settings
from teenybuild.decorated import Said, completed
from teenybuild.diagnostics import did_you_mean, error
from teenybuild.keys import key_fields, key_of
from teenybuild.targets import PTX_VERSIONS, Target, TargetError, parse_target, ptx_number
from teenybuild.types import (
    Assume,
    Type,
    TypeSyntaxError,
    Value,
    leaves,
    parameter_of,
    parse_type,
    said_of,
)


@dataclass(frozen=True, slots=True)
class Artifact:
    """What :func:`compile` gives. Texts are ``None`` where the target has none.

    ``path`` is the PTX or the shared object in the cache; ``abi`` the description that lies beside it.
    """

    path: Path
    key: str
    ptx: str | None
    mlir: str
    ll: str
    source: str
    abi: Mapping[str, Any]
    _reached: Reached

    def __repr__(self) -> str:
        return f"<artifact of {self.abi['function']} for {self.target}: {self.path}>"

    @property
    def target(self) -> str:
        """What it was compiled for: ``"sm_90a"``."""
        return str(self.abi["target"])

    @property
    def places(self) -> Mapping[int, tuple[str, int]]:
        """Where lines of ``source`` stand in the files it came from: (file, line)."""
        return self._reached.places


def compile(
    kernel: str | Callable[..., Any],
    target: str,
    types: Mapping[str, str],
    const: Mapping[str, Value] | None = None,
    *,
    config: int | None = None,
    num_warps: int = 4,
    num_stages: int = 3,
    maxnreg: int | None = None,
    enable_fp_fusion: bool = True,
    launch_cooperative_grid: bool = False,
    assume: Mapping[str, Mapping[str, int]] | None = None,
    globals: Mapping[str, Value] | None = None,
    roots: Sequence[str | Path] = (),
    ptx: str | None = None,
    lineinfo: bool = False,
    debug: bool = False,
    cache_dir: str | Path | None = None,
    force: bool = False,
) -> Artifact:
    """Compiles one specialisation of one kernel, or takes it from the cache.

    ``kernel`` is ``"file.py:function"`` or a function decorated with ``teenybuild.jit`` or ``triton.jit``; its source is read, never run.
    ``types`` gives each run-time parameter its type (``"*f32"``, ``"i32"``, ``"none"``, a tuple ``"(*f32, i32)"``, a tensor descriptor
    ``"desc<f16[128, 64]>"``), ``const`` each constant its value, ``assume`` what may be relied on:
    ``{"x_ptr": {"div": 16}, "stride": {"eq": 1}, "ptrs[0]": {"div": 16}}``.  ``debug`` has run-time assertions carried out.
    ``config`` is the place, from 0, of one configuration of ``@triton.autotune``, whose constants and options are then taken; what
    ``@triton.heuristics`` computes is computed where ``const`` does not say it.

    Raises :class:`teenybuild.UserError` with everything that is wrong.
    """
    path, function = _locate(kernel)
    directories = (path.parent, *(Path(r) for r in roots))
    library = Library(Path.cwd(), directories, static, dict(globals or {}))
    reached = reach(find_function(library.module(path), function))
    unknown = reached.unmentioned(globals or {})
    if unknown:
        raise error(
            f"globals names {', '.join(unknown)}, which {path} and what it imports do not mention",
            hint=did_you_mean(unknown[0], reached.names),
        )
    said = _said(reached, types, const or {}, assume or {})
    settings = Settings(num_warps, num_stages, maxnreg, enable_fp_fusion, launch_cooperative_grid)
    given = Said(*said, settings)
    given = completed(reached.function, given, config)
    settings = given.settings
    instance = Instance(given.types, given.consts, given.assume)
    chosen = _target(target)
    version = ptx_version(chosen, ptx or os.environ.get("TEENYBUILD_PTX_VERSION"))
    job = Job(reached, instance, settings, chosen, version, lineinfo, debug)
    return artifact(job, cache_dir=cache_dir, force=force)


def artifact(job: Job, *, cache_dir: str | Path | None = None, force: bool = False) -> Artifact:
    """What a compile gives, or what the cache has of it."""
    cache = Cache(Path(cache_dir) if cache_dir is not None else cache_directory())
    entry, _ = build_entry(job, cache, force=force)
    extension = "ptx" if job.target.machine == "gpu" else "so"
    return Artifact(
        path=cache.path(entry.name, entry.key, extension),
        key=entry.key,
        ptx=entry.files["ptx"].decode() if "ptx" in entry.files else None,
        mlir=entry.files["mlir"].decode(),
        ll=entry.files["ll"].decode(),
        source=entry.files["py"].decode(),
        abi=entry.description,
        _reached=job.reached,
    )


def job_key(job: Job) -> str:
    """The key of a compile."""
    return key_of(job_key_fields(job))


def job_key_fields(job: Job) -> dict[str, str]:
    """The fields of a compile's key."""
    return key_fields(
        source=job.reached.text,
        function=job.reached.function.name,
        instance=job.instance,
        settings=job.settings,
        target=target_field(job.target),
        ptx=job.ptx,
        lineinfo=job.lineinfo,
        debug=job.debug,
    )


def build_entry(job: Job, cache: Cache, *, force: bool = False) -> tuple[Entry, bool]:
    """The entry of a compile, and whether it had to be compiled now."""
    from dataclasses import replace

    key, name = job_key(job), job.reached.function.name
    if not force:
        found = cache.find(name, key)
        if found is not None:
            cache.used(found)
            return found, False
    product = compile_job(replace(job, source_name=f"{name}_{key}.py"))
    return cache.store(name, key, entry_files(product), entry_description(job, product)), True


def entry_files(product: Product) -> dict[str, bytes]:
    """The files of an entry by extension, without its json."""
    files = {"mlir": product.mlir.encode(), "ll": product.llvm.encode(), "py": product.source.encode()}
    if product.ptx is not None:
        return {"ptx": product.ptx.encode(), **files}
    assert product.shared_object is not None
    return {"so": product.shared_object, **files}


def entry_description(job: Job, product: Product) -> dict[str, Any]:
    """The json of an entry, without digests."""
    from teenybuild.keys import fingerprint, llvm_release

    return {
        **product.description.json(),
        "target": target_field(job.target),
        "versions": {"compiler": fingerprint(), "llvmlite": llvm_release(), "ptx": job.ptx},
    }


def cache_directory() -> Path:
    """Where entries are kept when nothing else is said: ``TEENYBUILD_CACHE_DIR``, else the user's cache directory."""
    return (
        Path(os.environ["TEENYBUILD_CACHE_DIR"])
        if os.environ.get("TEENYBUILD_CACHE_DIR")
        else default_directory()
    )


def ptx_version(target: Target, asked: str | None) -> str:
    """The PTX ISA version for a target: what was asked for, else the lowest the target has; empty for the host."""
    if target.machine == "cpu":
        return ""
    assert target.arch is not None
    if not asked:
        return target.arch.ptx
    if asked not in PTX_VERSIONS or ptx_number(asked) < ptx_number(target.arch.ptx):
        raise error(
            f"PTX {asked} is not a version that {target.name} has",
            hint=f"it needs {target.arch.ptx} or later",
        )
    return asked


def _target(text: str) -> Target:
    try:
        return parse_target(text)
    except TargetError as wrong:
        raise error(wrong.message, hint=wrong.hint) from None


def _locate(kernel: str | Callable[..., Any]) -> tuple[Path, str]:
    """(file, function) of ``"file.py:function"`` or of a function object."""
    if isinstance(kernel, str):
        file, colon, function = kernel.rpartition(":")
        if not colon or not file or not function.isidentifier():
            raise error(f'a kernel is named as "file.py:function", not {kernel!r}')
        return Path(file), function
    function = getattr(kernel, "fn", kernel)
    try:
        return Path(inspect.getsourcefile(function) or ""), function.__name__
    except TypeError:
        raise error(f'a kernel is a function or its name as "file.py:function", not {kernel!r}') from None


def _said(
    reached: Reached,
    types: Mapping[str, str],
    const: Mapping[str, Value],
    assume: Mapping[str, Mapping[str, int]],
) -> tuple[dict[str, Type], dict[str, Value], dict[str, Assume]]:
    """The mappings in source order, checked against the function's parameters."""
    parameters = [p.arg for p in reached.function.parameters]
    name = reached.function.name
    for what, given in (("types", types), ("const", const), ("assume", assume)):
        for said in given:
            parameter = parameter_of(said) if what == "assume" else said
            if parameter not in parameters:
                hint = did_you_mean(parameter, parameters) or f"it has {', '.join(parameters)}"
                raise error(f"{what} names {parameter}, which {name} does not have", hint=hint)
    both = [p for p in parameters if p in types and p in const]
    if both:
        raise error(f"{', '.join(both)} of {name} is given both a type and a constant")
    parsed: dict[str, Type] = {}
    for parameter in parameters:
        if parameter in types:
            try:
                parsed[parameter] = parse_type(types[parameter])
            except TypeSyntaxError as wrong:
                raise error(f"the type of {parameter}: {wrong.message}", hint=wrong.hint) from None
    constants = {p: const[p] for p in parameters if p in const}
    return parsed, constants, _assumptions(name, parsed, assume)


def _assumptions(
    function: str, types: Mapping[str, Type], assume: Mapping[str, Mapping[str, int]]
) -> dict[str, Assume]:
    """What is assumed of each argument, in ABI order: of a parameter, of an entry, or of all of a tuple."""
    found: dict[str, Assume] = {}
    unused = dict.fromkeys(assume)
    for parameter, type_ in types.items():
        for leaf in leaves(parameter, type_):
            said = said_of(leaf.name, assume)
            if said is None:
                continue
            unused.pop(said, None)
            if leaf.part == "base":
                raise error(
                    f"assume names {said}, a descriptor, whose address and strides are multiples of 16 bytes as it is",
                    hint=f'its extents may be assumed: "{leaf.name}.shape[0]"',
                )
            found[leaf.name] = _assume(leaf.name, assume[said])
    for said in unused:
        parameter = parameter_of(said)
        if parameter in types and said != parameter:
            raise error(
                f"assume names {said}, which {parameter} of {function} does not have: it is {types[parameter]}"
            )
    return found


def _assume(parameter: str, given: Any) -> Assume:
    match given:
        case {"div": int(value)} if len(given) == 1 and value > 0 and value & (value - 1) == 0:
            return Assume("div", value)
        case {"eq": int(value)} if len(given) == 1:
            return Assume("eq", value)
        case _:
            raise error(
                f"what is assumed of {parameter} is {given!r}",
                hint='write {"div": 16} (a power of two) or {"eq": 1}',
            )
