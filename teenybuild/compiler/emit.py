"""LLVM IR to PTX or to a host object. The only user of ``llvmlite.binding``, which is imported at first use."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from teenybuild.diagnostics import BugError

if TYPE_CHECKING:
    import types


@cache
def _llvm() -> types.ModuleType:
    import llvmlite.binding as llvm

    # Straight-line strength reduction compares each multiplication with all before it: three quarters of the time that a tile with many
    # addresses takes, for fewer instructions than the assembler saves by itself.
    llvm.set_option("teenybuild", "-opt-disable=slsr")  # pyright: ignore[reportUnknownMemberType]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


def llvm_version() -> str:
    """LLVM's version and the binding's: both decide the output."""
    import llvmlite

    return f"{'.'.join(map(str, _llvm().llvm_version_info))}/{llvmlite.__version__}"


@cache
def _machine(triple: str, cpu: str, features: str, opt: int, reloc: str) -> Any:
    target = _llvm().Target.from_triple(triple)
    machine = target.create_target_machine(
        cpu=cpu, features=features, opt=opt, reloc=reloc, codemodel="default", jit=False
    )
    machine.set_asm_verbosity(False)
    return machine


def _parsed(text: str) -> Any:
    llvm = _llvm()
    context = llvm.create_context()
    try:
        module = llvm.parse_assembly(text, context)
        module.verify()
    except RuntimeError as wrong:
        raise BugError(f"LLVM refuses what we wrote: {wrong}") from None
    return module


def _optimise(module: Any, machine: Any) -> None:
    """What our own output needs: it is SSA already, with common subexpressions merged."""
    llvm = _llvm()
    options = llvm.create_pipeline_tuning_options(2)
    builder = llvm.create_pass_builder(machine, options)
    manager = llvm.create_new_module_pass_manager()
    manager.add_instruction_combine_pass()
    manager.add_new_gvn_pass()
    manager.add_simplify_cfg_pass()
    manager.run(module, builder)


def ptx(text: str, cpu: str, isa: str) -> str:
    """PTX for one architecture (``sm_90a``) in one version of the PTX ISA (``8.0``)."""
    machine = _machine("nvptx64-nvidia-cuda", cpu, f"+ptx{isa.replace('.', '')}", 3, "default")
    module = _parsed(text)
    _optimise(module, machine)
    return machine.emit_assembly(module)


def host_object(text: str, triple: str, cpu: str, features: str) -> bytes:
    """A relocatable, position-independent object file."""
    machine = _machine(triple, cpu, features, 3, "pic")
    module = _parsed(text)
    _optimise(module, machine)
    return machine.emit_object(module)


def host_assembly(text: str, triple: str, cpu: str, features: str) -> str:
    """The same as text, for people who want to read it."""
    machine = _machine(triple, cpu, features, 3, "pic")
    module = _parsed(text)
    _optimise(module, machine)
    return machine.emit_assembly(module)
