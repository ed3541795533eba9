"""What a kernel says of itself: while it is compiled, and while it runs."""

from __future__ import annotations

import string
import sys
from typing import TYPE_CHECKING

from teenybuild.compiler.frontend.builtins.checks import a_flag
from teenybuild.compiler.frontend.builtins.registry import builtin
from teenybuild.compiler.frontend.values import Tensor, describe
from teenybuild.compiler.ir import tt

if TYPE_CHECKING:
    from teenybuild.compiler.frontend.semantics import Semantics


@builtin("tl.static_print")
def static_print(
    s: Semantics,
    *values: object,
    sep: object = " ",
    end: object = "\n",
    file: object = None,
    flush: object = False,
) -> None:
    # On stderr, wherever the caller wants it: stdout is for what a command gives.
    del file, flush
    words = [describe(v) if isinstance(v, Tensor) else str(v) for v in values]
    print(*words, sep=str(sep), end=str(end), file=sys.stderr)


def _text(s: Semantics, value: object, what: str) -> str:
    if not isinstance(value, str):
        raise s.builder.error(f"{what} is a string known at compile time, got {describe(value)}")
    odd = next((c for c in value if c not in string.printable), None)
    if odd is not None:
        raise s.builder.error(f"{what} is printable ASCII, and has {odd!r}")
    return value


@builtin("tl.device_print")
def device_print(s: Semantics, prefix: object, *args: object, hex: object = False) -> None:
    text = _text(s, prefix, "the first argument of tl.device_print")
    values = [s.tensor(a) for a in args]
    # As Triton has it: a space before, and ": " between the text and the values.
    if values:
        text = text.removesuffix(" ").removesuffix(":") + ": "
    if len(text) > 2 and not text.startswith(" "):
        text = f" {text}"
    signed = tuple(not v.is_pointer and v.scalar.is_int and v.scalar.is_signed for v in values)
    hexadecimal = a_flag(s, hex, "hex of tl.device_print")
    s.builder.add(tt.Print(text, hexadecimal, signed, tuple(v.value for v in values)))


builtin("print")(device_print)


@builtin("tl.device_assert")
def device_assert(s: Semantics, cond: object, msg: object = "", mask: object = None) -> None:
    text = _text(s, msg, "the message of tl.device_assert")
    condition = s.truth(s.tensor(cond))
    if mask is not None:
        condition = s.bit_or(condition, s.bit_xor(s.truth(s.tensor(mask)), True))
    # Checked in every build, and there at run time only where that is asked for.
    if s.debug:
        s.builder.add(tt.Assert(condition.value, text))
