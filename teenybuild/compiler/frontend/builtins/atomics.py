"""Atomic steps on memory. Each gives what was there before it; 0 where its mask is off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from teenybuild.compiler.frontend.builtins.checks import an_operand, one_of
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.compiler.ir import tt
from teenybuild.compiler.ir.types import Pointer
from teenybuild.dtypes import INTEGERS, DType, bf16, f16, f32, f64, i1

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics

_How = tuple[tt.Ordering, tt.Scope]
#: One step: how, where, with which value, under which mask.
_Step = Callable[["Semantics", _How, Tensor, Tensor, Tensor | None], Tensor]

_ORDERINGS = ("acq_rel", "relaxed", "acquire", "release")
_SCOPES = ("gpu", "cta", "sys")


def _how(s: Semantics, sem: object, scope: object, name: str) -> _How:
    ordering = one_of(s, sem, _ORDERINGS, f"sem of {name}") or _ORDERINGS[0]
    reach = one_of(s, scope, _SCOPES, f"scope of {name}") or _SCOPES[0]
    return cast(tt.Ordering, ordering), cast(tt.Scope, reach)


def _address(s: Semantics, pointer: object, name: str) -> tuple[Tensor, DType]:
    if not isinstance(pointer, Tensor) or not isinstance(pointer.dtype, Pointer):
        raise s.builder.error(f"{name} needs a pointer, got {describe(pointer)}")
    return pointer, pointer.dtype.pointee


def _arguments(
    s: Semantics, pointer: object, val: object, mask: object, name: str, floats: tuple[DType, ...]
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Pointer, value in the pointee's dtype, and mask, in one shape."""
    where, dtype = _address(s, pointer, name)
    if dtype not in floats and not (dtype.is_int and dtype.bits >= 32):
        raise s.builder.error(f"{name} does not work on {dtype}")
    value = s.tensor(an_operand(s, val, f"the value of {name}"))
    if value.is_pointer:
        raise s.builder.error(f"the value of {name} is a number, got {describe(value)}")
    value = s.broadcast_to(s.cast(value, dtype), where.shape)
    if mask is None:
        return where, value, None
    guard = s.tensor(an_operand(s, mask, f"the mask of {name}"))
    if guard.is_pointer or guard.scalar != i1:
        raise s.builder.error(f"the mask of {name} is i1, got {describe(guard)}")
    return where, value, s.broadcast_to(guard, where.shape)


def _rmw(
    s: Semantics, kind: tt.Rmw, how: _How, pointer: Tensor, value: Tensor, mask: Tensor | None
) -> Tensor:
    op = tt.AtomicRmw(kind, *how, pointer.value, value.value, None if mask is None else mask.value)
    return s.builder.tensor(op, value.dtype)


def _register(name: str, floats: tuple[DType, ...], step: _Step) -> None:
    """``step`` on integers of 32 and 64 bits and on ``floats``."""

    def function(
        s: Semantics,
        pointer: object,
        val: object,
        mask: object = None,
        sem: object = None,
        scope: object = None,
    ) -> Tensor:
        how = _how(s, sem, scope, f"tl.{name}")
        return step(s, how, *_arguments(s, pointer, val, mask, f"tl.{name}", floats))

    builtin(f"tl.{name}", method=True)(function)


def _plain(kind: tt.Rmw) -> _Step:
    return lambda s, how, where, value, guard: _rmw(s, kind, how, where, value, guard)


def _add(s: Semantics, how: _How, where: Tensor, value: Tensor, guard: Tensor | None) -> Tensor:
    return _rmw(s, "fadd" if value.scalar.is_float else "add", how, where, value, guard)


def _extreme(signed: tt.Rmw, unsigned: tt.Rmw, opposite: tt.Rmw) -> _Step:
    def step(s: Semantics, how: _How, where: Tensor, value: Tensor, guard: Tensor | None) -> Tensor:
        if value.scalar.is_int:
            return _rmw(s, signed if value.scalar.is_signed else unsigned, how, where, value, guard)
        # Floats that are not negative are in order as signed integers; negative ones as unsigned ones, the other way round.
        bits = INTEGERS[value.scalar.bits, True]
        address, number = s.cast(where, Pointer(bits)), s.bitcast(value, bits)
        positive = s.compare(">=", number, 0)
        negative = s.invert(positive)

        def both(side: Tensor) -> Tensor:
            return side if guard is None else s.bit_and(side, guard)

        above = _rmw(s, signed, how, address, number, both(positive))
        below = _rmw(s, opposite, how, address, number, both(negative))
        return s.bitcast(s.where(positive, above, below), value.scalar)

    return step


_register("atomic_add", (f16, bf16, f32, f64), _add)
_register("atomic_xchg", (f32, f64), _plain("exch"))
_register("atomic_and", (), _plain("and"))
_register("atomic_or", (), _plain("or"))
_register("atomic_xor", (), _plain("xor"))
_register("atomic_max", (f32, f64), _extreme("max", "umax", "umin"))
_register("atomic_min", (f32, f64), _extreme("min", "umin", "umax"))


@builtin("tl.atomic_cas", method=True)
def atomic_cas(
    s: Semantics, pointer: object, cmp: object, val: object, sem: object = None, scope: object = None
) -> Tensor:
    how = _how(s, sem, scope, "tl.atomic_cas")
    where, dtype = _address(s, pointer, "tl.atomic_cas")
    if dtype.bits not in (16, 32, 64):
        raise s.builder.error(f"tl.atomic_cas does not work on {dtype}")
    sides: list[Tensor] = []
    for side in (cmp, val):
        value = s.tensor(an_operand(s, side, "tl.atomic_cas"))
        if value.is_pointer:
            raise s.builder.error(f"tl.atomic_cas takes numbers, got {describe(value)}")
        sides.append(s.broadcast_to(s.cast(value, dtype), where.shape))
    op = tt.AtomicCas(*how, where.value, sides[0].value, sides[1].value)
    return s.builder.tensor(op, dtype)
