"""What a GPU has instructions for: conversions that round and saturate, pairs of halves, functions that are nearly right."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

from teenybuild.compiler.ir import arith
from teenybuild.compiler.ir.core import Op, Value
from teenybuild.compiler.ir.types import element
from teenybuild.compiler.layout.linear import Layout
from teenybuild.compiler.lower import scalars
from teenybuild.compiler.lower.lane import Lane
from teenybuild.compiler.lower.machine import Extremum, Machine
from teenybuild.compiler.lower.text import Text
from teenybuild.compiler.targets.nvptx_words import gathered, recast
from teenybuild.dtypes import DType, bf16, f8e4m3, f8e5m2, f16, f32
from teenybuild.targets import Arch

#: The first architecture that converts to and from 8 bits in every version of PTX that it has, and how LLVM calls pairs of them.
_FP8_CONVERSIONS = 90
_FP8_PAIRS = {f8e4m3: "e4m3x2", f8e5m2: "e5m2x2"}
#: Sums and products of f16 and bf16 that a GPU does two at a time, rounded once as by way of f32.
_PAIRED: dict[type[Op], str] = {arith.AddF: "fadd", arith.SubF: "fsub", arith.MulF: "fmul"}


class GpuArithmetic(Machine):
    """The part of the machine that computes."""

    def __init__(self, arch: Arch) -> None:
        self.arch = arch
        #: What bf16 numbers were before they were rounded.
        self._rounded: dict[tuple[Text, str], str] = {}

    @abstractmethod
    def give(self, value: Value, names: Sequence[str]) -> None:
        """The registers of a value of the program."""

    def together(self, op: Op) -> bool:
        opcode = _PAIRED.get(type(op))
        kind = element(op.results[0].type)
        known = kind == f16 or (kind == bf16 and self.arch.sm >= 90)
        if opcode is None or not known or cast(Layout, op.results[0].layout).count == 1:
            return False
        text = self.text
        carrier, packed = self.carrier(kind), f"<2 x {'half' if kind == f16 else 'bfloat'}>"
        a, b = (self.registers(self.uniform, v) for v in op.operands)
        found: list[str] = []
        for r in range(0, len(a), 2):
            left, right = (recast(text, packed, *gathered(text, carrier, (v[r], v[r + 1]))) for v in (a, b))
            both = recast(text, f"<2 x {carrier}>", text.op(f"{opcode} {packed} {left}, {right}"), packed)
            found += [text.op(f"extractelement <2 x {carrier}> {both}, i64 {i}") for i in range(2)]
        self.give(op.results[0], found)
        return True

    def narrow(self, lane: Lane, value: str, source: DType, to: DType) -> str:
        if to.is_fp8:
            return self._narrow_to_fp8(lane, value, source, to)
        if to == bf16:
            if source.bits == 64:
                value = scalars.f64_to_f32_odd(lane, value)
            if self.arch.sm < 80:
                return scalars.f32_to_bf16(lane, value)
            rounded = lane.convert("fptrunc", "float", value, "bfloat")
            found = lane.convert("bitcast", "bfloat", rounded, "i16")
            self._rounded[lane.text, found] = value
            return found
        return lane.convert("fptrunc", source.llvm, value, to.llvm)

    def _narrow_to_fp8(self, lane: Lane, value: str, source: DType, to: DType) -> str:
        value = scalars.to_be_narrowed(lane, value, source)
        if self.arch.sm < _FP8_CONVERSIONS:
            return scalars.f32_to_fp8(lane, value, to)
        name = f"@llvm.nvvm.ff.to.{_FP8_PAIRS[to]}.rn"
        lane.text.declare(f"i16 {name}(float, float)")
        pair = lane.op(f"call i16 {name}(float 0.0, float {value})")
        return lane.op(f"trunc i16 {pair} to i8")

    def widen(self, lane: Lane, value: str, source: DType, to: DType) -> str:
        if to == f32 and (lane.text, value) in self._rounded:
            # One instruction, and none of the slow ones that convert a single float: rounded into the upper half of a word, zero in the lower.
            name = "@llvm.nvvm.ff2bf16x2.rn"
            lane.text.declare(f"<2 x bfloat> {name}(float, float)")
            pair = lane.op(f"call <2 x bfloat> {name}(float {self._rounded[lane.text, value]}, float 0.0)")
            return lane.op(f"bitcast <2 x bfloat> {pair} to float")
        if not source.is_fp8 or self.arch.sm < _FP8_CONVERSIONS:
            return scalars.widen(lane, value, source, to)
        name = f"@llvm.nvvm.{_FP8_PAIRS[source]}.to.f16x2.rn"
        lane.text.declare(f"<2 x half> {name}(i16)")
        pair = lane.op(f"call <2 x half> {name}(i16 {lane.op(f'zext i8 {value} to i16')})")
        half = lane.op(f"extractelement <2 x half> {pair}, i64 0")
        if to == f16:
            return half
        wide = lane.convert("fpext", "half", half, "float")
        return (
            wide
            if to == f32
            else self.narrow(lane, wide, f32, to)
            if to == bf16
            else scalars.widen(lane, wide, f32, to)
        )

    def extremum(self, lane: Lane, which: Extremum, dtype: DType, a: str, b: str) -> str:
        plain = "maxnum" if which.startswith("max") else "minnum"
        if which == plain:
            return lane.intrinsic(plain, dtype.llvm, a, b)
        if dtype == f32 and self.arch.sm >= 80:
            return lane.intrinsic(which, dtype.llvm, a, b)
        return scalars.select_nan(lane, dtype.llvm, a, b, lane.intrinsic(plain, dtype.llvm, a, b))

    def truncate(self, lane: Lane, value: str, source: DType, bits: int, signed: bool) -> str:
        # The instruction saturates. LLVM's intrinsic for that is not made of it, but compares and selects around it.
        to, of = ("i" if bits == 32 else "ll"), ("f" if source == f32 else "d")
        name = f"@llvm.nvvm.{of}2{'' if signed else 'u'}{to}.rz"
        lane.text.declare(f"i{bits} {name}({source.llvm})")
        whole = lane.op(f"call i{bits} {name}({source.llvm} {value})")
        if bits == 32 and source == f32:
            return whole
        # With 64 bits on either side, NaN gives the integer's highest bit (PTX ISA, cvt).
        nan = lane.compare("fcmp uno", source.llvm, value, value)
        return lane.select(nan, f"i{bits}", "0", whole)

    def divide(self, lane: Lane, opcode: str, dtype: DType, a: str, b: str) -> str:
        return lane.two(opcode, dtype.llvm, a, scalars.safe_divisor(lane, opcode, dtype, a, b))

    def approximate(self, lane: Lane, function: str, operands: Sequence[str]) -> str | None:
        # ex2, sqrt and rsqrt: 2 ULP; div.full: 2 ULP and no slow path; the others have absolute bounds (PTX ISA, floating-point instructions).
        asm = {
            "exp2": "ex2.approx.f32 $0, $1;",
            "exp2.ftz": "ex2.approx.ftz.f32 $0, $1;",
            "log2": "lg2.approx.f32 $0, $1;",
            "sin": "sin.approx.f32 $0, $1;",
            "cos": "cos.approx.f32 $0, $1;",
            "sqrt": "sqrt.approx.f32 $0, $1;",
            "rsqrt": "rsqrt.approx.f32 $0, $1;",
            "div": "div.full.f32 $0, $1, $2;",
            "rcp64h": "rcp.approx.ftz.f64 $0, $1;",
        }[function]
        if function == "rcp64h":
            return lane.op(f'call double asm "{asm}", "=d,d"(double {operands[0]}) #2')
        constraints = ",".join(["=f", *["f"] * len(operands)])
        arguments = ", ".join(f"float {o}" for o in operands)
        return lane.op(f'call float asm "{asm}", "{constraints}"({arguments}) #2')
