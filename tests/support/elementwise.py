"""Many elementwise expressions in one kernel: what most tests of operations are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .run import Array, Typed, numpy_dtype, run


@dataclass(frozen=True)
class Elementwise:
    """A kernel that computes expressions of tiles and scalars, and the arguments it takes."""

    source: str
    arguments: dict[str, object]


def elementwise(
    expressions: Mapping[str, tuple[str, str]],
    inputs: Mapping[str, Array | Typed],
    *,
    check_dtypes: bool = True,
    prologue: str = "",
) -> Elementwise:
    """The kernel of :func:`evaluate`."""
    count = max(len(v) for v in inputs.values() if isinstance(v, np.ndarray))
    block = 1 << (count - 1).bit_length()
    lines: list[str] = []
    arguments: dict[str, object] = {}
    for name, value in inputs.items():
        arguments[f"{name}_arg"] = value
        if isinstance(value, np.ndarray):
            lines.append(f"{name} = tl.load({name}_arg + i, mask=i < {count})")
        else:
            lines.append(f"{name} = {name}_arg")
    for name, (text, dtype) in expressions.items():
        arguments[f"{name}_out"] = np.zeros(count, numpy_dtype(dtype))
        lines.append(f"{name} = {text}")
        if check_dtypes:
            lines.append(
                f"tl.static_assert({name}.dtype == {language_dtype(dtype)}, f'{text} is {{{name}.dtype}}')"
            )
        lines.append(f"tl.store({name}_out + i, {name}, mask=i < {count})")
    body = "\n".join(f"    {line}" for line in lines)
    source = f"""{prologue}@triton.jit
def kernel({", ".join(arguments)}):
    i = tl.arange(0, {block})
{body}
"""
    return Elementwise(source, arguments)


def evaluate(
    expressions: Mapping[str, tuple[str, str]],
    inputs: Mapping[str, Array | Typed],
    *,
    check_dtypes: bool = True,
    prologue: str = "",
    **options: object,
) -> dict[str, Array]:
    """Each expression ``{name: (text, dtype)}`` over the tiles and scalars of ``inputs``, element by element.

    The kernel itself asserts that the expression has the dtype. Runs on every host target, which must agree bit for bit.
    """
    made = elementwise(expressions, inputs, check_dtypes=check_dtypes, prologue=prologue)
    found = run(made.source, made.arguments, **options)  # type: ignore[arg-type]
    return {name: found[f"{name}_out"] for name in expressions}


def language_dtype(name: str) -> str:
    """``tl.float16`` for ``f16``."""
    from teenybuild.dtypes import BY_NAME

    return f"tl.{BY_NAME[name].language}"
