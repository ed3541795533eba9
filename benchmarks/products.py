"""Matrix products on tensor cores: ours beside Triton's, from the same source files, and cuBLAS, in one process.

    python benchmarks/products.py [--only NAME] [--rounds 21] [--json FILE] [--plot FILE.svg] [--tried] [--dry-run]
    python benchmarks/products.py --page FILE.json…

Needs an NVIDIA GPU, torch and triton. How rows are measured is in ``tuned.py``.  ``--dry-run`` compiles every configuration on both sides and launches nothing: that needs no GPU.
``--page`` measures nothing: it writes docs/products.md and its picture from figures that were.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import torch  # noqa: E402
import triton  # noqa: E402
from launches import Blocks, Launch  # noqa: E402
from tuned import CEILING, Arrays, Config, Row, Run, main, multiprocessors  # noqa: E402

BF16, F16, F8, F32, I8, I32 = (
    torch.bfloat16, torch.float16, torch.float8_e4m3fn, torch.float32, torch.int8, torch.int32,
)  # fmt: skip
#: Of an output, relative to its row's largest value: a few roundings of its dtype; tf32 has the mantissa of f16, and is truncated.
TOLERANCE = {BF16: 8e-3, F16: 1e-3, F32: 4e-3, I32: 0.0}
#: Tensor cores of sm_90 keep few bits of a sum of products of 8-bit floats.
TOLERANCE_F8 = 2e-2

#: Sides of a tile in elements of 16 bits, stages, warps.
Tile = tuple[int, int, int, int, int]
TILES: tuple[Tile, ...] = (
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
#: For products of so few rows that reading B is all there is to do; the first side is the rows.
THIN: tuple[Tile, ...] = (
    (0, 32, 256, 4, 4),
    (0, 64, 128, 4, 4),
    (0, 64, 128, 6, 4),
    (0, 64, 256, 4, 4),
    (0, 128, 64, 5, 4),
    (0, 128, 128, 4, 4),
    (0, 128, 128, 4, 8),
)
SIZES = (1024, 2048, 4096, 8192)
#: Rows of tiles that programs go down before they go right; more for wide tiles, so that those at work at once make a square.
GROUP_M, WIDE_GROUP_M = 8, 16
BLOCKS = ("BLOCK_M", "BLOCK_N", "BLOCK_K")


def configs(tiles: Sequence[Tile], element_size: int = 2, names: Sequence[str] = BLOCKS) -> list[Config]:
    """A step of K has as many bytes whatever the dtype."""
    return [
        Config(dict(zip(names, (m, n, k * 2 // element_size), strict=True)), stages, warps)
        for m, n, k, stages, warps in tiles
    ]


def wide(element_size: int) -> list[Config]:
    """The tiles that are wider than high, once more."""
    tiles = [tile for tile in TILES if tile[:2] == (128, 256)]
    return [replace(config, more={"GROUP_M": WIDE_GROUP_M}) for config in configs(tiles, element_size)]


def random(rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    if dtype == I8:
        return torch.randint(-128, 128, (rows, columns), dtype=I8)
    return torch.randn(rows, columns).to(dtype)


def operands(m: int, n: int, k: int, dtype: torch.dtype, out: torch.dtype, turned: bool) -> Arrays:
    """A, B and C, row-major; B ``turned``: as weights lie, K runs fastest."""
    b = random(n, k, dtype).T if turned else random(k, n, dtype)
    return {"a": random(m, k, dtype), "b": b, "c": torch.empty(m, n, dtype=out)}


def exact(arrays: Arrays) -> Arrays:
    return {"c": arrays["a"].double() @ arrays["b"].double()}


def strided(arrays: Arrays) -> dict[str, Any]:
    """Pointers, sizes and strides, as kernels with pointers take them."""
    a, b, c = arrays["a"], arrays["b"], arrays["c"]
    given: dict[str, Any] = {"a_ptr": a, "b_ptr": b, "c_ptr": c, **sizes(arrays)}
    for names, array in (("am ak", a), ("bk bn", b), ("cm cn", c)):
        given |= {f"stride_{name}": step for name, step in zip(names.split(), array.stride(), strict=True)}
    return given


def described(arrays: Arrays, config: Config) -> dict[str, Any]:
    """Descriptors and sizes."""
    m, n, k = config.const.values()
    blocks = {"a": (m, k), "b": (k, n), "c": (m, n)}
    return {f"{name}_desc": Blocks(arrays[name], block) for name, block in blocks.items()} | sizes(arrays)


def sizes(arrays: Arrays) -> dict[str, int]:
    (m, k), n = arrays["a"].shape, arrays["b"].shape[1]
    return {"M": m, "N": n, "K": k}


def across(c: torch.Tensor, config: Config) -> tuple[int, int]:
    """Tiles of an output, down and across."""
    (m, n), (down, right, _) = c.shape[-2:], config.const.values()
    return triton.cdiv(m, down), triton.cdiv(n, right)


Launches = Callable[[Arrays, Config], Sequence[Launch]]


def launcher(function: str, **more: Any) -> Launches:
    """Launches of a kernel of ``tests/kernels/sources/products.py``: by its name, descriptors or pointers, a program a tile or a multiprocessor."""

    def launches(arrays: Arrays, config: Config) -> list[Launch]:
        given = described(arrays, config) if "described" in function else strided(arrays)
        down, right = across(arrays["c"], config)
        const = {**config.const, "GROUP_M": GROUP_M, **config.more, **more}
        grid = down * right
        if "persistent" in function:
            const["PROGRAMS"] = multiprocessors()
            grid = min(grid, multiprocessors())
        return [Launch(".products", function, given, const, (grid,), config.num_warps, config.num_stages)]

    return launches


def cublas(arrays: Arrays) -> Run:
    return lambda: {"c": torch.matmul(arrays["a"], arrays["b"], out=arrays["c"])}


def cublas_f8(arrays: Arrays) -> Run:
    one = torch.ones((), device=arrays["a"].device)
    return lambda: {
        "c": torch._scaled_mm(
            arrays["a"], arrays["b"], scale_a=one, scale_b=one, out_dtype=BF16, use_fast_accum=True
        )
    }


def cublas_i8(arrays: Arrays) -> Run:
    return lambda: {"c": torch._int_mm(arrays["a"], arrays["b"])}


def square(
    name: str, n: int, function: str, dtype: torch.dtype = BF16, *, out: torch.dtype | None = None, turned: bool = False,
    library: Callable[[Arrays], Run] = cublas, tolerance: float | None = None,
) -> Row:  # fmt: skip
    """n x n x n."""
    out = out or dtype
    more = {"SUM": "tl.int32" if out == I32 else "tl.float32"} if function == "product_pointers" else {}
    return Row(
        f"{name}_{n}",
        2.0 * n**3,
        lambda: operands(n, n, n, dtype, out, turned),
        ("c",),
        [*configs(TILES, dtype.itemsize), *wide(dtype.itemsize)],
        launcher(function, **more),
        exact,
        TOLERANCE[out] if tolerance is None else tolerance,
        {"cuBLAS": library},
    )


def thin(m: int, n: int = 8192) -> Row:
    tiles = [(m, *rest) for _, *rest in THIN]
    return Row(
        f"matmul_thin{m}_bf16_{n}",
        2.0 * m * n * n,
        lambda: operands(m, n, n, BF16, BF16, False),
        ("c",),
        configs(tiles),
        launcher("product_pointers", SUM="tl.float32"),
        exact,
        TOLERANCE[BF16],
        {"cuBLAS": cublas},
    )


def gelu(n: int) -> Row:
    """With a bias and an activation: the kernel of this repository's library."""
    names = ("BM", "BN", "BK")

    def launches(arrays: Arrays, config: Config) -> list[Launch]:
        given = {**strided(arrays), "bias_ptr": arrays["bias"]}
        const = {**config.const, "ACTIVATION": "gelu"}
        grid = across(arrays["c"], config)
        return [Launch("matmul", "matmul", given, const, grid, config.num_warps, config.num_stages)]

    def reference(arrays: Arrays) -> Arrays:
        return {
            "c": torch.nn.functional.gelu(exact(arrays)["c"] + arrays["bias"].double(), approximate="tanh")
        }

    def library(arrays: Arrays) -> Run:
        return lambda: {"c": torch._addmm_activation(arrays["bias"], arrays["a"], arrays["b"], use_gelu=True)}

    return Row(
        f"matmul_gelu_bf16_{n}",
        2.0 * n**3,
        lambda: {**operands(n, n, n, BF16, BF16, False), "bias": torch.randn(n).to(BF16)},
        ("c",),
        configs(TILES, names=names),
        launches,
        reference,
        TOLERANCE[BF16],
        {"cuBLAS": library},
    )


def batched(batch: int, n: int) -> Row:
    names = ("TILE_M", "TILE_N", "TILE_K")

    def arrays() -> Arrays:
        a, b = (torch.randn(batch, n, n).to(BF16) for _ in range(2))
        return {"a": a, "b": b, "c": torch.empty(batch, n, n, dtype=BF16)}

    def launches(arrays: Arrays, config: Config) -> list[Launch]:
        given: dict[str, Any] = {"A": arrays["a"], "B": arrays["b"], "O": arrays["c"], "M": n, "N": n, "K": n}
        for axes in ("ab am ak", "bb bk bn", "ob om on"):
            given |= {f"stride_{name}": step for name, step in zip(axes.split(), (n * n, n, 1), strict=True)}
        const = {**config.const, "DIVISIBLE_K": True}
        grid = (*across(arrays["c"], config), batch)
        return [Launch(".matmul", "batched_matmul", given, const, grid, config.num_warps, config.num_stages)]

    def library(arrays: Arrays) -> Run:
        return lambda: {"c": torch.bmm(arrays["a"], arrays["b"], out=arrays["c"])}

    tiles = [tile for tile in TILES if max(tile[:2]) <= 128]
    return Row(
        f"matmul_batched{batch}_bf16_{n}",
        2.0 * batch * n**3,
        arrays,
        ("c",),
        configs(tiles, names=names),
        launches,
        exact,
        TOLERANCE[BF16],
        {"cuBLAS": library},
    )


#: M, N, K of each product of a group.
GROUP = (
    (4096, 4096, 4096),
    (1000, 4096, 2048),
    (2048, 1024, 8192),
    (3000, 2048, 4096),
    (128, 8192, 4096),
    (512, 512, 512),
)


def grouped(problems: Sequence[tuple[int, int, int]]) -> Row:
    """Several sizes in one launch, found through tables of addresses."""

    def arrays() -> Arrays:
        made: dict[str, torch.Tensor] = {"sizes": torch.tensor(problems, dtype=I32)}
        for i, (m, n, k) in enumerate(problems):
            made |= {f"{name}{i}": array for name, array in operands(m, n, k, BF16, BF16, False).items()}
        for name in "abc":
            places = [
                0 if made["sizes"].is_meta else made[f"{name}{i}"].data_ptr() for i in range(len(problems))
            ]
            made[f"{name}_table"] = torch.tensor(places)
        return made

    def launches(arrays: Arrays, config: Config) -> list[Launch]:
        given: dict[str, Any] = {f"{name}_table": arrays[f"{name}_table"] for name in "abc"}
        given |= {"sizes_ptr": arrays["sizes"], "groups": len(problems)}
        programs = multiprocessors()
        const = {**config.const, "DTYPE": "tl.bfloat16", "PROGRAMS": programs, "ALIGNED": 16}
        source = "benchmarks.sources.grouped"
        return [
            Launch(source, "grouped_product", given, const, (programs,), config.num_warps, config.num_stages)
        ]

    def each(arrays: Arrays) -> Iterator[tuple[str, Arrays]]:
        for i in range(len(problems)):
            yield f"c{i}", {name: arrays[f"{name}{i}"] for name in "abc"}

    def reference(arrays: Arrays) -> Arrays:
        return {name: exact(those)["c"] for name, those in each(arrays)}

    def library(arrays: Arrays) -> Run:
        runs = [cublas(those) for _, those in each(arrays)]

        def run() -> None:
            for each in runs:
                each()

        return run

    return Row(
        "matmul_grouped_bf16",
        sum(2.0 * m * n * k for m, n, k in problems),
        arrays,
        [f"c{i}" for i in range(len(problems))],
        configs(TILES),
        launches,
        reference,
        TOLERANCE[BF16],
        {"cuBLAS": library},
    )


def ceiling(times: int = 4096) -> Row:
    """What tensor cores do when nothing is loaded: the same two tiles over and over, on all multiprocessors."""

    def arrays() -> Arrays:
        programs = multiprocessors()
        a, b = random(128, 64, BF16), random(64, 256, BF16)
        return {"a": a, "b": b, "c": torch.empty(programs, 128, 256)}

    def launches(arrays: Arrays, config: Config) -> list[Launch]:
        given: Mapping[str, Any] = {**{f"{name}_ptr": arrays[name] for name in "abc"}, "times": times}
        grid = (multiprocessors(),)
        return [
            Launch(
                ".products", "repeated_dot", given, config.const, grid, config.num_warps, config.num_stages
            )
        ]

    return Row(
        f"{CEILING}_bf16",
        2.0 * multiprocessors() * 128 * 256 * 64 * times,
        arrays,
        ("c",),
        configs(TILES[:1]),
        launches,
        lambda arrays: {"c": times * exact(arrays)["c"].expand_as(arrays["c"])},
        # Thousands of sums are each rounded.
        1e-2,
    )


def rows() -> Iterator[Row]:
    # For f32 both sides use tf32 by themselves; cuBLAS wants to be told.
    torch.backends.cuda.matmul.allow_tf32 = True
    yield ceiling()
    for name, function in (
        ("matmul_bf16", "product_pointers"),
        ("matmul_blocks_bf16", "product_blocks"),
        ("matmul_descriptors_bf16", "product_described"),
        ("matmul_persistent_bf16", "product_persistent"),
        ("matmul_persistent_descriptors_bf16", "product_persistent_described"),
    ):
        yield from (square(name, n, function) for n in SIZES)
    pointers = "product_pointers"
    yield square("matmul_turned_bf16", 8192, pointers, turned=True)
    yield square("matmul_f16", 8192, pointers, F16)
    yield square("matmul_tf32", 8192, pointers, F32)
    yield square("matmul_turned_tf32", 8192, pointers, F32, turned=True)
    # Of 8 bits, tensor cores and cuBLAS want B turned.
    yield square(
        "matmul_turned_f8e4m3", 8192, pointers, F8, out=BF16, turned=True, library=cublas_f8, tolerance=TOLERANCE_F8
    )  # fmt: skip
    yield square("matmul_turned_i8", 8192, pointers, I8, out=I32, turned=True, library=cublas_i8)
    yield gelu(4096)
    yield batched(64, 512)
    yield from (thin(m) for m in (16, 32))
    yield grouped(GROUP)


if __name__ == "__main__":
    raise SystemExit(main("products", rows, __doc__, figure="matmul_bf16_"))
