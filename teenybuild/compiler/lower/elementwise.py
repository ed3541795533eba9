"""Arithmetic, comparisons and casts, one lane at a time.

f16 and bf16 are computed in f32 and rounded back after every operation: for + − × ÷ that equals rounding the exact result once
(24 ≥ 2·11 + 2 bits), on every target alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from teenybuild.compiler.ir import arith, math, tt
from teenybuild.compiler.ir.constant import constant_of
from teenybuild.compiler.ir.core import Op
from teenybuild.compiler.ir.types import Pointer, dtype_of, element
from teenybuild.compiler.lower import fmod
from teenybuild.compiler.lower import math as functions
from teenybuild.compiler.lower.formula import Term, upper_half
from teenybuild.compiler.lower.lane import Lane, element_bits
from teenybuild.compiler.lower.machine import Extremum
from teenybuild.dtypes import DType, bf16, f16, f32, f64, i1, i64

Rule = Callable[[Lane, Op, Sequence[str]], str]

#: One rule an operation; a test proves that every elementwise operation has one.
RULES: dict[type[Op], Rule] = {}


def rule(*kinds: type[Op]) -> Callable[[Rule], Rule]:
    """Registers the lowering of operations."""

    def register(function: Rule) -> Rule:
        for kind in kinds:
            RULES[kind] = function
        return function

    return register


def is_narrow(dtype: DType) -> bool:
    """Whether arithmetic on it goes through f32."""
    return dtype in (f16, bf16)


def _in_f32(lane: Lane, dtype: DType, values: Sequence[str], compute: Callable[[Sequence[str]], str]) -> str:
    """Widens, computes in f32, rounds back; wider floats are computed as they are."""
    if not is_narrow(dtype):
        return compute(values)
    machine = lane.machine
    wide = [machine.widen(lane, v, dtype, f32) for v in values]
    return machine.narrow(lane, compute(wide), f32, dtype)


def _computed(dtype: DType) -> DType:
    return f32 if is_narrow(dtype) else dtype


#: Sums may be contracted, products may not: so nothing is, as that takes both.  But NVPTX then leaves ``.rn`` off its sums, and only
#: without it does ptxas see that 1 + exp(x) is no small number, and drop what a division does for those.
_FLOAT_OPCODES: dict[type[Op], str] = {
    arith.AddF: "fadd contract",
    arith.SubF: "fsub contract",
    arith.MulF: "fmul",
}


@rule(arith.AddF, arith.SubF, arith.MulF)
def _float(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    dtype = dtype_of(op.results[0].type)
    opcode, llvm = _FLOAT_OPCODES[type(op)], _computed(dtype).llvm
    return _in_f32(lane, dtype, operands, lambda v: lane.two(opcode, llvm, v[0], v[1]))


@rule(arith.DivF)
def _divide(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    dtype = dtype_of(op.results[0].type)

    def compute(v: Sequence[str]) -> str:
        if _computed(dtype) == f32:
            quick = lane.machine.approximate(lane, "div", v)
            if quick is not None:
                return quick
        return lane.two("fdiv", _computed(dtype).llvm, v[0], v[1])

    return _in_f32(lane, dtype, operands, compute)


@rule(arith.RemF)
def _float_remainder(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    dtype = dtype_of(op.results[0].type)
    return _in_f32(lane, dtype, operands, lambda v: fmod.remainder(lane, _computed(dtype), v[0], v[1]))


_EXTREMA: dict[type[Op], Extremum] = {
    arith.MaxNumF: "maxnum",
    arith.MinNumF: "minnum",
    arith.MaximumF: "maximum",
    arith.MinimumF: "minimum",
}


@rule(*_EXTREMA)
def _extremum(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    dtype = dtype_of(op.results[0].type)
    which = _EXTREMA[type(op)]
    return _in_f32(
        lane, dtype, operands, lambda v: lane.machine.extremum(lane, which, _computed(dtype), v[0], v[1])
    )


_INT_OPCODES: dict[type[Op], str] = {
    arith.AddI: "add",
    arith.SubI: "sub",
    arith.MulI: "mul",
    arith.AndI: "and",
    arith.OrI: "or",
    arith.XOrI: "xor",
    arith.ShLI: "shl",
    arith.ShRSI: "ashr",
    arith.ShRUI: "lshr",
}


@rule(*_INT_OPCODES)
def _int(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    llvm = dtype_of(op.results[0].type).llvm
    result = lane.two(_INT_OPCODES[type(op)], llvm, operands[0], operands[1])
    if isinstance(op, arith.ShLI | arith.ShRSI | arith.ShRUI) and constant_of(op.rhs) is None:
        # Out of range, a shift gives some value, but not one that lets LLVM drop whatever depends on it.
        return lane.op(f"freeze {lane.of(llvm)} {result}")
    return result


_DIVISIONS: dict[type[Op], str] = {
    arith.DivSI: "sdiv",
    arith.DivUI: "udiv",
    arith.RemSI: "srem",
    arith.RemUI: "urem",
}


@rule(*_DIVISIONS)
def _int_divide(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    dtype = dtype_of(op.results[0].type)
    return lane.machine.divide(lane, _DIVISIONS[type(op)], dtype, operands[0], operands[1])


_INT_EXTREMA: dict[type[Op], str] = {
    arith.MaxSI: "smax",
    arith.MaxUI: "umax",
    arith.MinSI: "smin",
    arith.MinUI: "umin",
}


@rule(*_INT_EXTREMA)
def _int_extremum(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return lane.intrinsic(_INT_EXTREMA[type(op)], dtype_of(op.results[0].type).llvm, operands[0], operands[1])


@rule(arith.CmpI)
def _compare_ints(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    op = cast(arith.CmpI, op)
    return lane.compare(f"icmp {op.predicate}", dtype_of(op.lhs.type).llvm, operands[0], operands[1])


@rule(arith.CmpF)
def _compare_floats(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    op = cast(arith.CmpF, op)
    dtype = dtype_of(op.lhs.type)
    if is_narrow(dtype):
        operands = [lane.machine.widen(lane, v, dtype, f32) for v in operands]
    return lane.compare(f"fcmp {op.predicate}", _computed(dtype).llvm, operands[0], operands[1])


@rule(arith.Select)
def _select(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    carrier = lane.machine.carrier(element(op.results[0].type))
    return lane.select(operands[0], carrier, operands[1], operands[2])


# Casts --------------------------------------------------------------------------------------------------------


@rule(arith.ExtF)
def _extend_float(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    op = cast(arith.ExtF, op)
    return lane.machine.widen(lane, operands[0], dtype_of(op.source.type), op.to)


@rule(arith.TruncF)
def _truncate_float(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    op = cast(arith.TruncF, op)
    return lane.machine.narrow(lane, operands[0], dtype_of(op.source.type), op.to)


_INT_CASTS: dict[type[Op], str] = {arith.ExtSI: "sext", arith.ExtUI: "zext", arith.TruncI: "trunc"}


@rule(*_INT_CASTS)
def _cast_int(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    op = cast(arith.Cast, op)
    return lane.convert(_INT_CASTS[type(op)], dtype_of(op.source.type).llvm, operands[0], op.to.llvm)


@rule(arith.SIToFP, arith.UIToFP)
def _int_to_float(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    op = cast(arith.Cast, op)
    source = dtype_of(op.source.type)
    signed = isinstance(op, arith.SIToFP)
    opcode = "sitofp" if signed else "uitofp"
    if not is_narrow(op.to):
        return lane.convert(opcode, source.llvm, operands[0], op.to.llvm)
    value = operands[0]
    if source.bits <= 16:
        # Exact in f32: one rounding.
        return lane.machine.narrow(lane, lane.convert(opcode, source.llvm, value, "float"), f32, op.to)
    if source.bits == 64:
        value = _sticky(lane, value, signed)
    return lane.machine.narrow(lane, lane.convert(opcode, source.llvm, value, "double"), f64, op.to)


def _sticky(lane: Lane, value: str, signed: bool) -> str:
    """A 64-bit integer made exact in f64 without changing how it rounds to a narrow float: its low bits are ORed into one."""
    low, unit = (1 << 11) - 1, 1 << 11
    lowest = lane.two("and", "i64", value, lane.number(low, i64))
    nonzero = lane.compare("icmp ne", "i64", lowest, lane.number(0, i64))
    cut = lane.two("and", "i64", value, lane.number(-unit, i64))
    odd = lane.two("or", "i64", cut, lane.number(unit, i64))
    squeezed = lane.select(nonzero, "i64", odd, cut)
    if signed:
        above = lane.two("add", "i64", value, lane.number(1 << 52, i64))
        small = lane.compare("icmp ult", "i64", above, lane.number(1 << 53, i64))
    else:
        small = lane.compare("icmp ult", "i64", value, lane.number(1 << 53, i64))
    return lane.select(small, "i64", value, squeezed)


@rule(arith.FPToSI, arith.FPToUI)
def _float_to_int(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    """Toward zero, saturating; NaN gives 0 (``cvt.rzi`` on a GPU)."""
    op = cast(arith.Cast, op)
    value = Term(lane, operands[0], dtype_of(op.source.type))
    return value.saturated(op.to, signed=isinstance(op, arith.FPToSI)).name


@rule(tt.Bitcast)
def _bitcast(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    op = cast(tt.Bitcast, op)
    source, to = lane.machine.carrier(element(op.source.type)), lane.machine.carrier(op.to)
    return operands[0] if source == to else lane.convert("bitcast", source, operands[0], to)


@rule(tt.IntToPtr, tt.PtrToInt)
def _address(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    source, to = (lane.machine.carrier(element(v.type)) for v in (op.operands[0], op.results[0]))
    opcode = "inttoptr" if isinstance(op, tt.IntToPtr) else "ptrtoint"
    return lane.convert(opcode, source, operands[0], to)


@rule(tt.AddPtr)
def _add_pointer(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    op = cast(tt.AddPtr, op)
    pointer = element(op.pointer.type)
    assert isinstance(pointer, Pointer)
    offset, dtype = operands[1], dtype_of(op.offset.type)
    if dtype.bits < 64:
        offset = lane.convert("zext" if dtype == i1 else "sext", dtype.llvm, offset, "i64")
    unit = f"i{element_bits(pointer.pointee)}"
    return lane.op(f"getelementptr {unit}, {lane.type(pointer)} {operands[0]}, {lane.of('i64')} {offset}")


# Functions ----------------------------------------------------------------------------------------------------


@rule(math.AbsF)
def _absolute_float(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    dtype = dtype_of(op.results[0].type)
    return _in_f32(lane, dtype, operands, lambda v: lane.intrinsic("fabs", _computed(dtype).llvm, v[0]))


@rule(math.AbsI)
def _absolute_int(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    llvm = dtype_of(op.results[0].type).llvm
    minus = lane.two("sub", llvm, lane.splat(llvm, "0"), operands[0])
    negative = lane.compare("icmp slt", llvm, operands[0], lane.splat(llvm, "0"))
    return lane.select(negative, llvm, minus, operands[0])


@rule(math.Fma)
def _fma(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return lane.intrinsic("fma", dtype_of(op.results[0].type).llvm, *operands)


@rule(math.Floor, math.Ceil)
def _round(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    name = "floor" if isinstance(op, math.Floor) else "ceil"
    return lane.intrinsic(name, dtype_of(op.results[0].type).llvm, operands[0])


@rule(tt.PreciseSqrt)
def _precise_sqrt(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return lane.intrinsic("sqrt", dtype_of(op.results[0].type).llvm, operands[0])


@rule(tt.PreciseDivF)
def _precise_division(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return lane.two("fdiv", dtype_of(op.results[0].type).llvm, operands[0], operands[1])


@rule(tt.MulhiUI)
def _upper_half(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    a, b = (Term(lane, name, dtype_of(op.results[0].type)) for name in operands)
    return upper_half(a, b).name


@rule(tt.Hint)
def _hint(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return operands[0]


@rule(math.Exp)
def _exp(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return functions.exp(lane, cast(math.Exp, op), operands[0])


@rule(math.Exp2)
def _exp2(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return functions.exp2(lane, cast(math.Exp2, op), operands[0])


@rule(math.Log)
def _log(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return functions.log(lane, cast(math.Log, op), operands[0])


@rule(math.Log2)
def _log2(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return functions.log2(lane, cast(math.Log2, op), operands[0])


_LIBRARY: dict[type[Op], str] = {math.Sin: "sin", math.Cos: "cos", math.Erf: "erf"}


@rule(tt.ExternElementwise, *_LIBRARY)
def _library(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    # Loaded with the first kernel that needs it.
    from teenybuild.compiler.lower import functions as library

    if isinstance(op, tt.ExternElementwise):
        symbol = op.symbol
    else:
        symbol = f"__nv_{_LIBRARY[type(op)]}{'' if dtype_of(op.results[0].type) == f64 else 'f'}"
    terms = [Term(lane, name, dtype_of(v.type)) for name, v in zip(operands, op.operands, strict=True)]
    return library.call(lane, symbol, terms, dtype_of(op.results[0].type)).name


@rule(math.Sqrt)
def _sqrt(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return functions.sqrt(lane, cast(math.Sqrt, op), operands[0])


@rule(math.Rsqrt)
def _rsqrt(lane: Lane, op: Op, operands: Sequence[str]) -> str:
    return functions.rsqrt(lane, cast(math.Rsqrt, op), operands[0])
