"""The remainder of floats, exactly: C's fmod, as a private function of the module.

``x - trunc(x / y) * y`` is wrong as soon as the quotient outgrows the mantissa.  Here the mantissas are divided as integers, as many bits of the
exponents' difference at a time as fit a 64-bit word.
"""

from __future__ import annotations

from teenybuild.compiler.lower.lane import Lane
from teenybuild.dtypes import DType


def remainder(lane: Lane, dtype: DType, x: str, y: str) -> str:
    """``x`` modulo ``y`` with the sign of ``x``, in each lane."""
    llvm = dtype.llvm
    name = f"@teeny.fmod.{dtype.name}"
    lane.text.declare("i64 @llvm.ctlz.i64(i64, i1)")
    lane.text.define(name, _definition(name, dtype))
    if lane.width == 1:
        return lane.op(f"call {llvm} {name}({llvm} {x}, {llvm} {y})")
    ty = lane.of(llvm)
    result = "poison"
    for i in range(lane.width):
        a = lane.op(f"extractelement {ty} {x}, i64 {i}")
        b = lane.op(f"extractelement {ty} {y}, i64 {i}")
        r = lane.op(f"call {llvm} {name}({llvm} {a}, {llvm} {b})")
        result = lane.op(f"insertelement {ty} {result}, {llvm} {r}, i64 {i}")
    return result


def _definition(name: str, dtype: DType) -> str:
    llvm, bits, mantissa = dtype.llvm, dtype.bits, dtype.mantissa
    integer = f"i{bits}"
    sign = 1 << (bits - 1)
    # Bits of the exponents' difference that one step takes: the partial remainder, below 2^(mantissa + 1), must still fit.
    step = 63 - (mantissa + 1)
    one = 1 << mantissa
    infinity = ((1 << (bits - mantissa - 1)) - 1) << mantissa
    signed = sign - (1 << bits)
    return f"""define internal {llvm} {name}({llvm} %x, {llvm} %y) #1 {{
entry:
  %xb = bitcast {llvm} %x to {integer}
  %yb = bitcast {llvm} %y to {integer}
  %s = and {integer} %xb, {signed}
  %xa = and {integer} %xb, {sign - 1}
  %ya = and {integer} %yb, {sign - 1}
  %y0 = icmp eq {integer} %ya, 0
  %xbig = icmp uge {integer} %xa, {infinity}
  %ynan = icmp ugt {integer} %ya, {infinity}
  %bad0 = or i1 %y0, %xbig
  %bad = or i1 %bad0, %ynan
  br i1 %bad, label %nan, label %check
nan:
  ret {llvm} 0x7FF8000000000000
check:
  %less = icmp ult {integer} %xa, %ya
  br i1 %less, label %self, label %split
self:
  ret {llvm} %x
split:
  %xe0 = lshr {integer} %xa, {mantissa}
  %ye0 = lshr {integer} %ya, {mantissa}
  %xsub = icmp eq {integer} %xe0, 0
  %ysub = icmp eq {integer} %ye0, 0
  %xe = select i1 %xsub, {integer} 1, {integer} %xe0
  %ye = select i1 %ysub, {integer} 1, {integer} %ye0
  %xm0 = and {integer} %xa, {one - 1}
  %ym0 = and {integer} %ya, {one - 1}
  %xm1 = or {integer} %xm0, {one}
  %ym1 = or {integer} %ym0, {one}
  %xm2 = select i1 %xsub, {integer} %xm0, {integer} %xm1
  %ym2 = select i1 %ysub, {integer} %ym0, {integer} %ym1
  %xm = {"zext i32 %xm2 to i64" if bits == 32 else "add i64 %xm2, 0"}
  %ym = {"zext i32 %ym2 to i64" if bits == 32 else "add i64 %ym2, 0"}
  %d = sub {integer} %xe, %ye
  %r0 = urem i64 %xm, %ym
  br label %loop
loop:
  %r = phi i64 [ %r0, %split ], [ %r1, %turn ]
  %left = phi {integer} [ %d, %split ], [ %left1, %turn ]
  %done = icmp eq {integer} %left, 0
  br i1 %done, label %build, label %turn
turn:
  %fits = icmp ult {integer} %left, {step}
  %now = select i1 %fits, {integer} %left, {integer} {step}
  %wide = {"zext i32 %now to i64" if bits == 32 else "add i64 %now, 0"}
  %shifted = shl i64 %r, %wide
  %r1 = urem i64 %shifted, %ym
  %left1 = sub {integer} %left, %now
  br label %loop
build:
  %zero = icmp eq i64 %r, 0
  %lead0 = call i64 @llvm.ctlz.i64(i64 %r, i1 false)
  %lead = sub i64 %lead0, {63 - mantissa}
  %ye64 = {"zext i32 %ye to i64" if bits == 32 else "add i64 %ye, 0"}
  %room = sub i64 %ye64, 1
  %normal = icmp ult i64 %lead, %ye64
  %up = select i1 %normal, i64 %lead, i64 %room
  %upz = select i1 %zero, i64 0, i64 %up
  %m = shl i64 %r, %upz
  %e = sub i64 %ye64, %upz
  %hidden = lshr i64 %m, {mantissa}
  %sub = icmp eq i64 %hidden, 0
  %e1 = select i1 %sub, i64 0, i64 %e
  %frac = and i64 %m, {one - 1}
  %es = shl i64 %e1, {mantissa}
  %bits = or i64 %es, %frac
  %out = {"trunc i64 %bits to i32" if bits == 32 else "add i64 %bits, 0"}
  %signed = or {integer} %out, %s
  %f = bitcast {integer} %signed to {llvm}
  ret {llvm} %f
}}"""
