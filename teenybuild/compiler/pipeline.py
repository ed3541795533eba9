"""The way of one specialisation: source → tile IR → layouts → LLVM IR → PTX or shared object.

Passes run in this order, each for a reason:

1. *simplify*: the front end writes constants and dead values freely; everything after is faster without them.  What ``.mlir`` shows is here.
2. *fuse multiply-add*: on clean IR, where "has no other use" is true as it stands; before layouts, so that every target fuses alike.
3. *simplify* again: fusing leaves products without uses and constants twice.
4. *hoist loads*, where lanes wait for each other: on the final program, before layouts, while a load is still one operation.
5. *axis analysis*, then *orders of reduction* by the reference layouts, then *layout assignment* for the target.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from teenybuild.compiler.abi import Description, describe
from teenybuild.compiler.frontend.kernel import Instance, read_kernel
from teenybuild.compiler.frontend.reach import Reached
from teenybuild.compiler.ir import core
from teenybuild.compiler.ir.printer import print_function
from teenybuild.compiler.ir.verifier import verify
from teenybuild.compiler.layout.assign import assign_layouts, settle_orders
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.policy import WarpPolicy
from teenybuild.compiler.lower.debug import Lines
from teenybuild.compiler.passes.fuse import FuseMultiplyAdd
from teenybuild.compiler.passes.hoist import HoistLoads
from teenybuild.compiler.passes.simplify import Simplify
from teenybuild.compiler.passes.streams import streams
from teenybuild.compiler.targets.base import CodeTarget, Lowered, Settings
from teenybuild.diagnostics import error
from teenybuild.targets import Target

#: The host baseline, whatever the build machine has: AVX2, FMA, F16C (x86-64 psABI, level 3).
_WARP = 32
_HOST_TRIPLE, _HOST_CPU = "x86_64-unknown-linux-gnu", "x86-64-v3"


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that decides the output of one compile."""

    reached: Reached
    instance: Instance
    settings: Settings
    target: Target
    #: PTX ISA version, empty for the host.
    ptx: str = ""
    lineinfo: bool = False
    #: Checks the IR after each pass.
    verify: bool = False
    #: How line information names the source.
    source_name: str = "kernel.py"


@dataclass(frozen=True, slots=True)
class Product:
    """What one compile gives: texts, the code itself, and its description."""

    mlir: str
    llvm: str
    source: str
    #: PTX text, or None for the host.
    ptx: str | None
    #: A shared object, or None for a GPU.
    shared_object: bytes | None
    description: Description


def host_isa() -> str:
    """The instruction set of host artifacts. Raises :class:`UserError` where there is no code generator for it."""
    machine = os.uname().machine
    if machine not in ("x86_64", "amd64"):
        raise error(
            f"host artifacts are built for x86-64 only, and this machine is {machine}",
            hint="build for a GPU target",
        )
    return "x86_64"


def target_field(target: Target) -> str:
    """The target as keys and descriptions spell it: host targets name their instruction set."""
    return f"{target.name}:{host_isa()}" if target.machine == "cpu" else target.name


def code_target(target: Target, settings: Settings) -> CodeTarget:
    """The code generator of a target. Each is loaded when it is first needed."""
    if target.machine == "gpu":
        from teenybuild.compiler.targets.nvptx import NvptxTarget

        assert target.arch is not None
        return NvptxTarget(target.arch, settings)
    from teenybuild.compiler.targets.host import HostTarget

    return HostTarget(settings, emulated=target.arch is not None)


def front(job: Job) -> core.Function:
    """Tile IR, simplified: what ``.mlir`` shows. Raises :class:`UserError` with all that is wrong with the kernel."""
    job.settings.check()
    function = read_kernel(job.reached.function, job.instance)
    Simplify().apply(function)
    if job.verify:
        verify(function)
    return function


def compile_job(job: Job) -> Product:
    """Compiles one specialisation."""
    from teenybuild.compiler import elf, emit  # LLVM is loaded only where something is compiled

    function = front(job)
    mlir = print_function(function)
    description = describe(job.instance, function)
    traffic = streams(function)
    lowered = lower(job, function)
    target = code_target(job.target, job.settings)
    residency = target.residency(traffic, lowered.shared) if traffic is not None else None
    ptx = shared_object = None
    if job.target.machine == "gpu":
        assert job.target.arch is not None
        ptx = emit.ptx(lowered.llvm, job.target.arch.name, job.ptx)
    else:
        shared_object = elf.shared_object(emit.host_object(lowered.llvm, _HOST_TRIPLE, _HOST_CPU, ""))
    return Product(
        mlir,
        lowered.llvm,
        job.reached.text,
        ptx,
        shared_object,
        description.with_launch(job.settings, lowered, residency),
    )


def lower(job: Job, function: core.Function) -> Lowered:
    """LLVM IR from simplified tile IR (which is rewritten on the way)."""
    if job.settings.enable_fp_fusion:
        FuseMultiplyAdd().apply(function)
        Simplify().apply(function)
        if job.verify:
            verify(function)
    if job.target.arch is not None:
        HoistLoads(_WARP * job.settings.num_warps).apply(function)
        if job.verify:
            verify(function)
    axes = AxisAnalysis(function)
    settle_orders(function, axes, WarpPolicy(job.settings.num_warps))
    target = code_target(job.target, job.settings)
    function = assign_layouts(function, axes, target.policy)
    if job.verify:
        verify(function)
    lines = (
        Lines(job.source_name, job.reached.lines) if job.lineinfo and job.target.machine == "gpu" else None
    )
    return target.lower(function, axes, lines)
