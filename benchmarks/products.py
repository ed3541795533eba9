"""Matrix products on tensor cores: ours beside Triton's, from the same source files, and cuBLAS, in one process.

    python benchmarks/products.py [--only NAME] [--rounds 21] [--json FILE] [--tried] [--dry-run]

Needs an NVIDIA GPU, torch and triton. How rows are measured is in ``tuned.py``.  ``--dry-run`` compiles every configuration on both sides and launches nothing: that needs no GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import torch  # noqa: E402
import triton  # noqa: E402
from launches import Launch  # noqa: E402
from tuned import Arrays, Config, Row, Run, parser, run  # noqa: E402

#: What rounding an output to its dtype may cost, twice.
TOLERANCE = {torch.bfloat16: 8e-3, torch.float16: 1e-3, torch.float32: 2e-3, torch.int32: 0.0}
BLOCKS = ("BLOCK_M", "BLOCK_N", "BLOCK_K")
#: Sides of a tile, stages, warps.
TILES = (
    (128, 256, 64, 3, 8),
    (128, 256, 64, 4, 8),
    (128, 128, 64, 4, 4),
    (128, 128, 64, 4, 8),
    (64, 256, 64, 4, 4),
    (256, 128, 64, 3, 8),
    (64, 128, 64, 4, 4),
    (128, 64, 64, 4, 4),
    (64, 64, 64, 4, 4),
)
#: Multiprocessors of what is measured on; known without a device, for dry runs.
PROGRAMS = 132


def configs(tiles: tuple[tuple[int, int, int, int, int], ...] = TILES) -> list[Config]:
    return [Config(dict(zip(BLOCKS, sides, strict=True)), stages, warps) for *sides, stages, warps in tiles]


def operands(m: int, n: int, k: int, dtype: torch.dtype, out: torch.dtype) -> Arrays:
    """A, B and C, row-major."""
    a, b = torch.randn(m, k).to(dtype), torch.randn(k, n).to(dtype)
    return {"a": a, "b": b, "c": torch.empty(m, n, dtype=out)}


def exact(arrays: Arrays) -> Arrays:
    return {"c": arrays["a"].double() @ arrays["b"].double()}


def cublas(arrays: Arrays) -> Run:
    a, b, c = arrays["a"], arrays["b"], arrays["c"]

    def work() -> None:
        torch.matmul(a, b, out=c)

    return work


def strided(arrays: Arrays) -> dict[str, object]:
    """Pointers, sizes and strides, as kernels with pointers take them."""
    a, b, c = arrays["a"], arrays["b"], arrays["c"]
    (m, k), n = a.shape, b.shape[1]
    (am, ak), (bk, bn), (cm, cn) = a.stride(), b.stride(), c.stride()
    return {
        **{"a_ptr": a, "b_ptr": b, "c_ptr": c, "M": m, "N": n, "K": k},
        **{"stride_am": am, "stride_ak": ak, "stride_bk": bk, "stride_bn": bn},
        **{"stride_cm": cm, "stride_cn": cn},
    }


def tiles_of(c: torch.Tensor, config: Config) -> int:
    """Tiles of an output."""
    m, n = c.shape
    return triton.cdiv(m, config.const["BLOCK_M"]) * triton.cdiv(n, config.const["BLOCK_N"])


def tutorial(n: int) -> Row:
    """The usual kernel, n x n x n of bf16."""

    def launches(arrays: Arrays, config: Config) -> list[Launch]:
        const = {**config.const, "GROUP_M": 8, "SUM": "tl.float32"}
        grid = (tiles_of(arrays["c"], config),)
        return [
            Launch(".products", "product", strided(arrays), const, grid, config.num_warps, config.num_stages)
        ]

    return Row(
        f"matmul_bf16_{n}",
        2.0 * n**3,
        lambda: operands(n, n, n, torch.bfloat16, torch.bfloat16),
        ("c",),
        configs(),
        launches,
        exact,
        TOLERANCE[torch.bfloat16],
        {"cuBLAS": cublas},
    )


def rows() -> Iterator[Row]:
    for n in (1024, 2048, 4096, 8192):
        yield tutorial(n)


def main() -> int:
    return run(list(rows()), parser(__doc__).parse_args())


if __name__ == "__main__":
    raise SystemExit(main())
