"""Kernels on a GPU: ours beside Triton's, from the same source files, in one process.

    python benchmarks/gpu.py [--package build] [--rounds 31] [--json FILE] [--only NAME]

Needs an NVIDIA GPU, torch, triton, and the package that ``teenybuild build`` makes of this repository's ``kernels.toml``.
Values are checked against float64 first.  Then both run in turn, ``--rounds`` times, each on inputs far larger than the L2;
what is quoted is the median of theirs over ours and its 95 % interval.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "kernels")]

import torch  # noqa: E402
import triton  # noqa: E402
from gpu_timing import TOLERANCE, Case, measure, relative_error, report  # noqa: E402

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def vector_add(package: Any) -> Iterator[Case]:
    import elementwise

    n = 1 << 28
    a, b = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.full_like(a, torch.nan)
    grid = (triton.cdiv(n, 1024),)
    yield Case(
        "vector add, 2^28 f32",
        3 * 4 * n,
        lambda: package.vector_add(a, b, out, n, BLOCK_SIZE=1024),
        lambda: elementwise.vector_add[grid](a, b, out, n, BLOCK_SIZE=1024),
        lambda: 0.0 if torch.equal(out, a + b) else float("inf"),
        0.0,
    )


def activations(package: Any) -> Iterator[Case]:
    import elementwise

    n = 1 << 28
    grid = (triton.cdiv(n, 1024),)
    references: dict[str, Callable[..., torch.Tensor]] = {
        "silu": torch.nn.functional.silu,
        "gelu": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
        "swiglu": lambda gate, up: torch.nn.functional.silu(gate) * up,
    }
    for name, dtype in DTYPES.items():
        for kernel, reference in references.items():
            count = 2 if kernel == "swiglu" else 1
            arrays = [torch.randn(n, device="cuda").to(dtype) for _ in range(count)]
            out = torch.full_like(arrays[0], torch.nan)
            ours = getattr(package, kernel)
            theirs = getattr(elementwise, "gelu_forward" if kernel == "gelu" else kernel)[grid]

            def our_run(run: Any = ours, args: Any = (*arrays, out)) -> None:
                run(*args, n, BLOCK_SIZE=1024)

            def their_run(run: Any = theirs, args: Any = (*arrays, out)) -> None:
                run(*args, n, BLOCK_SIZE=1024)

            def check(reference: Any = reference, arrays: Any = arrays, out: Any = out) -> float:
                rows = 1 << 12
                wanted = reference(*(a[: 1 << 20].double().view(rows, -1) for a in arrays))
                return relative_error(out[: 1 << 20].view(rows, -1), wanted)

            size = (count + 1) * n * arrays[0].element_size()
            yield Case(f"{kernel}, 2^28 {name}", size, our_run, their_run, check, TOLERANCE[name])


def softmax(package: Any) -> Iterator[Case]:
    import softmax as source

    rows = 65536
    for name, dtype in DTYPES.items():
        for columns, warps in ((1024, 4), (4096, 4), (8192, 8)):
            x = torch.randn(rows, columns, device="cuda").to(dtype)
            out = torch.full_like(x, torch.nan)

            def our_run(x: Any = x, out: Any = out, columns: int = columns) -> None:
                package.softmax(out, x, columns, columns, BLOCK_SIZE=columns, grid=(rows,))

            def their_run(x: Any = x, out: Any = out, columns: int = columns, warps: int = warps) -> None:
                source.softmax[(rows,)](out, x, columns, columns, BLOCK_SIZE=columns, num_warps=warps)

            def check(x: Any = x, out: Any = out) -> float:
                return relative_error(out[:256], torch.softmax(x[:256].double(), -1))

            yield Case(
                f"softmax, 65536 x {columns} {name}",
                2 * x.numel() * x.element_size(),
                our_run,
                their_run,
                check,
                TOLERANCE[name],
            )


def layer_norm(package: Any) -> Iterator[Case]:
    import layer_norm as source

    for name, dtype in DTYPES.items():
        for columns, warps in ((1024, 4), (4096, 8), (8192, 8)):
            rows = (1 << 28) // columns
            x = torch.randn(rows, columns, device="cuda").to(dtype)
            weight, bias = (torch.randn(columns, device="cuda").to(dtype) for _ in range(2))
            out = torch.full_like(x, torch.nan)
            mean, rstd = torch.empty(rows, device="cuda"), torch.empty(rows, device="cuda")

            def our_run(
                args: Any = (x, weight, bias, out, mean, rstd), columns: int = columns, rows: int = rows
            ) -> None:
                package.layer_norm(*args, columns, columns, 1e-5, BLOCK_SIZE=columns, grid=(rows,))

            def their_run(
                args: Any = (x, weight, bias, out, mean, rstd),
                columns: int = columns,
                rows: int = rows,
                warps: int = warps,
            ) -> None:
                source.layer_norm[(rows,)](*args, columns, columns, 1e-5, BLOCK_SIZE=columns, num_warps=warps)

            def check(
                x: Any = x, w: Any = weight, b: Any = bias, out: Any = out, columns: int = columns
            ) -> float:
                wanted = torch.nn.functional.layer_norm(
                    x[:256].double(), (columns,), w.double(), b.double(), 1e-5
                )
                return relative_error(out[:256], wanted)

            yield Case(
                f"layer norm, {rows} x {columns} {name}",
                2 * x.numel() * x.element_size(),
                our_run,
                their_run,
                check,
                TOLERANCE[name],
            )


CASES = {
    "vector_add": vector_add,
    "softmax": softmax,
    "layer_norm": layer_norm,
    "activations": activations,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--package", type=Path, default=HERE.parent / "build", help="the directory with teeny_kernels"
    )
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=CASES)
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.package))
    import teeny_kernels

    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, triton {triton.__version__}")
    chosen = [arguments.only] if arguments.only else CASES
    cases = (case for name in chosen for case in CASES[name](teeny_kernels))
    return report(*measure(cases, arguments.rounds), arguments.json)


if __name__ == "__main__":
    raise SystemExit(main())
