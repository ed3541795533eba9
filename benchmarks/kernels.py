"""How long kernels as public projects write them take to compile: all of ``tests/kernels``, to PTX and for the host, beside Triton.

    python benchmarks/kernels.py [--json FILE] [--turns N] [NAME…]

Each kernel's first call there says for what it is specialised; some are compiled for larger tiles too. Needs Triton installed (``pip install triton==3.6.0``) and PyTorch, which
the sources import, for Triton's column.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import compiling
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.kernels.corpus import KERNELS, Kernel  # beside the package, not in it

#: Tests run small tiles. What a project would build where the size of a tile is what a compile takes: constants, and warps.
LARGE: dict[str, tuple[dict[str, Any], int]] = {
    "attention.attention_forward": ({"BLOCK_M": 128, "BLOCK_N": 64, "HEAD_DIM": 64}, 4),
    "attention.attention_backward_dkdv": ({"BLOCK_M1": 32, "BLOCK_N1": 128, "HEAD_DIM": 64}, 4),
    "attention.attention_backward_dq": ({"BLOCK_M2": 128, "BLOCK_N2": 32, "HEAD_DIM": 64}, 4),
    "convolution.conv2d_forward": ({"BLOCK_NI_HO_WO": 128, "BLOCK_CI": 32, "BLOCK_CO": 64}, 4),
    "copies.transpose_2d": ({"BM": 128, "BN": 128}, 4),
    "linear_attention.chunk_outputs": ({"BT": 64, "BK": 64, "BV": 64}, 4),
    "linear_attention.chunk_states": ({"BT": 64, "BK": 64, "BV": 64}, 4),
    "losses.fused_cross_entropy": ({"BLOCK_SIZE": 32768}, 32),
    "matmul.matmul_grouped": ({"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 32}, 4),
    "matmul.matmul_w8a16": ({"BM": 64, "BN": 64, "BK": 64}, 4),
    "moe.fused_moe": ({"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 32}, 4),
    "norms.norm_backward": ({"BLOCK_N": 8192}, 8),
    "norms.norm_forward": ({"BLOCK_N": 8192}, 8),
    "rotary.rope_in_place": (
        {"hd": 128, "n_qh": 32, "n_kh": 8, "pad_hd": 128, "pad_n_qh": 32, "pad_n_kh": 8},
        4,
    ),
    "scans.gated_recurrence": ({"BT": 64, "BD": 64}, 4),
    "softmax.causal_softmax": ({"BM": 16, "BLOCK": 1024}, 4),
    "softmax.softmax_persistent": ({"BLOCK": 16384}, 16),
}

#: Runs of one turn, and those of them that are not timed.
RUNS, UNTIMED = 4, 1


def request(kernel: Kernel) -> compiling.Request:
    """What the first call of a kernel needs."""
    with np.errstate(all="ignore"):
        case = next(kernel.cases(np.random.default_rng(1)))

    def imported() -> Any:
        return getattr(import_module(f"tests.kernels.sources.{kernel.path.stem}"), kernel.function)

    return compiling.Request(
        kernel.path, kernel.function, case.argument_types, case.const, frozenset(case.assume), case.num_warps,
        case.num_stages, imported,
    )  # fmt: skip


def requests(names: list[str]) -> Iterator[tuple[str, compiling.Request]]:
    """All that is compiled, by what the table calls it."""
    for name in names or KERNELS:
        yield name, request(KERNELS[name])
    for name in names or LARGE:
        if name in LARGE:
            const, warps = LARGE[name]
            small = request(KERNELS[name])
            yield f"{name}, large", replace(small, const={**small.const, **const}, num_warps=warps)


def compile_times(wanted: compiling.Request, turns: int, clock: Callable[[], float]) -> dict[str, float]:
    """Milliseconds of every way to compile one kernel."""
    with tempfile.TemporaryDirectory() as raw:
        cache = Path(raw)
        works = {"ptx": compiling.ours(wanted, "sm_90a", cache), "cpu": compiling.ours(wanted, "cpu", cache)}
        theirs = compiling.tritons(wanted, "ptx")
        if theirs is not None:
            works["triton"] = theirs
        return compiling.medians_ms(works, turns, RUNS, UNTIMED, clock)


def show(name: str, times: Mapping[str, float]) -> None:
    """A line of the table."""
    columns = [f"{times[c]:9.1f}" if c in times else f"{'-':>9}" for c in ("ptx", "cpu", "triton")]
    ratio = f"{times['ptx'] / times['triton']:9.2f}" if "triton" in times else f"{'-':>9}"
    print(f"{name:44}{''.join(columns)}{ratio}{times['cpu'] / times['ptx']:9.2f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="kernels to measure (file.function); all")
    parser.add_argument("--turns", type=int, default=3, help=f"of {RUNS} runs each, one way after the other")
    parser.add_argument(
        "--cpu-time", action="store_true", help="the processor's: where others use the machine too"
    )
    parser.add_argument("--json", type=Path, help="also write the figures here")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    print(f"{'ms':44}{'PTX':>9}{'cpu':>9}{'Triton':>9}{'/Triton':>9}{'cpu/PTX':>9}")
    found: dict[str, dict[str, float]] = {}
    for name, wanted in requests(arguments.names):
        found[name] = compile_times(wanted, arguments.turns, clock)
        show(name, found[name])
    large = {name: times for name, times in found.items() if name.endswith("large")}
    small = {name: times for name, times in found.items() if name not in large}
    for which, of in (("", small), (", large", large)):
        beside = [times["ptx"] / times["triton"] for times in of.values() if "triton" in times]
        host = [times["cpu"] / times["ptx"] for times in of.values()]
        for what, ratios in (("PTX / Triton", beside), ("cpu / PTX", host)):
            if ratios:
                mean = math.exp(statistics.fmean(map(math.log, ratios)))
                print(
                    f"{what}{which}: geometric mean {mean:.2f}, largest {max(ratios):.2f}, of {len(ratios)}"
                )
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
