"""What a generated package costs before its first launch: importing it, and the first use of a kernel.

    python benchmarks/loader_import.py [--specialisations N] [--runs N]

The package has one kernel with many specialisations, for the host. Each figure is the median over fresh processes, less what the same
process takes without it.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from teenybuild.api import compile
from teenybuild.expand import plan
from teenybuild.loader import Image, generate, write_package
from teenybuild.sources import Sources

KERNEL = """import triton
import triton.language as tl


@triton.jit
def add(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(a_ptr + offsets, mask=mask) + tl.load(b_ptr + offsets, mask=mask), mask=mask)
"""

MANIFEST = """edition = 1

[build]
targets = ["cpu"]

[kernel.add]
source = "add.py"
args = {{ a_ptr = "*D", b_ptr = "*D", out_ptr = "*D", n = "i32" }}
dtypes = {{ D = ["f32", "f16"] }}
const = {{ BLOCK = {blocks} }}
grid = ["cdiv(n, BLOCK)"]
assume = {{ n = "auto" }}
outputs = ["out_ptr"]
"""

#: Each prints the seconds that its last line took.
STEPS = {
    "import of the package": ("", "import many_kernels"),
    "import of a kernel": ("import many_kernels", "from many_kernels import add"),
    "its index": ("from many_kernels import add", "add.parameters"),
    "the first launch": (
        "import numpy as np; from many_kernels import add; add.parameters; x = np.zeros(8, np.float32)",
        "add(x, x, x, 8)",
    ),
}


def make(directory: Path, count: int) -> None:
    """Writes the package. All specialisations share one artifact: only their number matters here."""
    (directory / "kernels").mkdir()
    (directory / "kernels" / "add.py").write_text(KERNEL)
    manifest = directory / "kernels.toml"
    manifest.write_text(MANIFEST.format(blocks=list(range(1, count // 4 + 1))))
    found = plan(manifest, lambda read: Sources.of(read, directory).signature)
    types = {"a_ptr": "*f32", "b_ptr": "*f32", "out_ptr": "*f32", "n": "i32"}
    kernel = f"{directory / 'kernels' / 'add.py'}:add"
    built = compile(kernel, "cpu", types, {"BLOCK": 128}, cache_dir=directory / "cache")
    image = Image(built.abi, {built.path.suffix.removeprefix("."): built.path.read_bytes()})
    images = {"cpu": {each.id: image for each in found.specialisations}}
    write_package(generate(found.manifest, found.specialisations, images), directory / "many_kernels")


def milliseconds(directory: Path, before: str, step: str, runs: int) -> float:
    """Median time of ``step`` after ``before``, each in a fresh process whose byte code is compiled."""
    program = (
        f"import sys, time; sys.path.insert(0, {str(directory)!r}); {before}\n"
        f"start = time.perf_counter(); {step}; print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", program]
    times = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(runs + 1)
    ]
    return statistics.median(times[1:]) * 1e3


def main() -> None:
    """Prints one line a step."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--specialisations", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        make(directory, options.specialisations)
        for step, (before, timed) in STEPS.items():
            print(f"{step:24}{milliseconds(directory, before, timed, options.runs):8.2f} ms")


if __name__ == "__main__":
    main()
