"""Atomic steps on a CPU: lane by lane, in private functions of the module. Programs run on several cores, so they are real ones."""

from __future__ import annotations

from collections.abc import Sequence

from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import Atomic
from teenybuild.compiler.targets.host_arrays import size_of
from teenybuild.dtypes import bf16

#: LLVM's orderings, of a success and of a failed comparison.
_ORDERINGS = {
    "relaxed": ("monotonic", "monotonic"),
    "acquire": ("acquire", "acquire"),
    "release": ("release", "monotonic"),
    "acq_rel": ("acq_rel", "acquire"),
}


def step(
    lane: Lane, how: Atomic, carrier: str, pointer: str, mask: str | None, operands: Sequence[str]
) -> str:
    """What was there, a lane each; masked-off lanes get 0."""
    ty, name = lane.of(carrier), f"@teeny.atomic.{how.kind}.{how.element}.{how.ordering}.{lane.width}"
    lane.text.define(name, _function(name, how, carrier, lane.width))
    held = mask if mask is not None else lane.splat("i1", "true")
    arguments = [f"{lane.of('ptr')} {pointer}", f"{lane.of('i1')} {held}", *(f"{ty} {v}" for v in operands)]
    return lane.op(f"call {ty} {name}({', '.join(arguments)})")


def _function(name: str, how: Atomic, carrier: str, width: int) -> str:
    def vector(llvm: str) -> str:
        return llvm if width == 1 else f"<{width} x {llvm}>"

    def pick(llvm: str, source: str, i: int, result: str) -> str:
        if width == 1:
            return f"  {result} = freeze {llvm} {source}\n"
        return f"  {result} = extractelement {vector(llvm)} {source}, i64 {i}\n"

    ty = vector(carrier)
    values = ("%a", "%b") if how.kind == "cas" else ("%a",)
    body, current, block = "", "zeroinitializer" if width > 1 else _zero(carrier), "entry"
    for i in range(width):
        body += pick("i1", "%mask", i, f"%m{i}")
        body += f"  br i1 %m{i}, label %do{i}, label %next{i}\ndo{i}:\n"
        body += pick("ptr", "%pointers", i, f"%p{i}")
        for value in values:
            body += pick(carrier, value, i, f"{value}{i}")
        body += _one(how, carrier, i)
        if width == 1:
            body += f"  %v{i} = freeze {carrier} %old{i}\n"
        else:
            body += f"  %v{i} = insertelement {ty} {current}, {carrier} %old{i}, i64 {i}\n"
        last = f"after{i}" if _loops(how) else f"do{i}"
        body += f"  br label %next{i}\nnext{i}:\n"
        body += f"  %r{i} = phi {ty} [ %v{i}, %{last} ], [ {current}, %{block} ]\n"
        current, block = f"%r{i}", f"next{i}"
    given = "".join(f", {ty} {value}" for value in values)
    return (
        f"define internal {ty} {name}({vector('ptr')} %pointers, {vector('i1')} %mask{given}) #1 {{\nentry:\n"
        f"{body}  ret {ty} {current}\n}}"
    )


def _zero(carrier: str) -> str:
    return {"float": "0.0", "double": "0.0", "half": "0.0"}.get(carrier, "0")


def _loops(how: Atomic) -> bool:
    """f16 and bf16 are added by comparing and swapping until nobody came between."""
    return how.kind == "fadd" and how.element.bits == 16


def _one(how: Atomic, carrier: str, i: int) -> str:
    """One lane's step: ``%old`` from ``%p``, ``%a`` and ``%b``."""
    ordering, failed = _ORDERINGS[how.ordering]
    align = size_of(carrier)
    if how.kind == "cas":
        bits = f"i{8 * align}"
        return (
            f"  %x{i} = bitcast {carrier} %a{i} to {bits}\n  %y{i} = bitcast {carrier} %b{i} to {bits}\n"
            f"  %pair{i} = cmpxchg ptr %p{i}, {bits} %x{i}, {bits} %y{i} {ordering} {failed}, align {align}\n"
            f"  %seen{i} = extractvalue {{ {bits}, i1 }} %pair{i}, 0\n"
            f"  %old{i} = bitcast {bits} %seen{i} to {carrier}\n"
        )
    if not _loops(how):
        kind = "xchg" if how.kind == "exch" else how.kind
        return f"  %old{i} = atomicrmw {kind} ptr %p{i}, {carrier} %a{i} {ordering}, align {align}\n"
    return (
        f"  %first{i} = load atomic i16, ptr %p{i} monotonic, align 2\n"
        f"  br label %again{i}\nagain{i}:\n"
        f"  %now{i} = phi i16 [ %first{i}, %do{i} ], [ %seen{i}, %again{i} ]\n"
        f"{_add_bf16(i) if how.element == bf16 else _add_f16(i)}"
        f"  %pair{i} = cmpxchg ptr %p{i}, i16 %now{i}, i16 %new{i} {ordering} {failed}, align 2\n"
        f"  %seen{i} = extractvalue {{ i16, i1 }} %pair{i}, 0\n"
        f"  %won{i} = extractvalue {{ i16, i1 }} %pair{i}, 1\n"
        f"  br i1 %won{i}, label %after{i}, label %again{i}\nafter{i}:\n"
        f"  %old{i} = bitcast i16 %seen{i} to {carrier}\n"
    )


def _add_f16(i: int) -> str:
    return (
        f"  %half{i} = bitcast i16 %now{i} to half\n  %sum{i} = fadd half %half{i}, %a{i}\n"
        f"  %new{i} = bitcast half %sum{i} to i16\n"
    )


def _add_bf16(i: int) -> str:
    """In f32, rounded to nearest even; a NaN stays one."""
    lines = [
        f"%wide{i} = zext i16 %now{i} to i32",
        f"%high{i} = shl i32 %wide{i}, 16",
        f"%f{i} = bitcast i32 %high{i} to float",
        f"%awide{i} = zext i16 %a{i} to i32",
        f"%ahigh{i} = shl i32 %awide{i}, 16",
        f"%af{i} = bitcast i32 %ahigh{i} to float",
        f"%sum{i} = fadd float %f{i}, %af{i}",
        f"%bits{i} = bitcast float %sum{i} to i32",
        f"%down{i} = lshr i32 %bits{i}, 16",
        f"%odd{i} = and i32 %down{i}, 1",
        f"%bias{i} = add i32 %odd{i}, 32767",
        f"%up{i} = add i32 %bits{i}, %bias{i}",
        f"%cut{i} = lshr i32 %up{i}, 16",
        f"%nan{i} = fcmp uno float %sum{i}, %sum{i}",
        f"%quiet{i} = or i32 %down{i}, 64",
        f"%kept{i} = select i1 %nan{i}, i32 %quiet{i}, i32 %cut{i}",
        f"%new{i} = trunc i32 %kept{i} to i16",
    ]
    return "".join(f"  {line}\n" for line in lines)
