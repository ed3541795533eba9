"""One specialisation to PTX or host code in this process, by this compiler and by Triton's, from the same source."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import teenybuild
from teenybuild.dtypes import BY_LANGUAGE
from teenybuild.types import Descriptor, Pointer, Scalar, Tuple, parse_type


@dataclass(frozen=True)
class Request:
    """A kernel and what one specialisation of it is for."""

    path: Path
    function: str
    #: By argument, as the manifest spells them.
    types: Mapping[str, str]
    const: Mapping[str, Any]
    #: Arguments that are multiples of 16: what Triton's launcher finds out by itself.
    aligned: frozenset[str] = frozenset()
    num_warps: int = 4
    num_stages: int = 3
    #: The kernel as a module that was imported has it, for Triton: called only where Triton is installed.
    imported: Callable[[], Any] = field(default=lambda: None)


def ours(request: Request, target: str, cache: Path) -> Callable[[], object]:
    """From source to PTX or shared object, nothing cached."""
    assume = {name: {"div": 16} for name in request.aligned}
    return lambda: teenybuild.compile(
        f"{request.path}:{request.function}", target, request.types, request.const, assume=assume,
        num_warps=request.num_warps, num_stages=request.num_stages, cache_dir=cache, force=True,
    )  # fmt: skip


def inner(kernel: Any) -> Any:
    """Triton's function without the autotuning and heuristics about it."""
    from triton import JITFunction

    while not isinstance(kernel, JITFunction):
        kernel = kernel.fn
    return kernel


def tritons_constants(const: Mapping[str, Any]) -> dict[str, Any]:
    """Constants as Triton takes them. The manifest has no dtypes as constants: "tl.float16" is one."""
    import triton.language as tl

    dtypes = {f"tl.{name}": getattr(tl, name) for name in BY_LANGUAGE}
    return {
        name: dtypes.get(value, value) if isinstance(value, str) else value for name, value in const.items()
    }


def tritons(request: Request, last: str) -> Callable[[], object] | None:
    """From source to ``last`` (``ptx`` or ``cubin``) in Triton, without its cache; None where it is not installed."""
    try:
        from triton._C.libtriton import ir
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource, make_backend
    except ImportError:
        return None
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    function = inner(request.imported())
    constants = tritons_constants(request.const) | {
        name: None for name, type_ in request.types.items() if type_ == "none"
    }
    signature = {name: _spelled(type_) for name, type_ in request.types.items() if type_ != "none"}
    names = function.arg_names
    # Parameters that nobody gives a value have one.
    ordered = {name: signature.get(name, "constexpr") for name in names}
    for parameter in function.params:
        if parameter.name not in signature and parameter.name not in constants:
            constants[parameter.name] = parameter.default
    places = {_place(names, argument) for argument in request.aligned} - {None}
    attributes = {place: [["tt.divisibility", 16]] for place in places}
    source = ASTSource(function, ordered, constants, attributes)
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)

    def work() -> None:
        options = backend.parse_options({"num_warps": request.num_warps, "num_stages": request.num_stages})
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        module = source.make_ir(
            target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
        )
        stages: dict[str, Any] = {}
        backend.add_stages(stages, options, source.language)
        metadata: dict[str, Any] = {"target": target, **options.__dict__}
        for stage, run in stages.items():
            module = run(module, metadata)
            if stage == last:
                break

    return work


def _spelled(type_: str) -> Any:
    """As Triton's signatures have it: entries of tuples one by one."""
    match parse_type(type_):
        case Pointer(dtype):
            return f"*{dtype.triton}"
        case Scalar(dtype):
            return dtype.triton
        case Descriptor(dtype, block):
            return f"tensordesc<{dtype.triton}[{', '.join(map(str, block))}]>"
        case Tuple(items):
            return tuple(_spelled(str(item)) for item in items)
        case other:
            raise NotImplementedError(f"Triton's signatures have no {other}")


def _place(names: list[str], argument: str) -> tuple[int, ...] | None:
    """Where ``x`` or ``x[1]`` stands among a function's parameters; None for what a descriptor has, which it says itself."""
    if "." in argument:
        return None
    name, *entries = argument.replace("]", "").split("[")
    return (names.index(name), *map(int, entries))


def medians_ms(
    works: Mapping[str, Callable[[], object]],
    turns: int,
    runs: int,
    untimed: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Median milliseconds of each, in turns so that all see the same machine.

    The first runs of a turn are not timed: all find the processor's caches as in the middle of a build, not as another left them.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    # The modules of one compiler are no garbage for the other to look through.
    gc.collect()
    gc.freeze()
    for _ in range(turns):
        for name, work in works.items():
            for run in range(runs):
                start = clock()
                work()
                if run >= untimed:
                    times[name].append((clock() - start) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}
