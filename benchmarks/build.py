"""How long builds take: one specialisation in process, a cold build of a thousand, a build with nothing to do.

    python benchmarks/build.py [--json FILE] [--specialisations N]

With Triton installed (``pip install triton==3.6.0``), its time for the same sources is measured beside ours, without its assembler.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import compiling

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"


#: Turns that each way of compiling takes, one after the other; the runs of one turn, and those of them that are not timed.
TURNS, RUNS, UNTIMED = 9, 5, 2


# One specialisation, in process ---------------------------------------------------------------------------------

CASES: dict[str, dict[str, Any]] = {
    "vector add": {
        "kernel": "elementwise.py:vector_add",
        "types": {"a_ptr": "*f32", "b_ptr": "*f32", "out_ptr": "*f32", "n_elements": "i32"},
        "const": {"BLOCK_SIZE": 1024},
    },
    "softmax of 4,096": {
        "kernel": "softmax.py:softmax",
        "types": {"out_ptr": "*f32", "x_ptr": "*f32", "row_stride": "i32", "n_columns": "i32"},
        "const": {"BLOCK_SIZE": 4096},
    },
    "layer norm of 4,096": {
        "kernel": "layer_norm.py:layer_norm",
        "types": {
            "x_ptr": "*f32", "weight_ptr": "*f32", "bias_ptr": "*f32", "out_ptr": "*f32", "mean_ptr": "*f32",
            "rstd_ptr": "*f32", "row_stride": "i32", "n_columns": "i32", "eps": "f32",
        },
        "const": {"BLOCK_SIZE": 4096},
    },
    "matmul of 128 x 256 x 64": {
        "kernel": "matmul.py:matmul",
        "types": {
            **dict.fromkeys(("a_ptr", "b_ptr", "bias_ptr", "c_ptr"), "*bf16"),
            **dict.fromkeys(("M", "N", "K", "stride_am", "stride_bk", "stride_cm"), "i32"),
        },
        "const": {
            "BM": 128, "BN": 256, "BK": 64, "ACTIVATION": "none",
            **dict.fromkeys(("stride_ak", "stride_bn", "stride_cn"), 1),
        },
        "num_warps": 8,
    },
}  # fmt: skip


def request(case: dict[str, Any]) -> compiling.Request:
    """The case, with pointers and sizes that are multiples of 16."""
    file, name = case["kernel"].split(":")

    def imported() -> Any:
        sys.path.insert(0, str(KERNELS))
        return getattr(import_module(file.removesuffix(".py")), name)

    aligned = frozenset(name for name, t in case["types"].items() if t != "f32")
    return compiling.Request(
        KERNELS / file, name, case["types"], case["const"], aligned, case.get("num_warps", 4), imported=imported
    )  # fmt: skip


def compile_times(case: dict[str, Any]) -> dict[str, float]:
    """Milliseconds of every way to compile one case."""
    wanted = request(case)
    with tempfile.TemporaryDirectory() as raw:
        cache = Path(raw)
        works = {"ptx": compiling.ours(wanted, "sm_90a", cache), "cpu": compiling.ours(wanted, "cpu", cache)}
        for name, last in (("triton", "ptx"), ("triton_cubin", "cubin")):
            theirs = compiling.tritons(wanted, last)
            if theirs is not None:
                works[name] = theirs
        return compiling.medians_ms(works, TURNS, RUNS, UNTIMED)


# A project of many specialisations --------------------------------------------------------------------------------

MANIFEST = """
edition = 1
[build]
targets = ["{target}"]
cache = "cache"

[kernel.vector_add]
source = "elementwise.py"
args = {{ a_ptr = "*D", b_ptr = "*D", out_ptr = "*D", n_elements = "i32" }}
dtypes = {{ D = ["f32", "f16", "bf16", "f64", "i8", "i16", "i32"] }}
const = {{ BLOCK_SIZE = [128, 256, 512, 1024, 2048] }}
options = {{ num_warps = [1, 2, 4, 8] }}
assume = {{ a_ptr = "auto", b_ptr = "auto", out_ptr = "auto", n_elements = "auto" }}
grid = ["cdiv(n_elements, BLOCK_SIZE)"]

[kernel.silu]
source = "elementwise.py"
args = {{ x_ptr = "*D", out_ptr = "*D", n_elements = "i32" }}
dtypes = {{ D = ["f32", "f16", "bf16"] }}
const = {{ BLOCK_SIZE = [128, 256, 512, 1024, 2048] }}
options = {{ num_warps = [1, 2, 4, 8] }}
assume = {{ x_ptr = "auto", out_ptr = "auto", n_elements = "auto" }}
grid = ["cdiv(n_elements, BLOCK_SIZE)"]

[kernel.gelu_forward]
source = "elementwise.py"
args = {{ x_ptr = "*D", out_ptr = "*D", n_elements = "i32" }}
dtypes = {{ D = ["f32", "f16", "bf16"] }}
const = {{ BLOCK_SIZE = [128, 256, 512, 1024, 2048] }}
options = {{ num_warps = [1, 2, 4, 8] }}
assume = {{ x_ptr = "auto", out_ptr = "auto", n_elements = "auto" }}
grid = ["cdiv(n_elements, BLOCK_SIZE)"]

[kernel.swiglu]
source = "elementwise.py"
args = {{ gate_ptr = "*D", up_ptr = "*D", out_ptr = "*D", n_elements = "i32" }}
dtypes = {{ D = ["f32", "f16", "bf16"] }}
const = {{ BLOCK_SIZE = [128, 256, 512, 1024, 2048] }}
options = {{ num_warps = [1, 2, 4, 8] }}
assume = {{ gate_ptr = "auto", up_ptr = "auto", out_ptr = "auto", n_elements = "auto" }}
grid = ["cdiv(n_elements, BLOCK_SIZE)"]

[kernel.softmax]
source = "softmax.py"
args = {{ out_ptr = "*D", x_ptr = "*D", row_stride = "i32", n_columns = "i32" }}
dtypes = {{ D = ["f32", "f16", "bf16"] }}
const = {{ BLOCK_SIZE = [256, 512, 1024, 2048, 4096] }}
options = {{ num_warps = [2, 4, 8, 16] }}
assume = {{ out_ptr = "auto", x_ptr = "auto", row_stride = "auto", n_columns = "auto" }}

[kernel.row_sum]
source = "sums.py"
args = {{ out_ptr = "*f32", x_ptr = "*D", row_stride = "i32", n_columns = "i32" }}
dtypes = {{ D = ["f32", "f16", "bf16"] }}
const = {{ BLOCK_SIZE = [256, 512, 1024, 2048, 4096] }}
options = {{ num_warps = [2, 4, 8, 16] }}
assume = {{ x_ptr = "auto", row_stride = "auto", n_columns = "auto" }}

[kernel.layer_norm]
source = "layer_norm.py"
args = {{ x_ptr = "*D", weight_ptr = "*D", bias_ptr = "*D", out_ptr = "*D", mean_ptr = "*f32", rstd_ptr = "*f32", row_stride = "i32", n_columns = "i32", eps = "f32" }}
dtypes = {{ D = ["f32", "f16", "bf16"] }}
const = {{ BLOCK_SIZE = [256, 512, 1024, 2048, 4096] }}
options = {{ num_warps = [2, 4, 8, 16] }}
assume = {{ x_ptr = "auto", weight_ptr = "auto", bias_ptr = "auto", out_ptr = "auto", row_stride = "auto", n_columns = "auto" }}
"""


def make_project(directory: Path, target: str) -> None:
    """A manifest of about a thousand elementwise and reduction specialisations over this repository's kernels."""
    (directory / "kernels.toml").write_text(MANIFEST.format(target=target))
    (directory / "kernels").symlink_to(KERNELS)


def teenybuild(directory: Path, *arguments: str) -> tuple[float, dict[str, Any]]:
    """(seconds, JSON) of one run of the command line, as a process."""
    command = [sys.executable, "-m", "teenybuild", *arguments, "--json"]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    return seconds, json.loads(done.stdout)


def project_times() -> dict[str, Any]:
    """Cold build, builds with nothing to do, and a rebuild from the cache alone."""
    from teenybuild.build import ninja_binary

    with tempfile.TemporaryDirectory() as raw:
        directory = Path(raw)
        make_project(directory, "sm_90a")
        cold, report = teenybuild(directory, "build")
        ninja = [ninja_binary(), "-C", str(directory / "build")]
        said = subprocess.run(ninja, capture_output=True, text=True, check=True).stdout
        if "no work to do" not in said:
            raise SystemExit(f"ninja has work to do after a build:\n{said}")
        nothing = compiling.medians_ms(
            {
                "teenybuild": lambda: teenybuild(directory, "build"),
                "ninja": lambda: subprocess.run(ninja, capture_output=True, check=True),
            },
            TURNS, RUNS, UNTIMED,
        )  # fmt: skip
        for stamp in (directory / "build" / "stamps").rglob("*.json"):
            stamp.unlink()
        cached, _ = teenybuild(directory, "build")
        return {
            "specialisations": report["specialisations"],
            "cold_s": cold,
            "nothing_teenybuild_ms": nothing["teenybuild"],
            "nothing_ninja_ms": nothing["ninja"],
            "from_cache_s": cached,
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {"compile_ms": {}}
    columns = {"ptx": "PTX", "cpu": "cpu", "triton": "Triton", "triton_cubin": "and ptxas"}
    heads = "".join(f" {head:>9}" for head in columns.values())
    print(f"{'one specialisation, in process':32}{heads}   ms, median of {TURNS * (RUNS - UNTIMED)}")
    for name, case in CASES.items():
        found = figures["compile_ms"][name] = compile_times(case)
        print(f"{name:32}" + "".join(f" {found[c]:9.1f}" if c in found else f" {'-':>9}" for c in columns))
    times = project_times()
    figures["project"] = times
    n = times["specialisations"]
    print(f"\n{n} specialisations, {os.cpu_count()} cores, one GPU target")
    print(f"{'cold build':32} {times['cold_s']:9.2f} s")
    print(f"{'all in the cache, no stamps':32} {times['from_cache_s']:9.2f} s")
    print(f"{'nothing to do: teenybuild build':32} {times['nothing_teenybuild_ms']:9.1f} ms")
    print(f"{'nothing to do: ninja':32} {times['nothing_ninja_ms']:9.1f} ms")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
