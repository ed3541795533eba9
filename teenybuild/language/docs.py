"""The reference of the kernel language, made from :mod:`teenybuild.language` and the compiler's tables.

python -m teenybuild.language.docs            writes docs/language.md
python -m teenybuild.language.docs --check    fails where it differs
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import teenybuild.language as language
from teenybuild.compiler.frontend.builtins import BUILTINS, LATER, METHODS

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "language.md"

_RULES = """\
# The kernel language

<!-- Made from teenybuild/language by `python -m teenybuild.language.docs`; edit that. -->

Kernels are written in the Triton language, in this version the part of it below. `import triton.language as tl` and
`import teenybuild.language as tl` mean the same, and `@triton.jit` and `@teenybuild.jit` too; neither package has to be installed: sources
are read, not run. What is not supported is an error that names it, with its place and the calls that led there; nothing is ever approximated. [Which tests show each name](support.md), on which target.

## Programs and tiles

A kernel is run once for each point of the grid: a *program*. A program works on scalars and on *tiles*: arrays of one dtype whose sides are powers of two. Nothing in
a kernel names threads; how a tile lies in registers and lanes is the compiler's business.

* Tiles broadcast as in NumPy; `x[:, None]` and `x[None, :]` put an axis in, `x[None]` too.
* A pointer plus a tile of integers is a tile of pointers. `tl.load` and `tl.store` take scalars or tiles of pointers of any rank; a mask and `other` broadcast to them.
  Where the mask is off, memory is not touched.
* A pointer is an integer of 64 bits where it is wanted as one, and back: `x.to(tl.int64)`, `address.to(tl.pointer_type(tl.float16))`; `tl.pointer_type(tl.pointer_type(tl.float32))` is of pointers that lie in memory. One that is made of an integer may point
  to whatever the host has put there, or to an argument whose address the kernel takes; accesses through it are not checked by `debug`.
* Operators are Python's: `+ - * / // % & | ^ ~ << >> < <= == != >= >`, unary `-`, `and or not` (of tiles, element by element). `x if c else y` chooses for constants and scalars; `tl.where` for tiles.
* `//` and `%` of integers round toward zero, as in C; between two constants they are Python's. `x // 0` and `x % 0` of run-time values are no error and no value in particular, as is a shift by the type's width or more.
* `/` of integers gives f32; comparisons give i1; `-x` is `0 - x`, so that of `0.0` is `0.0`.
* A number that is stored, or is `other`, is converted as a run-time value of its own type would be: to a narrower integer it is cut. Elsewhere a number that its type cannot hold is an error.
* Methods: {methods}, `x.to(dtype)`, `x.dtype`, `x.type`, `x.shape`, and on `tl.float16` and its like `.primitive_bitwidth`, `.is_fp16()`, `.is_floating()` and so on.

## Promotion

Triton's rules. Of two run-time values, scalars or tiles: f64 if either is, else f32 if either is, else f16 if either is (also beside bf16), bf16 for two of bf16, f32 for bf16 beside an integer; of two integers the wider, unsigned where
signed and unsigned are equally wide. `/` of f16 or bf16 is computed, and given, in f32. A Python number takes the dtype it meets, unless that is of a lower kind (bool, integer, float): then it is i32, u32, i64, u64 or f32, the first that holds it. For `tl.maximum`, `tl.minimum` and `tl.clamp` it is that in any case, and bf16 becomes f32.

## Control flow and functions

* `for i in range(...)`, `tl.range(...)` with bounds known at run time and a step from 1 up (another gives no turns), or a constant one below 0; `tl.static_range(...)` is unrolled. `while` runs as long as its condition, one value, holds: it is asked before each turn and may read or change memory, as a lock does. `break`, `continue`, and `return` in a loop at run time, are not part of the language; one in a loop that is unrolled ends the function.
* `if` on a constant reads only the branch that is taken; `if` on a scalar of the run keeps what both branches assign, which must then agree in type. `if` on a tile is an error: use `tl.where`.
* A variable that a loop carries keeps its type from one turn to the next.
* `boundary_check` of block pointers names axes, `0` the first (in Triton a bare `0` checks nothing).
* Functions marked `@triton.jit`, of the same file or of another one that is imported, are inlined. They may take functions and tuples as arguments, return several values and return early. A helper may also have no decorator; any but `jit` is an error. Above a kernel's `@triton.jit` others may stand
  (`@triton.autotune`, `@triton.heuristics`): they are about launching, and the manifest may take constants and options from them ([how sources are read](sources.md)).
* Of Python there are also tuples with slices, named tuples (`NamedTuple` with fields alone, `namedtuple`), comprehensions over tuples, f-strings, methods of strings, `isinstance`, `hasattr`, `getattr`, `len`, `min`, `max`. A function marked `@triton.constexpr_function`
  is Python that runs while a kernel is compiled, from constants to a constant: what [host code that is read](sources.md) may do.
* Lanes are not ordered: what one has stored, another may not read in the same program, on a GPU or on the host.
* Constants: parameters marked `tl.constexpr` (the manifest's `const`), module-level numbers, strings, dtypes, and tuples, lists and dicts of them, `X: tl.constexpr = 1` and `X = tl.constexpr(1)`. Names mean what they mean at the end of
  the file, or, in a module-level expression or a default, at that place. A name that cannot be settled without running the file is an error that says which key of the manifest settles it (`globals`, `roots`, `import`).
* `import` finds kernel files in `[build] kernels`, then in `roots`, then beside the importing file; `from . import` beside it only.

## Numbers

* Host and GPU give the same bits wherever no approximate instruction is used. Approximate on a GPU, as in Triton: f32 `exp`, `exp2`, `sqrt`, `rsqrt` and `/` between f32 tiles, within 2 units in the last place; and
  `libdevice.fast_…f`, within what the PTX ISA says of the instructions. Tensor cores (`tl.dot` of f16, bf16, f64, i8 and, as tf32, f32 tiles from 16 rows, 8 columns and 32 bytes (64 of f64) along k up, or of several such along a first axis, from sm_80 on; of 8-bit floats on sm_90a, sm_100 and later, and on sm_89 from version 8.4 of the PTX ISA on, which `ptx` sets) multiply exactly and sum in f32, f64 or i32, or f16 where a kernel asks for it, floats in an order and with roundings of their own. [How far functions are from the truth](accuracy.md) is measured.
* `input_precision` of `tl.dot` on f32, as in Triton: `tf32`, which is meant where nothing is said, leaves out the low 13 bits of the operands, on every target but sm_75; `tf32x3` sums three such products; `ieee` leaves out nothing, and is summed by fused multiply-add.
* `max_num_imprecise_acc` of `tl.dot`: sm_90a's tensor cores keep few bits of sums of 8-bit floats; where a kernel says how many sums may be kept so, none are: operands are widened to f16, which holds them all.
* `a * b + c` is fused where the manifest's `enable_fp_fusion` says so (the default): decided once, before any target, so every target rounds alike.
* Programs may wait for each other (by atomic operations) where the manifest's `launch_cooperative_grid` says so: a GPU then runs all of a launch at once, or none. The host runs one program after the other, and such a launch only of one.
* A NaN is a NaN: which sign and payload it has is not fixed.
* The order of a sum is fixed by the specialisation: it is the same from run to run and on every target.
* bf16 is computed in f32 and rounded to nearest even after each operation, as is f16 where the hardware has no instruction for it.
"""

_LIBDEVICE = "tl.extra.libdevice."
_LIBDEVICE_RULES = """\
## libdevice

`from triton.language.extra import libdevice`, `from triton.language.extra.cuda import libdevice`, `tl.extra.libdevice`, or single names from those modules. The formulas are ours,
[within 2 units in the last place](accuracy.md), those of Bessel within what NVIDIA says of its own. Operands have exactly a dtype that is named, f32 or f64 where none is, all alike; nothing is converted.
"""


def reference() -> str:
    """The text of ``docs/language.md``."""
    methods = ", ".join(f"`x.{name}(…)`" for name in sorted(METHODS))
    parts = [
        _RULES.format(methods=methods),
        "## Functions\n",
        _functions("tl.", [n for n in BUILTINS if n.startswith("tl.") and not n.startswith(_LIBDEVICE)]),
        _LIBDEVICE_RULES,
        _functions(_LIBDEVICE, [n for n in BUILTINS if n.startswith(_LIBDEVICE)]),
        "## Dtypes\n",
        _dtypes(),
        "## Not yet\n",
        _later(),
    ]
    return "\n".join(parts)


def _functions(prefix: str, names: list[str]) -> str:
    """A table; where a module's name stands above it, its functions are called without it."""
    rows = ["| function | meaning |", "| --- | --- |"]
    for name in sorted(names):
        shown = name if prefix == "tl." else name.removeprefix(prefix)
        function: Any = language
        for step in name.split(".")[1:]:
            function = getattr(function, step)
        meaning = " ".join(inspect.cleandoc(function.__doc__).split())
        rows.append(f"| `{shown}({_parameters(function)})` | {meaning} |".replace("``", "`"))
    return "\n".join(rows) + "\n"


def _parameters(function: Any) -> str:
    """Names and defaults, without types."""
    shown: list[str] = []
    for p in inspect.signature(function).parameters.values():
        star = "*" if p.kind is inspect.Parameter.VAR_POSITIONAL else ""
        default = "" if p.default is inspect.Parameter.empty else f"={p.default!r}"
        shown.append(f"{star}{p.name}{default}")
    return ", ".join(shown)


def _dtypes() -> str:
    names = ", ".join(f"`tl.{n}`" for n, v in vars(language).items() if isinstance(v, language.dtype))
    return f"{names}. Which of them kernels may use in this version, and from which architecture on: [the manifest](manifest.md#types).\n"


def _later() -> str:
    return f"Refused by name until a later version has them: {', '.join(f'`{name}`' for name in sorted(LATER))}.\n"


def main(arguments: list[str]) -> int:
    """Writes the reference, or checks it."""
    text = reference()
    if arguments == ["--check"]:
        if REFERENCE.read_text(encoding="utf-8") == text:
            return 0
        print(
            "differs from the language: docs/language.md; run: python -m teenybuild.language.docs",
            file=sys.stderr,
        )
        return 1
    REFERENCE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
