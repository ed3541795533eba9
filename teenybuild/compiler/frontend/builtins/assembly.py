"""Inline assembly, of the target that a kernel is compiled for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import a_dtype, a_flag, constant_int
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe, ir_element, is_tuple
from teenybuild.compiler.ir import tt
from teenybuild.dtypes import DType, i32, i64

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

_MOST_PACKED = 64


@builtin("tl.inline_asm_elementwise")
def inline_asm_elementwise(
    s: Semantics, asm: object, constraints: object, args: object, dtype: object, is_pure: object, pack: object
) -> Tensor | tuple[Tensor, ...]:
    name = "tl.inline_asm_elementwise"
    for text, what in ((asm, "the assembly"), (constraints, "the constraints")):
        if not isinstance(text, str):
            raise s.builder.error(f"{what} of {name} is a string known at compile time, got {describe(text)}")
    assert isinstance(asm, str)
    assert isinstance(constraints, str)
    count = constant_int(s, pack, f"pack of {name}")
    if not 1 <= count <= _MOST_PACKED or count & (count - 1):
        raise s.builder.error(f"pack of {name} is a power of two up to {_MOST_PACKED}, got {count}")
    wanted = [a_dtype(s, d, f"the dtype of {name}") for d in (dtype if is_tuple(dtype) else (dtype,))]
    values = [s.tensor(a) for a in (args if is_tuple(args) else (args,))]
    whole = values[0] if values else s.tensor(0)
    for value in values:
        whole, _ = s.broadcast(whole, value)
    shape = whole.shape
    values = [s.broadcast_to(v, shape) for v in values]
    _check_registers(s, constraints, wanted, values, count, name)
    dtypes = tuple(_plain(d) for d in wanted)
    pure = a_flag(s, is_pure, f"is_pure of {name}")
    op = tt.InlineAsm(asm, constraints, count, pure, tuple(v.value for v in values), dtypes, shape)
    results = [Tensor(r, d) for r, d in zip(s.builder.add(op).results, wanted, strict=True)]
    return tuple(results) if is_tuple(dtype) else results[0]


@builtin("tl.extra.cuda.globaltimer")
def globaltimer(s: Semantics) -> object:
    return inline_asm_elementwise(s, "mov.u64 $0, %globaltimer;", "=l", (), i64, False, 1)


@builtin("tl.extra.cuda.smid")
def smid(s: Semantics) -> object:
    return inline_asm_elementwise(s, "mov.u32 $0, %smid;", "=r", (), i32, True, 1)


def _plain(dtype: DType) -> DType:
    element = ir_element(dtype)
    assert isinstance(element, DType)
    return element


def _registers(bits: int, pack: int) -> int:
    """Registers that ``pack`` elements take: packed to 32 bits."""
    return -(-pack * max(bits, 8) // 32) if bits < 32 else pack


def _check_registers(
    s: Semantics, constraints: str, wanted: list[DType], values: list[Tensor], pack: int, name: str
) -> None:
    """As many results and operands as the constraints name."""
    parts = [part.strip() for part in constraints.split(",") if part.strip()]
    outs = [p for p in parts if p.startswith("=")]
    ins = [p for p in parts if not p.startswith(("=", "~"))]
    odd = next((p for p in [*outs, *ins] if not re.fullmatch(r"=?&?[rlhfdcbnx]|\d+", p)), None)
    if odd is not None:
        raise s.builder.error(
            f"the constraint {odd!r} of {name} is none that PTX has",
            "r, l, h are registers of 32, 64 and 16 bits, f and d floats of 32 and 64; = marks a result",
        )
    need_out = sum(_registers(d.bits, pack) for d in wanted)
    need_in = sum(_registers(64 if v.is_pointer else v.scalar.bits, pack) for v in values)
    for what, needed, given in (("result", need_out, len(outs)), ("operand", need_in, len(ins))):
        if needed != given:
            raise s.builder.error(
                f"the constraints of {name} name {given} {what} registers, and {pack} elements of its {what}s take {needed}",
                "elements of fewer than 32 bits are packed into registers of 32",
            )
