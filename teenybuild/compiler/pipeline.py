"""The way of one specialisation: source → tile IR → passes → layouts → LLVM IR → PTX or shared object."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from teenybuild.compiler.abi import Description, describe
from teenybuild.compiler.frontend.kernel import Instance, read_kernel
from teenybuild.compiler.frontend.reach import Reached
from teenybuild.compiler.ir import core
from teenybuild.compiler.ir.printer import print_function
from teenybuild.compiler.ir.verifier import verify
from teenybuild.compiler.layout.assign import assign_layouts, settle_orders
from teenybuild.compiler.layout.axes import AxisAnalysis
from teenybuild.compiler.layout.block_copies import BlockCopies
from teenybuild.compiler.layout.check import check_layouts
from teenybuild.compiler.layout.operands import FitOperands
from teenybuild.compiler.layout.policy import TF32_SINCE, Policy, gpu_policy
from teenybuild.compiler.lower.blocks import MAP_ALIGNMENT, MAP_BYTES
from teenybuild.compiler.lower.debug import Lines
from teenybuild.compiler.passes.access import shared_arguments, written_arguments
from teenybuild.compiler.passes.anchor import AnchorPointers
from teenybuild.compiler.passes.fuse import FuseMultiplyAdd
from teenybuild.compiler.passes.hoist import HoistLoads
from teenybuild.compiler.passes.order import OrderScalars
from teenybuild.compiler.passes.products import JoinProducts
from teenybuild.compiler.passes.rearrange import Rearrange
from teenybuild.compiler.passes.simplify import Simplify
from teenybuild.compiler.passes.streams import streams
from teenybuild.compiler.schedule.overlap import Overlap
from teenybuild.compiler.targets.base import CodeTarget, Lowered, Settings
from teenybuild.diagnostics import error
from teenybuild.targets import ARCHITECTURES, Target, ptx_number

#: The host baseline, whatever the build machine has: AVX2, FMA, F16C (x86-64 psABI, level 3).
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
    #: Whether the kernel's assertions are carried out at run time and, on the host, its accesses checked.
    debug: bool = False
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


def code_target(target: Target, settings: Settings, ptx: str) -> CodeTarget:
    """The code generator of a target. Each is loaded when it is first needed."""
    if target.machine == "gpu":
        from teenybuild.compiler.targets.nvptx import NvptxTarget

        assert target.arch is not None
        return NvptxTarget(target.arch, settings, ptx)
    from teenybuild.compiler.targets.host import HostTarget

    return HostTarget(settings, emulated=target.arch)


#: The GPU whose layouts say in which order reductions combine, whatever a program is built for.
_REFERENCE = ARCHITECTURES["sm_90a"]


class Pass(Protocol):
    """A step from tile IR to tile IR."""

    def apply(self, function: core.Function) -> None:
        """Rewrites the function in place."""
        ...


def passes(job: Job) -> tuple[Pass, ...]:
    """What happens to tile IR between ``.mlir`` and layouts, in order."""
    settings = job.settings
    # Before anything else: it knows the patterns of what the front end writes.
    rearrange = Rearrange()
    # On simplified IR, where "has no other use" is true as it stands; it leaves products without uses and constants twice.
    fuse = (FuseMultiplyAdd(), Simplify()) if settings.enable_fp_fusion else ()
    # Where lanes wait for each other; on the final program, while a load is still one operation.
    lanes = (
        (AnchorPointers(), HoistLoads(settings.threads), OrderScalars())
        if job.target.arch is not None
        else ()
    )
    return (rearrange, JoinProducts(), *fuse, *lanes)


def _apply(job: Job, steps: Iterable[Pass], function: core.Function) -> None:
    for step in steps:
        step.apply(function)
        if job.verify:
            verify(function)


def front(job: Job) -> core.Function:
    """Tile IR, simplified: what ``.mlir`` shows. Raises :class:`UserError` with all that is wrong with the kernel."""
    job.settings.check()
    function = read_kernel(job.reached.function, job.instance, job.debug, job.settings.num_warps)
    # The front end writes constants and dead values freely; everything after is faster without them.
    _apply(job, [Simplify()], function)
    return function


def compile_job(job: Job) -> Product:
    """Compiles one specialisation."""
    from teenybuild.compiler import elf, emit  # LLVM is loaded only where something is compiled

    function = front(job)
    mlir = print_function(function)
    description = describe(job.instance, function)
    traffic = streams(function)
    target = code_target(job.target, job.settings, job.ptx)
    lowered = lower(job, function, target)
    if _too_much_shared(job, lowered):
        lowered = lower(job, front(job), target, across=False)
    _check_resources(job, lowered)
    _check_parameters(job, description.packed_size, len(lowered.maps))
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


def _check_resources(job: Job, lowered: Lowered) -> None:
    """Raises :class:`UserError` where a program needs more than one may have."""
    arch = job.target.arch
    if arch is not None and _too_much_shared(job, lowered):
        kernel = job.reached.function
        raise error(
            f"a program needs {lowered.shared:,} bytes of shared memory, and {arch.name} has {arch.shared:,} for one",
            kernel.module.source.span(kernel.node),
            hint=f"lower num_stages (here {job.settings.num_stages}) or the sides of the tiles that it multiplies or moves",
        )


#: Bytes of parameters that a kernel may have, before and from a version of the PTX ISA on (found with the assembler, nvJitLink 13.5).
_PARAMETERS, _MORE_SINCE, _MORE_PARAMETERS = 4352, "8.1", 32764
#: What follows the arguments: the grid's extents and an address; then tensor maps.
_TAIL_BYTES = 24


def _check_parameters(job: Job, arguments: int, maps: int) -> None:
    """Raises :class:`UserError` where a kernel for a GPU is passed more than it can be."""
    if job.target.machine != "gpu":
        return
    size = -(-arguments // 8) * 8 + _TAIL_BYTES
    if maps:
        size = -(-size // MAP_ALIGNMENT) * MAP_ALIGNMENT + MAP_BYTES * maps
    has_more = ptx_number(job.ptx) >= ptx_number(_MORE_SINCE)
    most = _MORE_PARAMETERS if has_more else _PARAMETERS
    if size > most:
        kernel = job.reached.function
        raise error(
            f"a launch passes {size:,} bytes, and a kernel of PTX {job.ptx} takes {most:,}",
            kernel.module.source.span(kernel.node),
            hint="pass fewer arguments, or a pointer to them"
            if has_more
            else f'ptx = "{_MORE_SINCE}" under [build] (or TEENYBUILD_PTX_VERSION={_MORE_SINCE}) allows {_MORE_PARAMETERS:,}',
        )


def _too_much_shared(job: Job, lowered: Lowered) -> bool:
    return lowered.on_gpu and job.target.arch is not None and lowered.shared > job.target.arch.shared


def lower(job: Job, function: core.Function, target: CodeTarget, *, across: bool = True) -> Lowered:
    """LLVM IR from simplified tile IR (which is rewritten on the way). ``across``: see :class:`Overlap`."""
    function, axes = scheduled(job, function, target.policy, across=across)
    lines = Lines(job.source_name, job.reached.text, job.reached.lines)
    return target.lower(function, axes, lines, lineinfo=job.lineinfo, checked=job.debug)


def scheduled(
    job: Job, function: core.Function, policy: Policy, *, across: bool = True
) -> tuple[core.Function, AxisAnalysis]:
    """Simplified tile IR (which is rewritten on the way) with layouts, and with what runs beside the program: what a target lowers."""
    _apply(job, passes(job), function)
    axes = AxisAnalysis(function)
    # Reductions combine in the order of one GPU layout, whatever the target's own.
    settle_orders(function, axes, gpu_policy(_REFERENCE, job.settings.num_warps))
    # Behind the orders, which are those of the program as it was written; what it makes is no address, of which axes know anything.
    arch = job.target.arch
    _apply(job, [FitOperands(policy, tf32=arch is None or arch.sm >= TF32_SINCE)], function)
    blocks = None
    if policy.copies_blocks:
        blocks = BlockCopies(
            function.body.args, axes, shared_arguments(function), written_arguments(function)
        )
    function = assign_layouts(function, axes, policy, blocks)
    overlap = Overlap(
        job.settings.num_stages if policy.copies else None,
        axes,
        blocks,
        across,
    )
    if job.verify:
        verify(function)
        check_layouts(function, policy)
    _apply(job, [overlap], function)
    if job.verify:
        check_layouts(function, policy)
    return function, axes
