"""``teenybuild show --stage side``: source, IR and PTX, a line of the source at a time."""

from __future__ import annotations

import json
import re

from tests.build.project import TestProject

LOOP = """

@triton.jit
def looped(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += scaled(tl.load(x_ptr + start + tl.arange(0, BLOCK)), FACTOR)
    tl.store(out_ptr + tl.arange(0, BLOCK), total)
"""
MANIFEST = """
[kernel.looped]
source = "scale.py"
args = { x_ptr = "*f32", out_ptr = "*f32", n = "i32" }
const = { BLOCK = 256 }
grid = ["1"]
"""


def of(text: str, line: str) -> list[str]:
    """What stands below a line of the source, without the margin."""
    _, _, rest = text.partition(f" | {line}\n")
    assert rest, f"{line!r} is not in\n{text}"
    found: list[str] = []
    for each in rest.splitlines():
        if not each.startswith("     | "):
            break
        found.append(each[7:].strip())
    return found


def test_what_stands_below_each_line(built: TestProject) -> None:
    text = built.run("show", "scale__f32__128", "--stage", "side").stdout
    load = of(text, "    x = tl.load(x_ptr + offsets, mask=mask)")
    assert any("tt.load" in each for each in load)
    assert any("ld.global" in each for each in load)
    mask = of(text, "    mask = offsets < n")
    assert [each for each in mask if "arith.cmpi slt" in each]
    assert [each for each in mask if "setp.lt.s32" in each]
    # Of a helper in another file: below its own line, where the canonical source has it.
    (product,) = (each for each in of(text, "    return x * factor") if "arith.mulf" in each)
    assert product
    head = of(text, "def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):")
    assert any("ld.param" in each for each in head)


def test_nothing_is_lost(built: TestProject) -> None:
    """Every operation and every instruction, once; regions are opened where they begin."""
    path = built.directory / "kernels/scale.py"
    path.write_text(path.read_text(encoding="utf-8") + LOOP, encoding="utf-8")
    path = built.directory / "kernels.toml"
    path.write_text(path.read_text(encoding="utf-8") + MANIFEST, encoding="utf-8")
    built.build()
    text = built.run("show", "looped__256", "--stage", "side").stdout
    mlir = built.run("show", "looped__256", "--stage", "mlir").stdout
    results = re.findall(r"^ *(%\d+) = ", mlir, re.M)
    assert sorted(re.findall(r"\| +(%\d+) = ", text)) == sorted(results)
    (loop,) = (each for each in of(text, "    for start in range(0, n, BLOCK):") if "scf.for" in each)
    assert loop.endswith("{")
    numbers = [int(n) for n in re.findall(r"^     \| +(\d+)  ", text, re.M)]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert len(numbers) > 20
    assert "ret;" in text


def test_what_has_no_ptx(built: TestProject) -> None:
    done = built.run("show", "scale__f32__128", "--stage", "side", "--target", "cpu")
    assert done.returncode == 1
    assert "scale__f32__128 for cpu has no PTX" in done.stderr
    found = json.loads(built.run("show", "scale__f32__128", "--stage", "side", "--json").stdout)
    assert found["stage"] == "side"
    assert "ld.global" in found["text"]
