"""docs/accuracy.md: what was measured, as a page. ``python -m tests.language.update`` writes it."""

from __future__ import annotations

from pathlib import Path

from tests.support.accuracy import FUNCTIONS, errors

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
#: Arguments a function and format, about.
COUNT = 2000

_HEAD = """\
# How accurate the functions are

<!-- Measured by `python -m tests.language.update`; edit tests/language/accuracy_page.py. -->

The largest error found, in units in the last place of the exact result (0.5 is correct rounding), against [mpmath](https://mpmath.org) with 120 bits or more, over about {count:,} random
arguments a function and format. The sample is always the same: a quarter of it from all bit patterns (so of all magnitudes, denormals among them), the rest evenly over
the intervals that are named, and at their ends. Further tests look at seams, special values and the hardest angles; they allow 2 units.

Every function here gives the same bits on `cpu`, on `cpu:sm_90a` and on a GPU, but for `rsqrt` of f32, which is a GPU's own instruction there, as `tl.rsqrt` is. `tl.exp`, `tl.exp2`, `tl.sqrt` of f32
are a GPU's instructions too (2 units; on the host as `libdevice.exp`, `exp2`, `sqrt`; `tl.exp2` takes subnormal numbers for 0). The `libdevice.fast_…f` functions are `ex2.approx`, `lg2.approx`, `sin.approx`, `cos.approx` and `div.full` on a GPU, as good as the PTX ISA says
of those, and the accurate functions on the host. `lgamma` of a negative x is within a unit of the larger of 1 and the result: its zeros
there are no floats. The Bessel functions are waves from 8 on: there `j0`, `j1`, `y0`, `y1`, and everywhere `jn`, are within 2e-15 of the truth in f64, and `yn` of orders up to 128 within 1e-14 of the larger of 1 and the result; f32 is
computed in f64. (NVIDIA's table allows 7 units below 8 and 5e-12 beyond, and 6 units for `cyl_bessel_i0`, `cyl_bessel_i1`.) `rcp64h` has 20 bits. What is not listed is exact or correctly rounded: roundings, remainders, conversions, bits, `fma`, `sqrt`, and arithmetic that says how it rounds.

| function | f32 | f64 | arguments |
| --- | --- | --- | --- |
"""


def page() -> str:
    """The text of the page."""
    rows: list[str] = []
    for function, what in FUNCTIONS.items():
        shown = function if function.startswith("tl.") else f"libdevice.{function}"
        worst = [f"{max(errors(function, name, COUNT)[0]):.2f}" for name in ("f32", "f64")]
        rows.append(f"| `{shown}` | {' | '.join(worst)} | {what.sample.words} |\n")
    return _HEAD.format(count=COUNT) + "".join(rows)
