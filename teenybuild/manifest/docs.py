"""The reference of the manifest and its JSON Schema, made from :mod:`teenybuild.manifest.schema`.

python -m teenybuild.manifest.docs            writes docs/manifest.md and teenybuild/schemas/manifest.schema.json
python -m teenybuild.manifest.docs --check    fails where either differs from the schema
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from teenybuild.dtypes import BY_NAME
from teenybuild.manifest.grid import FUNCTIONS
from teenybuild.manifest.schema import SECTIONS, TOP
from teenybuild.manifest.shapes import Row
from teenybuild.targets import ARCHITECTURES

_ROOT = Path(__file__).resolve().parents[2]
REFERENCE = _ROOT / "docs" / "manifest.md"
JSON_SCHEMA = _ROOT / "teenybuild" / "schemas" / "manifest.schema.json"

_INTRODUCTION = """\
# The manifest

<!-- Made from teenybuild/manifest/schema.py by `python -m teenybuild.manifest.docs`; edit that. -->

`kernels.toml` says what to build. It is [TOML](https://toml.io), and nothing in it is ever executed. Unknown keys are errors;
all errors of a manifest are reported together, each with its line and column. Editors that understand JSON Schema check it
against [manifest.schema.json](../teenybuild/schemas/manifest.schema.json).

```toml
edition = 1

[build]
targets = ["sm_90a", "cpu"]

[defaults]
options = { num_warps = 4 }

[kernel.vector_add]
source = "elementwise.py"
args   = { a_ptr = "*D", b_ptr = "*D", out_ptr = "*D", n_elements = "i32" }
dtypes = { D = ["f32", "f16", "bf16"] }
const  = { BLOCK_SIZE = [128, 1024] }
grid   = ["cdiv(n_elements, BLOCK_SIZE)"]
assume = { a_ptr = { div = 16 }, n_elements = "auto" }
exclude = [{ D = "bf16", BLOCK_SIZE = 128 }]
outputs = ["out_ptr"]
```
"""


def reference() -> str:
    """The text of ``docs/manifest.md``."""
    parts = [_INTRODUCTION]
    for section in SECTIONS:
        parts.append(f"## {section.title if section.title[0].isupper() else f'`{section.title}`'}\n")
        if section.intro:
            parts.append(f"{section.intro}\n")
        parts.append(_rows(section.record.rows))
    parts += [_types(), _grid(), _targets()]
    return "\n".join(parts)


def json_schema() -> str:
    """The text of ``manifest.schema.json``."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "teenybuild manifest (kernels.toml)",
        "$comment": "Made from teenybuild/manifest/schema.py by `python -m teenybuild.manifest.docs`; edit that.",
    }
    return json.dumps(head | TOP.json(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> str | None:
    """Write both files or, with ``--check``, compare them. Returns what is wrong, or None."""
    check = arguments == ["--check"]
    if arguments and not check:
        return f"expected nothing or --check, not {' '.join(arguments)}"
    stale: list[str] = []
    for path, text in ((REFERENCE, reference()), (JSON_SCHEMA, json_schema())):
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(str(path.relative_to(_ROOT)))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if check and stale:
        return f"differs from the schema: {', '.join(stale)}; run: python -m teenybuild.manifest.docs"
    return None


def _rows(rows: tuple[Row, ...]) -> str:
    lines = ["| key | value | default | meaning | since |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        default = "**required**" if row.required else _default(row)
        doc = f"*Not yet:* {row.later}. {row.doc}" if row.later else row.doc
        cells = (f"`{row.name}`", row.shape.words(), default, doc, row.since)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _default(row: Row) -> str:
    """Defaults are TOML where they look like it, and words otherwise."""
    text = row.default
    if not text or " " in text or "`" in text:
        return text or "–"
    return f"`{text}`"


def _types() -> str:
    lines = [
        "## Types\n",
        "`T` is a number passed by value, `*T` the address of such numbers, `none` an argument that is absent in this",
        "specialisation. `D` and `*D` use the dtype variable `D`; where `D` is `none`, so is `*D`. A variable may stand for a",
        'pointer too: `dtypes = { P = ["*f32", "none"] }`.\n',
        "| type | bits | kind | in kernels | from |",
        "| --- | --- | --- | --- | --- |",
    ]
    for dtype in BY_NAME.values():
        lines.append(
            f"| `{dtype.name}` | {dtype.bits} | {dtype.kind} | `tl.{dtype.language}` | sm_{dtype.minimum_sm} |"
        )
    lines += [
        "\nA tuple `(*f32, *D, i32)` is several arguments that are passed, and seen by the kernel, as one; its entries are any types,",
        "tuples among them, and `(*f32,)` has one. A tensor descriptor `desc<f16[128, 64]>` is an array with its shape and strides that the",
        "kernel sees in blocks; `desc<D[BLOCK_M, BLOCK_K]>` has a dtype variable, and sides that are consts. Their parts are named `ptrs[0]`,",
        "`a.shape[1]`, `a.strides[0]`, in `assume` (quoted), `grid`, `outputs` and `mutates`.\n",
    ]
    return "\n".join(lines)


def _grid() -> str:
    functions = ", ".join(f"`{function.shape}`" for function in FUNCTIONS.values())
    return f"""\
## The grid

Each entry is an integer, or an expression over integer arguments and integer consts: `+ - * // %`, unary `-`, parentheses,
{functions}. Values are exact and 64 bits wide, signed; `//` and `%` round down as in
Python, `cdiv` rounds up, `next_power_of_2(a)` is 1 for anything up to 1. Division by zero and overflow are errors when they happen.
"""


def _targets() -> str:
    lines = [
        "## Targets\n",
        "`cpu` is the host, and `cpu:sm_90a` (any architecture) that GPU's lowering run on the host, for tests.\n",
        "| target | PTX ISA, at least |",
        "| --- | --- |",
        *(f"| `{arch.name}` | {arch.ptx} |" for arch in ARCHITECTURES.values()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
